// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "logs/arm_order.hpp"
#include "logs/captions.hpp"
#include "logs/spoken_options.hpp"
#include "logs/table_shapes.hpp"
#include "tests/logs/logs_testing.hpp"

/// What sentences, options and names of containers above runs say of them.
namespace foredraft::tests {
namespace {

using logs::arm_in_caption;
using logs::Decoding;
using logs::load_in_caption;
using logs::LogContents;
using logs::Observation;
using logs::spoken_options;

/// The only run at a load.
const Observation& run_at(const LogContents& read, double load, Decoding decoding) {
  const auto is = [&](const Observation& one) { return one.concurrency == load && one.decoding == decoding; };
  REQUIRE(std::ranges::count_if(read.observations, is) == 1);
  return *std::ranges::find_if(read.observations, is);
}

}  // namespace

TEST_CASE("a text whose options let one request run at a time states the load of its tables") {
  const std::string table = "| config | TPOT (ms) |\n|---|---|\n| baseline | 21 |\n| MTP K=2 | 14 |\n";
  const auto load_below = [&](const std::string& text) {
    return posted_runs("Our box, " + text + ", five prompts.\n\nThe numbers we got:\n\n" + table, "table")
        .at(0)
        .concurrency;
  };
  for (const char* text : {"`--concurrency 1`",
                           "client with --max-concurrency=1",
                           "llama-server -np 1 -fa on",
                           "`--parallel 1`",
                           "--max-num-seqs 1",
                           "--parallel 1 and --concurrency 1",
                           "one request",
                           "T = 0 (single stream)",
                           "a single user only",
                           "at one client",
                           "np 1",
                           "-np 1, ctx 4096",
                           "n_parallel 1, 24 GB",
                           "parallel 1",
                           "12 prompts, sequentially",
                           "sequential",
                           "one slot",
                           "1 user",
                           "at 1 client",
                           "1 request at a time",
                           "users=1",
                           "clients: 1",
                           "sessions = 1",
                           "30 requests one after another",
                           "questions sent one at a time",
                           "one-at-a-time",
                           "back-to-back requests",
                           "samples run one by one"})
    CHECK(load_below(text) == 1.0);
  for (const char* text :
       {"`--concurrency 8`", "--concurrency 1 4 16", "--concurrency 1, 4", "--parallel 4 --concurrency 1",
        "--parallel 16", "one --np", "one request failed", "single user or 8 concurrent requests",
        "one user, then 4 and 8 concurrent requests", "one client with concurrency 4", "np 4", "users=4",
        "11 user agents", "1 user left", "users: 1, then 8 users", "tensor parallel 1", "4 runs, one after the other",
        "tokens one at a time", "verified sequentially"})
    CHECK_FALSE(load_below(text));
  const auto own = posted_runs(
      "All with `--concurrency 1`.\n\nResults:\n\n| config | concurrency | TPOT (ms) |\n|---|---|---|\n"
      "| baseline | 4 | 21 |\n| MTP K=2 | 4 | 14 |\n",
      "table");
  CHECK(own.at(0).concurrency == 4.0);
  const auto words = [](const std::string& slots) {
    return posted_runs("$ llama-server -m a.gguf " + slots + "\nplain: 20 tok/s\nwith MTP: 31 tok/s\n", "prose").at(0);
  };
  CHECK(words("--parallel 1").concurrency == 1.0);
  CHECK_FALSE(words("--parallel 2").concurrency);
  CHECK_FALSE(posted_runs("A single stream.\nMTP: acceptance length about 2.3 of all\n", "prose").at(0).concurrency);
}

TEST_CASE("options in the line above name its arm") {
  struct Case {
    const char* caption;
    double gamma;
    const char* drafter;
  };
  for (const Case& one :
       {Case{"with `--speculative-algorithm EAGLE3 --speculative-num-steps 4 --speculative-eagle-topk 1 "
             "--speculative-num-draft-tokens 5`:",
             4.0, "eagle3"},
        Case{"### then `--speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'`", 2.0, "mtp"},
        Case{"now --speculative-config={\"method\":\"eagle\",\"num_speculative_tokens\":5}", 5.0, "eagle"},
        Case{"engine.py, `speculative_config={'method': 'mtp', 'num_speculative_tokens': 3}`:", 3.0, "mtp"},
        Case{"`--spec-type draft-mtp --spec-draft-n-max 6`", 6.0, "mtp"},
        Case{"`-ngl 99 -fa on --spec-type draft-mtp` `--draft-max 3`, second card", 3.0, "mtp"},
        Case{"MTP with `--spec-draft-n-max 5`", 5.0, "mtp"}, Case{"## steps 2, draft tokens 3", 2.0, nullptr},
        Case{"### 5 steps, topk 1, 6 draft tokens", 5.0, nullptr},
        Case{"MTP, K = 3 (`--temp 0 --spec-type draft-mtp`)", 3.0, "mtp"}}) {
    CAPTURE(one.caption);
    const auto arm = arm_in_caption(one.caption);
    REQUIRE(arm);
    CHECK_FALSE(arm->plain);
    CHECK(arm->gamma == one.gamma);
    CHECK(arm->drafter == (one.drafter ? std::optional<std::string>(one.drafter) : std::nullopt));
  }
  for (const std::string algorithm : {"", "--speculative-algorithm EAGLE3 "}) {
    const auto tree = arm_in_caption("# " + algorithm +
                                     "--speculative-num-steps 4 --speculative-eagle-topk 8 "
                                     "--speculative-num-draft-tokens 32");
    REQUIRE(tree);
    CHECK_FALSE(tree->gamma);
    CHECK(tree->drafter.value_or("") == (algorithm.empty() ? "" : "eagle3"));
    CHECK(tree->tree == logs::DraftTree{.steps = 4, .width = 8, .tokens = 32});
  }
  for (const char* const plain :
       {"without `--speculative-config`:", "Without MTP (`vllm serve someone/some-7B-FP8`):",
        "no --spec-type, same prompts:", "`--spec-type none`", "with `--speculative-algorithm NONE`:", "`--no-mtp`",
        "then `--speculative-config '{\"num_speculative_tokens\": 0}'`:"}) {
    CAPTURE(plain);
    const auto arm = arm_in_caption(plain);
    REQUIRE(arm);
    CHECK(arm->plain);
  }
  for (const char* const none :
       {"with and without `--speculative-config '{\"method\": \"mtp\"}'`:",
        "`--spec-draft-n-max 2` vs `--draft-max 4`:", "`--spec-draft-n-max 2` and `--spec-draft-n-max 4`",
        "`--draft-max 2` first, `--draft-max 4` later:", "`--ctx-size 4096 --parallel 1`:",
        "$ llama-server -m a.gguf --spec-type draft-mtp", "python3 mtp-bench.py"}) {
    CAPTURE(none);
    CHECK_FALSE(arm_in_caption(none));
  }
  CHECK_FALSE(arm_in_caption("`-md tiny.gguf --draft-max 8`")->gamma);  // only the most
  CHECK(spoken_options("a `--draft-max 8` b").words == "a speculation b");
  CHECK(spoken_options("top-k 20, A-7B-draft").mentions == 0);
}

TEST_CASE("words behind a setup lead to the arm of what is below") {
  for (const char* const plain : {"Two H100s, engine 0.9, Qwen3-30B in FP8, prompts of 2k tokens, first without MTP:",
                                  "My laptop, no speculation:"}) {
    CAPTURE(plain);
    const auto arm = arm_in_caption(plain);
    REQUIRE(arm);
    CHECK(arm->plain);
  }
  CHECK_FALSE(arm_in_caption("no MTP on one card, then with EAGLE:"));
  CHECK_FALSE(arm_in_caption("MTP, compared with none:"));
  CHECK_FALSE(arm_in_caption("My laptop, with MTP"));  // no line that leads
}

TEST_CASE("the line that leads to a table names its arm, over a command or the title that a tool prints") {
  const std::string head =
      "| batch size | latency (s) | output throughput (tok/s) | acc length | ITL (ms) |\n"
      "| --- | --- | --- | --- | --- |\n";
  const std::string title = "Input lens: (64,). Output lens: (128,).\n";
  const std::string plain = "| 1 | 2.0 | 50.0 | n/a | 20.0 |\n| 4 | 3.0 | 160.0 | n/a | 25.0 |\n";
  const std::string drafts = "| 1 | 1.0 | 100.0 | 2.5 | 10.0 |\n| 4 | 2.9 | 200.0 | 2.4 | 20.0 |\n";
  const LogContents read = read_log("off:\n\nbaseline:\n\n" + title + head + plain +
                                    "\nand with `--speculative-algorithm EAGLE --speculative-num-steps 3 "
                                    "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4`:\n\n" +
                                    title + head + drafts);
  REQUIRE(read.observations.size() == 4);
  CHECK(run_at(read, 4.0, Decoding::plain).times.output_tokens_per_s == 160.0);
  CHECK(run_at(read, 4.0, Decoding::speculative).times.output_tokens_per_s == 200.0);
  CHECK(run_at(read, 1.0, Decoding::speculative).gamma == 3);

  const std::string command = "```bash\nuvx llama-benchy --model m --tg 64 --concurrency 2 8\n```\n\n";
  const auto benchy = [](double one, double all) {
    return fmt::format("| model | test | t/s (total) | t/s (req) |\n|:--|--:|--:|--:|\n| m | tg64 (c2) | {} | {} |\n\n",
                       all, one);
  };
  const LogContents tests =
      read_log("One box, v0.1, MTP off:\n\n" + command + benchy(10, 19) + "MTP, K = 2:\n\n" + command + benchy(20, 36));
  REQUIRE(tests.observations.size() == 2);
  CHECK(run_at(tests, 2.0, Decoding::plain).times.output_tokens_per_s == 19.0);
  CHECK(run_at(tests, 2.0, Decoding::speculative).gamma == 2);
  const LogContents passed = read_log("without MTP:\n\nAll of this on one box.\n\n" + benchy(10, 19));
  CHECK(passed.observations.front().decoding == Decoding::unknown);
}

TEST_CASE("the line above a fence of code names the arm of the requests in it") {
  const auto bench = [](int drafted, int accepted, double speed) {
    std::string text = "```\npython mtp-bench.py\n";
    for (const char* const name : {"poem", "proof"})
      text += fmt::format("  {}  pred= 100 draft= {} acc= {} rate=n/a tok/s={}\n", name, drafted, accepted, speed);
    return text + fmt::format(
                      "Aggregate: {{\n  \"total_predicted\": 200,\n  \"total_draft\": {},\n"
                      "  \"total_draft_accepted\": {}\n}}\n```\n",
                      2 * drafted, 2 * accepted);
  };
  const LogContents read =
      read_log("plain\n" + bench(0, 0, 20.0) + "`--spec-type draft-mtp --spec-draft-n-max 2`\n" + bench(80, 60, 30.0) +
               "`--spec-type draft-mtp --spec-draft-n-max 4`\n" + bench(140, 65, 28.0));
  REQUIRE(read.observations.size() == 6);
  const std::vector<std::optional<std::int64_t>> gammas{std::nullopt, std::nullopt, 2, 2, 4, 4};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(read.observations[i].gamma == gammas[i]);
    CHECK((read.observations[i].decoding == Decoding::plain) == (i < 2));
    CHECK(read.observations[i].stratum.category == (i % 2 == 0 ? "poem" : "proof"));
  }
}

