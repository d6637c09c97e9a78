// SPDX-License-Identifier: Apache-2.0
// Acceptance of logs in predict, simulate and sweep.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analytic/observed/acceptance_counts.hpp"
#include "inputs/observed_acceptance.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using nlohmann::json;

const Runs truth{0.75, 0.5, 0.6, 1.0};

/// Windows of 100,000 steps that hold the expected counts of `truth` at `gamma`, a table of one's own.
std::string windows(std::int64_t gamma, int count = 10, double steps = 1e5) {
  std::string text = "gamma,steps";
  for (std::int64_t i = 1; i <= gamma; ++i) text += fmt::format(",accepted_at_{}", i);
  for (int window = 0; window < count; ++window) {
    text += fmt::format("\n{},{}", gamma, steps);
    for (const double share : analytic::accepted_shares(truth, gamma)) text += fmt::format(",{:.0f}", share * steps);
  }
  return text + "\n";
}

/// A request whose steps accepted these numbers of three drafts.
std::string request(const std::vector<int>& accepted) {
  int sum = 0;
  json drafted = json::array();
  for (const int one : accepted) {
    sum += one;
    drafted.push_back(3);
  }
  const json steps{
      {"num_spec_steps", accepted.size()},       {"num_accepted_draft_tokens", sum}, {"num_spec_tokens", 3},
      {"num_draft_tokens", 3 * accepted.size()}, {"per_step_accepted", accepted},    {"per_step_drafted", drafted}};
  return json{{"id", "r"}, {"choices", json::array()}, {"metrics", {{"speculative_decoding", steps}}}}.dump() + "\n";
}

json answer(const TemporaryFolder& folder, const std::string& arguments) {
  const Outcome outcome = foredraft(folder, arguments);
  INFO(arguments << "\n" << outcome.err);
  REQUIRE(outcome.code == 0);
  return json::parse(outcome.out);
}

void rejected(const std::string& log, const std::string& message, const std::string& command = "predict --c 0.05") {
  const TemporaryFolder folder;
  write_text(folder / "a.log", log);
  const Outcome outcome = foredraft(folder, command + " --acceptance a.log");
  INFO(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.err.find(message) != std::string::npos);
}

const std::string at_five = " --acceptance a.csv --gamma 5 --c 0.05 --json";

}  // namespace

TEST_CASE("predict takes the acceptance of a log, with the interval at every draft length") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", windows(3));
  const json document = answer(folder, "predict" + at_five);
  // From three positions only the prior of rho of an unknown drafter causes an error.
  constexpr double unknown_drafter = 0.03;
  CHECK(document.at("tokens_per_iteration").get<double>() ==
        Approx(analytic::tokens_per_iteration(truth, 5)).epsilon(unknown_drafter));
  CHECK(document.at("process") == "runs");
  const json& acceptance = document.at("acceptance");
  CHECK(acceptance.at("file") == "a.csv");
  CHECK(acceptance.at("verification_steps") == 1e6);
  CHECK(acceptance.at("gamma_observed") == json::array({3}));
  CHECK(acceptance.at("model").at("a") == document.at("a"));
  const json& table = acceptance.at("tokens_per_iteration_by_gamma");
  REQUIRE(table.size() == 12);
  for (const json& row : table) {
    const auto gamma = row.at("gamma").get<std::int64_t>();
    const double exact = analytic::tokens_per_iteration(truth, gamma);
    CAPTURE(gamma, exact, row.dump());
    CHECK(row.at("low") <= exact + 1e-4);
    CHECK(row.at("high") >= exact - 1e-4);
    CHECK(row.at("extrapolated") == (gamma > 4));
  }
  const Outcome text = foredraft(folder, "predict --acceptance a.csv --c 0.05 --gamma 20");
  CHECK(text.out.find("acceptance of a.csv: 1e+06 verification steps at gamma 3\n") != std::string::npos);
  CHECK(text.out.find("   20  ") != std::string::npos);
  CHECK(text.out.find("extrapolated") != std::string::npos);
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("an observations file gives the same as its log, and devices and measured times take both") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", windows(3));
  REQUIRE(foredraft(folder, "import a.csv --out o.json").code == 0);
  json of_log = answer(folder, "predict" + at_five);
  json imported = answer(folder, "predict --acceptance o.json --gamma 5 --c 0.05 --json");
  CHECK(imported.at("speedup") == of_log.at("speedup"));
  CHECK(imported.at("acceptance").at("model") == of_log.at("acceptance").at("model"));
  const json times =
      answer(folder, "predict --acceptance a.csv --gamma 5 --step-ms 9 --draft-ms 1 --verify-ms 9 --json");
  CHECK(times.at("tokens_per_iteration") == of_log.at("tokens_per_iteration"));
  const json device = answer(folder,
                             "predict --acceptance a.csv --gamma 5 --device h100 --target llama-3.1-8b --draft "
                             "llama-3.2-1b --json");
  CHECK(device.at("tokens_per_iteration").get<double>() ==
        Approx(of_log.at("tokens_per_iteration").get<double>()).epsilon(second_route));
  CHECK(device.at("acceptance").at("model") == of_log.at("acceptance").at("model"));
}

