// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Postings of several setups, which must not be pooled: engines and models in the names of rows, several tables of one
/// paste, models in lines and in columns; and arms in a list below their unit.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

using Kinds = std::set<std::optional<std::string>>;

Kinds kinds_of(const std::vector<Observation>& runs) {
  Kinds kinds;
  for (const Observation& run : runs) kinds.insert(run.stratum.category);
  return kinds;
}

/// Tables of a plain run and one at K = 2 each, below their captions.
std::string tables(const std::vector<std::pair<std::string, std::pair<double, double>>>& of) {
  std::string text;
  for (const auto& [caption, speeds] : of) {
    text += caption + "\n\n| method | tok/s |\n|---|---|\n| baseline | " + std::to_string(speeds.first) +
            " |\n| MTP K=2 | " + std::to_string(speeds.second) + " |\n\n";
  }
  return text;
}

/// A console of vLLM's client at a limit of 4, with drafts if it has a length.
std::string console(double tpot_ms, std::optional<double> length = {}) {
  const std::string tpot = std::to_string(tpot_ms), itl = std::to_string(tpot_ms * length.value_or(1.0));
  return "============ Serving Benchmark Result ============\nSuccessful requests:                     40\n"
         "Maximum request concurrency:             4\nBenchmark duration (s):                  30.00\n"
         "Total generated tokens:                  8000\nOutput token throughput (tok/s):         266.67\n"
         "Mean TTFT (ms):                          80.00\nMean TPOT (ms):                          " +
         tpot + "\nMean ITL (ms):                           " + itl +
         (length ? "\n---------------Speculative Decoding---------------\nAcceptance length:                       " +
                       std::to_string(*length)
                 : std::string()) +
         "\n==================================================\n\n";
}

}  // namespace

