// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Acceptance that stands beside the speeds of a table: in a sentence, in columns of counts, around a list of stages;
/// and loads in names of runs.
namespace foredraft::tests {

using logs::Decoding;

namespace {

/// The acceptance lengths of drafting runs in their order; 0: none.
std::vector<double> lengths_of(const std::string& text) {
  std::vector<double> lengths;
  for (const auto& run : posted_runs(text, "table")) {
    if (run.decoding == Decoding::speculative) lengths.push_back(run.acceptance_length.value_or(0.0));
  }
  return lengths;
}

const std::string two_loads =
    "num_speculative_tokens=2, TPOT in ms\n\n| users | baseline TPOT (ms) | MTP TPOT (ms) |\n|---|---|---|\n"
    "| 1 | 9.0 | 5.0 |\n| 8 | 11.0 | 8.0 |\n\n";

const std::string three_k =
    "Output tok/s (total):\n\n| concurrency | 1 | 8 |\n|---|---|---|\n| plain | 100 | 700 |\n| K=1 | 150 | 900 |\n"
    "| K=2 | 180 | 950 |\n\n";

}  // namespace

TEST_CASE("a sentence beside a table states the acceptance length of all its drafting runs") {
  using Lengths = std::vector<double>;
  for (const char* sentence :
       {"The acceptance length was 2.25 at every load.", "AL: 2.25",
        "- mean accepted length stays around 2.25 (62.5 %)", "With K = 2 we see 2.25 tokens per step.",
        "MTP drafts well; tau is 2.25 +/- 0.03", "**Acceptance length**: 2.25", "Acceptance length: 2.25",
        "Mean acceptance length: 2.25", "Avg acceptance length 2.25 throughout, EAGLE3 not tried"}) {
    CAPTURE(sentence);
    CHECK(lengths_of(two_loads + sentence + "\n") == Lengths{2.25, 2.25});
  }
  const auto runs = posted_runs(two_loads + "AL was 2.25.\n", "table");
  for (const auto& run : runs) {
    if (run.decoding == Decoding::speculative && run.concurrency == 8.0) CHECK(run.times.iteration_ms == near(18.0));
  }
  for (const char* sentence :
       {"The paper reports an acceptance length of 2.25.", "Acceptance length 2.25 before the fix.",
        "Acceptance length was 2.25 at 8 users.", "AL 2.25 -> 2.4", "AL between 2.15 and 2.35", "AL was 3.25",
        "We expected an acceptance length of 2.25.", "max acceptance length 2.25", "AL 0.71", "speedup 2.25x, AL later",
        "AL with 32 threads: 2.25"}) {
    CAPTURE(sentence);
    CHECK(lengths_of(two_loads + sentence + "\n") == Lengths{0.0, 0.0});
  }
  CHECK(lengths_of(two_loads + "AL was 2.25.\nAL was 2.4.\n") == Lengths{0.0, 0.0});
}

TEST_CASE("a sentence beside a table may state a rate of runs whose draft length is known, if none states a length") {
  using Lengths = std::vector<double>;
  for (const char* sentence : {"The acceptance rate is 60% with K=2.", "Accept rate: 0.6", "60% of drafts are accepted",
                               "acceptance rate is 60 % at every load"}) {
    CAPTURE(sentence);
    CHECK(lengths_of(two_loads + sentence + "\n") == Lengths{2.2, 2.2});
  }
  CHECK(warns(read_log(two_loads + "Acceptance rate: 60%\n"), "W20"));
  CHECK(lengths_of(two_loads + "Acceptance rate: 60%\nAcceptance length: 2.25\n") == Lengths{2.25, 2.25});
  CHECK_FALSE(warns(read_log(two_loads + "Acceptance rate: 60%\nAcceptance length: 2.25\n"), "W20"));
  for (const char* sentence :
       {"The paper reports an acceptance rate of 60%.", "acceptance rate 60% at 8 users", "acceptance rate 60% to 70%",
        "acceptance rate 60% or 0.7", "acceptance rate up to 60%", "a rate of 60 % of the peak, acceptance later"}) {
    CAPTURE(sentence);
    CHECK(lengths_of(two_loads + sentence + "\n") == Lengths{0.0, 0.0});
  }
  const std::string unknown = "| config | tok/s |\n|---|---|\n| baseline | 40 |\n| MTP | 60 |\n";
  CHECK(lengths_of(unknown + "Acceptance rate: 60%\n") == Lengths{0.0});  // of which K?
}

TEST_CASE("a sentence beside a table states an acceptance length for each draft length") {
  for (const char* sentence :
       {"AL was 1.7 / 2.2 for K = 1 / 2.", "Acceptance length at K=1 is 1.7, at K=2 2.2",
        "acceptance length 1.7 (K=1), 2.2 (K=2)", "mean acceptance lengths 1.7 and 2.2 with k = 1 and 2",
        "num_speculative_tokens=1: tau 1.7; num_speculative_tokens=2: tau 2.2"}) {
    CAPTURE(sentence);
    std::map<std::int64_t, std::optional<double>> lengths;
    for (const auto& run : posted_runs(three_k + sentence + "\n", "table"))
      if (run.gamma) lengths[*run.gamma] = run.acceptance_length;
    CHECK(lengths[1] == near(1.7));
    CHECK(lengths[2] == near(2.2));
  }
  for (const char* sentence : {"AL was 1.9.", "AL was 1.7 / 2.2 / 2.4 for K = 1 / 2.", "AL was 1.7 / 2.2",
                               "AL was 2.7 / 3.2 for K = 1 / 2", "AL 1.7 / 2.2 at c = 1 / 8"}) {
    CAPTURE(sentence);
    CHECK(lengths_of(three_k + sentence + "\n") == std::vector<double>(4, 0.0));
  }
}

TEST_CASE("of several kinds of prompts only a sentence about all tells the acceptance") {
  const std::string kinds =
      "num_speculative_tokens=2\n\n| prompt | plain tok/s | MTP tok/s |\n|---|---|---|\n| chat | 20 | 30 |\n"
      "| code | 20 | 36 |\n\n";
  CHECK(lengths_of(kinds + "Acceptance length 2.1.\n") == std::vector<double>{0.0, 0.0});
  CHECK(lengths_of(kinds + "Acceptance length 2.1 for each of them.\n") == std::vector<double>{2.1, 2.1});
}

TEST_CASE("accepted tokens below acc are counts beside drafted tokens, if they are no percentages") {
  const auto accepted = [](const std::string& rows, const std::string& heads) {
    const auto runs = posted_runs("--spec-draft-n-max 3\n\n" + heads + rows, "table");
    return runs.front().acceptance && runs.front().acceptance->accepted_tokens
               ? *runs.front().acceptance->accepted_tokens
               : 0;
  };
  const std::string rated = "| prompt | predicted | draft | acc | rate | tok/s |\n|---|---|---|---|---|---|\n";
  CHECK(accepted("| chat | 100 | 120 | 60 | 0.5 | 30 |\n| code | 100 | 90 | 70 | 0.778 | 40 |\n", rated) == 60);
  CHECK(accepted("| chat | 200 | 240 | 120 | 50.0 | 30 |\n", rated) == 120);
  const std::string bare = "| task | predicted | drafted | accept | tok/s |\n|---|---|---|---|---|\n";
  CHECK(accepted("| chat | 200 | 240 | 120 | 30 |\n| code | 200 | 200 | 140 | 40 |\n", bare) == 120);
  CHECK(accepted("| chat | 130 | 210 | 60 | 30 |\n| code | 160 | 240 | 80 | 40 |\n", bare) == 0);  // may be percent
  const auto runs = posted_runs("--spec-draft-n-max 3\n\n" + rated +
                                    "| chat | 100 | 121 | 60 | 0.496 | 30 |\n"
                                    "| code | 100 | 89 | 70 | 0.787 | 40 |\n",
                                "table");
  CHECK(runs.front().gamma == 3);
  CHECK(runs.front().acceptance->steps == 41);  // of 121 drafts
}

TEST_CASE("a load in the names of runs is no kind of prompts beside a column of loads") {
  const auto runs = [](const std::string& load) {
    std::string json = "[";
    for (const auto& [name, k, speed] : {std::tuple("base", 0, 100), {"mtp-k2", 2, 150}, {"mtp-k4", 4, 170}}) {
      for (const int requests : {1, 16}) {
        std::string of = load;
        of.replace(of.find('#'), 1, std::to_string(requests));
        json += std::string(json.size() > 1 ? "," : "") + R"({"run": ")" + name + of + R"(", "k": )" +
                std::to_string(k) + R"(, "concurrency": )" + std::to_string(requests) + R"(, "tpot_ms": )" +
                std::to_string(1000.0 / speed) + "}";
      }
    }
    return posted_runs(json + "]", "table");
  };
  for (const char* load : {"-c#", "_bs#", "-conc#", " #users"}) {
    CAPTURE(load);
    for (const auto& run : runs(load)) CHECK_FALSE(run.stratum.category);
  }
  const auto kinds = posted_runs(
      R"([{"run": "base-c1-chat", "k": 0, "concurrency": 1, "tpot_ms": 10}, {"run": "mtp-c1-chat", "k": 2, "concurrency": 1, "tpot_ms": 6},
          {"run": "base-c1-code", "k": 0, "concurrency": 1, "tpot_ms": 10}, {"run": "mtp-c1-code", "k": 2, "concurrency": 1, "tpot_ms": 5}])",
      "table");
  CHECK(kinds.at(0).stratum.category == "chat");
  CHECK(kinds.at(3).stratum.category == "code");
}

