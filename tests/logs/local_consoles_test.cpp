// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Consoles and metrics of programs that do not count drafts.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Span;

}  // namespace

TEST_CASE("Ollama and KTransformers: an answer by its lines, the prompt's rate is not its speed") {
  const auto answers = posted_runs(sample("ollama.txt"), "ollama");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].decoding == Decoding::unknown);
  CHECK(answers[0].span == Span::request);
  CHECK(answers[0].times.tpot_ms == near(25.0));
  CHECK(answers[0].stratum.output_tokens == 250.0);
  CHECK(answers[0].stratum.context_tokens == 26.0 + 125.0);
  CHECK(answers[1].times.tpot_ms == Approx(50.0));
  // The lines kept from ten answers.
  const std::string speeds = "prompt eval rate:     1354.84 tokens/s\neval rate:            88.77 tokens/s\n";
  const auto kept = posted_runs("- eval rate: 7.93 tokens/s\n" + speeds + speeds, "ollama");
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].times.tpot_ms == near(1000.0 / 7.93));
  CHECK(kept[2].times.tpot_ms == near(1000.0 / 88.77));
  const auto server = posted_runs(sample("ktransformers.log"), "ktransformers");
  REQUIRE(server.size() == 2);
  CHECK(server[0].times.tpot_ms == near(80.0));
  CHECK(server[0].times.ttft_ms == near(1500.0));
  CHECK(server[0].stratum.output_tokens == 200.0);
}

TEST_CASE("answers of Ollama's API: the last object of each has its times") {
  const auto answers = posted_runs(sample("ollama_answers.jsonl"), "ollama-answers");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].times.tpot_ms == near(25.0));
  CHECK(answers[0].times.duration_s == near(6.25));
  CHECK(read_log(sample("ollama_answers.jsonl")).settings.target == "llama3.2");
}

TEST_CASE("mlx_lm: the speed of a benchmark is that of its batch, averages stand in for trials") {
  const auto runs = posted_runs(sample("mlx_lm.txt"), "mlx-lm");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].requests == 1.0);
  CHECK(runs[0].stratum.output_tokens == 200.0);
  CHECK(runs[1].times.tpot_ms == near(25.0));
  CHECK(runs[1].times.output_tokens_per_s == 160.0);
  CHECK(runs[1].concurrency == 4.0);
  CHECK(runs[2].times.tpot_ms == near(50.0));
  // Output of another model, without settings and trials.
  CHECK(runs[3].times.tpot_ms == near(50.0));
  CHECK_FALSE(runs[3].concurrency);
}

TEST_CASE("KoboldCpp of 2026 counts the tokens of prompt and answer") {
  const auto runs = posted_runs(
      "Without drafting:\n`Processed:25 in 0.05s (500.00T/s), Generated:400/2048 in 10.00s (40.00T/s), "
      "Total:10.05s`\n\n"
      "With drafting:\n`Processed:25 in 0.05s (500.00T/s), Generated:300/2048 in 5.00s (60.00T/s), Total:5.05s`\n",
      "local-prompts");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(25.0));
  CHECK(runs[0].times.ttft_ms == near(50.0));
  CHECK(runs[0].stratum.output_tokens == 400.0);
  CHECK(runs[0].stratum.context_tokens == 25.0 + 200.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 60.0));
}

TEST_CASE("KoboldCpp counts accepted drafts and the rounds that a rejected one ended") {
  const auto read = [](const std::string& results) {
    return read_log(
        "[10:00:01] CtxLimit:700/4096, Amt:500/512, Init:0.10s, Process:0.50s (2.5ms/T = 400.00T/s), "
        "Generate:10.00s (20.0ms/T = 50.00T/s), Total:10.50s (47.62T/s)\n(Draft Results - " +
        results + ")\n");
  };
  // 500 tokens, of which 300 were drafted: 200 rounds, of which a rejection ended 140.
  const LogContents counted = read("Success:300, Failure:140");
  const auto& run = counted.observations.at(0);
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.acceptance->steps == 200);
  CHECK(run.acceptance->steps_estimated);
  CHECK(run.acceptance->accepted_tokens == 300);
  CHECK_FALSE(run.acceptance->drafted_tokens);
  CHECK(run.times.tpot_ms == near(20.0));
  CHECK(run.times.ttft_ms == near(500.0));
  CHECK(run.stratum.output_tokens == 500.0);
  CHECK(warns(counted, "W20"));
  // Without a token of their own, rounds that accepted all cannot be told without K.
  const LogContents older = read("Success: 350, Failure: 141");
  CHECK(older.observations.at(0).decoding == Decoding::speculative);
  CHECK_FALSE(older.observations.at(0).acceptance);
  CHECK(warns(older, "W18"));
  const std::string commanded =
      "koboldcpp --model big.gguf --draftmodel small.gguf --draftamount 3\n"
      "Amt:500/512, Process:0.50s (2.5ms/T = 400.00T/s), Generate:10.00s (20.0ms/T = 50.00T/s), Total:10.50s\n"
      "(Draft Results - Success:400, Failure:100)\n";
  const LogContents estimated = read_log(commanded);
  CHECK(estimated.observations.at(0).gamma == 3);
  CHECK(estimated.observations.at(0).acceptance_length == near(1.0 + 0.8 + 0.64));
  CHECK(estimated.observations.at(0).times.iteration_ms == near(20.0 * 2.44));
  CHECK(warns(estimated, "W20"));
  const auto plain = posted_runs(
      "CtxLimit:700/4096, Amt:300/512, Process:0.25s (1.0ms/T = 800.00T/s), Generate:12.00s (40.0ms/T = 25.00T/s), "
      "Total:12.25s\n",
      "local-prompts");
  CHECK(plain.at(0).stratum.output_tokens == 300.0);
  CHECK(plain.at(0).times.tpot_ms == near(40.0));
}