TEST_CASE("names of containers are arms, if they differ only so") {
  const auto tables = [](const std::string& prefix, double itl, double speed) {
    std::string text;
    for (const std::string& line :
         {std::string("| Benchmark  | ITL        ||"), std::string("| Strategy   | ms         ||"),
          std::string("|            | Mdn  | p95  |"), fmt::format("| concurrent | {:.1f} | 30.0 |", itl),
          std::string("| Benchmark  | Requests               |||| Output Tokens  ||"),
          std::string("| Strategy   | Per Sec   || Concurrency || Per Sec        ||"),
          std::string("|            | Mdn | Mean | Mdn   | Mean | Mdn    | Mean   |"),
          fmt::format("| concurrent | 2.0 | 2.0  | 4.0   | 3.9  | {0:.1f}  | {0:.1f}  |", speed)})
      text += prefix + line + "\n";
    return text;
  };
  struct Names {
    const char *plain, *drafting;
  };
  for (const Names& names : {Names{"load-baseline-1  | ", "load-mtp-1  | "}, Names{"bench-1 | ", "bench-eagle3-1 | "},
                             Names{"[pod/gen-nospec-7d9f8b6c5-x2k4q/main] ", "[pod/gen-spec-6c5d7f9b8-qdfbx/main] "}}) {
    CAPTURE(names.plain);
    const LogContents read = read_log(tables(names.plain, 20.0, 180.0) + tables(names.drafting, 10.0, 330.0));
    REQUIRE(read.observations.size() == 2);
    CHECK(run_at(read, 4.0, Decoding::plain).times.output_tokens_per_s == 180.0);
    CHECK(run_at(read, 4.0, Decoding::speculative).times.output_tokens_per_s == 330.0);
    CHECK_FALSE(run_at(read, 4.0, Decoding::speculative).gamma);
  }
  for (const Names& names : {Names{"bench-1  | ", "server-mtp-1 | "}, Names{"load-a-1 | ", "load-b-1 | "},
                             Names{"load-mtp-1 | ", "load-mtp-2 | "}}) {
    CAPTURE(names.plain);
    const LogContents read = read_log(tables(names.plain, 20.0, 180.0) + tables(names.drafting, 10.0, 330.0));
    CHECK(std::ranges::all_of(read.observations,
                              [](const Observation& one) { return one.decoding == Decoding::unknown; }));
  }
  const std::string one = tables("load-baseline-1  | ", 20.0, 180.0), other = tables("load-mtp-1  | ", 10.0, 330.0);
  const LogContents mixed = read_log(one + other + one);
  CHECK(std::ranges::all_of(mixed.observations,
                            [](const Observation& run) { return run.decoding == Decoding::unknown; }));
}