TEST_CASE("rows of several engines are of several setups, wherever their names say it") {
  const auto runs = posted_runs(
      "| setup | decode tok/s |\n|---|---|\n| vLLM 0.11 + EAGLE3 | 84 |\n| vLLM 0.11 baseline | 60 |\n| EAGLE3, SGLang "
      "0.5 | 120 |\n",
      "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].stratum.category == "vLLM 0.11");
  CHECK(runs[1].stratum.category == "vLLM 0.11");
  CHECK(runs[2].stratum.category == "SGLang 0.5");
  CHECK(
      kinds_of(posted_runs("| setup | tok/s |\n|---|---|\n| vLLM baseline | 60 |\n| vLLM + MTP | 84 |\n| MTP K=3 | 90 "
                           "|\n",
                           "table")) == Kinds{std::nullopt});
}

TEST_CASE("a column of models that names the rows tells their models apart, up to what a longer name adds") {
  const auto runs = posted_runs(
      "| model | decode tok/s |\n|---|---|\n| Foo-8B | 60 |\n| Foo-8B baseline | 61 |\n| Foo-8B target only | 61 |\n"
      "| Foo-8B-MTP (K=2) | 84 |\n| Bar-1B, MTP K=2 | 200 |\n",
      "table");
  REQUIRE(runs.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(runs[i].stratum.category == "Foo-8B");
  CHECK(runs[4].stratum.category == "Bar-1B");
}

TEST_CASE("tables of one paste that measure the same run otherwise are of several setups") {
  const auto named = posted_runs(tables({{"### Foo-8B:", {80, 120}}, {"### Bar-32B", {30, 36}}}), "table");
  REQUIRE(named.size() == 4);
  CHECK(named[0].stratum.category == "Foo-8B");
  CHECK(named[3].stratum.category == "Bar-32B");
  CHECK(kinds_of(posted_runs(tables({{"", {80, 120}}, {"", {30, 36}}}), "table")) == Kinds{"table 1", "table 2"});
  CHECK(kinds_of(posted_runs(tables({{"Results", {80, 120}}, {"Results", {30, 36}}}), "table")) ==
        Kinds{"Results", "table 2: Results"});
  const std::string loads =
      "Foo-8B alone:\n\n| K | TPOT (ms) |\n|---|---|\n| 0 | 12 |\n| 2 | 8 |\n\nBar-32B, many users:\n\n| K | "
      "concurrency | TPOT (ms) |\n|---|---|---|\n| 0 | 8 | 40 |\n| 2 | 8 | 30 |\n";
  CHECK(kinds_of(posted_runs(loads, "table")) == Kinds{"Foo-8B alone", "Bar-32B, many users"});
}

TEST_CASE("tables of one setup stay together: repeated runs, arms or loads in captions, a run in both") {
  CHECK(kinds_of(posted_runs(tables({{"Run 1", {80, 120}}, {"Run 2", {70, 130}}}), "table")) == Kinds{std::nullopt});
  CHECK(kinds_of(posted_runs(tables({{"Overview", {80, 120}}, {"Once more", {80, 120}}}), "table")) ==
        Kinds{std::nullopt});
  const std::string arms =
      "### Baseline\n\n| prompt | tok/s |\n|---|---|\n| code | 80 |\n\n### MTP K=2\n\n| prompt | tok/s |\n|---|---|\n"
      "| code | 120 |\n";
  CHECK(kinds_of(posted_runs(arms, "table")) == Kinds{"code"});
  const std::string loads =
      "Concurrency 1\n\n| K | TPOT (ms) |\n|---|---|\n| 0 | 12 |\n| 2 | 8 |\n\nConcurrency 8\n\n| K | TPOT (ms) |\n"
      "|---|---|\n| 0 | 40 |\n| 2 | 30 |\n";
  CHECK(kinds_of(posted_runs(loads, "table")) == Kinds{std::nullopt});
}

TEST_CASE("arms in the captions of several models are compared within each") {
  std::string text;
  for (const auto& [caption, speed] : {std::pair("Foo 8B baseline", "80"),
                                       {"Foo 8B with MTP, K = 2", "120"},
                                       {"Bar 32B baseline", "30"},
                                       {"Bar 32B with MTP, K = 2", "40"}})
    text += std::string("### ") + caption + "\n| prompt | tok/s |\n|---|---|\n| code | " + speed + " |\n\n";
  const auto runs = posted_runs(text, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == "foo 8b / code");
  CHECK(runs[1].stratum.category == "foo 8b / code");
  CHECK(runs[2].stratum.category == "bar 32b / code");
  CHECK(runs[3].stratum.category == "bar 32b / code");
}

TEST_CASE("consoles under several headings that measure otherwise are of several setups") {
  const auto kinds = [](const std::string& text) { return kinds_of(posted_runs(text, "bench-serving")); };
  CHECK(kinds("## Foo-8B\n\nas served\n\n" + console(12.0, 3.2) + "## Bar-32B\n\n" + console(18.0, 2.4)) ==
        Kinds{"Foo-8B", "Bar-32B"});
  CHECK(kinds("## Foo-8B\n### chat\n" + console(12.0, 3.2) + "### code\n" + console(18.0, 2.4)) ==
        Kinds{"Foo-8B: chat", "Foo-8B: code"});
  // The last of two long ones tells parts apart.
  CHECK(kinds("# All that was measured\n## Foo-8B\n" + console(12.0, 3.2) + "# Bar-32B\n" + console(18.0, 2.4)) ==
        Kinds{"Foo-8B", "Bar-32B"});
  CHECK(kinds("## Run 1\n" + console(12.0, 3.2) + "## Run 2\n" + console(18.0, 2.4)) == Kinds{std::nullopt});
  CHECK(kinds("## Foo-8B\n" + console(12.0, 3.2) + "## Bar-32B\n" + console(12.1, 3.21)) == Kinds{std::nullopt});
}

TEST_CASE("consoles under several commands are of several setups, those of one command are repeated") {
  const std::string foo = "$ vllm serve foo-8b --port 8000\n", bar = "$ vllm serve bar-32b --port 8000\n";
  const auto kinds = [](const std::string& text) { return kinds_of(posted_runs(text, "bench-serving")); };
  CHECK(kinds(foo + console(12.0, 3.2) + bar + console(18.0, 2.4)) == Kinds{"line 1", "line 15"});
  CHECK(kinds(foo + console(12.0, 3.2) + foo + console(18.0, 2.4)) == Kinds{std::nullopt});
  CHECK(kinds(foo + console(12.0, 3.2) + bar + console(18.0, 2.4) + foo + console(14.0, 2.8)) ==
        Kinds{"line 1", "line 15"});
}

TEST_CASE("drafters under headings of their own are all compared with the plain run") {
  const auto runs = posted_runs("## Baseline\n" + console(20.0) + "## EAGLE3, topk 1\n" + console(12.0, 3.2) +
                                    "## EAGLE3, topk 4\n" + console(18.0, 2.4),
                                "bench-serving");
  REQUIRE(runs.size() == 3);
  CHECK(kinds_of(runs) == Kinds{std::nullopt});
  CHECK_FALSE(runs[0].drafter);
  CHECK(runs[1].drafter == "EAGLE3, topk 1");
  CHECK(runs[2].drafter == "EAGLE3, topk 4");
}

TEST_CASE("pieces of a log under headings, captions or commands that measure otherwise are of several drafters") {
  const auto lines = [](double length, double speed) {
    std::string text;
    for (const double more : {0.0, 0.05})
      text += "accept len: " + std::to_string(length + more) +
              ", accept rate: 0.40, cuda graph: True, gen throughput (token/s): " + std::to_string(speed) + "\n";
    return text;
  };
  using Drafters = std::vector<std::optional<std::string>>;
  const auto drafters = [](const std::string& text) {
    Drafters of;
    for (const Observation& one : posted_runs(text, "sglang")) of.push_back(one.drafter);
    return of;
  };
  const std::string foo = lines(4.0, 200), bar = lines(2.5, 140), fence = "```\n";
  const Drafters apart{"Foo", "Foo", "Bar", "Bar"}, together(4, std::nullopt);
  for (const std::string& text :
       {"## Foo\n\n" + fence + foo + fence + "## Bar\n" + bar, "Foo:\n" + foo + "\n**Bar:**\n\n" + bar,
        "Foo\n\n" + fence + foo + fence + "\nBar\n" + fence + bar + fence,
        "<details><summary>Foo</summary>\n\n" + fence + foo + fence + "</details>\n<summary>Bar</summary>\n\n" + fence +
            bar,
        "## Foo\n1st run\n" + fence + lines(4.0, 200).substr(0, foo.size() / 2) + fence + "2nd run\n" + fence +
            foo.substr(foo.size() / 2) + fence + "## Bar\nafter warmup:\n" + bar}) {
    INFO(text);
    CHECK(drafters(text) == apart);
  }
  CHECK(drafters("$ ./serve --drafter foo\n" + foo + "\n$ ./serve --drafter bar\n" + bar) ==
        Drafters{"line 1", "line 1", "line 5", "line 5"});
  CHECK(drafters("$ ./serve foo\n" + foo + "\n$ ./serve foo\n" + bar) == together);
  for (const std::string& text :
       {foo + bar, "Run 1\n" + fence + foo + fence + "Run 2:\n" + fence + bar,
        "# Foo\n1st run\n" + fence + foo + fence + "2nd run (after warmup)\n" + fence + bar,
        "## Foo\n" + foo + "\n## Bar\n" + lines(4.1, 205), foo + "# comment\n" + bar,
        foo + "INFO loading shards:\n[rank 0] done:\n" + bar, foo + "#comment\n12:00:01 stopped:\nsome text\n" + bar}) {
    INFO(text);
    CHECK(drafters(text) == together);
  }
}

TEST_CASE("windows of few steps and partly idle ones do not tell pieces of a log apart") {
  const auto window = [](int running, double speed, int drafts, int accepted) {
    return "INFO 01-02 10:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
           "throughput: " +
           std::to_string(speed) + " tokens/s, Running: " + std::to_string(running) +
           " reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\nINFO 01-02 10:00:00 [metrics.py:100] SpecDecoding "
           "metrics: "
           "Mean acceptance length: " +
           std::to_string(1.0 + accepted / static_cast<double>(drafts)) +
           ", Accepted throughput: " + std::to_string(0.1 * accepted) +
           " tokens/s, Drafted throughput: " + std::to_string(0.2 * drafts) +
           " tokens/s, Accepted: " + std::to_string(accepted) + " tokens, Drafted: " + std::to_string(2 * drafts) +
           " tokens, Per-position acceptance rate: " + std::to_string(0.5 * accepted / drafts) + ", " +
           std::to_string(0.5 * accepted / drafts) + ", Avg Draft acceptance rate: 50.0%\n\n";
  };
  const auto named = [](const std::string& text) { return posted_runs(text, "vllm").at(0).drafter.has_value(); };
  const std::string foo = "## Foo\n" + window(1, 80, 400, 400) + "## Bar\n";
  CHECK(named(foo + window(1, 60, 400, 200)));
  CHECK(named(foo + window(1, 60, 400, 400)));
  CHECK_FALSE(named(foo + window(1, 81, 400, 410)));
  const std::string without_speeds = window(1, 60, 400, 200).substr(window(1, 60, 400, 200).find('\n') + 1);
  CHECK(named("## Foo\n" + window(1, 80, 400, 400).substr(window(1, 80, 400, 400).find('\n') + 1) + "## Bar\n" +
              without_speeds));
  CHECK_FALSE(named("## Foo\n" + window(0, 80, 400, 400) + "## Bar\n" + window(0, 8, 40, 40)));
  CHECK_FALSE(named(foo + window(1, 0.4, 4, 0)));
}

TEST_CASE("requests with and without drafts under several headings are compared within each") {
  const auto request = [](double ms, const std::string& drafts, int prompt = 50) {
    return "slot print_timing: id  0 | task 7 | \nprompt eval time = 50.00 ms / " + std::to_string(prompt) +
           " tokens ( 1.00 ms per token, 1000.00 tokens per second)\n       eval time = " + std::to_string(100 * ms) +
           " ms /   100 tokens ( " + std::to_string(ms) + " ms per token, " + std::to_string(1000 / ms) +
           " tokens per second)\n      total time = " + std::to_string(100 * ms + 50) + " ms /  150 tokens\n" +
           (drafts.empty() ? "" : "draft acceptance rate = 0.75000 ( " + drafts + " generated)\n") + "\n";
  };
  const auto runs = posted_runs("# Foo\n" + request(20, "") + request(12, "60 accepted / 80") + "# Bar\n" +
                                    request(40, "") + request(36, "60 accepted / 80"),
                                "llama-server");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].decoding == Decoding::speculative);
  for (const std::size_t i : {0U, 1U}) {
    CHECK(runs[i].stratum.category == "Foo");
    CHECK(runs[2 + i].stratum.category == "Bar");
    CHECK(runs[i].span == logs::Span::run);
  }
  // Prompts of other lengths are of the same setup.
  const auto of_prompts = posted_runs(
      "# Foo\n" + request(12, "60 accepted / 80") + "# Bar\n" + request(36, "60 accepted / 80", 5000), "llama-server");
  CHECK(of_prompts.at(1).drafter == "Bar");
}

