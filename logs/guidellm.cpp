// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// GuideLLM's JSON of benchmarks: load and times, without data on speculation.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_guidellm(const Json& value) {
  if (!has_keys(value, {"benchmarks"})) return false;
  const Json& benchmarks = value.at("benchmarks");
  return benchmarks.is_array() && !benchmarks.empty() && has_keys(benchmarks.front(), {"config", "metrics"});
}

/// Over answered requests.
std::optional<double> mean_of(const JsonFields& metrics, std::string_view name) {
  if (!metrics.has(name)) return std::nullopt;
  const JsonFields metric = metrics.required_object(name);
  return metric.has("successful") ? metric.required_object("successful").real("mean") : std::nullopt;
}

void read_guidellm_benchmark(const JsonFields& benchmark, LogContents& contents) {
  const JsonFields metrics = benchmark.required_object("metrics");
  const JsonFields config = benchmark.required_object("config");
  Observation observation{
      .line = benchmark.line(), .span = Span::run, .requests = mean_of(metrics, "request_concurrency")};
  if (config.has("strategy")) {
    const JsonFields strategy = config.required_object("strategy");
    const std::string kind = strategy.text("type_").value_or("");
    if (kind == "constant" || kind == "poisson") observation.times.request_rate_per_s = strategy.real("rate");
  }
  observation.times.output_tokens_per_s = mean_of(metrics, "output_tokens_per_second");
  observation.times.tpot_ms = mean_of(metrics, "inter_token_latency_ms");
  observation.times.ttft_ms = mean_of(metrics, "time_to_first_token_ms");
  observation.stratum.output_tokens = mean_of(metrics, "output_tokens");
  contents.observations.push_back(std::move(observation));
}

void read_guidellm(const Json& value, std::int64_t line, LogContents& contents) {
  for (const JsonFields& benchmark : JsonFields(value, line).objects("benchmarks")) {
    read_guidellm_benchmark(benchmark, contents);
  }
}

}  // namespace

LogFormat guidellm_format() {
  return {.name = "guidellm",
          .summary = "GuideLLM benchmarks as JSON: load and times, without acceptance",
          .engine = "",
          .gives = {"no", "no", "no", "tokens", "yes"},
          .reads = JsonFormat{"benchmarks", claims_guidellm, read_guidellm}};
}

}  // namespace foredraft::logs
