// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"

/// Records of a run kept by scripts: load and draft length beside the measurements, in the record itself or in its
/// `measured`. Keys in docs/logs.md. A run whose acceptance is null is one without speculation, whatever draft length
/// it states.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

/// An inter-token latency is that of iterations if chunks hold at least this fraction of the acceptance length.
constexpr double record_per_chunk = 0.6;
/// Maximum error of a rate printed in full.
constexpr double same_record_rate = 1e-6;
/// Maximum distance from an integer of accepted tokens that follow from a mean printed in full.
constexpr double whole_tokens = 0.01;

bool claims_benchmark_records(const Json& value) {
  if (!has_keys(value, {"concurrency", "num_speculative_tokens"})) return false;
  return has_keys(value.contains("measured") ? value.at("measured") : value,
                  {"accepted_length_tau", "spec_num_drafts", "throughput_tok_s"});
}

/// A number, or the mean in an object of quantiles.
std::optional<double> number_or_mean(const JsonFields& measured, std::string_view key) {
  const auto found = measured.json().find(key);
  if (found == measured.json().end() || !found->is_object()) return measured.real(key);
  return measured.required_object(key).real("mean");
}

void read_record_acceptance(const JsonFields& measured, Observation& observation, LogContents& contents) {
  const double length = measured.required_real("accepted_length_tau");
  const auto gamma = static_cast<double>(observation.gamma.value_or(0));
  if (!(length >= 1.0 && length <= gamma + 1.0)) {
    measured.refuse("accepted_length_tau", number_text(length), "must lie between 1 and num_speculative_tokens + 1");
  }
  AcceptanceCounts counts{.steps = measured.required_count("spec_num_drafts")};
  const double accepted = (length - 1.0) * static_cast<double>(counts.steps);
  if (!(accepted <= static_cast<double>(max_logged_count))) {
    measured.refuse("accepted_length_tau", number_text(length), "must be at most 2^53 accepted tokens in total");
  }
  counts.accepted_tokens = std::llround(accepted);
  counts.steps_estimated = std::abs(accepted - std::round(accepted)) > whole_tokens;
  const double drafted = static_cast<double>(counts.steps) * gamma;
  const auto rate = measured.real("acceptance_rate");
  if (rate && drafted > 0.0 && std::abs(accepted / drafted - *rate) < same_record_rate)
    counts.drafted_tokens = whole(drafted);
  check_counts(counts, observation.gamma, measured.line(), contents);
  observation.acceptance = std::move(counts);
}

/// The time between chunks, if it is that of iterations.
std::optional<double> record_iteration_ms(const JsonFields& measured, const Observation& observation,
                                          LogContents& contents) {
  const auto chunk_ms = number_or_mean(measured, "itl_ms");
  if (!chunk_ms || !observation.times.tpot_ms || *observation.times.tpot_ms <= 0.0) return std::nullopt;
  const double length = observation.acceptance ? tokens_per_step(*observation.acceptance).value_or(1.0) : 1.0;
  if (*chunk_ms / *observation.times.tpot_ms >= record_per_chunk * length) return chunk_ms;
  warn_once(contents, "W07", measured.line(),
            "the inter-token latency is not that of iterations: chunks hold about one token");
  return std::nullopt;
}

void read_benchmark_record(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields record(value, line);
  const JsonFields measured = record.has("measured") ? record.required_object("measured") : record;
  const bool plain = !measured.has("spec_num_drafts") && !measured.has("accepted_length_tau");
  Observation observation{.line = line,
                          .span = Span::run,
                          .decoding = plain ? Decoding::plain : Decoding::speculative,
                          .requests = record.required_real("concurrency")};
  ObservedTimes& times = observation.times;
  times.duration_s = measured.real("wall_time_s");
  times.output_tokens_per_s = measured.real("throughput_tok_s");
  times.ttft_ms = number_or_mean(measured, "ttft_ms");
  const auto decode_rate = measured.real("request_decode_tok_s_mean");
  if (decode_rate && *decode_rate > 0.0) times.tpot_ms = 1000.0 / *decode_rate;
  const auto output = measured.real("total_completion_tokens");
  const auto requests = measured.real("num_requests");
  if (output && requests && *requests > 0.0) observation.stratum.output_tokens = *output / *requests;
  if (!plain) {
    observation.gamma = record.required_count("num_speculative_tokens");
    read_record_acceptance(measured, observation, contents);
  }
  times.iteration_ms = record_iteration_ms(measured, observation, contents);
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat benchmark_records_format() {
  return {.name = "benchmark-records",
          .summary = "records of scripts: concurrency, num_speculative_tokens, measured (JSON)",
          .engine = "",
          .gives = {"yes", "yes", "no", "iteration, tokens", "yes"},
          .reads = JsonFormat{"accepted_length_tau", claims_benchmark_records, read_benchmark_record}};
}

}  // namespace foredraft::logs