TEST_CASE("simulate and sweep draw the runs that are fitted to a log") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", windows(3));
  const json predicted = answer(folder, "predict" + at_five);
  const json simulated = answer(folder, "simulate --iterations 4e5" + at_five);
  const double mean = simulated.at("tokens_per_iteration").at("mean");
  CHECK(simulated.at("a") == predicted.at("a"));
  CHECK(simulated.at("analytic").at("tokens_per_iteration") == predicted.at("tokens_per_iteration"));
  CHECK(std::abs(mean - predicted.at("tokens_per_iteration").get<double>()) <
        standard_errors * simulated.at("tokens_per_iteration").at("standard_error").get<double>());
  write_text(folder / "s.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = [1, 5]\n[fixed]\nprocess = \"observed\"\n"
             "\"process.file\" = \"a.csv\"\n[simulation]\niterations = 100_000\nseed = 1\n");
  REQUIRE(foredraft(folder, "sweep s.toml --out r --no-figures").code == 0);
  CHECK(foredraft(folder, "check r").code == 0);
  REQUIRE(std::system(("cd " + folder.path() + " && sha256sum a.csv > sum").c_str()) == 0);
  CHECK(content_of(folder / "r/manifest.json").find(content_of(folder / "sum").substr(0, 64)) != std::string::npos);
  REQUIRE(foredraft(folder, "sweep s.toml --out one --no-figures --threads 1").code == 0);
  CHECK(content_of(folder / "one/points.csv") == content_of(folder / "r/points.csv"));
}

TEST_CASE("acceptance by text position is replayed exactly at any draft length") {
  const TemporaryFolder folder;
  write_text(folder / "a.jsonl", "{\"id\": 1, \"acc_len\": [4, 1, 2, 1, 3, 2, 1, 1]}\n");
  const auto tokens = [&](int gamma) {
    const json simulated =
        answer(folder, fmt::format("simulate --acceptance a.jsonl --gamma {} --iterations 10 --json", gamma));
    return simulated.at("tokens_per_iteration").at("mean").get<double>();
  };
  CHECK(tokens(3) == Approx(8.0 / 3.0));  // from positions 0, 4 and 7
  CHECK(tokens(1) == Approx(8.0 / 5.0));  // from positions 0, 2, 4, 6 and 7
  CHECK(tokens(9) == tokens(3));
  rejected(content_of(folder / "a.jsonl"), "a.log: acceptance by text position (it can be replayed, but not fitted)");
}