TEST_CASE("a batch is the load, if the line above says nothing else of it") {
  CHECK(load_in_caption("One card, batch 4, 5 runs each.") == "4");
  CHECK(load_in_caption("Batch 16: tokens/s") == "16");
  CHECK(load_in_caption("Results (batch 2)") == "2");
  CHECK_FALSE(load_in_caption("One card, batch 1, 4 and 8"));
  CHECK_FALSE(load_in_caption("One card, batch 1/8"));
  CHECK_FALSE(load_in_caption("batch 3 of 10 arrived"));
  const LogContents read = read_log(
      "EAGLE-3 on one card, batch 1, 2 runs each.\n\n| K | tok/s |\n|---|---|\n| baseline | 50 |\n| 3 | 90 |\n");
  CHECK(run_at(read, 1.0, Decoding::plain).times.tpot_ms == 20.0);
}

TEST_CASE("a load above a table with times of tokens is that of its runs, however it is written") {
  for (const char* load :
       {"max-concurrency 6", "max_concurrency=6", "num-concurrent 6", "`num_concurrent=6`", "concurrency of 6",
        "concurrency was 6", "concurrent requests: 6", "6-way concurrency", "6 concurrency", "sent 6 concurrent"})
    CHECK(load_in_caption(fmt::format("One box ({}), greedy:", load)) == "6");
  for (const char* other : {"6 concurrent 128-token requests", "concurrency of 2, 4 and 6", "for concurrent 128k texts",
                            "--max-concurrent-requests 6"})
    CHECK_FALSE(load_in_caption(fmt::format("One box, {}:", other)));
  constexpr const char* rows = "\n\n| K | tok/s | TPOT (ms) |\n|---|---|---|\n| 0 | {} | 25.0 |\n| 2 | {} | 16.0 |\n";
  const LogContents all = read_log("Max-concurrency 6:" + fmt::format(fmt::runtime(rows), 221.0, 340.0));
  CHECK(run_at(all, 6.0, Decoding::plain).times.output_tokens_per_s == 221.0);
  CHECK(run_at(all, 6.0, Decoding::speculative).times.tpot_ms == 16.0);
  const LogContents each = read_log("Max-concurrency 6:" + fmt::format(fmt::runtime(rows), 39.1, 60.4));
  CHECK_FALSE(run_at(each, 6.0, Decoding::plain).times.output_tokens_per_s);
  CHECK(run_at(each, 6.0, Decoding::speculative).times.tpot_ms == 16.0);
}

