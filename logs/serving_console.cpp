// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/serving_benchmark.hpp"

/// Console output of the load generators `vllm bench serve` and `sglang.bench_serving`, complete or in part.
namespace foredraft::logs {
namespace {

/// Positions are printed in percent with two digits.
constexpr double percent_rounding = 0.00005;
/// Chunks longer than a token by this factor hold several tokens each.
constexpr double speculative_chunk = 1.3;

constexpr std::string_view console_anchor =
    R"(^[ \t]*(?:Backend|Traffic request rate|Max(?:imum)? request concurrency|Successful requests)"
    R"(|Request rate configured \(RPS\)|Benchmark duration \(s\)|Total input tokens|Total generated tokens)"
    R"(|Total generated tokens \(retokenized\)|Request throughput \(req/s\)|Output token throughput \(tok/s\))"
    R"(|Concurrency|Mean (?:E2EL|E2E Latency|TTFT|TPOT|ITL) \(ms\)|Accept length|Acceptance rate \(%\))"
    R"(|Acceptance length|Drafts|Draft tokens|Accepted tokens|Position \d+):|= Serving Benchmark Result =)";

bool is_sglang_client(const KeyValueBlock& block) {
  return block.has("Backend") || block.has("Total generated tokens (retokenized)") || block.has("Accept length");
}

std::optional<double> request_rate(const KeyValueBlock& block) {
  const auto rate = block.real("Request rate configured (RPS)");
  return rate ? rate : block.real("Traffic request rate");
}

std::optional<double> product(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

/// Mean number of requests in the batch: the fixed concurrency, or by Little's law.
std::optional<double> requests_at_once(const KeyValueBlock& block) {
  auto held = block.real("Maximum request concurrency");
  if (!held) held = block.real("Max request concurrency");
  if (held && !request_rate(block)) return held;
  const auto decoding = product(block.real("Output token throughput (tok/s)"), block.real("Mean TPOT (ms)"));
  return decoding ? std::optional(*decoding / 1000.0) : block.real("Concurrency");
}

void set_lengths(const KeyValueBlock& block, Stratum& stratum) {
  const auto requests = block.real("Successful requests");
  const auto prompt = block.real("Total input tokens");
  const auto output = block.real("Total generated tokens");
  if (!output || !requests || !(*requests > 0.0)) return;
  stratum.output_tokens = *output / *requests;
  if (prompt) stratum.context_tokens = (*prompt + *output / 2.0) / *requests;
}

void set_acceptance(const KeyValueBlock& block, Observation& run, LogContents& contents) {
  run.acceptance_length = block.real("Acceptance length");
  if (const auto since_start = block.real("Accept length")) {
    run.acceptance_length = since_start;
    warn_once(contents, "W02", block.line(), "the acceptance length is that since the start of the server");
  }
  const auto drafts = block.count("Drafts");
  if (run.acceptance_length || drafts) run.decoding = Decoding::speculative;
  if (!drafts || *drafts == 0) return;
  AcceptanceCounts counts{.steps = *drafts,
                          .drafted_tokens = block.count("Draft tokens"),
                          .accepted_tokens = block.count("Accepted tokens")};
  std::vector<double> rates = block.list("Position ");
  for (double& rate : rates) rate /= 100.0;
  set_positions(counts, rates, std::nullopt, percent_rounding, block.line());
  check_counts(counts, std::nullopt, block.line(), contents);
  run.gamma = steady_gamma(counts);
  if (!run.gamma && !rates.empty()) run.gamma = static_cast<std::int64_t>(rates.size());
  run.acceptance = std::move(counts);
  run.acceptance_length = std::nullopt;
}

/// A run without data on speculation counts as one without, unless its chunks hold several tokens.
Decoding undrafted(const KeyValueBlock& block, LogContents& contents) {
  if (!block.has("Successful requests") || !block.has("Output token throughput (tok/s)")) return Decoding::unknown;
  const auto itl = block.real("Mean ITL (ms)");
  const auto tpot = block.real("Mean TPOT (ms)");
  if (is_sglang_client(block) || !itl || !tpot || *itl <= speculative_chunk * *tpot) return Decoding::plain;
  warn_once(contents, "W09", block.line(),
            "a run without acceptance whose chunks hold several tokens: it may be speculative and does not count as "
            "baseline");
  return Decoding::unknown;
}

/// The time between chunks is that of an iteration for vLLM's client; SGLang's divides it by the chunk's tokens.
std::optional<double> iteration_ms(const KeyValueBlock& block, const Observation& run, LogContents& contents) {
  if (run.decoding == Decoding::unknown) return std::nullopt;
  if (block.has("Mean ITL (ms)") && run.decoding == Decoding::speculative) {
    warn_once(contents, "W07", block.line(),
              is_sglang_client(block) ? "ITL of SGLang's client is per token: iteration times are computed from TPOT"
                                      : "ITL of vLLM's client is per iteration, not per token");
  }
  if (!is_sglang_client(block)) return block.real("Mean ITL (ms)");
  const auto length = run.decoding == Decoding::plain ? std::optional(1.0) : run.acceptance_length;
  return product(block.real("Mean TPOT (ms)"), length);
}

class ServingConsoleReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("= Serving Benchmark Result =") != std::string_view::npos) {
      close(contents);
      return true;
    }
    const std::optional<KeyValue> field = key_value(text);
    if (!field) return false;
    if (!block_.add(field->key, field->value, number)) {
      close(contents);
      block_.add(field->key, field->value, number);
    }
    // A word such as "Backend" occurs in many logs.
    return field->key != "Backend" && field->key != "Concurrency";
  }

  void finish(LogContents& contents) override { close(contents); }

 private:
  void close(LogContents& contents);

  KeyValueBlock block_;
};

void ServingConsoleReader::close(LogContents& contents) {
  const KeyValueBlock block = std::exchange(block_, {});
  Observation run{.line = block.line(), .span = Span::run};
  set_acceptance(block, run, contents);
  if (run.decoding == Decoding::unknown) run.decoding = undrafted(block, contents);
  run.times = {.duration_s = block.real("Benchmark duration (s)"),
               .output_tokens_per_s = block.real("Output token throughput (tok/s)"),
               .iteration_ms = iteration_ms(block, run, contents),
               .tpot_ms = block.real("Mean TPOT (ms)"),
               .ttft_ms = block.real("Mean TTFT (ms)"),
               .request_rate_per_s = request_rate(block)};
  run.requests = requests_at_once(block);
  set_lengths(block, run.stratum);
  const ObservedTimes& times = run.times;
  if (run.decoding == Decoding::unknown && !times.output_tokens_per_s && !times.tpot_ms) return;
  warn_of_arrival_rate(times.request_rate_per_s, block.real("Request throughput (req/s)"), block.line(), contents);
  if (block.has("Backend")) {
    contents.engine = block.text("Backend").starts_with("sglang") ? "sglang" : block.text("Backend");
  } else if (is_sglang_client(block)) {
    contents.engine = "sglang";
  } else if (block.has("Request rate configured (RPS)") || block.has("Drafts")) {
    contents.engine = "vllm";
  }
  contents.observations.push_back(std::move(run));
}

}  // namespace

LogFormat serving_console_format() {
  return {
      .name = "bench-serving",
      .summary = "console of vllm bench serve and sglang.bench_serving, whole or in part",
      .engine = "",
      .gives = {"(yes)", "yes", "(yes)", "iteration, tokens", "yes"},
      .reads = LineFormat{.anchor = console_anchor, .open = [] { return std::make_unique<ServingConsoleReader>(); }}};
}

}  // namespace foredraft::logs