TEST_CASE("acceptance by step is replayed in preference to a fit, whatever its length") {
  const TemporaryFolder folder;
  write_text(folder / "a.jsonl", request({3, 0, 2, 3, 1}) + request({0, 0}));
  const json simulated = answer(folder, "simulate --acceptance a.jsonl --gamma 3 --iterations 10 --json");
  CHECK(simulated.at("iterations") == 7);
  CHECK(simulated.at("tokens_per_iteration").at("mean").get<double>() == Approx(16.0 / 7.0));
  rejected(content_of(folder / "a.jsonl"), "a.log: 7 verification steps (at least 200 are needed)");
}

TEST_CASE("a log without acceptance is rejected with what can be known") {
  rejected(windows(3, 1, 100), "a.log: 100 verification steps (at least 200 are needed) - log ");
  rejected("gamma,steps,accepted_at_1\n1,1000,600\n",
           "a.log: gamma 1 alone does not determine other draft lengths (1.6000 tokens per iteration there; at gamma 3 "
           "anything from ");
}

TEST_CASE("logs that do not belong together are rejected, kinds of prompts are pooled") {
  const std::string head = "gamma,steps,accepted_at_1,accepted_at_2,temperature,category\n";
  const TemporaryFolder folder;
  write_text(folder / "a.csv", head + "2,1000,600,300,0,code\n2,1000,500,200,0,prose\n");
  CHECK(answer(folder, "predict" + at_five).at("acceptance").at("verification_steps") == 2000);
  rejected("{\"id\": 1, \"acc_a\": {\"acc_len\": [1, 2]}, \"acc_b\": {\"acc_len\": [2, 1]}}\n",
           "drafter b here and a at line 1", "simulate --gamma 2 --iterations 10");
}

TEST_CASE("of requests, windows and runs in one file the finest are taken") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", windows(3, 3));
  REQUIRE(foredraft(folder, "import a.csv --out o.json").code == 0);
  std::string document = content_of(folder / "o.json");
  const std::size_t first = document.find("\"span\":\"run\"");
  REQUIRE(first != std::string::npos);
  write_text(folder / "mixed.json", document.replace(first, 12, "\"span\":\"request\""));
  const auto steps = [&](const std::string& file) {
    return answer(folder, "predict --c 0.05 --json --acceptance " + file).at("acceptance").at("verification_steps");
  };
  CHECK(steps("o.json") == 300'000);
  CHECK(steps("mixed.json") == 100'000);
}

TEST_CASE("rates of few digits widen the intervals by their rounding") {
  const TemporaryFolder folder;
  write_text(folder / "a.log",
             "num_drafts: 100000\nnum_draft_tokens: 300000\nnum_accepted_tokens: 150000\nmean acceptance length: 2.50\n"
             "acceptance at token 0: 0.70\nacceptance at token 1: 0.48\nacceptance at token 2: 0.32\n");
  const json table =
      answer(folder, "predict --acceptance a.log --c 0.05 --json").at("acceptance").at("tokens_per_iteration_by_gamma");
  // Three rates that are known to 0.005 each; exact counts would give it to 0.007.
  CHECK(table[2].at("high").get<double>() - table[2].at("value").get<double>() == Approx(0.017).margin(0.005));
}

TEST_CASE("a drafter's class follows from its name in the engine") {
  using analytic::DrafterClass;
  CHECK(answers::drafter_class("EAGLE3") == DrafterClass::feature_head);
  CHECK(answers::drafter_class("deepseek_mtp") == DrafterClass::feature_head);
  CHECK(answers::drafter_class("draft-mtp") == DrafterClass::feature_head);
  CHECK(answers::drafter_class("dflash") == DrafterClass::parallel_heads);
  CHECK(answers::drafter_class("ngram_simple") == DrafterClass::text);
  CHECK(answers::drafter_class("draft_model") == DrafterClass::text);
  CHECK(answers::drafter_class("medusa") == DrafterClass::parallel_heads);
  CHECK(answers::drafter_class("") == DrafterClass::unknown);
}

}  // namespace foredraft::tests
