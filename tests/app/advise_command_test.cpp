// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/schema_check.hpp"

namespace foredraft::tests {
namespace {

using Json = nlohmann::ordered_json;

const std::string examples = FOREDRAFT_SOURCE "/docs/examples/advise/";

std::string example(const std::string& name) { return examples + name; }

Json advised(const TemporaryFolder& folder, const std::string& arguments, int code = 0) {
  const Outcome outcome = foredraft(folder, "advise " + arguments + " --json");
  REQUIRE(outcome.code == code);
  return Json::parse(outcome.out);
}

const std::string head = "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,iteration_ms\n";

}  // namespace

TEST_CASE("advise prints one document with every key of its schema, for any log") {
  const Json schema = Json::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/advise.schema.json"));
  const TemporaryFolder folder;
  write_text(folder / "few.csv", head + "speculative,2,150,90,50,8,12.5\n");
  write_text(folder / "plain.csv", head + "plain,,,,,8,9.5\n");
  write_text(folder / "unknown_k.jsonl",
             "{\"timings\": {\"predicted_n\": 2001, \"predicted_ms\": 2000, \"draft_n\": 1601, "
             "\"draft_n_accepted\": 1000}}\n");
  const auto check = [&](const std::string& arguments, int code) {
    INFO(arguments);
    check_against(schema, schema, advised(folder, arguments, code), "");
  };
  check(example("k3.log") + " " + example("k1.log") + " --plain " + example("plain.log"), 0);
  check(example("k3.log"), 0);
  check(example("broken.log") + " --plain " + example("plain.log"), 0);
  check("few.csv", 1);
  check("plain.csv", 1);
  check("unknown_k.jsonl", 0);
}

TEST_CASE("exit codes distinguish estimated acceptance, none and bad input") {
  const TemporaryFolder folder;
  write_text(folder / "few.csv", head + "speculative,2,199,120,60,8,12.5\n");
  write_text(folder / "enough.csv", head + "speculative,2,200,120,60,8,12.5\n");
  write_text(folder / "wrong.csv", head + "speculative,2,200,60,120,8,12.5\n");
  write_text(folder / "words.txt", "nothing of the kind\n");
  CHECK(foredraft(folder, "advise few.csv").code == 1);
  CHECK(foredraft(folder, "advise enough.csv").code == 0);
  const Outcome wrong = foredraft(folder, "advise wrong.csv");
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("wrong.csv:2: ") != std::string::npos);
  CHECK(foredraft(folder, "advise words.txt").code == 2);
  CHECK(foredraft(folder, "advise none.log").code == 2);
  CHECK(foredraft(folder, "advise").code == 2);
  CHECK(foredraft(folder, "advise enough.csv --for trtllm").code == 2);
  CHECK(foredraft(folder, "advise enough.csv --for trtllm --engine-version 1.3.0").code == 0);
}

TEST_CASE("a recommended draft length that was not logged has a row at each load, and a logged one no second row") {
  const TemporaryFolder folder;
  const std::string logs = example("k3.log") + " " + example("k1.log") + " --plain " + example("plain.log");
  const std::string text = foredraft(folder, "advise " + logs).out;
  REQUIRE_THAT(text, Catch::StartsWith("Use K = 2"));
  std::istringstream lines(text);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("not logged", 0) == 0) rows.push_back(line);
  }
  REQUIRE(rows.size() == 2);
  CHECK_THAT(rows[0], Catch::Contains("K = 2 ") && Catch::Contains(" 2.129 ") && Catch::EndsWith("1.77 to 1.93"));
  CHECK_THAT(rows[1], Catch::Contains("K = 2 ") && Catch::Contains(" 2.129 ") && Catch::EndsWith("0.98 to 1.38"));
  CHECK_THAT(foredraft(folder, "advise " + example("k3.log") + " --plain " + example("plain.log")).out,
             !Catch::Contains("not logged"));
}

