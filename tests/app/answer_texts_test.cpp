// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// Texts on the terminal for unusual answers.
namespace foredraft::tests {
namespace {

struct Said {
  std::string arguments;
  std::vector<std::string> words;
  int code = 0;
};

/// Lines are wrapped, so words are compared with one blank between them.
std::string in_one_line(const std::string& text) {
  std::string joined;
  for (const char character : text) {
    const bool blank = character == ' ' || character == '\n';
    if (!blank) joined += character;
    if (blank && !joined.empty() && joined.back() != ' ') joined += ' ';
  }
  return joined;
}

void check_said(const TemporaryFolder& folder, const std::vector<Said>& answers) {
  for (const Said& answer : answers) {
    const Outcome outcome = foredraft(folder, answer.arguments);
    CAPTURE(answer.arguments);
    CHECK(outcome.code == answer.code);
    for (const std::string& words : answer.words) {
      CHECK_THAT(in_one_line(outcome.out + outcome.err), Catch::Contains(words));
    }
  }
}

}  // namespace

TEST_CASE("predict reports if no draft length is best or none gains, and its assumptions about drafts") {
  const TemporaryFolder folder;
  const std::string pair = "predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b ";
  const std::string load = " --prompt-tokens 1000 --output-tokens 200";
  check_said(
      folder,
      {{"predict --alpha 0.9 --c 0", {"speedup 10.00x at most: longer drafts are always better"}},
       {"predict --alpha 0.1 --c 0.5", {"Speculation does not pay."}},
       {"predict --alpha 1 --gamma 3 --c 0 --overlap", {"targets without limit"}},
       {"predict --marginal 0.7,0.5 --step-ms 12 --draft-ms 0 --verify-ms 30", {"verified in 30 ms whatever gamma"}},
       {"predict --drafter input_copy --edit-rate 0.05 --realign 2 --gamma 100 --c 0", {"independent edits"}},
       {"predict --acceptance-length 2.9 --gamma 5", {"alpha 0.6935 explains 2.9 tokens per iteration at gamma 5."}},
       {pair + "--alpha 0.7 --out a", {"no decision map: it needs two batches and two contexts at least"}},
       {pair + "--alpha 0.5 --gamma 2 --request-rate 40" + load,
        {"At 40 requests/s the server is overloaded with every draft length."}},
       {"predict --device h100 --target llama-3.3-70b --draft llama-3.1-8b --alpha 0.75 --request-rate 1" + load,
        {"Does not fit into memory: not one request of 1000 + 200 tokens on 1 GPU."}},
       {"predict --device h100 --target deepseek-v3 --target-tp 8 --target-format fp8 --draft mtp-deepseek-v3 "
        "--alpha 0.8",
        {"8 of 256 experts, 671 G parameters (37.6 G active)", "skew 0.4"}}});
}

TEST_CASE("a sweep reports its size, what does not fit, and servers not yet in a steady state") {
  const TemporaryFolder folder;
  const std::string schema = "schema = \"foredraft.sweep/1\"\n";
  const std::string roofline =
      "cost = \"roofline\"\n\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n";
  write_text(folder / "closed.toml", schema + "[axes]\nalpha = [0.5, 0.9]\n[fixed]\ngamma = 2\n");
  write_text(folder / "sequences.toml", schema +
                                            "[fixed]\nalpha = 0.5\ngamma = 2\nsequence_length = 16\n[simulation]\n"
                                            "sequences = 50\nseed = 1\n");
  write_text(folder / "memory.toml", schema + "[axes]\n\"cost.batch\" = [1, 64]\n[fixed]\nalpha = 0.8\ngamma = 2\n" +
                                         roofline + "\"cost.device\" = \"a40\"\n\"cost.context\" = 1024\n");
  write_text(folder / "server.toml",
             schema +
                 "[fixed]\nfidelity = \"system\"\nalpha = 0.75\ngamma = 2\nmax_batch = 16\narrivals = \"closed\"\n" +
                 "\"arrivals.clients\" = 16\nprompt_tokens = 64\noutput_tokens = 16\n" + roofline +
                 "\"cost.device\" = \"h100\"\n[simulation]\nrequests = 320\nwarmup_requests = 16\nreplicas = 4\n"
                 "seed = 1\n");
  check_said(
      folder,
      {{"sweep closed.toml --out a --no-figures", {"2 points: 2 alpha; closed form only"}},
       {"sweep sequences.toml --out b --no-figures", {"1 point; 50 sequences each; seed 1"}},
       {"sweep memory.toml --out c --no-figures", {"1 of 2 points do not fit into memory"}},
       {"sweep server.toml --out d --no-figures",
        {"1 point; 320 requests each in 4 replicas",
         "a replica warms up with 16 requests, and 16 are served at once: the server was not yet in a steady"}}});
  // Findings of check besides rows: changed files, inputs with different content, unfinished runs.
  write_text(folder / "outcomes.csv", "sequence,outcome\na,1\na,0\nb,1\n");
  write_text(folder / "trace.toml", schema +
                                        "[fixed]\ngamma = 2\nprocess = \"trace\"\n\"process.file\" = \"outcomes.csv\"\n"
                                        "[simulation]\nseed = 1\n");
  check_said(folder, {{"sweep trace.toml --out t --no-figures", {}}});
  write_text(folder / "outcomes.csv", "sequence,outcome\na,1\na,1\nb,1\n");
  std::string manifest = content_of(folder / "a/manifest.json");
  manifest.replace(manifest.find("\"complete\""), 10, "\"running\"");
  write_text(folder / "a/manifest.json", manifest);
  std::string summary = content_of(folder / "b/summary.md");
  summary.back() = ' ';
  write_text(folder / "b/summary.md", summary);
  check_said(folder,
             {{"check t", {"outcomes.csv: is not the input file of the run"}, 1},
              {"sweep trace.toml --out t --no-figures", {"t: holds results of input files of other content"}, 2},
              {"check a", {"a: the run is not complete"}, 2},
              {"check b", {"b/summary.md: SHA-256 differs from the manifest"}, 1}});
  // A folder keeps its results.
  const std::string reproduce = "reproduce leviathan-table1 --no-figures --out ";
  check_said(folder, {{reproduce + "r", {"leviathan-table1"}},
                      {reproduce + "r", {"leviathan-table1"}},
                      {reproduce + "r --seed 2", {"r: not written to (its seed is 1, now 2)"}, 2},
                      {"reproduce leviathan-table2 --out r", {"r: not written to (its experiments is"}, 2},
                      {reproduce + "a", {"a: not written to"}, 2},
                      {"sweep closed.toml --out r", {"r/manifest.json: no manifest of this program"}, 2}});
}

TEST_CASE("answers to logs state what the logs do not show") {
  const TemporaryFolder folder;
  const std::string header = "gamma,steps,accepted_at_1,accepted_at_2";
  write_text(folder / "few.csv", header + "\n2,100,60,30\n");
  write_text(folder / "full.csv", header + "\n2,1000,1000,1000\n");
  write_text(folder / "enough.csv", header + "\n2,1000,600,300\n");
  write_text(folder / "cold.csv", header + ",temperature\n2,1000,600,300,0\n");
  write_text(folder / "warm.csv", header + ",temperature\n2,1000,650,300,0.7\n");
  write_text(
      folder / "answers.jsonl",
      "{\"timings\": {\"predicted_n\": 101, \"predicted_ms\": 2000, \"draft_n\": 160, \"draft_n_accepted\": 60}}\n"
      "{\"timings\": {\"predicted_n\": 101, \"predicted_ms\": 4000}}\n");
  std::string lookup;
  for (int i = 0; i < 4; ++i) {
    const std::string time = "INFO 09-01 10:00:" + std::to_string(i) + "0 ";
    lookup +=
        time +
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 100.0 tokens/s, Running: 1 reqs, "
        "Waiting: 0 reqs, GPU KV cache usage: 1.0%, Prefix cache hit rate: 0.0%\n" +
        time +
        "SpecDecoding metrics: Mean acceptance length: 2.00, Accepted throughput: 30.00 tokens/s, Drafted throughput: "
        "60.00 tokens/s, Accepted: 300 tokens, Drafted: 600 tokens, Per-position acceptance rate: 0.700, 0.300, Avg "
        "Draft acceptance rate: 50.0%\n";
  }
  write_text(folder / "lookup.log", lookup);
  check_said(folder,
             {{"advise lookup.log",
               {"yields 1.43 tokens per iteration", "50 % of drafts accepted", "tokens/iteration",
                "1 request K = 2 1.429", "by K, model acceptance length of the steps that draft 1: 1.66, 2: 2.00"}},
              {"advise few.csv",
               {"tokens per iteration, but 100 verification steps are too few for advice; about 1763 more give +-2 %",
                "log more steps"},
               1},
              {"advise full.csv", {"every draft was accepted, as if only full drafts were counted", "W13"}, 1},
              {"advise enough.csv --plain enough.csv",
               {"it pays where an iteration takes less than 1.90 decode steps; no speedup was read.",
                "W09 --plain contains runs with speculation, which are left out"}},
              {"compare cold.csv warm.csv", {"Nothing is compared: temperature 0 against 0.7."}, 1},
              {"compare cold.csv full.csv --require 'acceptance_length>=2' --require 'speedup>=1'",
               {"Nothing is compared: no metric was logged in both.", "acceptance_length>=2: not shown by B, K = 2",
                "a counter of full drafts only (W13)", "speedup>=1: not shown by B, K = 2: not known, no plain run"},
               1},
              {"import enough.csv answers.jsonl",
               {"plain requests unknown, 1 observation, 40 ms a step",
                "speculative requests unknown, 40 steps, acceptance length 2.500 (no interval), 50 ms a step",
                "gamma 2 requests unknown, 1,000 steps, acceptance length 1.900", "not saved: add --out"}}});
}

TEST_CASE("lists, trees and validations state the basis of their tables") {
  const TemporaryFolder folder;
  write_text(folder / "heads.csv", "0.6, 0.15, 0.07\n0.4, 0.12, 0.06\n0.25, 0.1\n");
  write_text(folder / "cpu.json", content_of(FOREDRAFT_SOURCE "/tests/recorded/inputs/measured.json"));
  write_text(folder / "tiny.csv",
             "target,draft,gamma,alpha,batch,context,speedup\ntiny-target,tiny-drafter,3,0.8,2,64,1.2\n");
  const std::string validate = "validate --profile cpu.json --against tiny.csv --no-figures --out ";
  check_said(folder,
             {{"list models QWEN3 8b", {"Shapes of models, for step times:", "36 4096 151936 8190.7"}},
              {"list devices a100-80g", {"a100-80gb", "Peaks are dense, links one way."}},
              {"list methods medusa", {"pays where a drafter must cost almost nothing", "[Cai2024; Stern2018]"}},
              {"list rules lenient", {"not lossless"}},
              {"tree --accuracies heads.csv --nodes 6 --expand 2 --spread 0 --iterations 1000", {"; exactly"}},
              {"tree --accuracies heads.csv --nodes 1", {}},
              {validate + "a", {"cpu.json is not valid: 26 rows measured twice differ by"}, 1},
              {validate + "b --accept-noise", {}}});
}

}  // namespace foredraft::tests