TEST_CASE("KoboldCpp: what one answer shows of the rounds holds for all of its log") {
  const auto answer = [](const std::string& tokens, const std::string& results) {
    return "[10:00:01] CtxLimit:900/4096, Processed:400 in 0.50s (800.00T/s), Generated:" + tokens +
           " in 10.00s (25.00T/s), Total:10.50s\n(Draft Results - " + results + ")\nPOST /generate 200\n\n";
  };
  const auto steps = [](const std::string& text) {
    std::vector<std::int64_t> all;
    for (const auto& run : posted_runs(text, "local-prompts"))
      all.push_back(run.acceptance ? run.acceptance->steps : 0);
    return all;
  };
  using Steps = std::vector<std::int64_t>;
  const std::string few = answer("250/250", "Success:150, Failure:92"),
                    many = answer("250/250", "Success:150, Failure:60");
  CHECK(steps(few) == Steps{0});
  CHECK(steps(few + many) == Steps{100, 100});
  // With K: 8 more tokens than rejections are not all the first and the last ones.
  CHECK(steps("koboldcpp --model big.gguf --draftmodel small.gguf --draftamount 4\n" + few + few) == Steps{100, 100});
  CHECK(steps("koboldcpp --model big.gguf --draftmodel small.gguf --draftamount 6\n" + few) == Steps{0});
}

TEST_CASE("a debug run of KoboldCpp counts drafts beside the speeds of others") {
  const auto answer = [](const std::string& seconds, const std::string& speed) {
    return "CtxLimit:700/4096, Process:0.50s (400.00T/s), Generate:" + seconds + "s (" + speed + "T/s), Total:9.0s\n";
  };
  const std::string plain = "koboldcpp --model big.gguf\n" + answer("10.00", "30.00"),
                    drafted = "koboldcpp --model big.gguf --draftmodel small.gguf --draftamount 3\n",
                    counts = "(Draft Results - Success:280, Failure:90)\n";
  const auto told = [](const std::string& text) {
    std::vector<std::pair<bool, bool>> runs;  // counts or a length, a speed
    for (const auto& one : posted_runs(text, "local-prompts"))
      runs.emplace_back(one.acceptance || one.acceptance_length, one.times.tpot_ms.has_value());
    return runs;
  };
  using Told = std::vector<std::pair<bool, bool>>;
  const std::pair timed{false, true}, counted{true, false}, both{true, true};
  // Printed above the speed of its answer or below it; the speed of a run that prints each draft is no result.
  CHECK(told(plain + drafted + answer("6.00", "50.00") + "\nthe same, debugging:\n" + counts +
             answer("8.00", "40.00")) == Told{timed, timed, counted});
  CHECK(told(plain + drafted + answer("6.00", "50.00") + "\nthe same, debugging:\n" + answer("8.00", "40.00") +
             counts) == Told{timed, timed, counted});
  CHECK(told(plain + drafted + counts + answer("6.00", "50.00") + "\n" + counts + answer("6.10", "49.00")) ==
        Told{timed, both, both});
  CHECK(told(plain + drafted + answer("6.00", "50.00") + "\n\n" + counts + "\nHello.\n\n\n" +
             answer("6.10", "49.00")) == Told{timed, counted, timed});
  // Without the command: a caption quotes its options.
  const auto spoken = posted_runs("Without a draft model:\n" + answer("10.00", "30.00") +
                                      "\nAdded --draftmodel small.gguf --draftamount 5:\n" + answer("6.00", "50.00"),
                                  "local-prompts");
  CHECK(spoken.at(0).decoding == Decoding::plain);
  CHECK(spoken.at(1).decoding == Decoding::speculative);
  CHECK(spoken.at(1).gamma == 5);
}

