// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "logs/formats.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_lines.hpp"

/// Consoles of programs that mostly answer one request after the other and print its tokens and speed. Few count
/// drafts; whether the others speculate is unknown.
namespace foredraft::logs {
namespace {

// ---- `ollama run --verbose`; KTransformers' local_chat prints the same lines. The log of Ollama's MLX runner counts
// the drafts of an answer.

constexpr std::array<StatedLine, 5> ollama_lines{{
    {"stats\" iterations=# drafted=# accepted=#", {&StatedRun::steps, &StatedRun::drafted, &StatedRun::accepted}},
    {"prompt eval count: # token", {&StatedRun::prompt_tokens}},
    {"prompt eval rate: # tokens/s"},
    {"eval count: # token", {&StatedRun::output_tokens}},
    {"eval rate: # tokens/s", {&StatedRun::request_tokens_per_s}},
}};

void as_printed(StatedRun& /*run*/) {}

constexpr StatedConsole ollama_console{Span::request, ollama_lines, as_printed};

// ---- KTransformers' server.

constexpr std::array<StatedLine, 1> ktransformers_lines{{
    {"Performance(T/s): prefill #, decode #. Time(s): tokenize #, prefill #, decode #",
     {nullptr, &StatedRun::request_tokens_per_s, nullptr, {&StatedRun::ttft_ms, 1000.0}, &StatedRun::duration_s}},
}};

/// Speed from tokens and seconds, or tokens from speed and seconds.
void speed_of_runs(StatedRun& run) {
  const double seconds = run.duration_s.value_or(0.0);
  if (seconds <= 0.0) return;
  if (!run.request_tokens_per_s && run.output_tokens) run.request_tokens_per_s = *run.output_tokens / seconds;
  if (!run.output_tokens && run.request_tokens_per_s)
    run.output_tokens = std::round(*run.request_tokens_per_s * seconds);
}

constexpr StatedConsole ktransformers_console{Span::request, ktransformers_lines, speed_of_runs};

// ---- mlx_lm.generate and mlx_lm.benchmark, whose speed is that of the batch; mlx-omni-server, two lines a request;
// mlx_vlm.generate, whose last line counts rounds, in its first versions without the drafts.

constexpr std::array<StatedLine, 9> mlx_lines{{
    {"# accepted tokens/round (# accepted drafts/round, #% of drafted, avg draft #) over # rounds",
     {&StatedRun::length, nullptr, {&StatedRun::rate, 0.01}, &StatedRun::gamma, &StatedRun::steps}},
    {"# accepted tokens over # rounds", {&StatedRun::length, &StatedRun::steps}},
    {"Prompt: # tokens, # tokens-per-sec", {&StatedRun::prompt_tokens}},
    {"Generation: # tokens, # tokens-per-sec", {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"Timing with prompt_tokens=#, generation_tokens=#, batch_size=#",
     {&StatedRun::prompt_tokens, &StatedRun::output_tokens, &StatedRun::concurrency},
     StatedLine::Of::all_runs},
    {"Averages: prompt_tps=#, generation_tps=#", {nullptr, &StatedRun::output_tokens_per_s}, StatedLine::Of::mean},
    {"prompt_tps=#, generation_tps=#", {nullptr, &StatedRun::output_tokens_per_s}},
    {"prompt_tps: #"},
    {"generation_tps: #", {&StatedRun::request_tokens_per_s}},
}};

/// The mean number of drafts of a round is the draft length if the last round, which the end of the answer cuts, can
/// make the difference; else drafts end early.
void mean_to_gamma(StatedRun& run) {
  if (!run.gamma) return;
  constexpr double rounding = 0.005;  // of two digits
  const double most = std::ceil(*run.gamma - rounding);
  run.adaptive = most - *run.gamma > most / std::max(1.0, run.steps.value_or(1.0)) + rounding;
  run.gamma = run.adaptive ? std::nullopt : std::optional(most);
}

/// A benchmark whose settings were cut off is taken for one of batch size 1.
void mlx_speeds(StatedRun& run) {
  mean_to_gamma(run);
  if (run.request_tokens_per_s) run.concurrency = 1.0;
  if (run.output_tokens_per_s.value_or(0.0) > 0.0)
    run.tpot_ms = 1000.0 * run.concurrency.value_or(1.0) / *run.output_tokens_per_s;
}

constexpr StatedConsole mlx_console{Span::request, mlx_lines, mlx_speeds};

// ---- llama-cli and its predecessors, LM Studio's `lms chat --stats` and `lms log stream --stats`, mistral.rs,
// KoboldCpp, TabbyAPI, the chat.py of ExLlamaV2 and of ExLlamaV3, text-generation-webui: one prompt after the other.

constexpr std::array<StatedLine, 43> prompt_lines{{
    {"Prompt: # t/s | Generation: # t/s", {nullptr, &StatedRun::request_tokens_per_s}},
    {"prompt eval time = # ms / # tokens", {&StatedRun::ttft_ms, &StatedRun::prompt_tokens}},
    {"prompt eval time     = # ms / # tokens", {&StatedRun::ttft_ms, &StatedRun::prompt_tokens}},
    {"eval time = # ms / # runs", {{{&StatedRun::duration_s, 0.001}, {&StatedRun::output_tokens}}}},
    {"Tokens/Second: #", {&StatedRun::request_tokens_per_s}},
    {"Time to First Token: #s", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"Prompt Tokens: #", {&StatedRun::prompt_tokens}},
    {"Predicted Tokens: #", {&StatedRun::output_tokens}},
    {"Prompt: # tokens, # T/s", {&StatedRun::prompt_tokens}},
    {"Decode: # tokens, # T/s", {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"Process:#s (#T/s), Generate:#s (#T/s)",
     {{{&StatedRun::ttft_ms, 1000.0}, nullptr, {&StatedRun::duration_s}, {&StatedRun::request_tokens_per_s}}}},
    {"Amt:#/#, *Process:#s (#ms/T = #T/s), Generate:#s (#ms/T = #T/s",
     {&StatedRun::output_tokens,
      nullptr,
      {&StatedRun::ttft_ms, 1000.0},
      nullptr,
      nullptr,
      &StatedRun::duration_s,
      nullptr,
      &StatedRun::request_tokens_per_s}},
    {"Draft Results - Success:#, Failure:#", {&StatedRun::accepted, &StatedRun::rejections}, StatedLine::Of::nearer},
    {"Process:#s (#ms/T = #T/s), Generate:#s (#ms/T =",
     {{{&StatedRun::ttft_ms, 1000.0}, nullptr, nullptr, {&StatedRun::duration_s}, {&StatedRun::tpot_ms}}}},
    {"Processed:# in #s (#T/s), Generated:#/# in #s (#T/s)",
     {&StatedRun::prompt_tokens,
      {&StatedRun::ttft_ms, 1000.0},
      nullptr,
      &StatedRun::output_tokens,
      nullptr,
      &StatedRun::duration_s,
      &StatedRun::request_tokens_per_s}},
    {"# tokens generated in # seconds (Queue: # s, Process: # cached tokens and # new tokens at # T/s, Generate: # "
     "T/s, "
     "Context: # tokens, Draft: # / # tokens accepted",
     {&StatedRun::output_tokens, nullptr, nullptr, nullptr, nullptr, nullptr, &StatedRun::request_tokens_per_s,
      &StatedRun::prompt_tokens, &StatedRun::accepted, &StatedRun::drafted}},
    {"# tokens generated in # seconds (Queue: # s, Process: # cached tokens and # new tokens at # T/s, Generate: # "
     "T/s, "
     "Context: # tokens",
     {&StatedRun::output_tokens, nullptr, nullptr, nullptr, nullptr, nullptr, &StatedRun::request_tokens_per_s,
      &StatedRun::prompt_tokens}},
    {"Generate: # T/s, Context: # tokens, Draft: # / # tokens accepted",  // of a line that was wrapped
     {&StatedRun::request_tokens_per_s, &StatedRun::prompt_tokens, &StatedRun::accepted, &StatedRun::drafted}},
    {"Generate: # T/s, Context: # tokens", {&StatedRun::request_tokens_per_s, &StatedRun::prompt_tokens}},
    {"# tokens generated in # seconds (Queue: # s", {&StatedRun::output_tokens}},
    {"Context: # new tokens *Generate: # tokens at # t/s - Draft: # / # accepted",
     {&StatedRun::prompt_tokens, &StatedRun::output_tokens, &StatedRun::request_tokens_per_s, &StatedRun::accepted,
      &StatedRun::drafted}},
    {"Context: # new tokens *Generate: # tokens at # t/s",
     {&StatedRun::prompt_tokens, &StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"Generate: # tokens at # t/s - Draft: # / # accepted",  // of a line that was cut or wrapped
     {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s, &StatedRun::accepted, &StatedRun::drafted}},
    {"Generate: # tokens at # t/s", {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"(Context: # tokens, response: # tokens, # tokens/second, SD eff. #%, SD acc. #%",
     {&StatedRun::prompt_tokens,
      &StatedRun::output_tokens,
      &StatedRun::request_tokens_per_s,
      {&StatedRun::drafted_share, 0.01},
      {&StatedRun::rate, 0.01}}},
    {"(Context: # tokens, response: # tokens, # tokens/second",
     {&StatedRun::prompt_tokens, &StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"(Response: # tokens, # tokens/second, SD eff. #%, SD acc. #%",
     {&StatedRun::output_tokens,
      &StatedRun::request_tokens_per_s,
      {&StatedRun::drafted_share, 0.01},
      {&StatedRun::rate, 0.01}}},
    {"(Response: # tokens, # tokens/second", {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"Output generated in # seconds (# tokens/s, # tokens, context #",
     {&StatedRun::duration_s, &StatedRun::request_tokens_per_s, &StatedRun::output_tokens, &StatedRun::prompt_tokens}},
    {"tokensPerSecond: #", {&StatedRun::request_tokens_per_s}},
    {"timeToFirstTokenSec: #", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"promptTokensCount: #", {&StatedRun::prompt_tokens}},
    {"predictedTokensCount: #", {&StatedRun::output_tokens}},
    {"totalDraftTokensCount: #", {&StatedRun::drafted}},
    {"acceptedDraftTokensCount: #", {&StatedRun::accepted}},
    {"Prompt: # tokens, # t", {&StatedRun::prompt_tokens}},
    {"Prompt: # tokens in #s", {&StatedRun::prompt_tokens}},
    {"Generation: # tokens, # t", {&StatedRun::output_tokens, &StatedRun::request_tokens_per_s}},
    {"Decoded: # tokens in #s (# t",
     {&StatedRun::output_tokens, &StatedRun::duration_s, &StatedRun::request_tokens_per_s}},
    {"Generated: # tokens in #s (# t",
     {&StatedRun::output_tokens, &StatedRun::duration_s, &StatedRun::request_tokens_per_s}},
    {"Generation: # tokens in #s (# t",
     {&StatedRun::output_tokens, &StatedRun::duration_s, &StatedRun::request_tokens_per_s}},
    {"steps=# proposed=# accepted=# rate=#% avg_tok/step=#",
     {&StatedRun::steps, &StatedRun::drafted, &StatedRun::accepted, nullptr, &StatedRun::length}},
    {"steps=# proposed=# accepted=#", {&StatedRun::steps, &StatedRun::drafted, &StatedRun::accepted}},
}};

void one_after_the_other(StatedRun& run) {
  speed_of_runs(run);
  run.requests = 1.0;
}

/// text-generation-webui times a prompt and its answer together.
void textgen_prompt(std::string_view line, StatedRun& run) {
  run.with_prompt = line.find("Output generated in ") != std::string_view::npos;
}

constexpr StatedConsole prompt_console{Span::request,  prompt_lines,    one_after_the_other,
                                       textgen_prompt, "local-prompts", "llama-speculative"};

// ---- oMLX: iterations of a request that drafted (rounds, in some versions cycles), and its speed in the line that
// ends it. The acceptance of DFlash is the share of the output that was drafted.

constexpr std::array<StatedLine, 6> omlx_lines{{
    {"DFlash generation complete: # tokens, # tok/s, acceptance=#%, cycles=#",
     {&StatedRun::output_tokens,
      &StatedRun::request_tokens_per_s,
      {&StatedRun::drafted_share, 0.01},
      &StatedRun::steps}},
    {"rounds=# accepted=#/# (#%) tokens_per_round=#",
     {&StatedRun::steps, &StatedRun::accepted, &StatedRun::drafted, nullptr, &StatedRun::length}},
    {"cycles=# tok/cycle=# accept=#/#", {&StatedRun::steps, nullptr, &StatedRun::accepted, &StatedRun::drafted}},
    {"cycles=# accept=#/#", {&StatedRun::steps, &StatedRun::accepted, &StatedRun::drafted}},
    {"# tokens in #s (# tok/s), prompt: #",
     {&StatedRun::output_tokens, &StatedRun::duration_s, &StatedRun::request_tokens_per_s, &StatedRun::prompt_tokens},
     StatedLine::Of::last},
    {"# tokens in #s (# tok/s)",
     {&StatedRun::output_tokens, &StatedRun::duration_s, &StatedRun::request_tokens_per_s},
     StatedLine::Of::last},
}};

/// "depth[d1=80/100,d2=60/80]": the drafts of each depth that were accepted, of those that were verified. If each that
/// was accepted led to the next depth, the last is the draft length, and the drafts behind a rejected one are not in
/// the total; else drafts end early, and the last depth with more than one is the most.
void omlx_depths(std::string_view line, StatedRun& run) {
  static const RE2 list(R"(\bdepth\[((?:,?d\d{1,2}=\d+/\d+)+)\])"), depth(R"(,?d\d+=(\d+)/(\d+))");
  constexpr double cut = 1.0;  // the end of an answer may cut one draft
  const double steps = run.steps.value_or(0.0);
  re2::StringPiece depths;
  if (steps <= 0.0 || !RE2::PartialMatch(piece(line), list, &depths)) return;
  double verified = steps, accepted = steps, here = 0.0, of = 0.0;
  bool whole = true;
  std::vector<double> positions;
  while (RE2::Consume(&depths, depth, &here, &of)) {
    whole = whole && of <= accepted && of >= accepted - cut && here <= of;
    verified = of;
    accepted = here;
    positions.push_back(here / steps);
  }
  run.adaptive = !whole;
  if (verified <= 0.0 || accepted <= cut) return;  // it may have drafted further
  if (!whole) {
    const auto most = static_cast<double>(positions.size());
    if (run.drafted.value_or(0.0) <= steps * most) run.gamma = most;  // else deeper ones were not verified
    return;
  }
  run.positions = std::move(positions);
  run.drafted.reset();
}

/// Answers come one after the other unless their times overlap. The speed of one includes its prefill, but in versions
/// that print the time of that, too: it is dropped if the prompt is longer than the output.
void omlx_answers(StatedRun& run) {
  constexpr double rounded = 1.01;
  const double output = run.output_tokens.value_or(0.0), speed = run.request_tokens_per_s.value_or(0.0);
  run.with_prompt = !run.duration_s || speed * *run.duration_s <= rounded * output;
  if (run.with_prompt && run.prompt_tokens.value_or(0.0) > output) run.request_tokens_per_s = std::nullopt;
  if (run.drafted_share && run.steps.value_or(output) < output) run.accepted = output - *run.steps;
  run.requests = 1.0;
}

constexpr StatedConsole omlx_console{Span::request, omlx_lines, omlx_answers, omlx_depths};

// ---- Benchmarks without a load generator: SGLang's send_one and bench_one_batch_server, vLLM's `bench throughput` and
// the end of its progress bar, LMDeploy's profile_throughput and profile_pipeline_api, whose times are in seconds, the
// counts of speculators' evaluate.py, and users' scripts that print one metric per line, also below the name of each
// arm.

constexpr std::array<StatedLine, 37> small_bench_lines{{
    {"acc_length=#", {&StatedRun::length}},
    {"acc_length: #", {&StatedRun::length}},
    {"speed=# token/s", {&StatedRun::request_tokens_per_s}},
    {"batch size: #", {&StatedRun::concurrency}},
    {"input_len: #", {&StatedRun::prompt_tokens}},
    {"output_len: #", {&StatedRun::output_tokens}},
    {"last_ttft: # s", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"output throughput: # tok", {&StatedRun::output_tokens_per_s}},
    {"last generation throughput: # tok"},  // of the end, where requests have already ended
    {"Concurrency #", {&StatedRun::concurrency}},
    {"Output throughput (tok/s) #", {&StatedRun::output_tokens_per_s}},
    {"Request throughput (req/s) #", {&StatedRun::served_requests_per_s}},
    {"Time to First Token (TTFT) #", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"Time per Output Token (TPOT) #", {{{&StatedRun::tpot_ms, 1000.0}}}},
    {"Tokens per Tick #", {&StatedRun::chunk_tokens}},
    {"Num drafts #", {&StatedRun::steps}},
    {"Num draft tokens #", {&StatedRun::drafted}},
    {"Num accepted tokens #", {&StatedRun::accepted}},
    {"Acceptance length #", {&StatedRun::length}},
    {"ttft: # ms", {&StatedRun::ttft_ms}},
    {"tpot: # ms", {&StatedRun::tpot_ms}},
    {"avg_throughput: # tok", {&StatedRun::output_tokens_per_s}},
    {"first token: # s", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"decode time: # s", {&StatedRun::duration_s}},
    {"output token: #", {&StatedRun::output_tokens}},
    {"decode speed: # tok", {&StatedRun::request_tokens_per_s}},
    {"Input tokens (total / mean) # / #", {nullptr, &StatedRun::prompt_tokens}},
    {"Output tokens (total / mean) # / #", {nullptr, &StatedRun::output_tokens}},
    {"TTFT mean / p50 / p95 #s", {{{&StatedRun::ttft_ms, 1000.0}}}},
    {"Per-decode-token latency #ms", {&StatedRun::tpot_ms}},
    {"Decode throughput # tok", {&StatedRun::request_tokens_per_s}},
    {"Mean acceptance length #", {&StatedRun::length}},
    {"Gamma (tokens per proposal) #", {&StatedRun::gamma}},
    {"Draft calls / verify steps # / #", {nullptr, &StatedRun::steps}},
    {"#/# [*est. speed input: # toks/s, output: # toks",
     {nullptr, &StatedRun::completed, nullptr, &StatedRun::output_tokens_per_s}},
    {"est. speed input: # toks/s, output: # toks", {nullptr, &StatedRun::output_tokens_per_s}},
    {"Throughput: # requests/s, # total tokens/s, # output tokens/s",
     {&StatedRun::served_requests_per_s, nullptr, &StatedRun::output_tokens_per_s},
     StatedLine::Of::total},
}};

/// A speed without a batch size is that of one request.
void speed_of_batch(StatedRun& run) {
  if (run.request_tokens_per_s && !run.concurrency) run.concurrency = 1.0;
}

constexpr StatedConsole small_bench_console{Span::run, small_bench_lines, speed_of_batch};

}  // namespace

LineFormat prompt_console_format() {
  return stated_lines(
      R"(\[ Prompt: [\d.]+ t/s|llama_perf_context_print: +(?:prompt )?eval time|\bgeneration eval time *= |print_timings\] +prompt eval time|^ *Tokens/Second: )"
      R"(|^ *Time to First Token: [\d.]+ ?s|^ *(?:Prompt|Predicted) Tokens: \d)"
      R"(|(?:Prompt|Decode): \d+ tokens, [\d.]+ T/s|Process: ?[\d.]+s \(.*T/s\), Generate:|Processed: ?\d+ in [\d.]+s \()"
      R"(|Generate: [\d.]+ T/s, Context: \d|Generate: [\d,]+ tokens at [\d.]+ t/s|\d tokens generated in [\d.]+ seconds \(Queue: |Draft Results - Success: ?\d|Output generated in [\d.]+ seconds \(|\((?:Context: \d+ tokens, r|R)esponse: \d+ tokens, [\d.]+ tokens/second|(?:Prompt|Generation): \d+ tokens, [\d.]+ t(?:ok(?:ens)?)?/s)"
      R"(|(?:Prompt|Decoded|Generat(?:ed|ion)): \d+ tokens in [\d.]+s|\bsteps=\d+ proposed=\d+ accepted=\d)"
      R"(|^ *(?:tokensPerSecond|timeToFirstTokenSec|(?:prompt|predicted|totalDraft|acceptedDraft)TokensCount): \d)",
      prompt_console);
}

LineFormat small_bench_format() {
  return stated_lines(
      R"(\bacc_length[:=] ?\d|^speed=[\d.]+ token/s|^batch size: \d|^(?:in|out)put_len: \d)"
      R"(|^last_ttft: \d|^output throughput: [\d.]+ tok|Throughput: [\d.]+ requests/s,)"
      R"(|(?:100%\||^)[^%\n]*est\. speed input: \d|^(?:ttft|tpot): *[\d.]+ *ms|^avg_throughput: *[\d.]+ *tok)"
      R"(|^ +(?:(?:In|Out)put tokens \(total / mean\)|TTFT mean / p50 / p95|Per-decode-token latency|Decode throughput) {2,}\d)"
      R"(|^ +(?:Mean acceptance length|Gamma \(tokens per proposal\)|Draft calls / verify steps) {2,}\d)"
      R"(|^(?:first token|decode time): *[\d.]+ *s\b|^output token: *\d|^decode speed: *[\d.]+ *tok)"
      R"(|^last generation throughput: [\d.]+ tok|^(?:Concurrency|(?:Output throughput \(tok|Request throughput \(req)/s\)) {3,}\d)"
      R"(|^(?:Time to First Token \(TTFT\)|Time per Output Token \(TPOT\)|Tokens per Tick) {3,}\d)"
      R"(|^ +(?:Num (?:drafts|draft tokens|accepted tokens)|Acceptance length) {3,}\d)",
      small_bench_console);
}

LineFormat omlx_format() {
  return stated_lines(R"(\brounds=\d+ accepted=\d+/\d|\bcycles=\d+ (?:tok/cycle=[\d.]+ )?accept=\d+/\d)"
                      R"(|DFlash generation complete: \d|ompletion: (?:model=[^ ]+ )?\d+ tokens in [\d.]+s \()",
                      omlx_console);
}

LineFormat ollama_format() {
  return stated_lines(R"(\beval (?:count|rate): +[\d.]+ token|\biterations=\d+ drafted=\d+ accepted=\d)",
                      ollama_console);
}

LineFormat ktransformers_format() { return stated_lines(R"(Performance\(T/s\): prefill )", ktransformers_console); }

LineFormat mlx_format() {
  return stated_lines(R"((?:Prompt|Generation): \d+ tokens, [\d.]+ tokens-per-sec|\bgeneration_t(?:ps|okens)=\d)"
                      R"(|\b(?:prompt|generation)_tps: *\d|\d accepted tokens(?:/round \(| over \d+ rounds))",
                      mlx_console);
}

}  // namespace foredraft::logs
