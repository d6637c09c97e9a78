// SPDX-License-Identifier: Apache-2.0
#include "answers/baseline.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "logs/document_fields.hpp"

namespace foredraft::logs {

/// Run::circumstances.
template <>
inline constexpr std::pair<const char*, const char*> row_keys<std::map<std::string, std::set<std::string>>>{"name",
                                                                                                            "values"};
/// RunEstimates::unknown.
template <>
inline constexpr std::pair<const char*, const char*> row_keys<std::map<std::string, std::string>>{"metric", "why"};

}  // namespace foredraft::logs

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;
using Decoder = logs::DocumentDecoder;

// ---- Names of all fields. Writing and reading a document visits them.

template <logs::ConstOrNot<logs::ObservedLog> Log>
void visit_source(Log& log, auto&& visit) {
  visit("file", log.file);
  visit("sha256", log.sha256);
  visit("format", log.contents.format);
  visit("engine", log.contents.engine);
  visit("engine_version", log.contents.version);
  visit("target", log.contents.settings.target);
  visit("draft", log.contents.settings.draft);
  visit("method", log.contents.settings.method);
}

/// The identity of a run, and what it may be compared with.
template <logs::ConstOrNot<Run> AnyRun>
void visit_identity(AnyRun& run, auto&& visit) {
  visit("engine", run.setting.engine);
  visit("engine_version", run.setting.version);
  visit("target", run.setting.target);
  visit("tree", run.setting.tree);
  visit("drafter", run.setting.drafter);
  visit("draft", run.setting.draft_model);
  visit("gamma", run.setting.gamma);
  visit("adaptive", run.setting.adaptive);
  visit("sampling", run.load.sampling);
  visit("concurrency", run.load.requests);
  visit("request_rate_per_s", run.load.request_rate_per_s);
  visit("offered_requests", run.load.offered_requests);
  visit("overloaded", run.overloaded);
  visit("category", run.load.category);
  visit("context_of_load", run.load.context);
  visit("batch", run.requests);
  visit("context", run.context_tokens);
  visit("output_tokens", run.output_tokens);
  visit("verification_steps", run.steps);
  visit("circumstances", run.circumstances);
}

/// A stored metric.
struct StoredMetric {
  std::string metric = {};
  double value = 0.0, standard_error = 0.0;
  std::optional<double> degrees = {};  ///< of freedom; empty: infinite
  bool assumed = false;
  std::int64_t clusters = 1;
  logs::Span cluster = logs::Span::window;
};

template <logs::ConstOrNot<StoredMetric> Metric>
void visit_fields(Metric& metric, auto&& visit) {
  visit("metric", metric.metric);
  visit("value", metric.value);
  visit("standard_error", metric.standard_error);
  visit("degrees", metric.degrees);
  visit("assumed", metric.assumed);
  visit("clusters", metric.clusters);
  visit("cluster", metric.cluster);
}

/// Added to the schema later: older files lack it.
constexpr std::array<std::string_view, 1> later_keys{"tree"};

constexpr logs::DocumentRules baseline_rules{.schema = "foredraft.baseline/1",
                                             .written_by = ": compare --save-baseline writes it",
                                             .null_means = "not known",
                                             .smallest_count = 1,
                                             .later_keys = later_keys};

StoredMetric stored(const MeasuredMetric& measured) {
  const analytic::Uncertainty error = analytic::uncertainty_of(measured.estimate);
  return {.metric = measured.metric,
          .value = measured.estimate.value,
          .standard_error = error.standard_error,
          .degrees = std::isfinite(error.degrees) ? std::optional(error.degrees) : std::nullopt,
          .assumed = is_assumed(measured.estimate),
          .clusters = static_cast<std::int64_t>(measured.clusters),
          .cluster = measured.span};
}

Json run_json(const RunEstimates& run) {
  std::vector<StoredMetric> metrics;
  for (const MeasuredMetric& measured : run.measured) metrics.push_back(stored(measured));
  Json json{{"name", run.name}};
  visit_identity(run.run, [&](const char* key, const auto& value) { json[key] = logs::encoded(value); });
  json["metrics"] = logs::encoded(metrics);
  json["unknown"] = logs::encoded(run.unknown);
  return json;
}

