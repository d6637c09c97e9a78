// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/logs/logs_testing.hpp"

/// Two runs in one text, of every console that does not say itself what drafted.
namespace foredraft::tests {
namespace {

using logs::Decoding;

/// A console that prints a run with a speed of `speed` tokens/s.
using Console = std::string (*)(double speed);

std::string vllm_serve(double speed) {
  return fmt::format(
      "============ Serving Benchmark Result ============\n"
      "Successful requests:                     40\n"
      "Maximum request concurrency:             4\n"
      "Total generated tokens:                  8000\n"
      "Output token throughput (tok/s):         {:.2f}\n"
      "-----Time per Output Token (excl. 1st token)------\n"
      "Mean TPOT (ms):                          {:.2f}\n"
      "Mean ITL (ms):                           25.00\n"
      "==================================================\n",
      4.0 * speed, 1000.0 / speed);
}

std::string sglang_serve(double speed) {
  return fmt::format(
      "============ Serving Benchmark Result ============\n"
      "Backend:                                 sglang\n"
      "Max request concurrency:                 4\n"
      "Successful requests:                     40\n"
      "Total generated tokens:                  8000\n"
      "Output token throughput (tok/s):         {:.2f}\n"
      "Mean E2E Latency (ms):                   {:.2f}\n"
      "Mean TPOT (ms):                          {:.2f}\n"
      "==================================================\n",
      4.0 * speed, 2e5 / speed, 1000.0 / speed);
}

std::string ollama(double speed) {
  return fmt::format(
      "total duration:       9.0s\nload duration:        20ms\nprompt eval count:    30 token(s)\n"
      "prompt eval duration: 100ms\neval count:           200 token(s)\neval duration:        {:.3f}s\n"
      "eval rate:            {:.2f} tokens/s\n",
      200.0 / speed, speed);
}

std::string llama_cli(double speed) { return fmt::format("[ Prompt: 200.0 t/s | Generation: {:.1f} t/s ]\n", speed); }

std::string mlx(double speed) {
  return fmt::format(
      "==========\nPrompt: 9 tokens, 90.000 tokens-per-sec\nGeneration: 200 tokens, {:.3f} tokens-per-sec\n"
      "Peak memory: 9.0 GB\n",
      speed);
}

std::string kobold(double speed) {
  return fmt::format("Process:0.50s (1.0ms/T = 1000.00T/s), Generate:{:.2f}s ({:.1f}ms/T = {:.2f}T/s), Total:9.50s\n",
                     200.0 / speed, 1000.0 / speed, speed);
}

std::string vllm_throughput(double speed) {
  return fmt::format("Throughput: {:.2f} requests/s, {:.2f} total tokens/s, {:.2f} output tokens/s\n", speed / 20.0,
                     9.0 * speed, 4.0 * speed);
}

std::string trtllm_bench(double speed) {
  return fmt::format(
      "===========================================================\n= PERFORMANCE OVERVIEW \n"
      "===========================================================\n"
      "Request Throughput (req/sec):                     {:.4f}\n"
      "Total Output Throughput (tokens/sec):             {:.4f}\n"
      "Per User Output Throughput [w/ ctx] (tps/user):   {:.4f}\n",
      speed / 50.0, 4.0 * speed, speed);
}

std::string evalscope(double speed) {
  return fmt::format(
      "Benchmarking summary:\n+-----------------------------------+-----------+\n"
      "| Key                               |     Value |\n+===================================+===========+\n"
      "| Number of concurrency             |    4      |\n| Total requests                    |   40      |\n"
      "| Succeed requests                  |   40      |\n| Output token throughput (tok/s)   |  {:.2f} |\n"
      "| Average time per output token (s) |  {:.5f} |\n+-----------------------------------+-----------+\n",
      4.0 * speed, 1.0 / speed);
}

std::string llama_benchy(double speed) {
  return fmt::format(
      "| model | test | t/s | peak t/s | ttfr (ms) | est_ppt (ms) | e2e_ttft (ms) |\n"
      "|:------|-----:|----:|---------:|----------:|-------------:|--------------:|\n"
      "| big   | pp512 | 900.0 \xC2\xB1 9.0 |  | 90.0 \xC2\xB1 5.0 | 90.0 \xC2\xB1 5.0 | 90.0 \xC2\xB1 5.0 |\n"
      "| big   | tg64  | {:.2f} \xC2\xB1 0.20 | {:.2f} \xC2\xB1 0.2 |  |  |  |\n",
      speed, speed + 1.0);
}

std::string omlx_bench(double speed) {
  return fmt::format(
      "oMLX - LLM inference\nhttps://omlx.example\nBenchmark Model: Some-9B\n=====================\n\n"
      "Single Request Results\n---------------------\n"
      "Test             TTFT(ms)    TPOT(ms)        pp TPS        tg TPS\n"
      "pp512/tg64          900.0       {:.2f}   512.0 tok/s    {:.1f} tok/s\n\n",
      1000.0 / speed, speed);
}

std::string textgen(double speed) {
  return fmt::format("Output generated in {:.2f} seconds ({:.2f} tokens/s, 200 tokens, context 90, seed 7)\n",
                     200.0 / speed, speed);
}

constexpr std::array<Console, 12> consoles{vllm_serve,      sglang_serve, ollama,    llama_cli,    mlx,        kobold,
                                           vllm_throughput, trtllm_bench, evalscope, llama_benchy, omlx_bench, textgen};

/// What people write above two runs, of which the second drafts 3 tokens.
struct Above {
  std::string_view plain, drafting;
};

constexpr std::array<Above, 18> captions{{
    {"## Baseline\n\n```\n", "```\n\n## EAGLE-3, K=3\n\n```\n"},
    {"### Without speculative decoding\n\n", "\n### With speculative decoding (MTP, 3 tokens)\n\n"},
    {"baseline:\n", "\nwith mtp k=3:\n"},
    {"Without MTP I get:\n\n```\n", "```\n\nAnd with MTP (num_speculative_tokens=3):\n\n```\n"},
    {"=== no spec ===\n", "\n=== eagle3 k=3 ===\n"},
    {"# plain\n", "\n# mtp, num_speculative_tokens=3\n"},
    {"$ cat plain.txt\n", "\n$ cat mtp3.txt\n"},
    {"**Baseline (no speculation)**\n```\n", "```\n\n**MTP-3**\n```\n"},
    {"==> base.txt <==\n", "\n==> eagle3_k3.txt <==\n"},
    {"num_speculative_tokens=0\n", "\nnum_speculative_tokens=3\n"},
    {"prompt_lookup_num_tokens=0\n", "\nprompt_lookup_num_tokens=3\n"},
    {"INFO: Loading model: big\n", "\n12:00:01 INFO: Loading draft model small, num_draft_tokens=3\n"},
    {"===== off =====\n", "\n===== spec, n=3 =====\n"},
    {"no spec:\n```\n", "```\n`--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}'`\n```\n"},
    {"$ vllm serve big\n$ ./bench.sh\n",
     "\n$ vllm serve big --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'\n$ ./bench.sh\n"},
    {"docker run --gpus all vllm/vllm-openai --model big\n\n",
     "\ndocker run --gpus all vllm/vllm-openai --model big \\\n  --speculative-config "
     "'{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'\n\n"},
    {"llama-server -m big.gguf\n\n", "\nllama-server -m big.gguf --spec-type draft-mtp --spec-draft-n-max 3\n\n"},
    {"python -m sglang.launch_server --model big\n",
     "\npython -m sglang.launch_server --model big --speculative-algorithm EAGLE3 --speculative-num-steps 3 "
     "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4\n"},
}};

}  // namespace

TEST_CASE("what stands above tells two runs of a console apart") {
  for (const Console console : consoles) {
    for (const Above& above : captions) {
      const std::string first = std::string(above.plain) + console(40.0);
      const std::string text = first + std::string(above.drafting) + console(60.0);
      INFO(text);
      const auto runs = read_log(text).observations;
      const auto middle = 1 + std::ranges::count(first, '\n');
      const auto is_right = [&](const logs::Observation& run) {
        return run.line < middle ? run.decoding == Decoding::plain
                                 : run.decoding == Decoding::speculative && run.gamma == 3;
      };
      CHECK(std::ranges::all_of(runs, is_right));
      CHECK(std::ranges::count(runs, Decoding::plain, &logs::Observation::decoding) == 1);
      CHECK(std::ranges::count(runs, Decoding::speculative, &logs::Observation::decoding) == 1);
    }
  }
}

TEST_CASE("a command does not overrule both arms below it") {
  const std::string server = "python -m sglang.launch_server --model big --speculative-algorithm EAGLE3\n\n";
  const auto runs =
      read_log(server + "baseline:\n" + sglang_serve(40.0) + "\neagle3:\n" + sglang_serve(60.0)).observations;
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
}

TEST_CASE("what leads several runs is said once, and the load above the first is that of the others") {
  const auto runs = read_log(
                        "MTP results:\n```\n20 prompts with batch size 10\navg_throughput: 80.0 tok/s\nDone 1/2\n"
                        "avg_throughput: 90.0 tok/s\n")
                        .observations;
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[1].concurrency == 10.0);
}

TEST_CASE("a table below a heading of its own is not what an earlier heading says") {
  const auto runs = posted_runs(
      "### EAGLE3 server\n- **Mean acceptance length ~2.1-2.2 / 4**\n\n### EAGLE3 vs STP\n"
      "| conc | STP tok/s/user | EAGLE3 tok/s/user |\n|---|---|---|\n| 2 | 60.0 | 70.0 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
}

}  // namespace foredraft::tests