TEST_CASE("a name above a line of = is that of all below it, up to the next name or such line") {
  const auto table = [](std::string_view above, double speed) {
    return fmt::format(
        "{}\n\nSingle requests\n\nTest          TTFT(ms)   TPOT(ms)   tg TPS\n"
        "pp512/tg64    900.0      {:.2f}      {:.1f}\n\n",
        above, 1000.0 / speed, speed);
  };
  using Kinds = std::vector<Decoding>;
  const auto kinds = [](const std::string& text) {
    Kinds found;
    for (const auto& run : read_log(text).observations) found.push_back(run.decoding);
    return found;
  };
  constexpr Decoding off = Decoding::plain, on = Decoding::speculative, unknown = Decoding::unknown;
  for (const char* title :
       {"\nbench 0.9\nmodel: big\n======", "\n\nbench 0.9\nhttps://b.example\n======", "\n======"}) {
    const std::string text = table(std::string("MTP off") + title, 20) + table(std::string("MTP on") + title, 40);
    CHECK(kinds(text) == Kinds{off, on});
  }
  const std::string nameless = "bench 0.9\nmodel: big\n======";
  CHECK(kinds(table("MTP off\n" + nameless, 20) + table(nameless, 30)) == Kinds{off, unknown});
  CHECK(kinds(table("MTP off\nbench 0.9\nmodel: big", 20)) == Kinds{unknown});
  CHECK(kinds(table("MTP off\n1\n2\n3\n4\n5\n6\n7\n8\n9\n======", 20)) == Kinds{unknown});
}

