// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// JSON that users' own scripts write.
namespace foredraft::tests {

using logs::Decoding;
using logs::LogContents;

namespace {

/// Speeds of a plain and a drafting run at a draft length, in tokens/s; by load if there are several.
void check_pairs(const std::string& json, const std::vector<std::array<double, 2>>& speeds, std::int64_t gamma) {
  CAPTURE(json);
  const auto runs = posted_runs(json, "table");
  REQUIRE(runs.size() == 2 * speeds.size());
  std::size_t plain = 0, drafted = 0;
  for (const auto& run : runs) {
    const bool drafts = run.decoding == Decoding::speculative;
    CHECK((drafts || run.decoding == Decoding::plain));
    std::size_t& i = drafts ? drafted : plain;
    REQUIRE(i < speeds.size());
    const double each = run.times.tpot_ms ? 1000.0 / *run.times.tpot_ms : *run.times.output_tokens_per_s;
    CHECK(each == near(speeds[i++][drafts ? 1 : 0]));
    CHECK(run.gamma.value_or(0) == (drafts ? gamma : 0));
  }
}

}  // namespace

TEST_CASE("records with llama-server's counts and a speed of their own are those of the script") {
  const std::string plain = R"({"spec": "none", "predicted_n": 256, "gen_tps": 20.0})";
  const std::string drafted =
      R"({"spec": "mtp", "n_max": 2, "predicted_n": 256, "draft_n": 200, "draft_n_accepted": 150, "gen_tps": 32.0})";
  for (const bool list : {false, true}) {
    CAPTURE(list);
    const auto runs =
        posted_runs(list ? "[" + drafted + ",\n" + plain + "]\n" : plain + "\n" + drafted + "\n", "table");
    REQUIRE(runs.size() == 2);
    const auto& fast = runs[list ? 0 : 1];
    CHECK(fast.times.tpot_ms == near(31.25));
    CHECK(fast.acceptance->accepted_tokens == 150);
    CHECK(fast.stratum.output_tokens == 256.0);
  }
  CHECK(posted_runs(R"({"predicted_n": 256, "draft_n": 200, "draft_n_accepted": 150})", "llamacpp-timings").size() ==
        1);
}

TEST_CASE("records of scripts: arms, parts and loads as objects, and settings around them") {
  check_pairs(R"({"config": {"model": "m", "num_speculative_tokens": 3, "concurrency": 1},
      "baseline": {"tokens_per_second": 20.0}, "speculative": {"tokens_per_second": 40.0, "accept_len": 2.5}})",
              {{20.0, 40.0}}, 3);
  check_pairs(R"({"gpu": "g", "results": {"baseline": {"tok_s": 20}, "mtp_k2": {"tok_s": 40, "accept_len": 2.5}}})",
              {{20.0, 40.0}}, 2);
  check_pairs(R"({"summary": {"no_spec": {"mean_tpot_ms": 50}, "eagle3": {"mean_tpot_ms": 25, "k": 4}}, "date": "x"})",
              {{20.0, 40.0}}, 4);
  check_pairs(R"({"k": 3, "concurrency": 2, "accept_length": 2.5, "mean_tpot_ms": 25, "baseline": {"mean_tpot_ms": 50},
      "speedup": 2.0})",
              {{20.0, 40.0}}, 3);
  check_pairs(R"({"runs": [{"spec": {"method": "mtp", "k": 2}, "metrics": {"tok_per_s": 40.0}},
      {"spec": null, "metrics": {"tok_per_s": 20.0}}]})",
              {{20.0, 40.0}}, 2);
  check_pairs(R"({"model": "m", "baseline": [{"concurrency": 1, "tpot_ms": 50}, {"concurrency": 4, "tpot_ms": 100}],
      "mtp_k2": [{"concurrency": 1, "tpot_ms": 25}, {"concurrency": 4, "tpot_ms": 80}]})",
              {{20.0, 40.0}, {10.0, 12.5}}, 2);
  check_pairs(R"([{"name": "plain", "batch_size": 1, "throughput_tok_s": 20.0},
      {"name": "spec k=4", "batch_size": 1, "throughput_tok_s": 40.0}])",
              {{20.0, 40.0}}, 4);
}

TEST_CASE("parts of one run are no runs, and a record names its own setting first") {
  const auto runs = posted_runs(R"({"method": "eagle3", "k": 3, "latency": {"tpot_ms": 25.0},
      "acceptance": {"accept_len": 2.5, "accept_rate": 0.5}})",
                                "table");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].times.tpot_ms == 25.0);
  CHECK(runs[0].acceptance_length == 2.5);
  CHECK(runs[0].drafter == "eagle3");
  const auto own = posted_runs(R"({"method": "eagle3", "k": 3, "temperature": 1.0,
      "results": [{"k": 1, "tpot_ms": 30.0}, {"k": 2, "tpot_ms": 25.0, "temperature": 0.0}]})",
                               "table");
  REQUIRE(own.size() == 2);
  CHECK(own[0].gamma == 1);
  CHECK(own[0].drafter == "eagle3");
  CHECK(own[0].stratum.temperature == 1.0);
  CHECK(own[1].stratum.temperature == 0.0);
  CHECK(
      posted_runs(R"({"method": "mtp", "spec_verify": 5, "tpot_ms": 25.0, "accept_len": 2.0})", "table").at(0).gamma ==
      std::nullopt);
}

