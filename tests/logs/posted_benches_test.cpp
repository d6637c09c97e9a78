// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Output of benchmarks as posted: tables of data frames, records of counters.
namespace foredraft::tests {
namespace {

using logs::Decoding;

/// Both tables of AISBench, the lower one cut.
std::string aisbench(const std::string& tpot, const std::string& itl) {
  return "| TPOT | total | " + tpot + " ms | 1.0 ms |\n| ITL | total | " + itl +
         " ms | 0.0 ms |\n| Benchmark Duration | total | 50000.0 ms |\n| Max Concurrency | total | 2 |\n"
         "| Output Token Throughput | total | 90.0 token/s |\n\n";
}

}  // namespace

TEST_CASE("row numbers of a data frame are no draft lengths, and the server's command line says whether it drafts") {
  const std::string table =
      "main branch:\n```\n"
      "+----+-------------------+---------------------+----------------+\n"
      "|    |   max_concurrency |   output_throughput |   mean_tpot_ms |\n"
      "+====+===================+=====================+================+\n"
      "|  0 |             1.000 |             110.500 |          9.000 |\n"
      "+----+-------------------+---------------------+----------------+\n"
      "|  1 |             4.000 |             310.500 |         12.500 |\n"
      "+----+-------------------+---------------------+----------------+\n";
  const std::string server = "python3 -m sglang.launch_server --model m --speculative-algorithm EAGLE ";
  const auto runs = posted_runs(
      server + "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4\n" + table,
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].times.tpot_ms == 9.0);
  CHECK(runs[1].concurrency == 4.0);
  // A tree has no draft length; without a command line nothing is known.
  CHECK_FALSE(
      posted_runs(server + "--speculative-num-steps 3 --speculative-eagle-topk 4\n" + table, "table").at(0).gamma);
  CHECK(posted_runs(table, "table").at(0).decoding == Decoding::unknown);
  CHECK(posted_runs("sglang serve --speculative-algorithm EAGLE\n" + table, "table").at(1).decoding ==
        Decoding::speculative);
  // Draft lengths below no heading, which tell the rows apart.
  CHECK(posted_runs("|  | tok/s | TPOT |\n|--|--|--|\n| 0 | 50 | 20.0 |\n", "table").at(0).decoding == Decoding::plain);
}

TEST_CASE("vLLM's counters in a record: drafts are steps, draft tokens those of all, a list the positions") {
  const auto runs = posted_runs(
      R"([{"n": 20, "tau": 2.5, "num_drafts": 40, "num_draft_tokens": 120, "num_accepted_tokens": 60,
           "acceptance_per_pos": [0.75, 0.5, 0.25], "label": "head"},
          {"num_drafts": 40, "num_draft_tokens": 120, "num_accepted_tokens": 52, "acceptance_per_pos": [28, 16, 8]}])",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].acceptance->steps == 40);
  CHECK(runs[0].acceptance->accepted_at == std::vector<std::int64_t>{30, 20, 10});
  CHECK(runs[1].acceptance->accepted_at == std::vector<std::int64_t>{28, 16, 8});
  const auto prefixed = posted_runs(
      R"([{"spec_decode_num_drafts": 400, "spec_decode_num_draft_tokens": 400, "spec_decode_num_accepted_tokens": 300}])",
      "table");
  CHECK(prefixed.at(0).acceptance->steps == 400);
  CHECK(prefixed.at(0).gamma == 1);
}

TEST_CASE("runs of a document by their names are rows of a table, and no run is lost in another") {
  const auto runs = posted_runs(
      R"({"set": "chat", "results": {
           "mtp": {"n_drafts": 400, "n_draft_tokens": 1200, "n_accepted_tokens": 600, "seconds": 4},
           "eagle3": {"n_drafts": 500, "n_draft_tokens": 2500, "n_accepted_tokens": 750, "seconds": 4}}})",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].drafter == "mtp");
  CHECK(runs[0].gamma == 3);
  CHECK(runs[1].drafter == "eagle3");
  CHECK(runs[1].acceptance->accepted_tokens == 750);
}

TEST_CASE("AISBench: of runs with one and with several tokens a chunk, the latter speculate") {
  const auto runs = posted_runs(aisbench("40.0", "41.0") + aisbench("20.0", "48.0"), "aisbench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].acceptance_length == near(2.4));
  CHECK(runs[1].times.iteration_ms == near(48.0));
  CHECK_FALSE(runs[1].gamma);
  // A server may also send several tokens at once without speculation.
  const logs::LogContents alone = read_log(aisbench("20.0", "48.0"));
  CHECK(alone.observations.at(0).decoding == Decoding::unknown);
  CHECK(warns(alone, "W09"));
  CHECK(posted_runs(aisbench("40.0", "41.0"), "aisbench").at(0).decoding == Decoding::unknown);
}

}  // namespace foredraft::tests