TEST_CASE("settings of bench_speculative.py are compared with its run without steps") {
  const auto line = [](int batch, int steps, int topk, int tokens, double length, double seconds) {
    return fmt::format(
        R"({{"batch_size": {}, "steps": {}, "topk": {}, "num_draft_tokens": {}, "acc_length": {}, "step_time": {}, "speed": {}, "completion_tokens": 64.0}})"
        "\n",
        batch, steps, topk, tokens, length, seconds, length / seconds);
  };
  const LogContents read = read_log(line(1, 0, 0, 0, 1.0, 0.01) + line(1, 3, 1, 4, 2.5, 0.0125) +
                                    line(1, 4, 8, 16, 3.2, 0.02) + line(1, 4, 8, 32, 3.5, 0.025));
  REQUIRE(read.observations.size() == 4);
  CHECK(run_at(read, 1.0, Decoding::plain).times.tpot_ms == 10.0);
  CHECK(read.observations[1].gamma == 3);
  CHECK_FALSE(read.observations[1].drafter);
  CHECK(read.observations[1].times.iteration_ms == 12.5);
  CHECK(read.observations[1].times.tpot_ms == 5.0);
  CHECK_FALSE(read.observations[2].gamma);
  CHECK(read.observations[2].tree == logs::DraftTree{.steps = 4, .width = 8, .tokens = 16});
  CHECK(read.observations[3].tree == logs::DraftTree{.steps = 4, .width = 8, .tokens = 32});
}

TEST_CASE("the heading above a command and its answer in a fence leads to the table below") {
  const auto part = [](std::string_view heading, std::string_view length, std::string_view speed) {
    return fmt::format(
        "## {}\n$ python3 -m sglang.test.send_one\n```python\nimport math\nroot = math.sqrt({})\n```\n\n"
        "+-------------+--------+------------+-----------------+\n"
        "| Latency (s) | Tokens | Acc Length | Speed (token/s) |\n"
        "+-------------+--------+------------+-----------------+\n"
        "|    2.000    |  200   |   {}    |     {}      |\n"
        "+-------------+--------+------------+-----------------+\n\n",
        heading, speed, length, speed);
  };
  const LogContents read =
      read_log(part("no spec", "1.000", "100.00") + part("steps 1, draft tokens 2", "1.800", "150.00") +
               part("steps 3, draft tokens 4", "2.700", "200.00"));
  REQUIRE(read.observations.size() == 3);
  CHECK(read.observations[0].decoding == Decoding::plain);
  CHECK(read.observations[1].gamma == 1);
  CHECK(read.observations[2].gamma == 3);
  for (const logs::Observation& run : read.observations) CHECK_FALSE(run.stratum.category);
}

TEST_CASE("headings name the runs below them, whatever stands between") {
  const auto answer = [](const std::string& speed) {
    return "\n```\n[ Prompt: 300.0 t/s | Generation: " + speed + " t/s ]\n```\n\n";
  };
  using Kinds = std::vector<Decoding>;
  const auto kinds = [](const std::string& text) {
    Kinds found;
    for (const auto& one : posted_runs(text, "local-prompts")) found.push_back(one.decoding);
    return found;
  };
  const Kinds told{Decoding::plain, Decoding::speculative}, unknown{Decoding::unknown, Decoding::unknown};
  const std::string command = "\n`python3 -m my.client --port 80`\n", words = "\nAll as said, nothing else ran.\n";
  CHECK(kinds("## Baseline\n" + command + answer("20.0") + "## EAGLE-3, K=2\n" + words + answer("31.0")) == told);
  CHECK(kinds("### No MTP\n" + words + command + answer("20.0") + "### MTP\n" + words + answer("31.0")) == told);
  // Below them, other levels say nothing of the arm; at theirs, they end what it is.
  CHECK(kinds("# Baseline\n## Prose\n" + words + answer("20.0") + "# MTP\n## Code\n" + words + answer("31.0")) == told);
  CHECK(kinds("# Baseline\n" + words + answer("20.0") + "# MTP\n" + words + answer("31.0") + "# My laptop\n" + words +
              answer("9.0")) == Kinds{Decoding::plain, Decoding::speculative, Decoding::unknown});
  // A title that names a drafter is that of a text about it, and another command is not of the heading.
  CHECK(kinds("# MTP on my card\n" + words + answer("20.0") + "## Next\n" + words + answer("31.0")) == unknown);
  CHECK(kinds("# Baseline of my card\n" + words + "1 user:\n" + answer("20.0") + "## No\n2 users:\n" +
              answer("31.0")) == unknown);
  // Comments of commands are above all runs.
  CHECK(kinds("# baseline\nstart --port 80\n# MTP\nstart --port 81 --fast\n\n" + words + answer("20.0") +
              answer("31.0")) == unknown);
  CHECK(kinds("## Baseline\n" + words + answer("20.0") + command + answer("22.0") + "## MTP\n" + words +
              answer("31.0"))[1] == Decoding::unknown);
}

