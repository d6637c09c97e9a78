// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("mtp-bench.py: the draft length that words state is that of the run, or its maximum") {
  const std::string run =
      "  code   pred= 200 draft= 300 acc= 100 rate=0.333 tok/s=50.0\n"
      "  prose  pred= 200 draft= 290 acc= 100 rate=0.345 tok/s=48.0\n";
  const auto stated = [&](const std::string& words) { return posted_runs(words + "\n\n" + run, "mtp-bench").at(1); };
  CHECK(stated("With MTP and `--spec-draft-n-max 4` it is faster:").gamma == 4);
  CHECK(stated("With MTP and `--spec-draft-n-max 4` it is faster:").adaptive == true);
  CHECK(stated(R"(args: "--spec-draft-n-max", "3")").gamma == 3);
  CHECK_FALSE(stated("n_max=3 as it was").adaptive);
  CHECK_FALSE(stated("n_max=2 as it was").gamma);  // 2.95 tokens a step were drafted
  CHECK_FALSE(stated("n_max=3, later n_max=4").gamma);
}

TEST_CASE("the prompt before a test of output is that of its request") {
  using Contexts = std::vector<std::optional<double>>;
  const auto contexts = [](std::string_view heading, std::string_view rows) {
    const std::string head =
        "| model | test | " + std::string(heading) + " | peak t/s |\n|---|---|---|---|\n" + std::string(rows);
    Contexts found;
    for (const auto& run : posted_runs("MTP off:\n\n" + head, "table")) {
      CHECK(run.decoding == Decoding::plain);
      CHECK_FALSE(run.times.output_tokens_per_s);
      found.push_back(run.stratum.context_tokens);
    }
    return found;
  };
  const std::string_view rows =
      "| m | pp256 | 2900.0 | |\n| m | tg64 | 25.0 | |\n| m | pp512 | 2800.0 | |\n| m | tg64 | 24.0 | |\n"
      "| m | pp512 @ d3000 | 2500.0 | |\n| m | tg64 @ d3000 | 22.0 | |\n| n | tg64 | 11.0 | |\n";
  CHECK(contexts("t/s (req)", rows) == Contexts{288.0, 544.0, 3544.0, {}});
  CHECK(contexts("t/s", rows) == Contexts{{}, {}, {}, {}});  // of llama-bench, perhaps
  CHECK(contexts("t/s (req)", "| m | pp256 | 2900.0 | |\n| m | tg64 | 25.0 | |\n") == Contexts{{}});  // all the same
  const auto omlx = [](std::string_view separator) {
    const std::string sep(separator);
    return posted_runs("MTP off\n\nTest            TTFT(ms)   TPOT(ms)   pp TPS   tg TPS\npp 512" + sep +
                           "tg 64    900.0   40.0   569.1   25.2\npp 2048" + sep +
                           "tg 64    990.0   44.0   598.3   22.9\n",
                       "table");
  };
  for (const char* separator : {"/", " / ", ", "}) {
    REQUIRE(omlx(separator).size() == 2);
    CHECK(omlx(separator)[0].stratum.context_tokens == 544.0);
    CHECK(omlx(separator)[1].stratum.context_tokens == 2080.0);
    CHECK(omlx(separator)[1].times.tpot_ms == 44.0);
  }
}

TEST_CASE("rows of llama-benchy draft if the only statement beside them is that its server does") {
  const std::string table =
      "| model | test | t/s | ttfr (ms) |\n|--|--|--|--|\n| m | pp512 | 900.0 | 600.0 |\n| m | tg32 | 25.0 | |\n"
      "| m | tg32 @ d1024 | 24.0 | |\n\nllama-benchy (0.3.8)\n\n";
  const std::string config =
      "command: >\n  --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'\n";
  const auto decoding = [&](const std::string& text) { return posted_runs(text, "table").at(0).decoding; };
  const logs::LogContents contents = read_log(table + config);
  CHECK(contents.observations.at(1).decoding == Decoding::speculative);
  CHECK(contents.observations.at(1).gamma == 2);
  CHECK(warns(contents, "W22"));
  CHECK(contents.observations.at(0).stratum.context_tokens == 512.0 + 16.0);  // half of the output
  CHECK_FALSE(contents.observations.at(1).stratum.context_tokens);            // the prompt behind it is not known
  CHECK(contents.observations.at(1).stratum.category == "depth 1024");
  CHECK(decoding(table) == Decoding::unknown);
  CHECK(decoding(table + config + "Without MTP it is slower.\n") == Decoding::unknown);
  CHECK(decoding(table + "  # --spec-draft-n-max 2\n") == Decoding::unknown);
  CHECK(decoding(table + "llama-server -md d.gguf --draft-p-min 0.5\n  # --spec-draft-n-max 2\n") == Decoding::unknown);
  CHECK(decoding(table + config + config) == Decoding::unknown);
  CHECK(decoding(table + "I tried num_speculative_tokens=2, too.\n") == Decoding::unknown);
}

