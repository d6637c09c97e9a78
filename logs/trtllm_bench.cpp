// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"

/// `trtllm-bench --report_json`: means over requests. Counts are a mean times the number of requests; steps are the
/// output tokens that were not drafted.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_trtllm_bench(const Json& value) { return has_keys(value, {"engine", "request_info", "performance"}); }

std::optional<double> average_of(const JsonFields& stats, std::string_view key) {
  return stats.has(key) ? stats.required_object(key).real("average") : std::nullopt;
}

void read_trtllm_decoding(const JsonFields& stats, double requests, double output_tokens, Observation& observation,
                          LogContents& contents) {
  observation.decoding = Decoding::speculative;
  note(contents.settings.method, stats.text("mode"));
  const auto drafted = average_of(stats, "num_draft_tokens_percentiles");
  const auto accepted = average_of(stats, "num_accepted_draft_tokens_percentiles");
  const auto length = average_of(stats, "acceptance_length_percentiles");
  if (!drafted || !accepted) {
    observation.acceptance_length = length;
    return;
  }
  const auto whole = [](double number) {
    return number < static_cast<double>(max_logged_count) ? static_cast<std::int64_t>(std::llround(number))
                                                          : max_logged_count;
  };
  AcceptanceCounts counts{.steps = whole(std::max(0.0, output_tokens - *accepted * requests)),
                          .drafted_tokens = whole(*drafted * requests),
                          .accepted_tokens = whole(*accepted * requests),
                          .steps_estimated = true};
  check_counts(counts, std::nullopt, stats.line(), contents);
  check_mean_length(counts, length, stats.line(), contents);
  observation.acceptance = std::move(counts);
}

void read_trtllm_bench(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields report(value, line);
  const JsonFields engine = report.required_object("engine");
  const JsonFields performance = report.required_object("performance");
  const JsonFields load = report.required_object("request_info");
  note(contents.settings.target, engine.text("model"));
  if (const auto version = engine.text("version"); version && contents.version.empty()) contents.version = *version;
  Observation observation{.line = line,
                          .span = Span::run,
                          .decoding = Decoding::plain,
                          .requests = load.real("avg_num_concurrent_requests")};
  observation.times.output_tokens_per_s = performance.real("system_output_throughput_tok_s");
  if (const auto total_ms = performance.real("total_latency_ms")) observation.times.duration_s = *total_ms / 1000.0;
  if (report.has("streaming_metrics")) {
    const JsonFields streaming = report.required_object("streaming_metrics");
    observation.times.tpot_ms = streaming.real("avg_tpot_ms");
    observation.times.ttft_ms = streaming.real("avg_ttft_ms");
  }
  const auto output = load.real("avg_output_length");
  const auto prompt = load.real("avg_input_length");
  observation.stratum.output_tokens = output;
  if (output && prompt) observation.stratum.context_tokens = *prompt + *output / 2.0;
  if (report.has("decoding_stats")) {
    const auto requests = static_cast<double>(load.required_count("num_requests"));
    read_trtllm_decoding(report.required_object("decoding_stats"), requests,
                         load.required_real("avg_output_length") * requests, observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat trtllm_bench_format() {
  return {.name = "trtllm-bench",
          .summary = "trtllm-bench --report_json: a run with its decoding statistics",
          .engine = "tensorrt-llm",
          .gives = {"(yes)", "yes", "no", "tokens", "yes"},
          .reads = JsonFormat{"request_info", claims_trtllm_bench, read_trtllm_bench}};
}

}  // namespace foredraft::logs