TEST_CASE("a letter before MTP is of its name") {
  for (const std::string name : {"LMTP", "l-mtp", "MTP", "xMTP"}) {
    const auto on = logs::arm_in_caption(name + " on"), off = logs::arm_in_caption(name + ": off");
    REQUIRE(on);
    REQUIRE(off);
    CHECK_FALSE(on->plain);
    CHECK(off->plain);
    CHECK(logs::arm_in_caption("with " + name + ", K=3:")->gamma == 3.0);
  }
  CHECK_FALSE(logs::arm_in_caption("SMTP on"));
  CHECK(logs::arm_in_caption("nomtp:")->plain);
}

TEST_CASE("a long line that opens with an arm leads to its scrape") {
  const auto scrape = [](const std::string& lead, const std::string& seconds) {
    return lead +
           "\n\n$ curl -s front:8000/metrics\n# TYPE dynamo_frontend_inter_token_latency_seconds histogram\n"
           "dynamo_frontend_inter_token_latency_seconds_sum{model=\"m\"} " +
           seconds + "\ndynamo_frontend_inter_token_latency_seconds_count{model=\"m\"} 4000\n\n";
  };
  const std::string plain =
      scrape("Baseline server (plain.yaml), after a warm-up of ten minutes, concurrency 2:", "80");
  for (const std::string opening :
       {"MTP server (mtp.yaml, 3 draft tokens), ", "With MTP (K=3), restarted since then, "}) {
    const auto runs =
        read_log(plain + scrape(opening + "same load on the same two cards of this host:", "60")).observations;
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].concurrency == 2.0);
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].gamma == 3);
    CHECK(runs[1].drafter == "mtp");
    CHECK(runs[1].concurrency == 2.0);
  }
  const auto other =
      read_log(plain + scrape("MTP server (mtp.yaml, 3 draft tokens), with twice the users of before:", "60"));
  CHECK_FALSE(other.observations.at(1).concurrency);
  // Sentences, and lines whose first words are of the other arm than the others, name none.
  for (const std::string text : {"The MTP heads of this model (27B) are what I have tried since the last week:",
                                 "Baseline server (later with MTP), some minutes after the start of all workers:"})
    CHECK_FALSE(logs::arm_in_caption(text));
}

TEST_CASE("what stands above the only line, which says without a drafter, is with one") {
  const auto answer = [](const std::string& speed) {
    return "```\n[ Prompt: 300.0 t/s | Generation: " + speed + " t/s ]\n```\n\n";
  };
  const auto kinds = [&](const std::string& text) {
    std::vector<Decoding> found;
    for (const Observation& one : read_log(text).observations) found.push_back(one.decoding);
    return found;
  };
  using Kinds = std::vector<Decoding>;
  constexpr Decoding off = Decoding::plain, on = Decoding::speculative, unknown = Decoding::unknown;
  for (const std::string line : {"The same without MTP:", "Same question (no draft model):", "w/o EAGLE",
                                 "MTP off:", "and with speculative decoding turned off:"}) {
    CAPTURE(line);
    const std::string text = "On my small card:\n\n" + answer("31.0") + line + "\n\n" + answer("20.0");
    CHECK(kinds(text) == Kinds{on, off});
    CHECK(warns(read_log(text), "W22"));
  }
  // These deny no drafter, or are not the only ones.
  const std::string above = "On my small card:\n\n" + answer("31.0");
  CHECK(kinds(above + "Baseline:\n\n" + answer("20.0")) == Kinds{unknown, off});
  CHECK(kinds(above + "Without MTP:\n\n" + answer("20.0") + "With MTP:\n\n" + answer("29.0")) ==
        Kinds{unknown, off, on});
  CHECK(kinds(above + "Without MTP:\n\n") == Kinds{unknown});
}

