// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/scrapes.hpp"

/// Metrics of a server in Prometheus format: counters since its start, and gauges.
namespace foredraft::logs {
namespace {

/// The engine's name ends with an underscore for TensorRT-LLM, mistral.rs and TGI, with a colon for others. Names of
/// Dynamo's frontend keep their prefix: they mean something else than an engine's.
constexpr std::string_view trtllm_prefix = "trtllm_";
constexpr std::string_view dynamo_prefix = "dynamo_frontend_";
constexpr std::string_view mistral_prefix = "mistralrs_";
constexpr std::string_view tgi_prefix = "tgi_";
/// Other engines' names of counters of drafts, each with vLLM's name.
constexpr std::array<std::array<std::string_view, 2>, 8> draft_counters{
    {{"draft_tokens", "spec_decode_num_draft_tokens"},
     {"draft_tokens_accepted", "spec_decode_num_accepted_tokens"},
     {"speculative_drafts", "spec_decode_num_drafts"},
     {"speculative_draft_tokens_proposed", "spec_decode_num_draft_tokens"},
     {"speculative_draft_tokens_accepted", "spec_decode_num_accepted_tokens"},
     {"speculative_draft_tokens_accepted_per_pos", "spec_decode_num_accepted_tokens_per_pos"},
     {"spec_decode_drafted_tokens", "spec_decode_num_draft_tokens"},
     {"spec_decode_accepted_tokens", "spec_decode_num_accepted_tokens"}}};
/// What the names of counters by position end with; TensorRT-LLM tells them from others by their labels only.
constexpr std::string_view by_position = "_per_pos";

/// One line: `vllm:spec_decode_num_drafts_total{engine="0"} 16950.0`; in tables and notes a bar, a colon or an equals
/// sign may separate series and value.
struct Sample {
  std::string_view engine, labels;
  std::string name;
  double value;
};

std::optional<Sample> read_sample(std::string_view text) {
  std::size_t colon = text.find(':');
  for (const std::string_view prefix : {trtllm_prefix, dynamo_prefix, mistral_prefix, tgi_prefix}) {
    if (text.starts_with(prefix)) colon = prefix.size() - 1;
  }
  const std::size_t end = text.find_first_of("{ \t|:=", colon + 1);
  if (colon == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(colon + 1, end - colon - 1);
  Sample sample{.engine = text.substr(0, colon), .labels = {}, .name = {}, .value = 0.0};
  if (text.starts_with(dynamo_prefix)) {
    sample.engine = "dynamo";
    name = text.substr(0, end);
  }
  std::string_view rest = text.substr(end);
  if (rest.front() == '{') {
    const std::size_t close = rest.rfind('}');
    if (close == std::string_view::npos) return std::nullopt;
    sample.labels = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t|:="), rest.size()));
  const std::optional<double> value = take_number(rest);
  if (!value) return std::nullopt;
  sample.value = *value;
  if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
  const auto* const counter = std::ranges::find(draft_counters, name, [](const auto& names) { return names.front(); });
  sample.name = counter != draft_counters.end() ? counter->back() : name;
  const bool at_position = sample.labels.find("position=\"") != std::string_view::npos;
  if (at_position && counter != draft_counters.end() && !sample.name.ends_with(by_position)) sample.name += by_position;
  return sample;
}

/// Gauges of the moment or of the last batch, summed over engines; SGLang repeats them for every rank, of which the
/// first is used, as for TensorRT-LLM.
constexpr std::array<std::string_view, 16> gauge_names{"dynamo_frontend_inflight_requests",
                                                       "dynamo_frontend_queued_requests",
                                                       "spec_accept_length",
                                                       "spec_accept_rate",
                                                       "spec_num_steps",
                                                       "spec_num_draft_tokens",
                                                       "num_running_reqs",
                                                       "spec_decode_efficiency",
                                                       "num_requests_running",
                                                       "requests_processing",
                                                       "gen_throughput",
                                                       "num_generation_requests",
                                                       "spec_decode_acceptance_length",
                                                       "avg_decoded_tokens_per_iter",
                                                       "n_busy_slots_per_decode",
                                                       "batch_current_size"};
/// Counters without `_total`, besides those of drafts (spec_decode_num_*). `_created`, the start of a series, tells
/// servers apart.
constexpr std::array<std::string_view, 33> counter_names{"dynamo_frontend_inter_token_latency_seconds_sum",
                                                         "dynamo_frontend_inter_token_latency_seconds_count",
                                                         "dynamo_frontend_time_to_first_token_seconds_sum",
                                                         "dynamo_frontend_time_to_first_token_seconds_count",
                                                         "dynamo_frontend_input_sequence_tokens_sum",
                                                         "dynamo_frontend_input_sequence_tokens_count",
                                                         "dynamo_frontend_output_sequence_tokens_sum",
                                                         "dynamo_frontend_output_sequence_tokens_count",
                                                         "generation_tokens",
                                                         "prompt_tokens",
                                                         "request_success",
                                                         "inter_token_latency_seconds_sum",
                                                         "inter_token_latency_seconds_count",
                                                         "time_per_output_token_seconds_sum",
                                                         "time_per_output_token_seconds_count",
                                                         "time_to_first_token_seconds_sum",
                                                         "time_to_first_token_seconds_count",
                                                         "request_time_per_output_token_seconds_sum",
                                                         "request_time_per_output_token_seconds_count",
                                                         "tokens_predicted",
                                                         "tokens_predicted_seconds",
                                                         "n_decode",
                                                         "generation_tokens_created",
                                                         "spec_verify_calls",
                                                         "request_skipped_tokens_bucket",
                                                         "request_skipped_tokens_sum",
                                                         "request_skipped_tokens_count",
                                                         "request_mean_time_per_token_duration_sum",
                                                         "request_mean_time_per_token_duration_count",
                                                         "request_input_length_sum",
                                                         "request_input_length_count",
                                                         "request_generated_tokens_sum",
                                                         "request_generated_tokens_count"};

std::string engine_of(std::string_view prefix) {
  if (prefix == "llamacpp") return "llama.cpp";
  if (prefix == "mistralrs") return "mistral.rs";
  return prefix == "trtllm" ? "tensorrt-llm" : std::string(prefix);
}

constexpr std::string_view process_start = "process_start_time_seconds ";

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class PrometheusReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override {
    close(contents);
    observe_scrapes(contents);
  }
  /// Ends the scrape; beyond max_scrapes it replaces the last one.
  void close(LogContents& contents, std::optional<double> time_s = {}) {
    if (!scrape_.engine.empty()) {
      if (time_s) scrape_.gauges[std::string(scrape_time)] = *time_s;
      if (contents.scrapes.size() == max_scrapes) contents.scrapes.pop_back();
      contents.scrapes.push_back(std::exchange(scrape_, {}));
    }
    scrape_ = {};
    seen_.clear();
    bytes_ = 0;
  }

 private:
  void start(std::string_view text, LogContents& contents);
  void begin(const std::string& series, LogContents& contents);

  std::set<std::string, std::less<>> seen_ = {};  ///< series of this scrape
  std::size_t bytes_ = 0;                         ///< of `seen_`
  ServerScrape scrape_ = {};
};

/// A repeated series begins the next scrape.
void PrometheusReader::begin(const std::string& series, LogContents& contents) {
  if (seen_.contains(series)) close(contents);
  seen_.insert(series);
  bytes_ += series.size();
  if (bytes_ > max_line_bytes) reject({.text = "too many series in a scrape", .why = "more than 1 MiB of names"});
}

/// Start time of the server: tells servers apart whose counters would fit together.
void PrometheusReader::start(std::string_view text, LogContents& contents) {
  text.remove_prefix(process_start.size());
  const std::optional<double> seconds = take_number(text);
  if (!seconds || !std::isfinite(*seconds)) return;
  begin(std::string(process_start), contents);
  scrape_.counters[std::string(process_start)] = *seconds;
}

bool PrometheusReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t|"), text.size()));
  if (text.starts_with(process_start)) {
    start(text, contents);
    return false;  // other programs print it too
  }
  const std::optional<Sample> sample = read_sample(text);
  if (!sample) return false;
  const bool counter = sample->value >= 0.0 && std::isfinite(sample->value) &&
                       (sample->name.starts_with("spec_decode_num_") || contains(counter_names, sample->name));
  const bool gauge = contains(gauge_names, sample->name);
  const auto gamma = sample->name == "speculative_config_info" ? count_after(sample->labels, "spec_num_tokens=\"", "\"")
                                                               : std::nullopt;
  const bool of_drafter = sample->labels.find("engine_type=\"draft\"") != std::string_view::npos;
  if (of_drafter || !(counter || gauge || gamma)) return true;
  const std::string series = fmt::format("{}{{{}}}", sample->name, sample->labels);
  begin(series, contents);
  const std::string engine = engine_of(sample->engine);
  if (engine != "dynamo") contents.engine = engine;
  if (engine != "dynamo" || scrape_.engine.empty()) scrape_.engine = engine;
  scrape_.line = number;
  const std::string& name = sample->name;
  if (counter) scrape_.counters[series] = sample->value;
  if (gamma) {
    scrape_.gauges.try_emplace("spec_num_tokens", static_cast<double>(*gamma));
  } else if (gauge && (engine == "sglang" || engine == "tensorrt-llm")) {
    scrape_.gauges.try_emplace(name, sample->value);
  } else if (gauge) {
    scrape_.gauges[name] += sample->value;
  }
  return true;
}

// ---- Answers of Prometheus to a query or a range query: the series by name, each with its values by time.

constexpr std::string_view scraped_series =
    R"((?:(?:vllm|lmdeploy|llamacpp|sglang):|trtllm_|mistralrs_|tgi_|dynamo_frontend_)\w+)";

/// The series of an answer; null for other values.
const JsonValue* series_of(const JsonValue& answer) {
  if (!answer.is_object()) return nullptr;
  const JsonValue& data = answer.contains("data") ? answer.at("data") : answer;
  const JsonValue* const first = first_entry(data, "result");
  const bool named = first != nullptr && has_keys(*first, {"metric"}) && has_keys(first->at("metric"), {"__name__"});
  return named ? &data.at("result") : nullptr;
}

/// The texts of an object as labels: `{label="value",...} `.
std::string written_labels(const JsonValue& labels) {
  std::string written = "{";
  for (const JsonValue& label : labels) {
    const std::string key = label.key();
    if (key != "__name__" && label.is_string()) written += fmt::format("{}=\"{}\",", key, label.string());
  }
  return written + "} ";
}

/// The line of a series without its value; empty if the series has no name.
std::string written_series(const JsonValue& metric) {
  if (!metric.is_object() || !metric.contains("__name__") || !metric.at("__name__").is_string()) return {};
  return metric.at("__name__").string() + written_labels(metric);
}

/// The lines of the scrape of each time, in seconds.
std::map<double, std::vector<std::string>> scrapes_of(const JsonValue& result) {
  std::map<double, std::vector<std::string>> lines;
  const auto add = [&](const std::string& series, const JsonValue& sample) {
    if (!sample.is_array() || sample.size() != 2) return;
    const JsonValue& time = sample.front();
    const JsonValue& value = *std::next(sample.begin());
    if (time.is_number() && value.is_string()) lines[time.number()].push_back(series + value.string());
  };
  for (const JsonValue& entry : result) {
    const std::string series = entry.is_object() && entry.contains("metric") ? written_series(entry.at("metric")) : "";
    if (series.empty()) continue;
    if (entry.contains("value")) add(series, entry.at("value"));
    if (!entry.contains("values") || !entry.at("values").is_array()) continue;
    for (const JsonValue& sample : entry.at("values")) add(series, sample);
  }
  return lines;
}

void read_range(const JsonValue& answer, std::int64_t line, LogContents& contents) {
  PrometheusReader reader;
  for (const auto& [time, lines] : scrapes_of(*series_of(answer))) {
    for (const std::string& text : lines) reader.line(text, line, contents);
    reader.close(contents, time);
  }
}

// ---- AIPerf's server_metrics_export.json: how much the counters and histograms of a server rose in a run, and the
// means of its gauges.

bool is_export(const JsonValue& value) {
  if (!has_keys(value, {"metrics"}) || !value.at("metrics").is_object()) return false;
  const JsonValue& metrics = value.at("metrics");
  return std::any_of(metrics.begin(), metrics.end(), [](const JsonValue& metric) {
    return has_keys(metric, {"series", "type"});
  });
}

/// Reads a series: counters and histograms at `share` of their rise, gauges at their mean.
void read_series(const std::string& name, const JsonFields& series, double share, PrometheusReader& reader,
                 LogContents& contents) {
  const JsonValue* stats = series.json().find("stats");
  if (stats == nullptr || !stats->is_object()) return;
  const JsonValue* labels = series.json().find("labels");
  std::string written = labels != nullptr && labels->is_object() ? written_labels(*labels) : "{} ";
  written.insert(1, fmt::format("endpoint_url=\"{}\",", series.text("endpoint_url").value_or("")));
  const auto read = [&](const char* key, std::string_view end, double of) {
    const JsonValue* found = stats->find(key);
    if (found == nullptr || !found->is_number()) return false;
    reader.line(fmt::format("{}{}{}{}", name, end, written, of * found->number()), series.line(), contents);
    return true;
  };
  if (read("total", "", share)) return;
  if (read("count", "_count", share)) {
    read("sum", "_sum", share);
  } else {
    read("avg", "", 1.0);
  }
}

/// As two scrapes, the first of which has counters of 0.
void read_export(const JsonValue& value, std::int64_t number, LogContents& contents) {
  PrometheusReader reader;
  for (const double share : {0.0, 1.0}) {
    for (const JsonValue& metric : value.at("metrics")) {
      if (!has_keys(metric, {"series"})) continue;
      for (const JsonFields& series : JsonFields(metric, number).objects("series")) {
        read_series(std::string(metric.key()), series, share, reader, contents);
      }
    }
    reader.close(contents);
  }
}

}  // namespace

JsonFormat prometheus_range_format() {
  return {scraped_series, [](const JsonValue& value) { return series_of(value) != nullptr || is_export(value); },
          [](const JsonValue& value, std::int64_t line, LogContents& contents) {
            return series_of(value) != nullptr ? read_range(value, line, contents) : read_export(value, line, contents);
          },
          false, observe_scrapes};
}

LineFormat prometheus_format() {
  return {
      .anchor =
          R"(^[ \t|]*(?:(?:(?:vllm|lmdeploy|llamacpp|sglang):|trtllm_|mistralrs_|tgi_|dynamo_frontend_)\w+[ \t{|:=])"
          R"(|process_start_time_seconds ))",
      .open = [] { return std::make_unique<PrometheusReader>(); }};
}

}  // namespace foredraft::logs
