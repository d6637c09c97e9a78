// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"

/// Answers of a server with the steps of their request: vLLM (`metrics.speculative_decoding`, summary or detailed),
/// TensorRT-LLM (the same in each choice) and SGLang (`meta_info`).
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

const Json* member(const Json& value, const char* key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(key);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

const Json* first_choice(const Json& value) {
  const Json* choices = member(value, "choices");
  return choices != nullptr && choices->is_array() && !choices->empty() ? &choices->front() : nullptr;
}

/// The object with the steps of an answer of vLLM or TensorRT-LLM, or null.
const Json* counted_steps(const Json& value) {
  if (const Json* metrics = member(value, "metrics")) return member(*metrics, "speculative_decoding");
  const Json* choice = first_choice(value);
  if (choice == nullptr) return nullptr;
  const Json* steps = member(*choice, "speculative_decoding");
  return steps != nullptr ? steps : member(*choice, "speculative_decoding_stats");
}

const Json* sglang_answer(const Json& value) {
  const Json* info = member(value, "meta_info");
  return info != nullptr && info->is_object() && info->contains("spec_verify_ct") ? info : nullptr;
}

bool claims_request_metrics(const Json& value) {
  return counted_steps(value) != nullptr || sglang_answer(value) != nullptr;
}

void note_engine(LogContents& contents, std::string_view engine) {
  if (contents.engine.empty()) contents.engine = engine;
}

void read_lengths(const std::optional<std::int64_t>& prompt, const std::optional<std::int64_t>& output,
                  Stratum& stratum) {
  if (!output) return;
  stratum.output_tokens = static_cast<double>(*output);
  if (prompt) stratum.context_tokens = static_cast<double>(*prompt) + *stratum.output_tokens / 2.0;
}

void read_usage(const JsonFields& answer, Stratum& stratum) {
  stratum.request = answer.text("id");
  if (!answer.has("usage")) return;
  const JsonFields usage = *answer.object("usage");
  read_lengths(usage.count("prompt_tokens"), usage.count("completion_tokens"), stratum);
}

void read_sglang_answer(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields info(value, line, "meta_info.");
  note_engine(contents, "sglang");
  Observation observation{.line = line, .span = Span::request, .decoding = Decoding::speculative};
  const std::vector<std::int64_t> histogram = info.counts("spec_accept_histogram");
  const std::int64_t steps = info.required_count("spec_verify_ct");
  AcceptanceCounts counts = counts_of_histogram(histogram, std::nullopt, line);
  if (histogram.empty()) counts = {.steps = steps};
  if (counts.steps != steps) {
    info.refuse("spec_accept_histogram", std::to_string(counts.steps) + " steps",
                "spec_verify_ct is " + std::to_string(steps));
  }
  const auto accepted = info.count("spec_accepted_drafts");
  counts.accepted_tokens = accepted ? accepted : counts.accepted_tokens;
  counts.drafted_tokens = info.count("spec_proposed_drafts");
  observation.gamma = steady_gamma(counts);
  check_counts(counts, observation.gamma, line, contents);
  observation.stratum.request = info.text("id");
  read_lengths(info.count("prompt_tokens"), info.count("completion_tokens"), observation.stratum);
  observation.acceptance = std::move(counts);
  contents.observations.push_back(std::move(observation));
}

void read_request_metrics(const Json& value, std::int64_t line, LogContents& contents) {
  if (const Json* info = sglang_answer(value)) return read_sglang_answer(*info, line, contents);
  const JsonFields answer(value, line);
  const JsonFields steps(*counted_steps(value), line, "speculative_decoding.");
  note_engine(contents, member(value, "metrics") != nullptr ? "vllm" : "tensorrt-llm");
  note(contents.settings.target, answer.text("model"));
  Observation observation{.line = line, .span = Span::request, .decoding = Decoding::speculative};
  read_request_acceptance(steps, observation, contents);
  read_usage(answer, observation.stratum);
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat request_metrics_format() {
  return {.name = "request-metrics",
          .summary = "answers that count their own steps: vLLM, TensorRT-LLM, SGLang (JSON)",
          .engine = "",
          .gives = {"(yes)", "yes", "yes", "no", "no"},
          .reads = JsonFormat{"speculative_decoding|spec_verify_ct", claims_request_metrics, read_request_metrics}};
}

}  // namespace foredraft::logs