TEST_CASE("lines of a console do not name the one below them") {
  const std::string drafts =
      "Drafts:                                  800\nDraft tokens:                            1600\n"
      "Accepted tokens:                         1200\n";
  const std::string cut =
      "Maximum request concurrency:             1\nSuccessful requests:                     4\n"
      "Output token throughput (tok/s):         90.00\n";
  const auto runs = posted_runs(replaced(console(12.0, 2.5), "Acceptance length", drafts + "Acceptance length") +
                                    "\ntemp 0.6\n\n============ Serving Benchmark Result ============\n" + cut,
                                "bench-serving");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK_FALSE(runs[1].requests);  // no time per token follows from its throughput
  CHECK(runs[1].concurrency == 1.0);
}

TEST_CASE("a drafter above a table is that of its rows") {
  const std::string head = "\n| K | tok/s |\n|---|---|\n";
  const auto runs =
      posted_runs("### EAGLE3" + head + "| 0 | 40 |\n| 2 | 60 |\n\n### MTP" + head + "| 2 | 50 |\n", "table");
  REQUIRE(runs.size() == 3);
  CHECK_FALSE(runs[0].drafter);
  CHECK(runs[1].drafter == "eagle3");
  CHECK(runs[2].drafter == "mtp");
}

TEST_CASE("arms in a list below a title with their unit") {
  for (const std::string_view text :
       {"Throughput (tok/s), one card:\n- plain: 41\n- MTP K=2: 55\n- total: 99\n",
        "## Decode speed (tokens per second)\n\n* **plain**: 41\n* **MTP K=2**: 55 (1.34x)\n\nThat is it.\n"}) {
    const auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(1000.0 / 41));
    CHECK(runs[1].gamma == 2);
    CHECK(runs[1].times.tpot_ms == near(1000.0 / 55));
  }
  CHECK(posted_runs("TPOT (ms):\nbaseline: 24.5\nwith MTP: 17\n", "table").at(1).times.tpot_ms == 17.0);
  CHECK_FALSE(problem("Throughput (tok/s)\nrequests: 41\nerrors: 0\n").empty());
  // A title above a table is its caption.
  CHECK(posted_runs("Speed in tok/s:\n\n| run | baseline | MTP |\n|---|---|---|\n| a | 40 | 50 |\n", "table").size() ==
        2);
}

