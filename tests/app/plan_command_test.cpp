// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "answers/logging_plan.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/schema_check.hpp"

namespace foredraft::tests {
namespace {

using Plan = nlohmann::ordered_json;

Plan planned(const TemporaryFolder& folder, const std::string& arguments) {
  const Outcome outcome = foredraft(folder, "advise --plan " + arguments + " --json");
  REQUIRE(outcome.code == 0);
  return Plan::parse(outcome.out);
}

}  // namespace

TEST_CASE("a plan prints one document with every key of its schema, and no line over 100 columns") {
  const Plan schema = Plan::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/plan.schema.json"));
  const TemporaryFolder folder;
  for (const std::string& engine : answers::planned_engines()) {
    for (const std::string options : {"", " --current-k 3 --concurrency 8 --target acme/llama --draft acme/head",
                                      " --current-k 1 --concurrency 1,200"}) {
      INFO(engine + options);
      check_against(schema, schema, planned(folder, engine + options), "");
      std::istringstream lines(foredraft(folder, "advise --plan " + engine + options).out);
      for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
    }
  }
}

TEST_CASE("every command of a plan is valid in a shell") {
  const TemporaryFolder folder;
  for (const std::string& engine : answers::planned_engines()) {
    const Plan plan = planned(folder, engine + " --current-k 3 --target acme/llama --draft \"it's\"");
    for (const char* list : {"servers", "loads"}) {
      for (const Plan& one : plan.at(list)) {
        write_text(folder / "command.sh", one.at("command").get<std::string>() + "\n");
        INFO(one.at("command"));
        CHECK(std::system(("sh -n " + (folder / "command.sh")).c_str()) == 0);
      }
    }
  }
}

TEST_CASE("the last command of a plan is one of this program, which reads the output of the runs") {
  const TemporaryFolder folder;
  const Plan plan = planned(folder, "vllm --current-k 1 --concurrency 1");
  const std::string head =
      "\"tokenizer_id\": \"t\", \"model_id\": \"t\", \"request_rate\": \"inf\", \"max_concurrency\": 1, "
      "\"duration\": 60, \"completed\": 32, \"total_input_tokens\": 3200, \"output_throughput\": 100, "
      "\"total_output_tokens\": 6000, \"request_throughput\": 0.5, \"mean_ttft_ms\": 20, ";
  for (const Plan& entry : plan.at("order")) {
    const std::string run = entry;
    const std::string gamma = run.substr(1, 1);
    const std::string rates = gamma == "1" ? "[0.6]" : "[0.6, 0.3, 0.1]";
    const std::string accepted = gamma == "1" ? "1800" : "3000";
    const std::string drafted = gamma == "1" ? "3000" : "9000";
    write_text(folder / (run + "-c1.json"),
               "{\"date\": \"" + run + "\", " + head +
                   (run.starts_with("plain") ? "\"mean_tpot_ms\": 10, \"mean_itl_ms\": 10}"
                                             : "\"mean_tpot_ms\": 7.5, \"mean_itl_ms\": 12, "
                                               "\"spec_decode_num_drafts\": 3000, \"spec_decode_draft_tokens\": " +
                                                   drafted + ", \"spec_decode_accepted_tokens\": " + accepted +
                                                   ", \"spec_decode_per_position_acceptance_rates\": " + rates + "}"));
  }
  REQUIRE(plan.at("advise").size() == 1);
  const std::string command = plan.at("advise").at(0);
  REQUIRE(command.starts_with("foredraft "));
  const Outcome outcome = foredraft(folder, command.substr(10));
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("K = 1") != std::string::npos);
}

TEST_CASE("a plan reads no log, and its options are valid only with --plan") {
  const TemporaryFolder folder;
  const auto code = [&](const std::string& arguments) { return foredraft(folder, "advise " + arguments).code; };
  CHECK(code("--plan vllm") == 0);
  CHECK(code("--plan vlm") == 2);
  CHECK(code("--plan vllm --current-k 0") == 2);
  CHECK(code("--plan vllm --concurrency 0") == 2);
  const Outcome others = foredraft(folder, "advise --plan vllm a.log --for vllm --target-tp 2 --out x");
  CHECK(others.code == 2);
  CHECK_THAT(others.err, Catch::Contains("--for") && Catch::Contains("--out") && Catch::Contains("--target-tp") &&
                             Catch::Contains("a.log: unexpected argument"));
  const Outcome alone = foredraft(folder, "advise a.log --current-k 3");
  CHECK(alone.code == 2);
  CHECK_THAT(alone.err, Catch::Contains("--current-k: given without --plan"));
  CHECK_THAT(foredraft(folder, "advise").err, Catch::Contains("foredraft advise --plan ENGINE"));
}

}  // namespace foredraft::tests
