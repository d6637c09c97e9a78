// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_program.hpp"
#include "tests/support/schema_check.hpp"

namespace foredraft::tests {
namespace {

using Document = nlohmann::ordered_json;

const std::string advise_examples = FOREDRAFT_SOURCE "/docs/examples/advise/";

std::string in_examples(const std::string& name) { return advise_examples + name; }

const std::string csv_head = "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,iteration_ms,temperature\n";

void write_tables(const TemporaryFolder& folder) {
  write_text(folder / "a.csv", csv_head + "speculative,2,1500,900,500,8,12.5,0\nspeculative,2,1500,880,520,8,12.6,0\n");
  write_text(folder / "b.csv", csv_head + "speculative,2,1500,990,610,8,12.5,0\nspeculative,2,1500,980,600,8,12.4,0\n");
  write_text(folder / "warm.csv", csv_head + "speculative,2,1500,990,610,8,12.5,0.7\n");
  write_text(folder / "full.csv", csv_head + "speculative,2,1500,1500,1500,8,12.5,0\n");
  write_text(folder / "plain.csv", csv_head + "plain,,,,,8,9.5,0\nplain,,,,,8,9.6,0\n");
  write_text(folder / "lengths.jsonl",
             "{\"timings\": {\"predicted_n\": 2001, \"predicted_ms\": 2000, \"draft_n\": 1600, "
             "\"draft_n_accepted\": 1000}}\n");
}

}  // namespace

TEST_CASE("compare prints one document with every key of its schema, for any logs") {
  const Document schema = Document::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/compare.schema.json"));
  const TemporaryFolder folder;
  write_tables(folder);
  const auto check = [&](const std::string& arguments, int code) {
    INFO(arguments);
    const Outcome outcome = foredraft(folder, "compare " + arguments + " --json");
    REQUIRE(outcome.code == code);
    check_against(schema, schema, Document::parse(outcome.out), "");
  };
  check(in_examples("k3.log") + " " + in_examples("k1.log") + " --plain " + in_examples("plain.log"), 0);
  check("a.csv b.csv --plain plain.csv --require 'speedup>=9' --require 'marginal[7]>0' --require 'iteration_ms<99'",
        1);
  check("a.csv b.csv --require 'acceptance_length>=0.9x' --require 'speedup>=0.9x'", 1);
  check(in_examples("k3.log") + " --plain " + in_examples("plain.log") + " --gpu-hour-price 2.5 --gpus 8", 0);
  check("a.csv --gpu-hour-price 2.5", 0);
  check("a.csv warm.csv", 1);
  check("a.csv full.csv --require 'acceptance_length>=2'", 1);
  check("full.csv", 1);
  check("lengths.jsonl", 0);
}

TEST_CASE("exit codes of compare distinguish met requirements, failed ones and bad input") {
  const TemporaryFolder folder;
  write_tables(folder);
  const auto code = [&](const std::string& arguments) { return foredraft(folder, "compare " + arguments).code; };
  CHECK(code("a.csv b.csv") == 0);
  CHECK(code("a.csv --require 'acceptance_length>=1.5'") == 0);
  CHECK(code("a.csv --require 'acceptance_length>=1.5' --require 'acceptance_length>=2.5'") == 1);
  CHECK(code("a.csv --require 'acceptance_length>=1.93'") == 1);  // not shown
  CHECK(code("a.csv --require 'speedup>=0.1'") == 1);
  CHECK(code("a.csv --plain plain.csv --require 'speedup>=0.1'") == 0);
  CHECK(code("a.csv b.csv --require 'acceptance_length>=0.95x' --require 'tpot<=1.02x'") == 0);
  CHECK(code("b.csv a.csv --require 'acceptance_length>=0.95x'") == 1);
  CHECK(code("a.csv --require 'acceptance_length>=0.95x'") == 2);
  CHECK(code("a.csv warm.csv") == 1);
  CHECK(code("plain.csv") == 2);
  CHECK(code("none.csv") == 2);
  CHECK(code("a.csv a.csv") == 2);
  CHECK(code("a.csv b.csv --plain b.csv") == 2);
  CHECK(code("a.csv b.csv warm.csv") == 2);
  CHECK(code("") == 2);
}

TEST_CASE("a price adds what tokens cost to the document and to the table of compare") {
  const TemporaryFolder folder;
  const std::string logs = in_examples("k3.log") + " --plain " + in_examples("plain.log");
  const Document document = Document::parse(foredraft(folder, "compare " + logs + " --gpu-hour-price 3.6 --json").out);
  CHECK(document.at("gpu_hour_price") == 3.6);
  CHECK(document.at("gpus") == 1);
  int priced = 0;
  for (const Document& run : document.at("runs")) {
    for (const Document& metric : run.at("metrics")) {
      if (metric.at("metric") != "output_tokens_per_s") continue;
      CHECK(run.at("cost_per_million_output_tokens").get<double>() * metric.at("value").get<double>() ==
            Approx(1000.0));
      CHECK(run.at("plain_cost_per_million_output_tokens") > run.at("cost_per_million_output_tokens"));
      ++priced;
    }
  }
  CHECK(priced == 2);
  CHECK_THAT(foredraft(folder, "compare " + logs + " --gpu-hour-price 3.6 --gpus 4").out,
             Catch::Contains("per 1M") && Catch::Contains("at 3.6 per GPU hour, 4 GPUs"));
  const Document without = Document::parse(foredraft(folder, "compare " + logs + " --json").out);
  CHECK(without.at("gpu_hour_price").is_null());
  CHECK(without.at("runs").at(0).at("cost_per_million_output_tokens").is_null());
  CHECK(foredraft(folder, "compare " + logs + " --gpus 4").code == 2);
  CHECK(foredraft(folder, "compare " + logs + " --gpu-hour-price -1").code == 2);
}

TEST_CASE("no line that compare prints exceeds 100 columns or moves the cursor, for any name of a log") {
  const TemporaryFolder folder;
  const std::string long_word(400, 'x');
  const std::string head = "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,category,tpot_ms,temperature\n";
  for (const std::string name : {"a", "b"}) {
    std::string text = head;
    for (const std::string& category : {long_word, std::string("\x1b[2J\r")}) {
      for (int i = 0; i < 3; ++i) {
        text += "speculative,2,15000000,9000000,5" + std::to_string(i) + "00000,65536," + category + ",1234567.125," +
                (name == "a" ? "0\n" : "0.25\n");
      }
    }
    write_text(folder / (name + ".csv"), text);
  }
  for (const std::string arguments :
       {"a.csv", "a.csv b.csv --require 'acceptance_length>=1.5'", "a.csv --require 'tpot_ms<123456789012345'"}) {
    const Outcome outcome = foredraft(folder, "compare " + arguments);
    CHECK(outcome.code != 2);
    CHECK(outcome.out.find('\x1b') == std::string::npos);
    CHECK(outcome.out.find('\r') == std::string::npos);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  }
}

TEST_CASE("compare saves a baseline, with which later logs are compared") {
  const TemporaryFolder folder;
  write_tables(folder);
  const auto code = [&](const std::string& arguments) { return foredraft(folder, "compare " + arguments).code; };
  REQUIRE(code("b.csv --plain plain.csv --save-baseline base.json") == 0);
  const Document baseline = Document::parse(content_of(folder / "base.json"));
  const Document schema = Document::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/baseline.schema.json"));
  check_against(schema, schema, baseline, "");
  CHECK(code("b.csv --baseline base.json --require 'acceptance_length>=0.95x' --require 'tpot<=1.05x'") == 0);
  CHECK(code("a.csv --baseline base.json --require 'acceptance_length>=0.95x'") == 1);
  CHECK(code("a.csv --plain plain.csv --baseline base.json --require 'speedup>=0.5x'") == 0);
  CHECK(code("warm.csv --baseline base.json") == 1);
  const Document direct = Document::parse(foredraft(folder, "compare b.csv a.csv --json").out);
  const Document later = Document::parse(foredraft(folder, "compare a.csv --baseline base.json --json").out);
  const Document of_comparison = Document::parse(content_of(FOREDRAFT_SOURCE "/docs/schemas/compare.schema.json"));
  check_against(of_comparison, of_comparison, later, "");
  CHECK(later.at("logs").at(0).at("baseline") == true);
  CHECK(later.at("logs").at(0).at("file") == "b.csv");
  CHECK(later.at("comparisons").at(0).at("metrics").size() == direct.at("comparisons").at(0).at("metrics").size());
  CHECK_THAT(foredraft(folder, "compare a.csv --baseline base.json").out, Catch::Contains("b.csv: baseline, csv"));
}

TEST_CASE("a baseline is a new file, of one log that meets its requirements") {
  const TemporaryFolder folder;
  write_tables(folder);
  write_text(folder / "kept.json", "mine\n");
  const auto code = [&](const std::string& arguments) { return foredraft(folder, "compare " + arguments).code; };
  CHECK(code("a.csv --save-baseline kept.json") == 2);
  CHECK(content_of(folder / "kept.json") == "mine\n");
  CHECK(code("a.csv --save-baseline none/base.json") == 2);
  CHECK(code("a.csv b.csv --save-baseline new.json") == 2);
  CHECK(code("a.csv --baseline kept.json") == 2);
  CHECK(code("a.csv --baseline none.json") == 2);
  const Outcome missed = foredraft(folder, "compare a.csv --require 'acceptance_length>=2.5' --save-baseline new.json");
  CHECK(missed.code == 1);
  CHECK(missed.err.find("new.json: not written") != std::string::npos);
  CHECK(code("a.csv --baseline new.json") == 2);
  REQUIRE(code("a.csv --save-baseline new.json") == 0);
  CHECK(code("a.csv --save-baseline new.json") == 2);
  CHECK(code("a.csv b.csv --baseline new.json") == 2);
  CHECK(code("a.csv --baseline new.json --save-baseline newer.json") == 2);
}

TEST_CASE("a last window without running requests fails no requirement") {
  const TemporaryFolder folder;
  std::string log;
  std::string plain;
  for (int window = 0; window < 7; ++window) {
    const bool idle = window == 6;
    const std::string time = "INFO 11-25 23:0" + std::to_string(window) + ":00 ";
    const auto engine_line = [&](int tokens, int running) {
      return time + "[loggers.py:335] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: " +
             std::to_string(tokens) + ".0 tokens/s, Running: " + std::to_string(running) +
             " reqs, Waiting: 0 reqs, GPU KV cache usage: 0.5%, Prefix cache hit rate: 0.0%\n";
    };
    log += engine_line(idle ? 20 : 40 + window % 2, idle ? 0 : 4) + time +
           "[metrics.py:120] SpecDecoding metrics: Mean acceptance length: 2.00, Accepted throughput: 20.00 tokens/s, "
           "Drafted throughput: 60.00 tokens/s, Accepted: 200 tokens, Drafted: 600 tokens, Per-position acceptance "
           "rate: 0.600, 0.300, 0.100, Avg Draft acceptance rate: 33.3%\n";
    plain += engine_line(30 + window % 2, 4);
  }
  write_text(folder / "idle.log", log);
  write_text(folder / "plain.log", plain);
  const auto code = [&](const std::string& arguments) { return foredraft(folder, "compare " + arguments).code; };
  CHECK(code("idle.log --plain plain.log --require 'speedup>=0.5'") == 0);
  CHECK(code("idle.log --plain plain.log --require 'speedup>=5'") == 1);
  REQUIRE(code("idle.log --plain plain.log --save-baseline base.json") == 0);
  CHECK(code("idle.log --plain plain.log --baseline base.json --require 'speedup>=0.9x'") == 0);
}

TEST_CASE("an observations file is compared like the logs that it was made of") {
  const TemporaryFolder folder;
  write_tables(folder);
  REQUIRE(foredraft(folder, "import a.csv --out o.json").code == 0);
  const Document direct = Document::parse(foredraft(folder, "compare a.csv b.csv --json").out);
  const Document imported = Document::parse(foredraft(folder, "compare o.json b.csv --json").out);
  CHECK(direct.at("comparisons") == imported.at("comparisons"));
}

TEST_CASE("every example of docs/advise.md prints what the page shows") {
  std::istringstream page(content_of(FOREDRAFT_SOURCE "/docs/advise.md"));
  const TemporaryFolder folder;
  int examples = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("$ foredraft ")) continue;
    std::string expected;
    for (std::string out; std::getline(page, out) && out != "```";) expected += out + "\n";
    const Outcome outcome = foredraft(folder, line.substr(12), "cp -n " + advise_examples + "* . && ");
    INFO(line);
    CHECK(outcome.out == expected);
    ++examples;
  }
  CHECK(examples >= 5);
}

}  // namespace foredraft::tests