TEST_CASE(
    "a column of a model beside that of a drafter is without speculation, and repeated columns are repeated runs") {
  const auto runs = posted_runs(
      "(tokens/secs) | batch size | medusa | vicuna | medusa | vicuna\n-- | -- | -- | -- | -- | --\nDecode | 1 | 62 | "
      "70 "
      "| 64 | 71\n  | 2 | 121 | 139 | 120 | 138\n",
      "table");
  REQUIRE(runs.size() == 8);
  for (const std::size_t first : {0U, 4U}) {
    CHECK(runs[first].decoding == Decoding::speculative);
    CHECK(runs[first + 1].decoding == Decoding::speculative);
    CHECK(runs[first + 2].decoding == Decoding::plain);
    CHECK(runs[first + 3].decoding == Decoding::plain);
  }
  CHECK(runs[1].times.output_tokens_per_s == 64.0);
  CHECK(runs[7].concurrency == 2.0);
  CHECK(posted_runs("(tokens/secs) | batch size | medusa | vicuna\n-- | -- | -- | --\nDecode | 1 | 62 | 70\n", "table")
            .at(1)
            .decoding == Decoding::plain);
  CHECK_FALSE(
      problem("| prompt | llama | qwen | mtp |\n|---|---|---|---|\n| a | 1 tok/s | 2 tok/s | 3 tok/s |\n").empty());
}