TEST_CASE("names of models and captions say which of Ollama's answers drafted") {
  const auto answer = [](const std::string& model, const std::string& seconds) {
    return "{\n  \"model\": \"" + model +
           "\",\n  \"done\": true,\n  \"eval_count\": 200,\n  \"eval_duration\": " + seconds + "000000000\n}\n\n";
  };
  const auto both = read_log(answer("llama4:8b", "8") + answer("llama4:8b-eagle3", "5"));
  REQUIRE(both.observations.size() == 2);
  CHECK(both.observations[0].decoding == logs::Decoding::plain);
  CHECK(both.observations[0].times.iteration_ms == 40.0);
  CHECK(both.observations[1].decoding == logs::Decoding::speculative);
  CHECK(both.observations[1].drafter == "eagle3");
  CHECK_FALSE(both.observations[1].stratum.category);
  CHECK(warns(both, "W22"));
  const auto without = read_log(answer("llama4:8b", "5") + answer("llama4:8b-nodraft", "8")).observations;
  CHECK(without.at(0).decoding == logs::Decoding::speculative);
  CHECK(without.at(1).decoding == logs::Decoding::plain);
  // Two targets are two setups; of one without such a name nothing is known.
  const auto others = read_log(answer("llama4:8b", "8") + answer("llama4:8b-mtp", "5") + answer("phi5:4b", "3"));
  CHECK(others.observations.at(1).stratum.category == "llama4:8b");
  CHECK(others.observations.at(2).stratum.category == "phi5:4b");
  CHECK(others.observations.at(2).decoding == logs::Decoding::unknown);
  // Captions above values.
  const auto named = read_log("# without a drafter\n" + answer("llama4:8b", "8") + "# with the drafter, K = 4\n" +
                              answer("llama4:8b", "5"))
                         .observations;
  REQUIRE(named.size() == 2);
  CHECK(named[0].decoding == logs::Decoding::plain);
  CHECK(named[1].decoding == logs::Decoding::speculative);
  CHECK(named[1].gamma == 4);
}

TEST_CASE("tokens and their time are the speed of each answer, in records and tables without a speed") {
  const std::string line = R"({"when": "2026-01-01T00:00:00Z", "mode": "MODE", "prompt_id": 1, "completion_tokens": )";
  const std::string plain = replaced(line, "MODE", "baseline"), drafts = replaced(line, "MODE", "mtp_k2");
  const auto times = [](const std::string& text) {
    const auto runs = posted_runs(text, "table");
    std::map<logs::Decoding, double> tpot;
    for (const auto& run : runs) tpot[run.decoding] = run.times.tpot_ms.value_or(0.0);
    CHECK(runs.size() == 2);
    return tpot;
  };
  const std::string rows = plain + "300, \"TIME\": 6.0}\n" + drafts + "200, \"TIME\": 2.0}\n";
  for (const char* time : {"decode_s", "elapsed_s", "total_time_s", "latency", "wall_time", "generation_time_s"}) {
    CAPTURE(time);
    const std::string text = replaced(replaced(rows, "TIME", time), "TIME", time);
    CHECK(times(text)[logs::Decoding::plain] == near(20.0));
    CHECK(times(text)[logs::Decoding::speculative] == near(10.0));
    CHECK(warns(read_log(text), "W12") == (std::string_view(time).find("de") != 0 && time[0] != 'g'));
    CHECK(times("{\"results\": [" + replaced(text, "}\n", "}, ") + "]}").size() == 2);
  }
  for (const char* head : {"config,output tokens,decode time (s)", "config,decode_s,tokens"}) {
    CAPTURE(head);
    const bool first = std::string_view(head).ends_with("(s)");
    CHECK(times(std::string(head) + (first ? "\nplain,300,6\nMTP K=2,200,2\n"
                                           : "\nplain,6,300\nMTP K=2,2,200\n"))[logs::Decoding::speculative] ==
          near(10.0));
  }
  CHECK(times("config,tokens,time (ms)\nplain,300,6000\nMTP K=2,200,2000\n")[logs::Decoding::plain] == near(20.0));
  CHECK(times("config,tokens,ms\nplain,300,6000\nMTP K=2,200,2000\n")[logs::Decoding::plain] == near(20.0));
  CHECK(times("config,tokens,time\nplain,300,6000 ms\nMTP K=2,200,2 s\n")[logs::Decoding::plain] == near(20.0));
  CHECK_FALSE(problem("config,time,tokens\nplain,10:00:01,300\nMTP K=2,10:05:01,280\n").empty());  // of the day
  const LogContents loaded = read_log("config,users,tokens,time_s\nplain,8,9600,30\nMTP K=2,8,9600,20\n");
  CHECK(warns(loaded, "W12"));  // of all requests, or of each
  // A stated speed goes before it, and an answer without a time has none.
  CHECK(times("config,tokens,time_s,tok/s\nplain,300,6,60\nMTP K=2,200,2,99\n")[logs::Decoding::plain] ==
        near(1000.0 / 60.0));
  CHECK_FALSE(problem("config,tokens,decode_s\nplain,300,6\nMTP K=2,200,\n").empty());
}

TEST_CASE("words before a record on its line name its arm, and do not hide what else the line says") {
  check_pairs(
      "baseline: {\"tok_s\": 20.0, \"concurrency\": 1}\nmtp k=2: {\"tok_s\": 30.0, \"concurrency\": 1, \"accept_len\": "
      "2.1}\n",
      {{20.0, 30.0}}, 2);
  check_pairs(
      "12:00:01 INFO result: {'method': 'none', 'tok_s': 20.0}\n"
      "12:00:09 INFO result: {'method': 'eagle3', 'k': 4, 'tok_s': 30.0}\n",
      {{20.0, 30.0}}, 4);
  // Of a value that nobody reads the words are those of the line.
  const auto runs =
      posted_runs("Without it: {\"seed\": 1}, 20 tok/s\nWith MTP (K=3): {\"seed\": 1}, 30 tok/s\n", "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 3);
}

}  // namespace foredraft::tests