TEST_CASE("speeds around the only stage that counts drafts are its own, around several they are of none") {
  const std::string stage = R"({"type": "mtp", "drafts": 100, "draft_tokens": 200, "accepted": 120})";
  const auto runs = [](const std::string& stages) {
    return posted_runs(R"({"task": "a", "decode_tps": 50.0, "stages": [)" + stages + "]}\n" +
                           R"({"task": "b", "decode_tps": 40.0, "stages": [)" + stages + "]}\n",
                       "table");
  };
  const auto one = runs(stage);
  REQUIRE(one.size() == 2);
  CHECK(one.front().times.tpot_ms == near(20.0));
  CHECK(one.back().times.tpot_ms == near(25.0));
  CHECK(one.front().acceptance->accepted_tokens == 120);
  for (const auto& run : runs(stage + ", " + stage)) CHECK_FALSE(run.times.tpot_ms);
}

TEST_CASE("the time per token of both arms is from the same column") {
  const auto tpot = [](const std::string& heads, const std::string& row) {
    return posted_runs(heads + "\n" + row + "\n", "table").front().times.tpot_ms;
  };
  const std::string each =
      "model,concurrency,output_tps,interactivity_tps_user,mean_itl_ms,acceptance_length,num_drafts,num_accepted_"
      "tokens";
  CHECK(tpot(each, "plain,1,50,50,19.8,,0,0") == near(20.0));
  CHECK(tpot(each, "mtp,1,100,100,9.9,2.5,1000,1500") == near(10.0));
  const std::string all = "model,concurrency,output_tps,mean_itl_ms,acceptance_length,num_drafts,num_accepted_tokens";
  CHECK(tpot(all, "plain,1,50,19.8,,0,0") == near(19.8));
  CHECK(tpot(all, "mtp,1,100,9.9,2.5,1000,1500") == near(9.9));
}

