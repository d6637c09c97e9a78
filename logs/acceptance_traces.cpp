// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// Recorded acceptance by text position: for each output token of a request the number of tokens that a step beginning
/// there would emit, including the bonus token. One list, or one for each drafter (`acc_eagle`, `acc_ngram`).
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t max_emitted = 4096;

bool has_list(const Json& value) { return has_keys(value, {"acc_len"}) && value.at("acc_len").is_array(); }

bool claims_acceptance_traces(const Json& value) {
  if (!value.is_object()) return false;
  if (has_list(value)) return true;
  for (const auto& entry : value.items()) {
    if (entry.key().starts_with("acc_") && has_list(entry.value())) return true;
  }
  return false;
}

void read_trace(const JsonFields& drafter, const std::optional<std::string>& request,
                const std::optional<std::string>& name, LogContents& contents) {
  Observation observation{.line = drafter.line(), .span = Span::request, .decoding = Decoding::speculative};
  for (const std::int64_t emitted : drafter.counts("acc_len")) {
    if (emitted > max_emitted) {
      drafter.refuse("acc_len", std::to_string(emitted), fmt::format("must be at most {} tokens", max_emitted));
    }
    observation.trace.by_position.push_back(static_cast<std::int32_t>(emitted > 0 ? emitted - 1 : 0));
  }
  observation.stratum.request = request;
  observation.stratum.category = name;
  observation.stratum.output_tokens = static_cast<double>(observation.trace.by_position.size());
  contents.observations.push_back(std::move(observation));
}

void read_acceptance_traces(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields record(value, line);
  const auto request = record.text("id");
  if (has_list(value)) read_trace(record, request, std::nullopt, contents);
  for (const auto& entry : value.items()) {
    if (!entry.key().starts_with("acc_") || !has_list(entry.value())) continue;
    read_trace(record.required_object(entry.key()), request, entry.key().substr(4), contents);
  }
}

}  // namespace

LogFormat acceptance_traces_format() {
  return {.name = "acceptance-traces",
          .summary = "recorded acceptance by text position (acc_len, JSONL)",
          .engine = "",
          .gives = {"any", "yes", "yes", "no", "no"},
          .reads = JsonFormat{"acc_len", claims_acceptance_traces, read_acceptance_traces}};
}

}  // namespace foredraft::logs
