// SPDX-License-Identifier: Apache-2.0
#include "logs/serving_benchmark.hpp"

#include <nlohmann/json.hpp>

namespace foredraft::logs {
namespace {

/// A server that answers at least this fraction of the request rate keeps up with it.
constexpr double keeps_up = 0.9;

/// A number, or nullopt: "inf" means an unlimited request rate.
std::optional<double> request_rate(const JsonFields& run) {
  const auto& json = run.json();
  const auto found = json.find("request_rate");
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return run.real("request_rate");
}

/// Mean number of requests in the batch, without waiting ones: by Little's law, unless the load generator held a fixed
/// concurrency.
std::optional<double> requests_at_once(const JsonFields& run, bool as_fast_as_possible) {
  const auto held = run.real("max_concurrency");
  if (held && as_fast_as_possible) return held;
  const auto latency_ms = run.has("mean_e2el_ms") ? run.real("mean_e2el_ms") : run.real("mean_e2e_latency_ms");
  const auto ttft_ms = run.real("mean_ttft_ms");
  const auto completed = run.count("completed");
  const auto duration_s = run.real("duration");
  if (latency_ms && ttft_ms && completed && duration_s && *duration_s > 0.0 && *latency_ms > *ttft_ms) {
    return static_cast<double>(*completed) * (*latency_ms - *ttft_ms) / 1000.0 / *duration_s;
  }
  return run.has("concurrency") ? run.real("concurrency") : held;
}

}  // namespace

bool is_serving_benchmark(const nlohmann::ordered_json& value) {
  return has_keys(value, {"output_throughput", "request_rate", "mean_ttft_ms"});
}

Observation serving_run(const JsonFields& run, LogContents& contents) {
  const auto rate = request_rate(run);
  Observation observation{.line = run.line(), .span = Span::run, .requests = requests_at_once(run, !rate)};
  ObservedTimes& times = observation.times;
  times.duration_s = run.real("duration");
  times.output_tokens_per_s = run.real("output_throughput");
  times.tpot_ms = run.real("mean_tpot_ms");
  times.ttft_ms = run.real("mean_ttft_ms");
  times.request_rate_per_s = rate;
  const auto prompt_tokens = run.count("total_input_tokens");
  const auto output_tokens = run.count("total_output_tokens");
  if (prompt_tokens && times.duration_s && *times.duration_s > 0.0) {
    times.prompt_tokens_per_s = static_cast<double>(*prompt_tokens) / *times.duration_s;
  }
  const auto completed = run.count("completed");
  if (output_tokens && completed && *completed > 0) {
    const auto requests = static_cast<double>(*completed);
    observation.stratum.output_tokens = static_cast<double>(*output_tokens) / requests;
    if (prompt_tokens) {
      observation.stratum.context_tokens =
          (static_cast<double>(*prompt_tokens) + static_cast<double>(*output_tokens) / 2.0) / requests;
    }
  }
  warn_of_arrival_rate(rate, run.real("request_throughput"), run.line(), contents);
  return observation;
}

void warn_of_arrival_rate(std::optional<double> sent, std::optional<double> answered, std::int64_t line,
                          LogContents& contents) {
  if (!sent || !answered || *answered < keeps_up * *sent) return;
  warn_once(
      contents, "W01", line,
      "the server kept up with a fixed request rate: output tokens/s is that of the arriving requests, not its limit");
}

}  // namespace foredraft::logs