TEST_CASE("arms in columns apart by single blanks are asked for their unit") {
  const std::string rows = "ctx plain --mtp gain\n4096 20.5 27.1 +6.6\n8192 20.1 26.0 +5.9\n";
  CHECK_FALSE(problem(rows).empty());
  const auto runs = posted_runs("tok/s by context:\n\n" + rows, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[3].times.tpot_ms == near(1000.0 / 26));
}

TEST_CASE("the columns that are asked for are read where single blanks are between them") {
  const auto table = [](const std::string& unit) {
    return "ctx plain" + unit + " --mtp" + unit + "\n2048 14.2 16.1\n10240 14.0 15.5\n";
  };
  CHECK_THAT(problem(table("")), Catch::Contains("plain"));
  try {
    read_log(table(""));
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), Catch::Contains("\"plain_tps\"") && Catch::Contains("\"--mtp_tps\""));
  }
  CHECK(posted_runs(table("_tps"), "table").size() == 4);
}

TEST_CASE("lines of a benchmark of several models are apart, by the end of their paths") {
  const auto runs = posted_runs(
      "bench --target models/foo-7b --kind mtp: generated=300 tok/s=24.0 rounds=150 acceptance_rate=0.5\nmodel=bar-30b "
      "kind=mtp: generated=360 tok/s=9.0 rounds=120 acceptance_rate=0.66\ngenerated=300 rounds=150 "
      "acceptance_rate=0.5\n",
      "key-line");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].stratum.category == "foo-7b");
  CHECK(runs[0].span == logs::Span::run);
  CHECK(runs[1].stratum.category == "bar-30b");
  CHECK(runs[2].span == logs::Span::request);
}

TEST_CASE("columns of two layouts, plain and drafting each, are apart") {
  const auto runs = posted_runs(
      "Output throughput in tokens/s:\n\n| Concurrency | TP8 baseline | TP8 DSpark | TP4 baseline | TP4 DSpark |\n"
      "|---|---|---|---|---|\n| 8 | 200 | 410 | 300 | 520 |\n| 16 | 280 | 450 | 390 | 610 |\n",
      "table");
  REQUIRE(runs.size() == 8);
  CHECK(kinds_of(runs) == Kinds{"tp4", "tp8"});
  CHECK(runs[0].times.output_tokens_per_s == 200.0);
}

