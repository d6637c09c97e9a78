// SPDX-License-Identifier: Apache-2.0
#include "answers/baseline.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "core/documents.hpp"
#include "core/json_values.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/type_kinds.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view baseline_schema = "foredraft.baseline/1";
constexpr std::int64_t max_stored_count = std::int64_t{1} << 53U;

// ---- Names of all fields: a document is written and read by visiting them.

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

/// What tells a run from others and decides what it may be compared with.
template <logs::ConstOrNot<Run> AnyRun>
void visit_identity(AnyRun& run, auto&& visit) {
  visit("engine", run.setting.engine);
  visit("engine_version", run.setting.version);
  visit("target", run.setting.target);
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
  std::optional<double> degrees = {};  ///< of freedom; empty: without limit
  bool assumed = false;
  std::int64_t clusters = 1;
  std::string cluster = {};
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

// ---- Writing

using Circumstances = std::map<std::string, std::set<std::string>>;
using Unknown = std::map<std::string, std::string>;

/// Rows {first, second} of a map.
Json rows_json(const auto& map, const char* first, const char* second) {
  Json rows = Json::array();
  for (const auto& [name, value] : map) rows.push_back({{first, name}, {second, value}});
  return rows;
}

template <typename Value>
Json encoded(const Value& value) {
  if constexpr (std::is_same_v<Value, Circumstances>) {
    return rows_json(value, "name", "values");
  } else if constexpr (std::is_same_v<Value, Unknown>) {
    return rows_json(value, "metric", "why");
  } else if constexpr (is_optional<Value>) {
    return value_or_null(value);
  } else {
    return value;
  }
}

StoredMetric stored(const MeasuredMetric& measured) {
  const analytic::Uncertainty error = analytic::uncertainty_of(measured.estimate);
  const auto& word = *std::ranges::find(logs::span_words, measured.span, [](const auto& one) { return one.first; });
  return {.metric = measured.metric,
          .value = measured.estimate.value,
          .standard_error = error.standard_error,
          .degrees = std::isfinite(error.degrees) ? std::optional(error.degrees) : std::nullopt,
          .assumed = is_assumed(measured.estimate),
          .clusters = static_cast<std::int64_t>(measured.clusters),
          .cluster = std::string(word.second)};
}

Json run_json(const RunEstimates& run) {
  Json json{{"name", run.name}};
  const auto write_to = [](Json& to) {
    return [&to](const char* key, const auto& value) { to[key] = encoded(value); };
  };
  visit_identity(run.run, write_to(json));
  json["metrics"] = Json::array();
  for (const MeasuredMetric& measured : run.measured) {
    const StoredMetric metric = stored(measured);
    visit_fields(metric, write_to(json["metrics"].emplace_back(Json::object())));
  }
  json["unknown"] = encoded(run.unknown);
  return json;
}

// ---- Reading

/// An object whose keys are all required, and none else allowed. Adds every problem to a list.
class Keys {
 public:
  Keys(const Json& json, std::string path, ProblemList& problems)
      : json_(json), path_(std::move(path)), problems_(problems) {
    if (!json.is_object()) reject("", json.type_name(), "must be an object");
  }

  const Json* find(const std::string& key) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    reject(key, "missing", "all keys are required; null: not known");
    return nullptr;
  }

  template <typename Value>
  void read(const char* key, Value& value) {
    const Json* found = find(key);
    if (found == nullptr) return;
    if constexpr (is_optional<Value>) {
      if (!found->is_null()) decode(key, *found, value.emplace());
    } else {
      decode(key, *found, value);
    }
  }

  void reject(const std::string& key, std::string text, std::string why) {
    problems_.add({.key = at(key), .text = std::move(text), .why = std::move(why)});
  }

  [[nodiscard]] std::string at(const std::string& key) const {
    return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
  }

  void done() {
    if (!json_.is_object()) return;
    for (const auto& entry : json_.items()) {
      if (!known_.contains(entry.key())) reject(entry.key(), "unknown key", fmt::format("not in {}", baseline_schema));
    }
  }

 private:
  void decode(const char* key, const Json& json, std::string& value) {
    if (!json.is_string()) return reject(key, json.type_name(), "must be a text");
    value = json.get<std::string>();
  }
  void decode(const char* key, const Json& json, bool& value) {
    if (!json.is_boolean()) return reject(key, json.type_name(), "must be true or false");
    value = json.get<bool>();
  }
  void decode(const char* key, const Json& json, double& value) {
    const double number = json.is_number() ? json.get<double>() : -1.0;
    if (!std::isfinite(number) || number < 0.0)
      return reject(key, json.dump(), "must be a finite number of at least 0");
    value = number;
  }
  void decode(const char* key, const Json& json, std::int64_t& value) {
    const auto number = whole_number<std::int64_t>(json, 1, max_stored_count);
    if (!number) return reject(key, json.dump(), fmt::format("must be a whole number from 1 to {}", max_stored_count));
    value = *number;
  }
  void decode(const char* key, const Json& json, std::set<std::string>& value) {
    if (!json.is_array()) return reject(key, json.type_name(), "must be a list of texts");
    for (const Json& one : json) {
      if (!one.is_string()) return reject(key, one.type_name(), "must be a list of texts");
      value.insert(one.get<std::string>());
    }
  }
  void decode(const char* key, const Json& json, Circumstances& value) {
    decode_rows(key, json, {"name", "values"}, value);
  }
  void decode(const char* key, const Json& json, Unknown& value) { decode_rows(key, json, {"metric", "why"}, value); }

  template <typename Map>
  void decode_rows(const char* key, const Json& json, const std::pair<const char*, const char*>& names, Map& map) {
    if (!json.is_array()) return reject(key, json.type_name(), "must be a list");
    for (std::size_t i = 0; i < json.size(); ++i) {
      Keys row(json[i], fmt::format("{}[{}]", at(key), i), problems_);
      std::string name;
      row.read(names.first, name);
      row.read(names.second, map[name]);
      row.done();
    }
  }

  const Json& json_;
  std::string path_;
  ProblemList& problems_;
  std::set<std::string> known_ = {};
};