TEST_CASE("lists of acceptance rates by position give length and draft length, conditional ones by their products") {
  const auto read = [](const std::string& text) { return posted_runs(text, "position-rates").at(0); };
  for (const char* text :
       {"Weighted acceptance rates per position:\n[0.8 0.6 0.4]\n", "per-position acceptance: 80 % / 60 % / 40 %\n",
        "acceptance_rates_by_position = [0.8, 0.6, 0.4]\n", "Conditional acceptance rates: [0.8, 0.75, 0.667]\n",
        "Acceptance by position: (0.8, 0.6, 0.4)\n\nConditional acceptance:\n[0.8 0.75 0.67]\n"}) {
    CAPTURE(text);
    const auto run = read(text);
    CHECK(run.decoding == logs::Decoding::speculative);
    CHECK(run.gamma == 3);
    CHECK(*run.acceptance_length == Approx(2.8).epsilon(1e-3));
    CHECK_FALSE(run.acceptance);
  }
  CHECK(read("Cumulative acceptance: [0.7]\n").gamma == 1);
  // With the number of drafted tokens or of drafts these are counts.
  for (const char* total : {"Total drafted tokens: 3,000\n", "drafts: 1000\n", "drafts = 1000\ndraft tokens: 3000\n"}) {
    CAPTURE(total);
    const auto run = read(std::string(total) + "acceptance rates by position: [0.8 0.6 0.4]\n");
    REQUIRE(run.acceptance);
    CHECK(run.acceptance->steps == 1000);
    CHECK(run.acceptance->accepted_at == std::vector<std::int64_t>{800, 600, 400});
  }
  const auto shorter = read("Total drafted tokens: 3001\nacceptance rates by position: [0.8 0.6 0.4]\n");
  CHECK_FALSE(shorter.acceptance);
  CHECK(shorter.adaptive == true);
}

TEST_CASE("rates of which it is not clear what they are of are not read") {
  for (const char* text :
       {"acceptance rates by position: [0.7 0.75 0.8]\n",  // rates of all drafts never rise
        "acceptance rates: [0.8 0.6 0.4]\n",               // of requests?
        "acceptance by position: [0.8 0.6]\nconditional acceptance: [0.8 0.6]\n",
        "acceptance by position: [0.8 0.6]\nacceptance by position: [0.7 0.5]\n", "acceptance by position: 0.8\n",
        "acceptance by position: [0.8 0.6]\nacceptance rate: 60 %\n", "acceptance by position: [5 3 2]\n",
        "expected acceptance by position: [0.8 0.6]\n", "loss by position: [0.8 0.6]\n"}) {
    CAPTURE(text);
    CHECK(problem(text).find("no line of a known format") != std::string::npos);
  }
}

}  // namespace foredraft::tests
