// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"

/// aiperf: `profile_export.jsonl` with a record per request, and the JSON of a run.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

/// A metric in milliseconds: {"value": .., "unit": ..} for a request, {"avg": .., "unit": ..} for a run.
std::optional<double> metric_ms(const JsonFields& metrics, std::string_view name, std::string_view key) {
  if (!metrics.has(name)) return std::nullopt;
  const JsonFields metric = *metrics.object(name);
  const auto value = metric.real(key);
  const std::string unit = metric.text("unit").value_or("ms");
  if (!value || unit == "ms") return value;
  if (unit == "s" || unit == "sec") return *value * 1000.0;
  if (unit == "us") return *value / 1000.0;
  if (unit == "ns") return *value / 1e6;
  metric.refuse("unit", unit, "must be one of time");
}

std::optional<double> metric_number(const JsonFields& metrics, std::string_view name, std::string_view key) {
  if (!metrics.has(name)) return std::nullopt;
  return metrics.object(name)->real(key);
}

void read_metrics(const JsonFields& metrics, std::string_view key, Observation& observation) {
  observation.times.ttft_ms = metric_ms(metrics, "time_to_first_token", key);
  observation.times.tpot_ms = metric_ms(metrics, "inter_token_latency", key);
  const auto prompt = metric_number(metrics, "input_sequence_length", key);
  observation.stratum.output_tokens = metric_number(metrics, "output_sequence_length", key);
  if (prompt && observation.stratum.output_tokens) {
    observation.stratum.context_tokens = *prompt + *observation.stratum.output_tokens / 2.0;
  }
}

bool claims_aiperf_record(const Json& value) {
  return has_keys(value, {"metadata", "metrics"}) &&
         (value.contains("spec_decode_acceptance") || has_keys(value.at("metadata"), {"benchmark_phase"}));
}

/// Whether a record is of a request that was measured and answered.
bool measured(const JsonFields& record, const JsonFields& metadata) {
  return !record.has("error") && !metadata.flag("was_cancelled").value_or(false) &&
         metadata.text("benchmark_phase").value_or("profiling") == "profiling";
}

void read_aiperf_record(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields record(value, line);
  const JsonFields metadata = record.required_object("metadata");
  if (!measured(record, metadata)) return;
  Observation observation{.line = line, .span = Span::request};
  read_metrics(record.required_object("metrics"), "value", observation);
  observation.stratum.request = metadata.text("x_request_id");
  if (record.has("spec_decode_acceptance")) {
    const JsonFields steps = *record.object("spec_decode_acceptance");
    observation.decoding = Decoding::speculative;
    read_request_acceptance(steps, observation, contents);
    if (const auto engine = steps.text("engine"); engine && contents.engine.empty()) {
      contents.engine = *engine == "trtllm" ? "tensorrt-llm" : *engine;
    }
  }
  contents.observations.push_back(std::move(observation));
}

bool claims_aiperf_run(const Json& value) {
  return value.is_object() && (value.contains("pooled_spec_decode_acceptance_histogram") ||
                               has_keys(value, {"output_token_throughput", "inter_token_latency", "request_count"}));
}

void read_aiperf_run(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields run(value, line);
  Observation observation{.line = line, .span = Span::run};
  read_metrics(run, "avg", observation);
  observation.times.output_tokens_per_s = metric_number(run, "output_token_throughput", "avg");
  if (run.has("pooled_spec_decode_acceptance_histogram")) {
    const auto histogram = histogram_of(run, "pooled_spec_decode_acceptance_histogram");
    AcceptanceCounts counts = counts_of_histogram(histogram, std::nullopt, line);
    counts.drafted_tokens = std::nullopt;
    check_counts(counts, std::nullopt, line, contents);
    observation.decoding = Decoding::speculative;
    observation.acceptance = std::move(counts);
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat aiperf_records_format() {
  return {.name = "aiperf-records",
          .summary = "aiperf profile_export.jsonl: requests with their accepted drafts",
          .engine = "",
          .gives = {"yes", "yes", "yes", "tokens", "no"},
          .reads = JsonFormat{"spec_decode_acceptance|benchmark_phase", claims_aiperf_record, read_aiperf_record}};
}

LogFormat aiperf_run_format() {
  return {.name = "aiperf-run",
          .summary = "aiperf profile_export_aiperf.json: a run with its pooled histogram",
          .engine = "",
          .gives = {"no", "yes", "yes", "tokens", "no"},
          .reads = JsonFormat{"pooled_spec_decode_acceptance_histogram|output_token_throughput", claims_aiperf_run,
                              read_aiperf_run}};
}

}  // namespace foredraft::logs