TEST_CASE("a line that names both arms in turn gives them to the two tables or runs below it") {
  const auto table = [](const std::string& first, const std::string& second) {
    return "\n| model | test | t/s | ttfr (ms) |\n|---|---|---|---|\n| lab/m | pp512 | 900.0 | 400 |\n| lab/m | tg64 "
           "| " +
           first + " | |\n| lab/m | tg64 @ d512 | " + second + " | |\n\n";
  };
  const std::string plain = table("25.00", "20.00"), drafts = table("50.00", "30.00");
  using Kinds = std::vector<Decoding>;
  constexpr Decoding off = Decoding::plain, on = Decoding::speculative, unknown = Decoding::unknown;
  const auto kinds = [](const LogContents& read) {
    Kinds found;
    for (const Observation& one : read.observations) found.push_back(one.decoding);
    return found;
  };
  for (const char* line :
       {"My small card, lab/m in some server, first without and then with MTP (num_speculative_tokens 4):",
        "First without, then with MTP (K = 4):", "Without MTP first, then with MTP, K=4.",
        "The baseline, followed by MTP K=4:", "lab/m: first off, second on (MTP, n-max = 4)",
        "First table: baseline. Second table: MTP K=4.", "plain decoding, afterwards MTP K=4",
        "first without and then with `--spec-type draft-mtp --spec-draft-n-max 4`:"}) {
    CAPTURE(line);
    const LogContents read = read_log(std::string(line) + "\n" + plain + "The next one.\n" + drafts);
    CHECK(kinds(read) == Kinds{off, off, on, on});
    CHECK(warns(read, "W22"));
    const LogContents named = read_log(std::string(line) + "\n" + plain + "and with the drafter:\n" + drafts);
    CHECK(kinds(named) == Kinds{off, off, on, on});
  }
  const std::string line =
      "First without and then with EAGLE-3 (num_speculative_tokens 4), a sentence of many words:\n";
  const LogContents swapped = read_log("First with MTP (K = 4), then without:\n" + drafts + "Next.\n" + plain);
  CHECK(kinds(swapped) == Kinds{on, on, off, off});
  CHECK(swapped.observations[0].gamma == 4);
  CHECK(read_log(line + plain + "Next.\n" + drafts).observations[2].gamma == 4);
  CHECK(read_log(line + plain + "Next.\n" + drafts).observations[2].drafter == "eagle-3");
  // Of one table, or three, nothing says which is meant; nor if a table says otherwise, or another line.
  CHECK(kinds(read_log(line + plain)) == Kinds{unknown, unknown});
  CHECK(kinds(read_log(line + plain + "Next.\n" + drafts + "Next.\n" + drafts))[0] == unknown);
  CHECK(kinds(read_log(line + plain + "Without MTP:\n" + drafts))[0] == unknown);
  CHECK(kinds(read_log(line + plain + "First with MTP, then without:\n" + drafts))[0] == unknown);
  CHECK(kinds(read_log(line + plain + "First with MTP, then without:\n" + drafts + "Next.\n" + plain)) ==
        Kinds{unknown, unknown, on, on, off, off});
  for (const char* other :
       {"First without MTP, then I looked on:", "First the baseline, then I saw that MTP is faster:",
        "My numbers with and without MTP, of many runs of the same ten prompts (K = 4):",
        "first with MTP, then with MTP and K = 4:"})
    CHECK_FALSE(logs::arm_order_in(other));
  CHECK_FALSE(arm_in_caption("My numbers with and without a drafter, of many runs of the same prompts (MTP, K = 4):"));
  CHECK_FALSE(arm_in_caption("My numbers with it on and off, of many runs of the same prompts (MTP, K = 4):"));
  CHECK_FALSE(arm_in_caption(line));
  const auto answer = [](const std::string& speed) {
    return "```\n[ Prompt: 300.0 t/s | Generation: " + speed + " t/s ]\n```\n";
  };
  CHECK(kinds(read_log("First without MTP, then with it:\n" + answer("20.0") + "\n" + answer("31.0"))) ==
        Kinds{off, on});
  // Consoles with a run for each load.
  const auto benches = [](const std::vector<int>& loads) {
    std::string text = "First without MTP, then with it (K = 4):\n";
    for (std::size_t i = 0; i < loads.size(); ++i) {
      text += fmt::format("{}batch size: {}\noutput throughput: {}.0 tok/s\n", 2 * i == loads.size() ? "\nNext.\n" : "",
                          loads[i], 30 * loads[i] + static_cast<int>(i));
    }
    return text;
  };
  CHECK(kinds(read_log(benches({1, 8, 1, 8}))) == Kinds{off, off, on, on});
  CHECK(kinds(read_log(benches({1, 8, 1, 16}))) == Kinds{unknown, unknown, unknown, unknown});
  CHECK(kinds(read_log(benches({1, 1, 1, 1}))) == Kinds{unknown, unknown, unknown, unknown});
}