TEST_CASE("no line of the text is longer than 100 columns, settings included") {
  const TemporaryFolder folder;
  const std::string logs = example("k3.log") + " " + example("k1.log") + " --plain " + example("plain.log");
  for (const std::string engine : {"vllm", "sglang", "llama.cpp", "prometheus", "vllm-synthetic"}) {
    std::istringstream lines(foredraft(folder, "advise " + logs + " --for " + engine).out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  }
}

TEST_CASE("the folder of an advice holds its tables, and equal logs give equal bytes") {
  const TemporaryFolder folder;
  const std::string arguments = "advise " + example("k3.log") + " --plain " + example("plain.log") + " --out ";
  REQUIRE(foredraft(folder, arguments + "a").code == 0);
  REQUIRE(foredraft(folder, arguments + "b").code == 0);
  for (const std::string name :
       {"advice.json", "advice.txt", "loads.csv", "marginal.csv", "acceptance-length.csv", "speedup-chain.csv"}) {
    const std::string text = content_of(folder / ("a/" + name));
    CHECK_FALSE(text.empty());
    CHECK(text == content_of(folder / ("b/" + name)));
  }
  const Json advice = Json::parse(content_of(folder / "a/advice.json"));
  for (const Json& load : advice.at("loads")) {
    double product = load.at("tokens_per_iteration");
    for (const Json& link : load.at("explanation")) product *= link.at("value").get<double>();
    CHECK(product == Approx(load.at("speedup").at("measured").get<double>()));
  }
}

TEST_CASE("the acceptance length of a draft length is said to be a mean where its loads differ") {
  const TemporaryFolder folder;
  const std::string chat = "| prompts | K | acceptance length |\n|---|---|---|\n| chat | 3 | 2.9 |\n";
  write_text(folder / "one.md", chat);
  write_text(folder / "two.md", chat + "| code | 3 | 1.2 |\n");
  const std::string one = foredraft(folder, "advise one.md").out, two = foredraft(folder, "advise two.md").out;
  CHECK(one.find("(logged)") != std::string::npos);
  CHECK(one.find("kinds") == std::string::npos);
  CHECK(two.find("(mean)") != std::string::npos);
  CHECK(two.find("acceptance length over 2 kinds 1: ") != std::string::npos);
}

TEST_CASE("loads that the text leaves out are counted") {
  const TemporaryFolder folder;
  std::string table = "| prompt | plain tok/s | MTP tok/s |\n|---|---|---|\n";
  for (const char* const kind : {"a1", "b1", "c1", "d1", "e1", "f1"})
    table += std::string("| ") + kind + " | 20 | 30 |\n";
  write_text(folder / "six.md", table);
  CHECK(foredraft(folder, "advise six.md").out.find("more: --json") == std::string::npos);
  write_text(folder / "eight.md", table + "| g1 | 20 | 30 |\n| h1 | 20 | 30 |\n");
  CHECK(foredraft(folder, "advise eight.md").out.find("\n2 more: --json\n") != std::string::npos);
}

TEST_CASE("times of whole answers are no TPOT") {
  const TemporaryFolder folder;
  write_text(folder / "a.md", "| mode | avg latency (s) |\n|---|---|\n| plain | 8.0 |\n| speculative (n=5) | 5.0 |\n");
  CHECK(foredraft(folder, "advise a.md").out.find(" answer ms ") != std::string::npos);
}

TEST_CASE("an observations file gives the advice of the logs that it was made of") {
  const TemporaryFolder folder;
  const std::string log = example("k3.log");
  REQUIRE(foredraft(folder, "import " + log + " --out o.json").code == 0);
  Json direct = advised(folder, log);
  Json imported = advised(folder, "o.json");
  for (Json* advice : {&direct, &imported}) {
    for (Json& load : advice->at("loads")) {
      for (Json& run : load.at("runs")) run.erase("name");  // with that of the file
    }
  }
  for (const char* key : {"tokens_per_iteration", "tokens_per_iteration_by_gamma", "loads", "causes"}) {
    CHECK(direct.at(key) == imported.at(key));
  }
}

TEST_CASE("a device answers other draft lengths, and stated requests replace unlogged ones") {
  const TemporaryFolder folder;
  const std::string device = " --device h100 --target llama-3.1-8b --draft llama-3.2-1b";
  const Json advice = advised(folder, example("k3.log") + " --plain " + example("plain.log") + device);
  // 0.83 to 1.21 holds 90 % of verifications over plain steps: 0.38 / 2 / 1.645 is a standard deviation, 1.96 times
  // that 95 %.
  CHECK(advice.at("evidence").get<std::string>().find("a data sheet, +- 23 % each time the tokens double") !=
        std::string::npos);
  CHECK(advice.at("recommendation").is_object());
  CHECK(advice.at("loads").at(0).at("speedup_by_gamma").size() == 12);
  CHECK(advice.at("loads").at(0).at("explanation").size() == 4);
  write_text(folder / "unknown.csv",
             "decoding,gamma,steps,accepted_at_1,accepted_at_2,iteration_ms\nspeculative,2,5000,3000,1500,12.5\n");
  CHECK(foredraft(folder, "advise unknown.csv" + device).code == 2);
  CHECK(advised(folder, "unknown.csv --batch 8" + device).at("loads").at(0).at("speedup_by_gamma").size() == 12);
}

}  // namespace foredraft::tests
