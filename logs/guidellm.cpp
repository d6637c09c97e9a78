// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// GuideLLM, and speculators' tables of its runs.
namespace foredraft::logs {

// ---- GuideLLM's JSON of benchmarks: load and times, of speculation only the tokens of a chunk.

namespace {

constexpr std::array<const char*, 8> guidellm_metrics{
    "request_concurrency",    "requests_per_second",      "output_tokens_per_second", "inter_token_latency_ms",
    "time_to_first_token_ms", "time_per_output_token_ms", "request_latency",          "output_tokens"};
constexpr std::string_view guidellm_anchor =
    "benchmarks|request_concurrency|requests_per_second|output_tokens_per_second|inter_token_latency_ms"
    "|time_to_first_token_ms|time_per_output_token_ms";

/// The key of a benchmark's configuration: "args" before version 0.4.
const char* config_key(const JsonValue& benchmark) { return benchmark.contains("config") ? "config" : "args"; }

/// Number of keys that are GuideLLM's own: metrics by state of requests, and the strategy.
std::ptrdiff_t keys_of_guidellm(const JsonValue& benchmark) {
  if (!benchmark.is_object()) return 0;
  const char* const config = config_key(benchmark);
  const std::ptrdiff_t strategy = benchmark.contains(config) && has_keys(benchmark.at(config), {"strategy"}) ? 1 : 0;
  if (!benchmark.contains("metrics")) return strategy;
  const JsonValue& metrics = benchmark.at("metrics");
  return strategy + std::ranges::count_if(guidellm_metrics, [&](const char* key) {
           return has_keys(metrics, {key}) && has_keys(metrics.at(key), {"successful"});
         });
}

/// A report, or one of its benchmarks, which any two keys identify.
bool claims_guidellm(const JsonValue& value) {
  const JsonValue* benchmark = first_entry(value, "benchmarks");
  return benchmark != nullptr ? keys_of_guidellm(*benchmark) >= 1 : keys_of_guidellm(value) >= 2;
}

/// The mean of a metric over successful requests; its median, with a warning (W20), if there is no mean.
std::optional<double> mean_of(const std::optional<JsonFields>& metrics, std::string_view name, LogContents& contents) {
  const auto metric = metrics ? metrics->object(name) : std::nullopt;
  if (!metric) return std::nullopt;
  if (const auto mean = metric->real_in("successful", "mean")) return mean;
  const auto median = metric->real_in("successful", "median");
  if (median) warn_of_median(name, metric->line(), contents);
  return median;
}

void read_guidellm_benchmark(const JsonFields& benchmark, LogContents& contents) {
  const auto metrics = benchmark.object("metrics");
  const auto config = benchmark.object(config_key(benchmark.json()));
  Observation observation{
      .line = benchmark.line(), .span = Span::run, .requests = mean_of(metrics, "request_concurrency", contents)};
  if (const auto strategy = config ? config->object("strategy") : std::nullopt) {
    const std::string kind = strategy->text("type_").value_or("");
    if (kind == "constant" || kind == "poisson") observation.times.request_rate_per_s = strategy->real("rate");
    if (kind == "concurrent") observation.concurrency = strategy->real("streams");
    if (kind == "synchronous") observation.concurrency = 1.0;
  }
  observation.times.served_requests_per_s = mean_of(metrics, "requests_per_second", contents);
  if (const auto totals = metrics ? metrics->object("request_totals") : std::nullopt) {
    observation.completed_requests = totals->count("successful");
    observation.failed_requests = totals->count("errored");
  }
  observation.times.output_tokens_per_s = mean_of(metrics, "output_tokens_per_second", contents);
  observation.times.tpot_ms = mean_of(metrics, "inter_token_latency_ms", contents);
  observation.times.ttft_ms = mean_of(metrics, "time_to_first_token_ms", contents);
  observation.stratum.output_tokens = mean_of(metrics, "output_tokens", contents);
  note(observation.stratum.output_tokens, mean_of(metrics, "output_token_count", contents));  // from 0.4 on
  set_chunk_length({.line = benchmark.line(),
                    .output_tokens = observation.stratum.output_tokens,
                    .chunks = mean_of(metrics, "request_streaming_iterations_count", contents),
                    .chunk_tokens = mean_of(metrics, "output_tokens_per_iteration", contents)},
                   observation, contents);
  check_failures(observation, contents);
  contents.observations.push_back(std::move(observation));
}

void read_guidellm(const JsonFields& file, LogContents& contents) {
  if (!file.has("benchmarks")) return read_guidellm_benchmark(file, contents);
  for (const JsonFields& benchmark : file.objects("benchmarks")) read_guidellm_benchmark(benchmark, contents);
}

// ---- speculators' `acceptance.csv` (one subset per row: counts and rates by position) and `perf_results.csv` (the
// same with load and times).

bool claims_speculators(std::span<const std::string> columns) {
  return has_columns(columns, {"subset", "num_drafts"}) || has_columns(columns, {"subset", "output_tps_median"});
}

void read_speculators_acceptance(const CsvFields& row, Observation& observation, LogContents& contents) {
  AcceptanceCounts counts{.steps = row.count("num_drafts").value_or(0),
                          .drafted_tokens = row.count("num_draft_tokens"),
                          .accepted_tokens = row.count("num_accepted_tokens")};
  if (counts.steps == 0) return;
  std::vector<double> shares;
  for (std::size_t i = 0; i < row.columns().size(); ++i) {
    const auto share = row.real(fmt::format("acceptance_at_pos_{}", i));
    if (!share) break;
    shares.push_back(*share);
  }
  observation.gamma = steady_gamma(counts);
  if (observation.gamma && static_cast<std::int64_t>(shares.size()) > *observation.gamma) {
    warn_once(contents, "W08", row.line(), "ignored positions beyond the draft length");
  }
  set_positions(counts, shares, observation.gamma, std::nullopt, row.line());
  check_counts(counts, observation.gamma, row.line(), contents);
  check_printed_length(counts, row.real("acceptance_length"), two_digits, row.line(), contents);
  observation.decoding = Decoding::speculative;
  observation.acceptance = std::move(counts);
}

void read_speculators_row(const CsvFields& row, LogContents& contents) {
  Observation observation{.line = row.line(), .span = Span::run};
  observation.stratum.category = row.text("subset");
  if (row.has("output_tps_median") || row.has("itl_median_ms")) {
    warn_once(contents, "W20", row.line(), "times and throughput are medians of requests: means are missing");
  }
  observation.times.output_tokens_per_s = row.real("output_tps_median");
  observation.times.tpot_ms = row.real("itl_median_ms");
  observation.times.ttft_ms = row.real("ttft_median_ms");
  const std::string strategy = row.text("strategy").value_or("");
  if (strategy == "constant" || strategy == "poisson") observation.times.request_rate_per_s = row.real("target_rate");
  if (strategy == "concurrent") observation.requests = observation.concurrency = row.real("target_rate");
  if (strategy == "synchronous") observation.requests = observation.concurrency = 1.0;
  read_speculators_acceptance(row, observation, contents);
  contents.observations.push_back(std::move(observation));
}

}  // namespace

JsonFormat guidellm_format() { return {guidellm_anchor, claims_guidellm, of_object<read_guidellm>}; }

CsvFormat speculators_format() { return {"subset", claims_speculators, read_speculators_row}; }

}  // namespace foredraft::logs
