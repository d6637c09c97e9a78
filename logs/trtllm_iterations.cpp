// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// TensorRT-LLM's statistics of iterations (`enable_iter_perf_stats`): batch, time, drafts and the fraction of drafting
/// time of each. Skips copies of other ranks, iterations that also run prompts, the first ones and idle ones.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t warm_up_iterations = 10;

bool claims_trtllm_iterations(const Json& value) {
  if (value.is_array()) return !value.empty() && has_keys(value.front(), {"iterLatencyMS", "inflightBatchingStats"});
  return has_keys(value, {"iterLatencyMS", "inflightBatchingStats"});
}

/// Zero statistics mean that nothing was drafted in this iteration, not that the server does not speculate.
void read_trtllm_drafts(const JsonFields& drafts, double iteration_ms, Observation& observation,
                        LogContents& contents) {
  AcceptanceCounts counts{.steps = drafts.count("numRequestsWithDraftTokens").value_or(0),
                          .drafted_tokens = drafts.count("numDraftTokens"),
                          .accepted_tokens = drafts.count("numAcceptedTokens")};
  observation.decoding = Decoding::speculative;
  if (counts.steps == 0) {
    observation.gamma = 0;
    return;
  }
  observation.gamma = steady_gamma(counts);
  check_counts(counts, observation.gamma, drafts.line(), contents);
  check_printed_length(counts, drafts.real("acceptanceLength"), two_digits, drafts.line(), contents);
  if (const auto share = drafts.real("draftOverhead")) observation.times.draft_ms = *share * iteration_ms;
  observation.acceptance = std::move(counts);
}

void read_trtllm_iteration(const JsonFields& iteration, LogContents& contents) {
  if (iteration.count("rank").value_or(0) > 0 || iteration.count("attentionDpRank").value_or(0) > 0) return;
  if (iteration.count("iter").value_or(warm_up_iterations) < warm_up_iterations) return;
  const JsonFields batch = iteration.required_object("inflightBatchingStats");
  if (batch.count("numContextRequests").value_or(0) > 0) {
    return warn_once(contents, "W12", iteration.line(), "ignored iterations that also run prompts");
  }
  const std::int64_t requests = batch.count("numGenRequests").value_or(0);
  if (requests == 0) return;
  const double iteration_ms = iteration.required_real("iterLatencyMS");
  Observation observation{.line = iteration.line(),
                          .span = Span::window,
                          .decoding = Decoding::plain,
                          .requests = static_cast<double>(requests),
                          .waiting = iteration.real("numQueuedRequests")};
  observation.times.iteration_ms = iteration_ms;
  observation.times.duration_s = iteration_ms / 1000.0;
  if (iteration.has("specDecodingStats")) {
    read_trtllm_drafts(iteration.required_object("specDecodingStats"), iteration_ms, observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

void read_trtllm_iterations(const Json& value, std::int64_t line, LogContents& contents) {
  if (!value.is_array()) return read_trtllm_iteration(JsonFields(value, line), contents);
  for (const Json& iteration : value) read_trtllm_iteration(JsonFields(iteration, line), contents);
}

}  // namespace

LogFormat trtllm_iterations_format() {
  return {.name = "trtllm-iterations",
          .summary = "TensorRT-LLM iteration statistics: batch, time and drafts of each",
          .engine = "tensorrt-llm",
          .gives = {"yes", "yes", "no", "iteration, drafting", "yes"},
          .reads = JsonFormat{"iterLatencyMS", claims_trtllm_iterations, read_trtllm_iterations}};
}

}  // namespace foredraft::logs