TEST_CASE("temperatures of a column of sampling are apart") {
  const auto runs = posted_runs(
      "| sampling | accept len | tok/s |\n|---|---|---|\n| `temperature=0` (greedy) | 3.2 | 60 |\n| T = 0.6 | 2.1 | 41 "
      "|\n| 1.0 | 1.5 | 30 |\n",
      "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].stratum.temperature == 0.0);
  CHECK(runs[1].stratum.temperature == 0.6);
  CHECK(runs[2].stratum.temperature == 1.0);
}

TEST_CASE("a table below several headings is called by the last one") {
  const std::string table = "| Metric | Baseline | EAGLE3 |\n|---|---|---|\n| TPOT (ms) | 22 | 11 |\n\n";
  const auto runs = posted_runs(
      "## 3. Results\n\n### 3.1 Coding\n\n" + table + "### 3.2 Talk\n\n" + replaced(table, "22", "18"), "table");
  CHECK(kinds_of(runs) == Kinds{"Coding", "Talk"});
}

TEST_CASE("a table of acceptance gives its draft length to the speeds of another table at the same loads") {
  const std::string speeds =
      "| concurrency | TPOT (ms) base -> draft |\n|---|---|\n| 1 | 20 -> 15 |\n| 8 | 24 -> 26 |\n\n";
  const auto gammas = [&](const std::string& acceptance) {
    std::vector<std::optional<std::int64_t>> found;
    for (const auto& run : posted_runs(speeds + "Acceptance of the drafts:\n\n" + acceptance, "table"))
      if (run.times.tpot_ms && run.decoding == Decoding::speculative) found.push_back(run.gamma);
    return found;
  };
  const std::string head = "| concurrency | K | accept len |\n|---|---|---|\n";
  using Gammas = std::vector<std::optional<std::int64_t>>;
  CHECK(gammas(head + "| 1 | 3 | 2.5 |\n| 8 | 3 | 2.4 |\n") == Gammas{3, 3});
  CHECK(gammas(head + "| 1 | 3 | 2.5 |\n| 8 | 5 | 2.8 |\n") == Gammas{{}, {}});  // which one?
  CHECK(gammas(head + "| 1 | 3 | 2.5 |\n| 4 | 3 | 2.4 |\n") == Gammas{{}, {}});  // of another load
}

TEST_CASE("a block of DFlash drafts one token less than its size, which a text, a name or a column states") {
  const auto gammas = [](std::string_view above, std::string_view drafter) {
    std::vector<std::optional<std::int64_t>> found;
    const std::string rows = "| task | plain tok/s | " + std::string(drafter) + " tok/s | tau |\n|---|---|---|---|\n";
    for (const auto& run : posted_runs(std::string(above) + "\n\n" + rows + "| sql | 30 | 75 | 3.6 |\n", "table"))
      if (run.decoding == Decoding::speculative) found.push_back(run.gamma);
    return found;
  };
  using Gammas = std::vector<std::optional<std::int64_t>>;
  for (const char* stated : {"One card (block size 10)", "block_size=10, greedy", "a block size of 10",
                             "with 10-token blocks", "`block_size`: 10", "in blocks of 10"})
    CHECK(gammas(stated, "DFlash") == Gammas{9});
  for (const char* other : {"KV block size 16", "vllm serve m --block-size 16", "block size 3", "block size 8 or 10",
                            "block size 8; later block size 10", "kv_block_size=16"})
    CHECK(gammas(other, "DFlash") == Gammas{{}});
  CHECK(gammas("block size 10", "MTP") == Gammas{{}});
  CHECK(gammas("block size 10, num_speculative_tokens=8", "DFlash") == Gammas{8});
  for (const char* rows : {"| DFlash | 6 | 70 | 3.1 |\n| DFlash | 12 | 80 | 3.9 |\n",
                           "| DFlash (block 6) | - | 70 | 3.1 |\n| DFlash, block size 12 | - | 80 | 3.9 |\n"}) {
    const auto runs = posted_runs(
        std::string("| config | block size | tok/s | tau |\n|---|---|---|---|\n| baseline |  | 30 | |\n") + rows,
        "table");
    CHECK(runs.at(1).gamma == 5);
    CHECK(runs.at(2).gamma == 11);
  }
}

}  // namespace foredraft::tests