TEST_CASE("benchmarks of assisted generation name their runs in progress bars") {
  const auto block = [](const std::string& bar, const std::string& words, const std::string& ms) {
    return bar + "|#####| 9/9 [00:19<00:00,  2.10s/it]\n" + words + "verage time per input (ms): 2000.00\n" + words +
           "verage time per token (ms): " + ms + "\n";
  };
  const auto runs = posted_runs("Max memory allocation: {0: '30GiB'}\n" + block("ASSISTED model: 100%", "A", "20.00") +
                                    block("ORIGINAL model: 100%", "A", "32.00") + "Mismatches: 0\n",
                                "assisted-generation");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].times.tpot_ms == near(32.0));
  const auto older = posted_runs(
      block("OG model: 100%", "OG A", "32.00") + block("NEW model (90 tokens forwarded): 100%", "A", "20.00"),
      "assisted-generation");
  REQUIRE(older.size() == 2);
  CHECK(older[0].decoding == Decoding::plain);
  CHECK(older[1].decoding == Decoding::speculative);
  // Versions differ in which run comes first.
  const std::string fast = block("100%", "A", "20.00"), slow = block("100%", "A", "32.00");
  const auto run = [](const std::string& options) { return "$ python measure.py lab/large-8b " + options + "\n"; };
  const auto unnamed = [](const std::string& text) {
    std::vector<Decoding> decodings;
    for (const auto& one : posted_runs(text, "assisted-generation")) decodings.push_back(one.decoding);
    return decodings;
  };
  using Decodings = std::vector<Decoding>;
  CHECK(unnamed(fast + slow) == Decodings{Decoding::unknown, Decoding::unknown});
  CHECK(unnamed(run("--aux-model lab/tiny-1b") + fast + slow) == Decodings{Decoding::unknown, Decoding::unknown});
  // Of scripts that run one arm, the command lines tell which.
  for (const std::string drafts : {"--aux-model lab/tiny-1b", "--assistant_model lab/tiny-1b --max-new-tokens 90",
                                   "--draft-model lab/tiny-1b", "--assistant-checkpoint ./tiny"}) {
    CAPTURE(drafts);
    CHECK(unnamed(run("-n 9") + slow + "\n" + run("-n 9 " + drafts) + fast) ==
          Decodings{Decoding::plain, Decoding::speculative});
    CHECK(unnamed(run(drafts) + fast + "\n" + run("") + slow) == Decodings{Decoding::speculative, Decoding::plain});
  }
  const auto stated = posted_runs(
      "Nine prompts on one device, all greedy, with a new assistant (`num_assistant_tokens=4`) of our own.\n" +
          run("") + slow + run("--aux-model lab/tiny-1b") + fast,
      "assisted-generation");
  CHECK_FALSE(stated.at(0).gamma);
  CHECK(stated.at(1).gamma == 4);
  CHECK(unnamed("Without assistant:\n" + slow + "\nWith assistant:\n" + fast) ==
        Decodings{Decoding::plain, Decoding::speculative});
  // Beside another format they are of some other script.
  CHECK(read_log("[ Prompt: 200.0 t/s | Generation: 20.0 t/s ]\n" + slow).format == "local-prompts");
}

TEST_CASE("the last line of mlx_vlm.generate counts its rounds") {
  const auto read = [](const std::string& line) {
    const auto runs = posted_runs(
        "Prompt: 9 tokens, 90.000 tokens-per-sec\nGeneration: 200 tokens, 50.000 tokens-per-sec\n"
        "Peak memory: 9.0 GB\n" +
            line,
        "mlx-lm");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].decoding == Decoding::speculative);
    CHECK(runs[0].times.tpot_ms == near(20.0));
    return runs[0];
  };
  const auto words = [](const std::string& length, const std::string& accepted, const std::string& rate,
                        const std::string& drafts) {
    return "Speculative decoding: " + length + " accepted tokens/round (" + accepted + " accepted drafts/round, " +
           rate + "% of drafted, avg draft " + drafts + ") over 80 rounds\n";
  };
  const auto steady = read(words("2.50", "1.50", "75.0", "2.00"));
  CHECK(steady.acceptance_length == near(2.5));
  CHECK(steady.gamma == 2);
  CHECK(steady.times.iteration_ms == near(50.0));
  CHECK(read(words("3.50", "2.50", "50.4", "4.96")).gamma == 5);  // the last of 80 rounds drafted fewer
  const auto early = read(words("3.50", "2.50", "54.3", "4.60"));
  CHECK_FALSE(early.gamma);
  CHECK(early.acceptance_length == near(3.5));
  const auto brief = read("Speculative decoding: 2.50 accepted tokens over 80 rounds\n");
  CHECK(brief.acceptance_length == near(2.5));
  CHECK_FALSE(brief.gamma);
}