TEST_CASE("SpecForge: lines of its benchmark of settings, with the throughput of all requests") {
  const auto line = [](int steps, int topk, const std::string& length) {
    return R"({"batch_size": 4, "steps": )" + std::to_string(steps) + R"(, "topk": )" + std::to_string(topk) +
           R"(, "num_draft_tokens": 8, "acc_length": )" + length +
           R"(, "duration": 20.5, "throughput": 400.0, "completion_tokens": 8200, "benchmark": "math"})" + "\n";
  };
  const auto runs = posted_runs(line(0, 0, "1.0") + line(3, 1, "2.5") + line(7, 8, "3.5"), "specforge");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.output_tokens_per_s == 400.0);
  CHECK(runs[0].times.duration_s == 20.5);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].requests == 4.0);
  CHECK(runs[1].acceptance_length == 2.5);
  CHECK(runs[1].stratum.category == "math");
  CHECK_FALSE(runs[2].gamma);
  CHECK_FALSE(runs[1].tree);
  CHECK(runs[2].tree == logs::DraftTree{.steps = 7, .width = 8, .tokens = 8});
}

TEST_CASE("a script's summary of each arm below its name, with the draft length that it states") {
  const std::string drafts =
      "DFlash (block_size=8)\n  Output tokens (total / mean)            4000 / 400.0\n"
      "  TTFT mean / p50 / p95                   1.500s / 1.400s / 1.900s\n"
      "  Per-decode-token latency                20.00ms\n  Decode throughput                       50.00 tok/s\n"
      "  -- acceptance\n  Mean acceptance length                  3.10\n"
      "  Gamma (tokens per proposal)             7\n  Draft calls / verify steps              1290 / 1290\n\n";
  const std::string plain =
      "Baseline (block_size=1, drafter unused)\n  Output tokens (total / mean)            3900 / 390.0\n"
      "  Per-decode-token latency                40.00ms\n  Decode throughput                       25.00 tok/s\n\n";
  const auto runs = posted_runs(drafts + plain + "DFlash vs baseline\n  Decoding speedup   2.00x\n", "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 7);
  CHECK(runs[0].acceptance_length == near(3.1));
  CHECK(runs[0].times.tpot_ms == 20.0);
  CHECK(runs[0].times.ttft_ms == near(1500.0));
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].times.tpot_ms == 40.0);
  CHECK(posted_runs(plain + drafts, "small-bench").at(0).decoding == Decoding::plain);
}

TEST_CASE("the options of an SGLang server below or above a table are the draft length of its rows") {
  const std::string card =
      "| Data | Base tok/s | EAGLE-3 tok/s | accept length |\n|---|---|---|---|\n| code | 60 | 120 | 2.9 |\n";
  const auto usage = [&](const std::string& options) {
    return card + "\n```bash\npython -m sglang.launch_server --model m \\\n  --speculative-algorithm EAGLE3 \\\n" +
           options + "```\n";
  };
  const auto gamma = [](const std::string& text) { return posted_runs(text, "table").at(1).gamma; };
  const std::string three =
      "  --speculative-num-steps 3 \\\n  --speculative-eagle-topk 1 \\\n  --speculative-num-draft-tokens 4\n";
  CHECK(gamma(usage(three)) == 3);
  CHECK_FALSE(gamma(
      usage("  --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 6\n")));  // a tree
  CHECK_FALSE(gamma(usage(three) + "or for latency: --speculative-num-steps 5 --speculative-eagle-topk 1\n"));
  CHECK_FALSE(gamma(usage(three) + "With k=2 it is slower.\n"));
  // A bench that starts the server itself: requests, steps, width, tokens.
  const std::string bench = "python bench_eagle3.py --model m --speculative-algorithm EAGLE3 --config-list ";
  const std::string rows =
      "|**Bench**|**Throughput (tok/s)**|**Accept Length**|\n|---|---|---|\n|**a**|200|2.5|\n|**b**|210|3.1|\n";
  const auto one = posted_runs(bench + "1,3,1,4 --dtype bfloat16\n\n" + rows, "table");
  REQUIRE(one.size() == 2);
  CHECK(one[0].gamma == 3);
  CHECK(one[1].concurrency == 1.0);
  CHECK_FALSE(posted_runs(bench + "1,3,1,4 1,5,1,6\n\n" + rows, "table").at(0).gamma);
}

}  // namespace foredraft::tests
