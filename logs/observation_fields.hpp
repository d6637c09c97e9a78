// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "logs/observation.hpp"

/// The names of every field of an observation, once: an observations file is written and read by visiting them.
namespace foredraft::logs {

template <typename Object, typename Struct>
concept ConstOrNot = std::same_as<std::remove_const_t<Object>, Struct>;

inline constexpr std::array<std::pair<Span, std::string_view>, 3> span_words{
    {{Span::window, "window"}, {Span::request, "request"}, {Span::run, "run"}}};
inline constexpr std::array<std::pair<Decoding, std::string_view>, 3> decoding_words{
    {{Decoding::plain, "plain"}, {Decoding::speculative, "speculative"}, {Decoding::unknown, "unknown"}}};

template <ConstOrNot<Stratum> Object>
void visit_fields(Object& stratum, auto&& visit) {
  visit("temperature", stratum.temperature);
  visit("top_p", stratum.top_p);
  visit("draft_sampling", stratum.draft_sampling);
  visit("reasoning", stratum.reasoning);
  visit("category", stratum.category);
  visit("request", stratum.request);
  visit("context_tokens", stratum.context_tokens);
  visit("output_tokens", stratum.output_tokens);
}

template <ConstOrNot<AcceptanceCounts> Object>
void visit_fields(Object& counts, auto&& visit) {
  visit("steps", counts.steps);
  visit("drafted_tokens", counts.drafted_tokens);
  visit("accepted_tokens", counts.accepted_tokens);
  visit("accepted_at", counts.accepted_at);
  visit("accepted_at_rounding", counts.accepted_at_rounding);
  visit("drafted_at", counts.drafted_at);
  visit("steps_estimated", counts.steps_estimated);
}

template <ConstOrNot<AcceptanceTrace> Object>
void visit_fields(Object& trace, auto&& visit) {
  visit("by_step", trace.by_step);
  visit("by_position", trace.by_position);
}

template <ConstOrNot<ObservedTimes> Object>
void visit_fields(Object& times, auto&& visit) {
  visit("duration_s", times.duration_s);
  visit("output_tokens_per_s", times.output_tokens_per_s);
  visit("prompt_tokens_per_s", times.prompt_tokens_per_s);
  visit("iteration_ms", times.iteration_ms);
  visit("draft_ms", times.draft_ms);
  visit("verification_ms", times.verification_ms);
  visit("tpot_ms", times.tpot_ms);
  visit("ttft_ms", times.ttft_ms);
  visit("request_rate_per_s", times.request_rate_per_s);
}

template <ConstOrNot<Observation> Object>
void visit_fields(Object& observation, auto&& visit) {
  visit("line", observation.line);
  visit("span", observation.span);
  visit("decoding", observation.decoding);
  visit("gamma", observation.gamma);
  visit("acceptance", observation.acceptance);
  visit("acceptance_length", observation.acceptance_length);
  visit("requests", observation.requests);
  visit("waiting", observation.waiting);
  visit("cuda_graphs", observation.cuda_graphs);
  visit("trace", observation.trace);
  visit("times", observation.times);
  visit("stratum", observation.stratum);
}

template <ConstOrNot<EngineSettings> Object>
void visit_fields(Object& settings, auto&& visit) {
  visit("method", settings.method);
  visit("target", settings.target);
  visit("draft", settings.draft);
  visit("gamma", settings.gamma);
  visit("graph_sizes", settings.graph_sizes);
}

template <ConstOrNot<LogWarning> Object>
void visit_fields(Object& warning, auto&& visit) {
  visit("code", warning.code);
  visit("line", warning.line);
  visit("message", warning.message);
}

}  // namespace foredraft::logs