TEST_CASE("KoboldCpp, TabbyAPI and mistral.rs: the speed of an answer") {
  const auto kobold = posted_runs(
      "[10:00:01] CtxLimit:600/4096, Amt:200/512, Init:0.10s, Process:0.50s (800.00T/s), Generate:10.00s (20.00T/s), "
      "Total:10.50s\n"
      "CtxLimit: 500/8192, Process:2.00s (20.0ms/T = 50.00T/s), Generate:5.00s (50.0ms/T = 20.00T/s), Total:7.00s "
      "(14.29T/s)\n",
      "local-prompts");
  REQUIRE(kobold.size() == 2);
  CHECK(kobold[0].times.tpot_ms == near(50.0));
  CHECK(kobold[0].times.ttft_ms == near(500.0));
  CHECK(kobold[0].stratum.output_tokens == 200.0);
  CHECK(kobold[0].decoding == Decoding::unknown);
  CHECK(kobold[1].times.tpot_ms == near(50.0));
  const auto tabby = posted_runs(
      "INFO:     Metrics (ID: 1a2b): 300 tokens generated in 10.5 seconds (Queue: 0.0 s, Process: 0 cached tokens and "
      "600 "
      "new tokens at 1200.0 T/s, Generate: 40.0 T/s, Context: 600 tokens)\n",
      "local-prompts");
  REQUIRE(tabby.size() == 1);
  CHECK(tabby[0].times.tpot_ms == near(25.0));
  const auto drafting = posted_runs(
      "10:00:00.5 INFO:     Metrics (ID: 1a2b): 300 tokens generated in 10.5 seconds (Queue: 0.0 s, Process: 0 cached "
      "tokens and 600 new tokens at 1200.0 T/s, Generate: 40.0 T/s, Context: 600 tokens, Draft: 180 / 240 tokens "
      "accepted (75.00%))\n",
      "local-prompts");
  REQUIRE(drafting.size() == 1);
  CHECK(drafting[0].decoding == Decoding::speculative);
  CHECK(drafting[0].acceptance->steps == 120);
  CHECK(drafting[0].acceptance->drafted_tokens == 240);
  CHECK(drafting[0].acceptance->accepted_tokens == 180);
  CHECK(drafting[0].times.iteration_ms == near(62.5));
  CHECK(drafting[0].stratum.output_tokens == 300.0);
  const auto textgen = posted_runs(
      "12:00:00-1 INFO     Output generated in 8.00 seconds (25.00 tokens/s, 200 tokens, context 90, seed 7)\n",
      "local-prompts");
  REQUIRE(textgen.size() == 1);
  CHECK(textgen[0].times.tpot_ms == near(40.0));
  CHECK(textgen[0].stratum.output_tokens == 200.0);
  CHECK(textgen[0].stratum.context_tokens == 190.0);
  CHECK(textgen[0].requests == 1.0);
  CHECK(warns(read_log("Output generated in 8.00 seconds (25.00 tokens/s, 200 tokens, context 90, seed 7)\n"), "W12"));
  CHECK_FALSE(warns(read_log("Prompt: 11 tokens, 150.00 T/s\nDecode: 128 tokens, 40.00 T/s\n"), "W12"));
  // Drafts accepted beyond the end of the answer, which do not refute the stated length.
  const auto loaded = posted_runs(
      "INFO:     Loading draft: small model, draft_num_tokens: 2\nINFO:     Metrics (ID: 1a2b): 300 tokens generated "
      "in "
      "10.5 seconds (Queue: 0.0 s, Process: 0 cached tokens and 600 new tokens at 1200.0 T/s, Generate: 40.0 T/s, "
      "Context: 600 tokens, Draft: 180 / 242 tokens accepted (74.38%))\n",
      "local-prompts");
  REQUIRE(loaded.size() == 1);
  CHECK(loaded[0].gamma == 2);
  CHECK(loaded[0].acceptance->steps == 121);
  CHECK_FALSE(loaded[0].adaptive);
  const auto mistral = posted_runs("Prompt: 11 tokens, 150.00 T/s\nDecode: 128 tokens, 40.00 T/s\n", "local-prompts");
  REQUIRE(mistral.size() == 1);
  CHECK(mistral[0].times.tpot_ms == near(25.0));
  CHECK(mistral[0].stratum.output_tokens == 128.0);
}

TEST_CASE("oMLX: the rounds of an answer and its speed") {
  const auto answers = posted_runs(
      "omlx.scheduler - INFO - [-] - vlm_mtp stats: request=1 finish=stop rounds=100 accepted=150/200 (75.0%) "
      "tokens_per_round=2.50 emitted=250 block_size=3\n"
      "omlx.server - INFO - [-] - Chat completion: 250 tokens in 5.00s (50.0 tok/s), prompt: 18\n"
      "omlx.server - INFO - [-] - Chat completion: 100 tokens in 4.00s (25.0 tok/s), prompt: 18\n",
      "omlx");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].gamma == 2);
  CHECK(answers[0].acceptance->steps == 100);
  CHECK(answers[0].acceptance->accepted_tokens == 150);
  CHECK(answers[0].times.iteration_ms == near(50.0));
  CHECK(answers[1].decoding == Decoding::unknown);
  CHECK(answers[1].times.tpot_ms == near(40.0));
  // The time of an answer includes that of its prompt.
  const auto long_prompt = posted_runs(
      "rounds=201 accepted=100/402 (24.9%) tokens_per_round=1.50\n"
      "Chat completion: 301 tokens in 40.00s (7.5 tok/s), prompt: 9000\n",
      "omlx");
  REQUIRE(long_prompt.size() == 1);
  CHECK(long_prompt[0].acceptance->steps == 201);  // not those of the rounded length
  CHECK(long_prompt[0].stratum.output_tokens == 301.0);
  CHECK_FALSE(long_prompt[0].times.tpot_ms);
  // Of 2026-08: the tokens of a cycle include those before the first one.
  const auto cycles = posted_runs(
      "batch_generator - INFO - [-] - MTP[7] finish=stop tokens=252 cycles=100 tok/cycle=2.52 accept=150/180 (83.3%) "
      "depth[d1=90/100,d2=60/80] d0=3\n"
      "omlx.server - INFO - [-] - Chat completion: model=acme-oQ8, 251 tokens in 9.00s (50.0 tok/s), prompt: 18, "
      "finish_reason=stop, max_tokens=1500\n"
      "batch_generator - INFO - [-] - MTP[8] finish=stop tokens=222 cycles=120 accept=100/120 (83.3%) emits[init=2]\n",
      "omlx");
  REQUIRE(cycles.size() == 2);
  CHECK(cycles[1].acceptance->steps == 120);
  CHECK(cycles[0].acceptance->steps == 100);
  CHECK(cycles[0].acceptance->drafted_tokens == 180);
  CHECK(cycles[0].times.iteration_ms == near(50.0));
  CHECK(cycles[0].stratum.output_tokens == 251.0);
  CHECK(cycles[0].stratum.context_tokens == 18.0 + 125.5);
  CHECK(cycles[0].adaptive);  // of 90 first drafts that were accepted 80 had a second one
}