TEST_CASE("runs below settings of other trees have the tree of the line above, or of their command") {
  const std::string options = "--speculative-num-steps 4 --speculative-eagle-topk 8 --speculative-num-draft-tokens ";
  const auto answer = [](const std::string& above, const std::string& speed) {
    return above + "\n```\n[ Prompt: 300.0 t/s | Generation: " + speed + " t/s ]\n```\n\n";
  };
  const std::string server = "$ python -m sglang.launch_server --model m --speculative-algorithm EAGLE " + options;
  const auto console = [&](const std::string& tokens, const std::string& length) {
    return server + tokens + "\n============ Serving Benchmark Result ============\nBackend: sglang\n" +
           "Successful requests: 9\nBenchmark duration (s): 9.0\nMax request concurrency: 1\n" +
           "Output token throughput (tok/s): 90.0\nMean TPOT (ms): 11.0\nAccept length: " + length + "\n";
  };
  for (const std::string& text : {answer("`" + options + "16`:", "20.0") + answer("`" + options + "32`:", "21.0") +
                                      answer("Without speculation:", "15.0"),
                                  console("16", "2.40") + console("32", "2.60")}) {
    CAPTURE(text);
    const auto runs = read_log(text).observations;
    REQUIRE(runs.size() >= 2);
    CHECK(runs[0].tree == logs::DraftTree{.steps = 4, .width = 8, .tokens = 16});
    CHECK(runs[1].tree == logs::DraftTree{.steps = 4, .width = 8, .tokens = 32});
  }
}

TEST_CASE("a heading above a console states the load of requests that were all sent at once") {
  const auto console = [](const std::string& heading, double tokens_per_s, double tpot_ms) {
    return fmt::format(
        "{}\n```\n============ Serving Benchmark Result ============\nSuccessful requests:  120\n"
        "Benchmark duration (s):  50.00\nTotal generated tokens:  24000\nOutput token throughput (tok/s):  {:.2f}\n"
        "Mean TPOT (ms):  {:.2f}\nMean ITL (ms):  {:.2f}\n```\n",
        heading, tokens_per_s, tpot_ms, tpot_ms);
  };
  for (const char* words : {"C=32", "concurrency 32", "batch size: 32", "32 concurrent requests"}) {
    CAPTURE(words);
    const auto run =
        posted_runs(console("**" + std::string(words) + ", no MTP**", 1000.0, 30.0), "bench-serving").at(0);
    CHECK(run.concurrency == 32.0);
    CHECK(run.requests == 32.0);
    CHECK_FALSE(run.offered_requests);
  }
  const auto more = posted_runs(console("**C=512, no MTP**", 1000.0, 30.0), "bench-serving").at(0);
  CHECK(more.offered_requests == 120.0);  // of fewer requests than the load
  CHECK_FALSE(more.concurrency);
  const auto few = posted_runs(console("**C=100, no MTP**", 1000.0, 30.0), "bench-serving").at(0);
  CHECK(few.requests == near(30.0));  // far below the limit
}

TEST_CASE("the repository of a model in a heading is no list of arms") {
  const auto arm =
      arm_in_caption("=== speculator (some-lab/Mule-3.2-40B-speculator.eagle3, num_speculative_tokens 5) ===");
  REQUIRE(arm);
  CHECK_FALSE(arm->plain);
  CHECK(arm->gamma == 5.0);
  for (const char* plain : {"## Without a drafter: some-lab/Mule-40B-it", "--- base ---"}) {
    CAPTURE(plain);
    const auto none = arm_in_caption(plain);
    REQUIRE(none);
    CHECK(none->plain);
  }
  CHECK(arm_in_caption("=== speculators, K = 2 ===")->gamma == 2.0);
  for (const char* several : {"=== MTP/EAGLE-3 ===", "=== baseline/MTP-2 ===", "=== MTP K=2, without/EAGLE-3 ===",
                              "### The baseline of plain/MTP-3", "## with/without MTP"})
    CHECK_FALSE(arm_in_caption(several));
  CHECK_FALSE(arm_in_caption("## some-lab/Mule-40B-eagle3"));  // names a model only
}

}  // namespace foredraft::tests