/// One source with this standard error and these degrees of freedom: from scatter, n = degrees + 1 effective clusters,
/// of which two deviate. Its id is for the reader to set.
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

void read_metric(const Json& json, const std::string& path, RunEstimates& run, ProblemList& problems) {
  StoredMetric metric;
  const std::size_t before = problems.problems().size();
  Keys keys(json, path, problems);
  visit_fields(metric, [&](const char* key, auto& value) { keys.read(key, value); });
  keys.done();
  if (problems.problems().size() > before) return;
  if (!is_metric(metric.metric)) return keys.reject("metric", metric.metric, "no such metric");
  if (run.find(metric.metric) != nullptr) return keys.reject("metric", metric.metric, "occurs twice");
  const auto* span =
      std::ranges::find(logs::span_words, metric.cluster, [](const auto& one) { return std::string(one.second); });
  if (span == logs::span_words.end()) return keys.reject("cluster", metric.cluster, "no such word");
  if (metric.degrees && *metric.degrees < 1.0) {
    return keys.reject("degrees", fmt::format("{}", *metric.degrees), "must be at least 1; null: without limit");
  }
  run.measured.push_back({.metric = metric.metric,
                          .estimate = estimate_of(metric),
                          .span = span->first,
                          .clusters = static_cast<std::size_t>(metric.clusters)});
}

RunEstimates read_run(const Json& json, const std::string& path, ProblemList& problems) {
  RunEstimates run{.log = "A", .name = {}, .run = {}, .measured = {}, .unknown = {}};
  run.run.setting.decoding = logs::Decoding::speculative;
  Keys keys(json, path, problems);
  keys.read("name", run.name);
  visit_identity(run.run, [&](const char* key, auto& value) { keys.read(key, value); });
  keys.read("unknown", run.unknown);
  const Json* metrics = keys.find("metrics");
  keys.done();
  run.name = readable(run.name);
  if (metrics != nullptr && !metrics->is_array()) keys.reject("metrics", metrics->type_name(), "must be a list");
  for (std::size_t i = 0; metrics != nullptr && metrics->is_array() && i < metrics->size(); ++i) {
    read_metric((*metrics)[i], fmt::format("{}[{}]", keys.at("metrics"), i), run, problems);
  }
  return run;
}

}  // namespace

std::string baseline_text(const Comparison& comparison, const logs::ObservedLog& reference) {
  Json source = Json::object();
  visit_source(reference, [&](const char* key, const auto& value) { source[key] = encoded(value); });
  const auto text_of = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string text = fmt::format("{{\"schema\":\"{}\",\n\"source\":{},\n\"runs\":[", baseline_schema, text_of(source));
  const char* separator = "\n";
  for (const RunEstimates& run : comparison.runs) {
    if (run.log != "A" || run.measured.empty()) continue;
    text += separator + text_of(run_json(run));
    separator = ",\n";
  }
  return text + "]}\n";
}

Baseline parse_baseline(std::string_view text, const std::string& source) {
  ProblemList problems(source);
  const Json json = parse_json(text, problems);
  problems.raise();
  Keys keys(json, "", problems);
  std::string schema;
  keys.read("schema", schema);
  if (problems.empty() && schema != baseline_schema) {
    keys.reject("schema", schema, fmt::format("must be {}: compare --save-baseline writes it", baseline_schema));
  }
  problems.raise();
  Baseline baseline;
  if (const Json* found = keys.find("source")) {
    Keys of_source(*found, "source", problems);
    visit_source(baseline.source, [&](const char* key, auto& value) { of_source.read(key, value); });
    of_source.done();
  }
  const Json* runs = keys.find("runs");
  keys.done();
  if (runs != nullptr && (!runs->is_array() || runs->empty())) {
    keys.reject("runs", runs->is_array() ? "empty" : runs->type_name(), "must be a list of runs");
  }
  for (std::size_t i = 0; runs != nullptr && runs->is_array() && i < runs->size(); ++i) {
    baseline.runs.push_back(read_run((*runs)[i], fmt::format("runs[{}]", i), problems));
  }
  problems.raise();
  return baseline;
}

}  // namespace foredraft::answers