TEST_CASE("oMLX: the line of an answer ends it, and a list of depths has the draft length") {
  const std::string plain = "Chat completion: 400 tokens in 16.00s (25.0 tok/s), prompt: 90\n";
  const auto counts = [](const std::string& depths) {
    return "MTP[4] finish=stop tokens=301 cycles=120 tok/cycle=2.50 accept=180/250 (72.0%) depth[" + depths +
           "] d0=0\nChat completion: 300 tokens in 6.00s (50.0 tok/s), prompt: 90\n";
  };
  const auto runs = posted_runs(plain + counts("d1=100/120,d2=60/99,d3=20/60"), "omlx");
  REQUIRE(runs.size() == 2);
  CHECK_FALSE(runs[0].acceptance);
  CHECK(runs[0].requests == 1.0);
  CHECK(runs[0].times.tpot_ms == near(40.0));
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].acceptance->steps == 120);
  CHECK(runs[1].acceptance->accepted_at == std::vector<std::int64_t>{100, 60, 20});
  CHECK_FALSE(runs[1].acceptance->drafted_tokens);
  CHECK_FALSE(runs[1].adaptive);
  // Drafts that end early: the last depth is the most, also of an answer that did not get so far.
  const auto early = posted_runs(counts("d1=100/120,d2=60/80") + counts("d1=100/120,d2=60/80,d3=20/50"), "omlx");
  REQUIRE(early.size() == 2);
  for (const auto& one : early) {
    CHECK(one.adaptive);
    CHECK(one.gamma == 3);
    CHECK(one.acceptance->accepted_at.empty());
  }
  CHECK_FALSE(posted_runs(counts("d1=100/120,d2=0/100"), "omlx").at(0).gamma);  // no draft shows what follows
}

TEST_CASE("oMLX: DFlash counts cycles, its acceptance is the share of the output") {
  const std::string dflash =
      "omlx.engine.dflash - DFlash generation complete: 400 tokens, 90.0 tok/s, "
      "acceptance=75.0%, cycles=100";
  const std::string chat = "Chat completion: 400 tokens in 5.00s (80.0 tok/s), prompt: 50, finish_reason=stop\n";
  const auto runs = posted_runs(dflash + "\n" + chat, "omlx");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance->steps == 100);
  CHECK(runs[0].acceptance->accepted_tokens == 300);
  CHECK(runs[0].times.tpot_ms == near(12.5));  // as of an answer without drafts
  CHECK_FALSE(runs[0].gamma);
  CHECK(posted_runs(dflash + ", phases[prefill=10ms]\n", "omlx").at(0).times.tpot_ms == near(1000.0 / 90.0));
  const auto fallback = posted_runs(
      "DFlash generation complete: 400 tokens, 30.0 tok/s, acceptance=0.0%, cycles=0, fallback=AR\n", "omlx");
  CHECK(fallback.at(0).decoding == Decoding::plain);
}

TEST_CASE("oMLX: answers that overlap are of an unknown load, and a speed without the prompt is used") {
  const auto answer = [](const std::string& time, const std::string& speed) {
    return "2026-05-06 " + time + ",100 - omlx.server - Chat completion: 300 tokens in 10.00s (" + speed +
           " tok/s), prompt: 900\n";
  };
  const auto apart = posted_runs(answer("10:00:20", "30.0") + answer("10:00:30", "33.0"), "omlx");
  REQUIRE(apart.size() == 1);  // the first has only its length
  CHECK(apart[0].requests == 1.0);
  CHECK(apart[0].times.tpot_ms == near(1000.0 / 33.0));
  const auto together = posted_runs(answer("10:00:20", "33.0") + answer("10:00:25", "33.0"), "omlx");
  REQUIRE(together.size() == 2);
  CHECK_FALSE(together[0].requests);
}

TEST_CASE("LM Studio's line below an answer, TabbyAPI's usage: accepted drafts and speed") {
  const auto chat = posted_runs(
      "50.00 tok/sec \xE2\x80\xA2 250 tokens \xE2\x80\xA2 0.30s to first token \xE2\x80\xA2 Stop reason: EOS Token "
      "Found "
      "\xE2\x80\xA2 Accepted 150/200 draft tokens (75.0%)\n20.00 tok/sec \xE2\x80\xA2 100 tokens \xE2\x80\xA2 0.20s to "
      "first token\n",
      "lmstudio-chat");
  REQUIRE(chat.size() == 2);
  CHECK(chat[0].acceptance->steps == 100);
  CHECK(chat[0].acceptance->drafted_tokens == 200);
  CHECK(chat[0].times.tpot_ms == near(20.0));
  CHECK(chat[0].times.ttft_ms == near(300.0));
  CHECK(chat[1].decoding == Decoding::unknown);
  const auto tabby = posted_runs(
      R"({"id": "1", "usage": {"prompt_tokens": 25, "prompt_time": 0.1, "completion_tokens": 250,
          "completion_time": 5.0, "completion_tokens_per_sec": 50.0,
          "completion_tokens_details": {"accepted_prediction_tokens": 150, "rejected_prediction_tokens": 50}}})",
      "tabbyapi");
  REQUIRE(tabby.size() == 1);
  CHECK(tabby[0].acceptance->steps == 100);
  CHECK(tabby[0].acceptance->drafted_tokens == 200);
  CHECK(tabby[0].times.ttft_ms == near(100.0));
  CHECK(tabby[0].times.iteration_ms == near(50.0));
}

