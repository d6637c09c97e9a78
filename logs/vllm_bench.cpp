// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/serving_benchmark.hpp"

/// `vllm bench serve --save-result`: the acceptance rate in percent, those of positions as fractions; absent without
/// speculation. The time between tokens is that between chunks, so that of an iteration.
namespace foredraft::logs {
namespace {

/// Requests whose chunks hold more tokens than this are speculative, even if the file does not say so.
constexpr double plain_tokens_per_chunk = 1.25;
/// An inter-token latency is that of iterations if it exceeds this fraction of the acceptance length times TPOT.
constexpr double per_chunk = 0.6;

bool claims_vllm_bench(const nlohmann::ordered_json& value) {
  return is_serving_benchmark(value) &&
         (value.contains("spec_decode_num_drafts") || value.contains("tokenizer_id") || value.contains("burstiness"));
}

void read_vllm_acceptance(const JsonFields& run, Observation& observation, LogContents& contents) {
  AcceptanceCounts counts{.steps = run.required_count("spec_decode_num_drafts"),
                          .drafted_tokens = run.count("spec_decode_draft_tokens"),
                          .accepted_tokens = run.count("spec_decode_accepted_tokens")};
  set_positions(counts, run.reals("spec_decode_per_position_acceptance_rates"), std::nullopt, std::nullopt, run.line());
  observation.gamma = counts.accepted_at.empty() ? steady_gamma(counts)
                                                 : std::optional(static_cast<std::int64_t>(counts.accepted_at.size()));
  check_counts(counts, observation.gamma, run.line(), contents);
  check_printed_length(counts, run.real("spec_decode_acceptance_length"), full_digits, run.line(), contents);
  observation.decoding = Decoding::speculative;
  observation.acceptance = std::move(counts);
}

/// Mean tokens of a chunk from medians, which a few preempted requests do not change.
std::optional<double> tokens_per_chunk(const JsonFields& run) {
  const auto chunk_ms = run.real("median_itl_ms");
  const auto token_ms = run.real("median_tpot_ms");
  if (!chunk_ms || !token_ms || *token_ms <= 0.0) return std::nullopt;
  return *chunk_ms / *token_ms;
}

void read_vllm_bench(const nlohmann::ordered_json& value, std::int64_t line, LogContents& contents) {
  const JsonFields run(value, line);
  Observation observation = serving_run(run, contents);
  note(contents.settings.target, run.text("model_id"));
  observation.times.iteration_ms = run.real("mean_itl_ms");
  const auto tokens = tokens_per_chunk(run);
  if (run.has("spec_decode_num_drafts")) {
    read_vllm_acceptance(run, observation, contents);
    if (tokens && *tokens < per_chunk * tokens_per_step(*observation.acceptance).value_or(1.0)) {
      observation.times.iteration_ms = std::nullopt;
      warn_once(contents, "W07", line,
                "the inter-token latency is not that of iterations: chunks hold about one token");
    }
  } else if (tokens && *tokens > plain_tokens_per_chunk) {
    warn_once(contents, "W09", line,
              "a run without acceptance counts whose chunks hold several tokens: it may be speculative");
  } else {
    observation.decoding = Decoding::plain;
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat vllm_bench_format() {
  return {.name = "vllm-bench",
          .summary = "vllm bench serve --save-result: a run as JSON, speculative or not",
          .engine = "vllm",
          .gives = {"(yes)", "yes", "yes", "iteration, tokens", "yes"},
          .reads = JsonFormat{"output_throughput", claims_vllm_bench, read_vllm_bench}};
}

}  // namespace foredraft::logs