/// One error source with this standard error and these degrees of freedom: n = degrees + 1 effective clusters, of which
/// two deviate. The caller sets its id.
analytic::ClusteredEstimate estimate_of(const StoredMetric& metric) {
  using analytic::ErrorOrigin;
  analytic::ErrorSource source{.id = 0,
                               .origin = metric.assumed ? ErrorOrigin::assumed : ErrorOrigin::stated,
                               .in_time = false,
                               .effective_clusters = 1.0,
                               .influence = {metric.standard_error}};
  if (!metric.assumed && metric.degrees) {
    const double clusters = *metric.degrees + 1.0;
    const double deviation = metric.standard_error * std::sqrt((clusters - 1.0) / clusters / 2.0);
    source.origin = ErrorOrigin::scatter;
    source.effective_clusters = clusters;
    source.influence = {deviation, -deviation};
  }
  return {.value = metric.value, .sources = {std::move(source)}};
}

void add_metric(const StoredMetric& metric, const std::string& path, RunEstimates& run, Decoder& decoder) {
  const auto reject = [&](std::string_view key, std::string text, std::string why) {
    decoder.reject(fmt::format("{}.{}", path, key), std::move(text), std::move(why));
  };
  if (!is_metric(metric.metric)) return reject("metric", metric.metric, "no such metric");
  if (run.find(metric.metric) != nullptr) return reject("metric", metric.metric, "occurs twice");
  if (metric.degrees && *metric.degrees < 1.0) {
    return reject("degrees", fmt::format("{}", *metric.degrees), "must be at least 1; null: without limit");
  }
  run.measured.push_back({.metric = metric.metric,
                          .estimate = estimate_of(metric),
                          .span = metric.cluster,
                          .clusters = static_cast<std::size_t>(metric.clusters)});
}

RunEstimates read_run(const Json& json, const std::string& path, Decoder& decoder) {
  RunEstimates run{.log = "A", .name = {}, .run = {}, .measured = {}, .unknown = {}};
  run.run.setting.decoding = logs::Decoding::speculative;
  Decoder::Keys keys(decoder, json, path);
  keys.read("name", run.name);
  visit_identity(run.run, [&](const char* key, auto& value) { keys.read(key, value); });
  keys.read("unknown", run.unknown);
  const std::size_t before = decoder.rejected();
  std::vector<StoredMetric> metrics;
  keys.read("metrics", metrics);
  const bool sound = decoder.rejected() == before;
  keys.done();
  run.name = readable(run.name);
  for (std::size_t i = 0; sound && i < metrics.size(); ++i) {
    add_metric(metrics[i], fmt::format("{}[{}]", keys.path("metrics"), i), run, decoder);
  }
  return run;
}

}  // namespace

std::string baseline_text(const Comparison& comparison, const logs::ObservedLog& reference) {
  Json source = Json::object();
  visit_source(reference, [&](const char* key, const auto& value) { source[key] = logs::encoded(value); });
  std::string text =
      fmt::format("{{\"schema\":\"{}\",\n\"source\":{},\n\"runs\":[", baseline_rules.schema, logs::line_text(source));
  const char* separator = "\n";
  for (const RunEstimates& run : comparison.runs) {
    if (run.log != "A" || run.measured.empty()) continue;
    text += separator + logs::line_text(run_json(run));
    separator = ",\n";
  }
  return text + "]}\n";
}

Baseline parse_baseline(std::string_view text, const std::string& source) {
  ProblemList problems(source);
  const Json json = parse_json(text, problems);
  problems.raise();
  Decoder decoder(baseline_rules, problems);
  Decoder::Keys keys(decoder, json, "");
  keys.read_schema();
  problems.raise();
  Baseline baseline;
  if (const Json* found = keys.find("source")) {
    Decoder::Keys of_source(decoder, *found, "source");
    visit_source(baseline.source, [&](const char* key, auto& value) { of_source.read(key, value); });
    of_source.done();
  }
  const Json* runs = keys.find("runs");
  keys.done();
  if (runs != nullptr) {
    decoder.decode_list(*runs, "runs", [&](const Json& entry, const std::string& path) {
      baseline.runs.push_back(read_run(entry, path, decoder));
    });
    if (runs->is_array() && runs->empty()) decoder.reject("runs", "empty", "must be a list of runs");
  }
  problems.raise();
  return baseline;
}

}  // namespace foredraft::answers