TEST_CASE("GuideLLM's console: rows of several tables are one benchmark, headings take up to three rows") {
  const auto runs = posted_runs(sample("guidellm_console.txt"), "guidellm-console");
  CHECK(warns(read_log(sample("guidellm_console.txt")), "W20"));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == 19.5);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK(runs[1].concurrency == 8.0);
  CHECK(runs[1].requests == 7.8);
  CHECK(runs[1].times.tpot_ms == 25.0);
  CHECK(runs[1].times.ttft_ms == 64.0);
  CHECK(runs[1].times.output_tokens_per_s == 305.5);
  CHECK(runs[1].times.served_requests_per_s == 2.5);
  CHECK(runs[1].stratum.output_tokens == 120.0);
  // Chunks of several tokens, of answers that were streamed.
  const auto chunked = [](const std::string& chunks, const std::string& tokens) {
    std::string table = replaced(sample("guidellm_console.txt"), "| 102.0 | 102.0 | 1.0 ",
                                 "| " + chunks + " | 102.0 | " + tokens + " ");
    return read_log(table);
  };
  const LogContents drafted = chunked("43.0 ", "2.4");
  CHECK(drafted.observations[0].acceptance_length == 2.4);
  CHECK(drafted.observations[0].decoding == Decoding::unknown);
  CHECK(warns(drafted, "W10"));
  CHECK_FALSE(drafted.observations[1].acceptance_length);
  const auto arms =
      posted_runs("Baseline:\n\n" + sample("guidellm_console.txt") + "\nMTP, K = 2:\n\n" +
                      replaced(sample("guidellm_console.txt"), "| 102.0 | 102.0 | 1.0 ", "| 43.0  | 102.0 | 2.4 "),
                  "guidellm-console");
  CHECK(arms.at(2).decoding == Decoding::speculative);
  CHECK(arms[2].gamma == 2);
  CHECK(arms[2].acceptance_length == 2.4);
  CHECK_FALSE(chunked("78.0 ", "1.3").observations[0].acceptance_length);    // may be 1.25: no drafts
  CHECK_FALSE(chunked("102.0", "100.0").observations[0].acceptance_length);  // not streamed
  // Only the table of latencies, without lines and indented, twice: two reports.
  const std::string all = sample("guidellm_console.txt");
  const std::size_t begin = all.find("| Benchmark   | Request Latency");
  const std::string table = all.substr(begin, all.find("|====", begin) - begin);
  const auto twice = posted_runs("  " + table + "\n\n  " + table, "guidellm-console");
  REQUIRE(twice.size() == 4);
  CHECK(twice[3].times.tpot_ms == 25.0);
  CHECK_FALSE(twice[3].concurrency);
}

TEST_CASE("GuideLLM's console before 0.4: means, the load by name, failed requests") {
  const LogContents contents = read_log(sample("guidellm_console_old.txt"));
  CHECK(contents.format == "guidellm-console");
  CHECK(warns(contents, "W19"));
  CHECK_FALSE(warns(contents, "W20"));
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].concurrency == 4.0);
  CHECK(contents.observations[0].requests == 3.9);
  CHECK(contents.observations[0].times.tpot_ms == 22.2);
  CHECK(contents.observations[0].times.ttft_ms == 82.0);
  CHECK(contents.observations[0].failed_requests == 2);
  CHECK_FALSE(contents.observations[1].concurrency);
  CHECK(contents.observations[1].times.request_rate_per_s == 1.5);
  CHECK(contents.observations[1].times.output_tokens_per_s == 187.0);
}

TEST_CASE("a table of benchmarks that is not GuideLLM's is not read as one") {
  const auto runs =
      posted_runs("| Benchmark | K | tok/s |\n|---|---|---|\n| plain | 0 | 50 |\n| constant | 3 | 80 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].times.tpot_ms == near(12.5));
}

TEST_CASE(
    "Dynamo's frontend: latency between tokens, requests after their first token, together with an engine's own") {
  const std::string text = sample("prometheus_dynamo.prom");
  const auto runs = posted_runs(text, "prometheus");
  CHECK(warns(read_log(text), "W02"));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].requests == 4.0);
  CHECK(runs[0].times.tpot_ms == near(15.0));
  CHECK(runs[0].times.ttft_ms == near(80.0));
  CHECK(runs[0].completed_requests == 100);
  CHECK(runs[0].stratum.context_tokens == 500.0 + 50.5);
  const auto drafting = posted_runs(text +
                                        "vllm:spec_decode_num_drafts_total 4000\n"
                                        "vllm:spec_decode_num_draft_tokens_total 8000\n"
                                        "vllm:spec_decode_num_accepted_tokens_total 6000\n",
                                    "prometheus");  // of its workers, whose times nobody pasted
  REQUIRE(drafting.size() == 1);
  CHECK(drafting[0].gamma == 2);
  CHECK(drafting[0].times.tpot_ms == near(15.0));
  for (const std::string& both : {text + sample("prometheus_times.prom"), sample("prometheus_times.prom") + text}) {
    const LogContents contents = read_log(both);
    CHECK(contents.engine == "vllm");
    REQUIRE(contents.observations.size() == 1);
    CHECK(contents.observations[0].times.iteration_ms ==
          posted_runs(sample("prometheus_times.prom"), "prometheus").at(0).times.iteration_ms);
  }
}

TEST_CASE("a range query gives a window per step, for any order of its series") {
  const std::string text = sample("prometheus_range.json");
  const auto windows = posted_runs(text, "prometheus-range");
  CHECK(read_log(text).engine == "vllm");
  CHECK_FALSE(warns(read_log(text), "W02"));
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].acceptance->steps == 500);
  CHECK(windows[0].acceptance->accepted_at == Counts{400, 300});
  CHECK(windows[0].times.iteration_ms == near(25.0));
  CHECK(windows[1].acceptance->steps == 1000);
  CHECK(windows[1].requests == 3.0);
  CHECK(problem(R"({"data": {"result": [{"metric": {"__name__": "up"}, "values": [[1, "1"]]}]}})").find("no line") !=
        std::string::npos);
}

TEST_CASE("answers of one token, or without drafts, beside those of a server that drafts") {
  const auto metrics = [](const std::string& tokens, const std::string& speed, const std::string& drafts) {
    return "INFO:     Metrics (ID: ab): " + tokens +
           " tokens generated in 5.0 seconds (Queue: 0.0 s, Process: 0 cached tokens and 90 new tokens at 700.0 T/s, "
           "Generate: " +
           speed + " T/s, Context: 90 tokens" + drafts + ")\n";
  };
  const std::string drafting = metrics("300", "50.0", ", Draft: 200 / 300 tokens accepted (66.67%)");
  std::string wrapped = metrics("1", "21.0", ", Draft: 0 / 3 tokens accepted (0.00%)");
  for (const char* at : {" Generate", " new tokens"}) {
    std::string broken = wrapped;
    broken.replace(broken.find(at), 1, "\n");
    CHECK(posted_runs(drafting + broken + drafting, "local-prompts").size() == 2);
  }
  CHECK(posted_runs(drafting + wrapped, "local-prompts").size() == 1);
  CHECK(posted_runs(drafting + metrics("1", "21.0", ""), "local-prompts").size() == 1);
  std::string long_answer = drafting;
  long_answer.replace(long_answer.find(" Generate"), 1, "\n");
  const auto halves = posted_runs(drafting + long_answer, "local-prompts");
  REQUIRE(halves.size() == 2);
  CHECK(halves[1].acceptance->accepted_tokens == 200);
  CHECK(halves[1].stratum.output_tokens == 300.0);
  const auto none =
      posted_runs(drafting + metrics("40", "21.0", ", Draft: 0 / 0 tokens accepted (0.00%)"), "local-prompts");
  REQUIRE(none.size() == 2);
  CHECK(none[1].decoding == Decoding::unknown);
  // Without any drafts the server does not speculate.
  CHECK(posted_runs(metrics("40", "21.0", ", Draft: 0 / 0 tokens accepted (0.00%)"), "local-prompts").at(0).decoding ==
        Decoding::plain);
  const auto without = posted_runs(drafting + metrics("40", "21.0", ""), "local-prompts");
  REQUIRE(without.size() == 2);
  CHECK(without[1].stratum.output_tokens == 40.0);
}

TEST_CASE("reports of GuideLLM below captions of arms, whatever their titles") {
  for (const char* name : {"guidellm_console.txt", "guidellm_console_old.txt"}) {
    std::string report = sample(name);
    if (!report.starts_with("\xE2\x84\xB9")) report = "Benchmarks Stats:\n" + report.substr(report.find("====="));
    const auto runs =
        posted_runs("Baseline:\n```\n" + report + "```\n\nMTP, K = 2:\n```\n" + report + "```\n", "guidellm-console");
    REQUIRE(runs.size() % 2 == 0);
    REQUIRE_FALSE(runs.empty());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool plain = i < runs.size() / 2;
      CHECK(runs[i].decoding == (plain ? Decoding::plain : Decoding::speculative));
      CHECK(runs[i].gamma.value_or(0) == (plain ? 0 : 2));
    }
  }
}

TEST_CASE("a label with the words of one that drafts, but not those for drafting, is of the plain run") {
  const auto block = [](const std::string& seconds, const std::string& speed) {
    return "first token: 0.05s\ndecode time: " + seconds + "s\noutput token: 800\ndecode speed: " + speed +
           " token/s\n\n";
  };
  const std::string fast = block("10.0", "80.0"), slow = block("16.0", "50.0");
  for (const auto& [plain, drafts] :
       std::vector<std::pair<std::string, std::string>>{{"14B model:", "14B model with speculation:"},
                                                        {"## Chat", "## Chat, MTP"},
                                                        {"server A", "EAGLE3 server A"}}) {
    CAPTURE(plain);
    for (const bool plain_first : {true, false}) {
      const std::string one = plain + "\n" + fast, other = drafts + "\n" + slow;
      const auto runs = posted_runs(plain_first ? one + other : other + one, "small-bench");
      REQUIRE(runs.size() == 2);
      CHECK(runs[plain_first ? 0 : 1].decoding == Decoding::plain);
      CHECK(runs[plain_first ? 1 : 0].decoding == Decoding::speculative);
    }
  }
  CHECK(warns(read_log("7B:\n" + fast + "7B with MTP:\n" + slow), "W22"));
  const auto other = posted_runs("7B:\n" + fast + "14B with MTP:\n" + slow, "small-bench");
  REQUIRE(other.size() == 2);
  CHECK(other[0].decoding == Decoding::unknown);
}

TEST_CASE("KoboldCpp's perf endpoint: the last answer, and no drafts where none were tried") {
  const auto perf = [](int success, int failed) {
    return fmt::format(
        R"({{"last_process": 1.5, "last_eval": 20.0, "last_token_count": 400, "last_input_count": 100, )"
        R"("last_process_time": 0.15, "last_eval_time": 8.0, "last_draft_success": {}, "last_draft_failed": {}, )"
        R"("total_gens": 3, "queue": 0, "idle": 1}})",
        success, failed);
  };
  const auto plain = posted_runs(perf(0, 0), "koboldcpp-perf");
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].decoding == Decoding::unknown);
  CHECK(plain[0].times.tpot_ms == near(20.0));
  CHECK(plain[0].times.ttft_ms == near(150.0));
  const auto drafted = posted_runs(perf(250, 90), "koboldcpp-perf");
  REQUIRE(drafted.size() == 1);
  CHECK(drafted[0].decoding == Decoding::speculative);
  CHECK(drafted[0].acceptance->accepted_tokens == 250);
  CHECK(drafted[0].acceptance->steps == 150);
}

TEST_CASE(
    "LMDeploy's profile_throughput: times in seconds, the tokens of a chunk, and the draft tokens of its command") {
  const auto report = [](const std::string& options, const std::string& tpot, const std::string& chunk) {
    return "$ python3 benchmark/profile_throughput.py data.json big --concurrency 8" + options +
           "\n\n=========== Profile Throughput ===========\nSuccessful requests                  90\n"
           "Concurrency                              8\nInput throughput (tok/s)           900.000\n"
           "Output throughput (tok/s)          400.000\nRequest throughput (req/s)           2.000\n" +
           "                                      mean       P50\nTime to First Token (TTFT)           0.250     "
           "0.240\n"
           "Time per Output Token (TPOT)         " +
           tpot + "     0.010\nTokens per Tick                      " + chunk + "         1\n";
  };
  for (const std::string options : {" --speculative-algorithm eagle3 --speculative-num-draft-tokens 4",
                                    " \\\n  --speculative-num-draft-tokens 4 --speculative-algorithm deepseek_mtp"}) {
    const auto runs =
        posted_runs(report("", "0.040", "1.000") + "\n" + report(options, "0.020", "2.500"), "small-bench");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(40.0));
    CHECK(runs[0].times.ttft_ms == near(250.0));
    CHECK(runs[0].concurrency == 8.0);
    CHECK(runs[1].gamma == 4);
    CHECK(runs[1].acceptance_length == near(2.5));
  }
  // SGLang's draft tokens count the known one, and it has a depth beside them.
  const auto other =
      posted_runs(report("", "0.040", "1.000") + "\n" +
                      report(" --speculative-algorithm EAGLE --speculative-num-draft-tokens 4", "0.020", "2.5"),
                  "small-bench");
  CHECK_FALSE(other.at(1).gamma);
}

TEST_CASE("speculators' evaluate.py: the counts of each subset") {
  const auto runs = posted_runs(
      "=== Speculative Decoding Acceptance Report ===\n\n  Num drafts                       200\n"
      "  Num draft tokens                 600\n  Num accepted tokens              300\n"
      "  Acceptance length               2.5000\n\n=== Speculative Decoding Acceptance Report ===\n\n"
      "  Num drafts                       100\n  Num draft tokens                 300\n"
      "  Num accepted tokens              100\n  Acceptance length               2.0000\n",
      "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].acceptance->steps == 200);
  CHECK(runs[0].acceptance->accepted_tokens == 300);
  CHECK(runs[1].acceptance->accepted_tokens == 100);
}

TEST_CASE("the speed at the end of SGLang's batch is not that of the batch") {
  const auto batch = [](const std::string& speed, const std::string& end) {
    return "batch size: 4\ninput_len: 64\noutput_len: 128\noutput throughput: " + speed +
           " tok/s\nlast_ttft: 0.08 s\nlast generation throughput: " + end + " tok/s\n\n";
  };
  const auto runs = posted_runs(
      "## no speculation\n" + batch("100.0", "60.0") + "## EAGLE, K = 3\n" + batch("180.0", "90.0"), "small-bench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.output_tokens_per_s == 100.0);
  CHECK(runs[1].times.output_tokens_per_s == 180.0);
}

}  // namespace foredraft::tests
