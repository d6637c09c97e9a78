// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/launches.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/stated_run.hpp"

/// AIPerf and GenAI-Perf, NVIDIA's load generators.
namespace foredraft::logs {

// ---- aiperf: `profile_export.jsonl` with a record per request, and the JSON of a run.

namespace {

/// A metric in ms, its default unit: {"value": .., "unit": ..} of a request, {"avg": .., "unit": ..} of a run. Throws
/// RejectedRecord for a unit that is not of time.
std::optional<double> metric_ms(const JsonFields& metrics, std::string_view name, std::string_view key) {
  if (!metrics.has(name)) return std::nullopt;
  const JsonFields metric = *metrics.object(name);
  const auto value = metric.real(key);
  const std::string unit = metric.text("unit").value_or("ms");
  if (!value || unit == "ms") return value;
  if (unit == "s" || unit == "sec") return *value * 1000.0;
  if (unit == "us") return *value / 1000.0;
  if (unit == "ns") return *value / 1e6;
  metric.reject("unit", unit, "must be one of time");
}

/// The key of the mean of a metric of a run; that of its median, with a warning (W20), if there is no mean.
std::string_view mean_key(const JsonFields& run, std::string_view name, LogContents& contents) {
  if (!run.has(name) || run.required_object(name).has("avg") || !run.required_object(name).has("p50")) return "avg";
  warn_of_median(name, run.line(), contents);
  return "p50";
}

void read_metrics(const JsonFields& metrics, std::string_view key, Observation& observation) {
  observation.times.ttft_ms = metric_ms(metrics, "time_to_first_token", key);
  observation.times.tpot_ms = metric_ms(metrics, "inter_token_latency", key);
  set_lengths(metrics.real_in("input_sequence_length", key), metrics.real_in("output_sequence_length", key),
              observation.stratum);
}

bool claims_aiperf_record(const JsonValue& value) {
  return has_keys(value, {"metadata", "metrics"}) &&
         (value.contains("spec_decode_acceptance") || has_keys(value.at("metadata"), {"benchmark_phase"}));
}

/// True for the record of a request that was measured and answered.
bool measured(const JsonFields& record, const JsonFields& metadata) {
  return !record.has("error") && !metadata.flag("was_cancelled").value_or(false) &&
         metadata.text("benchmark_phase").value_or("profiling") == "profiling";
}

void read_aiperf_record(const JsonFields& record, LogContents& contents) {
  const JsonFields metadata = record.required_object("metadata");
  if (!measured(record, metadata)) return;
  Observation observation{.line = record.line(), .span = Span::request};
  read_metrics(record.required_object("metrics"), "value", observation);
  observation.stratum.request = metadata.text("x_request_id");
  const ObservedTimes& times = observation.times;
  const double later = observation.stratum.output_tokens.value_or(0.0) - 1.0;  // tokens after the first
  if (times.tpot_ms && later > 0.0) observation.times.duration_s = *times.tpot_ms * later / 1000.0;
  if (record.has("spec_decode_acceptance")) {
    const JsonFields steps = *record.object("spec_decode_acceptance");
    observation.decoding = Decoding::speculative;
    read_request_acceptance(steps, observation, contents);
    if (times.duration_s && observation.acceptance->steps > 0) {
      observation.times.iteration_ms = 1000.0 * *times.duration_s / static_cast<double>(observation.acceptance->steps);
    }
    if (const auto engine = steps.text("engine"); engine && contents.engine.empty()) {
      contents.engine = *engine == "trtllm" ? "tensorrt-llm" : *engine;
    }
  }
  contents.observations.push_back(std::move(observation));
}

/// A run is identified by its pooled histogram or by any two metrics, which are objects with a unit.
bool claims_aiperf_run(const JsonValue& value) {
  if (!value.is_object()) return false;
  if (value.contains("pooled_spec_decode_acceptance_histogram")) return true;
  constexpr std::array<const char*, 6> metrics{"output_token_throughput", "inter_token_latency", "request_count",
                                               "time_to_first_token",     "request_latency",     "request_throughput"};
  return std::ranges::count_if(metrics, [&](const char* key) {
           return has_keys(value, {key}) && has_keys(value.at(key), {"unit"});
         }) >= 2;
}

/// The settings of the load generator: `input_config.loadgen`.
void read_load(const JsonFields& run, Observation& observation) {
  const auto config = run.object("input_config");
  const auto load = config ? config->object("loadgen") : std::nullopt;
  if (!load) return;
  observation.concurrency = load->real("concurrency");
  observation.times.request_rate_per_s = load->real("request_rate");
}

/// The name of a metric of all drafts, which versions begin with the same prefix as those of requests, or do not.
std::string name_of_all(const JsonFields& run, const std::string& name) {
  const std::string prefixed = "spec_decode_" + name;
  return run.has(prefixed) ? prefixed : name;
}

/// The share of all drafts that were accepted: in percent, or a ratio.
std::optional<double> rate_of_all(const JsonFields& run) {
  const std::string name = name_of_all(run, "overall_draft_acceptance_rate");
  const auto rate = run.real_in(name, "avg");
  if (!rate) return std::nullopt;
  return run.required_object(name).text("unit") == "ratio" ? *rate : *rate / 100.0;
}

/// The draft length that the rate of all drafts implies, if it is whole and no step accepted more.
std::optional<std::int64_t> gamma_of_all(const JsonFields& run, const AcceptanceCounts& counts) {
  const auto rate = rate_of_all(run);
  const auto length = tokens_per_step(counts);
  const auto gamma = rate && length ? whole(gamma_of_rate(*length, *rate)) : std::nullopt;
  return gamma && std::cmp_greater_equal(*gamma, counts.accepted_at.size()) ? gamma : std::nullopt;
}

/// The totals of a run without its histogram, or the length and rate of all steps.
void read_speculation_metrics(const JsonFields& run, Observation& observation, LogContents& contents) {
  StatedRun stated{.line = run.line(),
                   .steps = run.real_in("total_spec_decode_steps", "avg"),
                   .drafted = run.real_in("total_draft_tokens", "avg"),
                   .accepted = run.real_in("total_accepted_draft_tokens", "avg"),
                   .rate = rate_of_all(run),
                   .length = run.real_in(name_of_all(run, "token_weighted_acceptance_length"), "avg")};
  Observation drafts = observation_of(stated, Decoding::unknown, contents);
  if (drafts.decoding != Decoding::speculative) return;
  observation.decoding = drafts.decoding;
  observation.gamma = drafts.gamma;
  observation.acceptance = std::move(drafts.acceptance);
  observation.acceptance_length = drafts.acceptance_length;
}

void read_aiperf_run(const JsonFields& run, LogContents& contents) {
  Observation observation{.line = run.line(), .span = Span::run};
  ObservedTimes& times = observation.times;
  times.ttft_ms = metric_ms(run, "time_to_first_token", mean_key(run, "time_to_first_token", contents));
  times.tpot_ms = metric_ms(run, "inter_token_latency", mean_key(run, "inter_token_latency", contents));
  set_lengths(run.real_in("input_sequence_length", "avg"), run.real_in("output_sequence_length", "avg"),
              observation.stratum);
  times.output_tokens_per_s = run.real_in("output_token_throughput", "avg");
  times.served_requests_per_s = run.real_in("request_throughput", "avg");
  observation.completed_requests = whole(run.real_in("request_count", "avg"));
  observation.failed_requests = whole(run.real_in("error_request_count", "avg"));
  if (observation.completed_requests && times.served_requests_per_s.value_or(0.0) > 0.0) {
    times.duration_s = static_cast<double>(*observation.completed_requests) / *times.served_requests_per_s;
  }
  read_load(run, observation);
  if (times.output_tokens_per_s && times.tpot_ms) {
    observation.requests = *times.output_tokens_per_s * *times.tpot_ms / 1000.0;
  }
  prefer_limit(observation);
  check_failures(observation, contents);
  if (run.has("pooled_spec_decode_acceptance_histogram")) {
    const auto histogram = histogram_of(run, "pooled_spec_decode_acceptance_histogram");
    AcceptanceCounts counts = counts_of_histogram(histogram, std::nullopt, run.line());
    counts.drafted_tokens = whole(run.real_in("total_draft_tokens", "avg"));
    observation.gamma = steady_gamma(counts);
    note(observation.gamma, gamma_of_all(run, counts));
    check_counts(counts, observation.gamma, run.line(), contents);
    observation.decoding = Decoding::speculative;
    observation.acceptance = std::move(counts);
  } else {
    read_speculation_metrics(run, observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

// ---- The table of GenAI-Perf and AIPerf, on the console or as CSV: a row per metric, its mean first. A name that is
// too long for its column continues in rows without a value. The CSV continues with a table of single values, the
// console of AIPerf with tables of other metrics, such as those of speculation.

constexpr std::string_view genai_perf_anchor =
    "^[ \t]*(?:\xE2\x94\x83|\xE2\x94\x82|(?:\\|[^\n]*|\"?[A-Za-z -]{0,40})(?:Statistic|Metric|Latency|Sequence Length"
    "|Throughput|Request Count|Time [Tt]o First Token|Acceptance (?:Length|Rate)))|^[ \t]*Accepted drafts per step \\("
    "|\\b(?:aiperf|genai-perf)[ \\t]+profile[ \\t]|^[ \\t]*--concurrency[ \\t=]";

struct MetricRow {
  std::string key, value;
};

/// The first two cells of a row: between bars, plain or drawn, if the row begins with one, else between commas.
std::optional<MetricRow> row_of(std::string_view text) {
  text = trimmed(text);
  const bool drawn = text.starts_with('|') || text.starts_with("\xE2\x94");
  std::vector<std::string> cells = table_cells(text, drawn ? TableLayout::bars : TableLayout::commas);
  if (cells.size() < 2) return std::nullopt;
  return MetricRow{.key = std::move(cells[0]), .value = std::move(cells[1])};
}

/// The name of a metric in lower case without its unit, unless that is ms: versions differ in both.
std::string metric_name(std::string_view key) {
  std::string name = in_lower_case(key);
  const std::size_t unit = name.find(" (");
  return unit == std::string::npos || name.ends_with("(ms)") ? name : name.substr(0, unit);
}

/// Metrics of a run: a table that begins with one of them belongs to the next run.
constexpr std::array<std::string_view, 8> run_metrics{"time to first token (ms)", "inter token latency (ms)",
                                                      "output token throughput",  "request throughput",
                                                      "request latency (ms)",     "request count",
                                                      "output sequence length",   "input sequence length"};

/// Key of the shares of the steps that accepted 0, 1, ... drafts.
constexpr std::string_view accepted_per_step = "accepted drafts per step";

/// Maximum size of the part of a metric's name in one row, in bytes.
constexpr std::size_t max_name_part = 256;

/// A row of the CSV without the head above it: a mean and other statistics, or a value alone. Between, the columns of a
/// table may be arms.
bool is_headless(std::string_view text, const MetricRow& row) {
  constexpr std::size_t fewest_statistics = 6;
  const std::vector<std::string> cells = csv_cells(trimmed(text));
  const bool shortened = std::ranges::find(cells, "...") != cells.end();
  std::string_view value = row.value;
  return (cells.size() == 2 || cells.size() >= fewest_statistics || shortened) && take_number(value) && value.empty() &&
         std::ranges::find(run_metrics, metric_name(row.key)) != run_metrics.end();
}

class GenaiPerfReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    constexpr std::string_view shares = "Accepted drafts per step (% of steps):";
    if (const std::size_t at = text.find(shares); at != std::string_view::npos && in_table_) {
      end_row(contents);
      add(accepted_per_step, text.substr(at + shares.size()), number, contents);
      return true;
    }
    if (text.find(" profile ") != std::string_view::npos || trimmed(text).starts_with("--")) {
      note_command(text, contents);
      return false;
    }
    const std::optional<MetricRow> row = row_of(text);
    if (!row) return false;
    if (row->key == "Statistic" || row->key == "Metric") {
      if (in_table_ && row->value == "Value") return true;
      end_row(contents);
      may_be_headless_ = false;
      in_table_ = begins_ = row->value == "avg";
      return in_table_;
    }
    if (!in_table_ && !(may_be_headless_ && is_headless(text, *row))) return false;
    if (row->value.empty() && !key_.empty()) {
      if (key_.size() < max_name_part) key_.append(" ").append(row->key.substr(0, max_name_part));
      return true;
    }
    end_row(contents);
    is_first_ = std::exchange(begins_, false);
    key_ = row->key;
    value_ = row->value;
    row_ = number;
    return true;
  }

  void finish(LogContents& contents) override {
    end_row(contents);
    close(contents);
  }

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override;

  /// A command line, perhaps over several lines, is of the tables below it; AIPerf repeats it below its tables.
  void note_command(std::string_view text, LogContents& contents) {
    end_row(contents);
    const auto concurrency = concurrency_option(text);
    const bool begins = text.find(" profile ") != std::string_view::npos;
    if (begins && text.find("CLI Command:") == std::string_view::npos) {
      close(contents);
      concurrency_.reset();
    }
    if (concurrency) concurrency_ = concurrency;
  }

  void end_row(LogContents& contents) {
    const std::string name = metric_name(std::exchange(key_, {}));
    if (is_first_ && std::ranges::find(run_metrics, name) != run_metrics.end()) close(contents);
    if (!name.empty() && !block().has(name)) add(name, value_, row_, contents);
  }

  bool in_table_ = false;
  bool may_be_headless_ = true;             ///< no head of a table was read
  bool begins_ = false;                     ///< the table has no rows yet
  bool is_first_ = false;                   ///< the row that may continue is the first of its table
  std::string key_ = {}, value_ = {};       ///< of the row that may continue
  std::int64_t row_ = 0;                    ///< its line
  std::optional<double> concurrency_ = {};  ///< of the last command line
};

/// Fractions of the steps by draft position of "0: 25%   1: 40%   2: 35%"; empty if the last share is of more drafts
/// than its number says.
std::vector<double> positions_of_shares(std::string_view text) {
  if (text.find(">=") != std::string_view::npos) return {};
  std::vector<double> shares;
  for (std::size_t at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    std::string_view rest = text.substr(at + 1);
    if (const auto percent = take_number(rest)) shares.push_back(*percent / 100.0);
  }
  std::partial_sum(shares.rbegin(), shares.rend(), shares.rbegin());
  if (!shares.empty()) shares.erase(shares.begin());
  return shares;
}

/// The counts of a run: its steps follow from their mean over requests.
std::optional<AcceptanceCounts> counts_of_shares(const KeyValueBlock& block, const Observation& run) {
  const std::vector<double> rates = positions_of_shares(block.text(accepted_per_step));
  const double steps =
      std::round(block.real("spec decode steps").value_or(0.0) * block.real("request count").value_or(0.0));
  if (rates.empty() || whole(steps).value_or(0) == 0) return std::nullopt;
  AcceptanceCounts counts{.steps = *whole(steps),
                          .accepted_tokens = whole(std::round((*run.acceptance_length - 1.0) * steps)),
                          .steps_estimated = true};
  if (run.gamma) counts.drafted_tokens = counts.steps * *run.gamma;  // the rate is of whole drafts
  constexpr double rounding = 0.005;
  set_positions(counts, rates, run.gamma, rounding * static_cast<double>(rates.size()), block.line());
  return counts;
}

/// AIPerf's metrics of speculation: those that weight all steps equally, else means of requests.
void read_speculation_rows(const KeyValueBlock& block, Observation& run, LogContents& contents) {
  const auto of_steps = block.real("token-weighted acceptance length");
  const auto length = of_steps ? of_steps : block.real("acceptance length");
  if (!length || !(*length >= 1.0)) return;
  run.decoding = Decoding::speculative;
  run.acceptance_length = length;
  if (!of_steps) {
    warn_once(contents, "W10", block.line(), "the acceptance length is an unweighted mean over requests");
    return;
  }
  const auto percent = block.real("overall draft acceptance rate");
  if (percent) run.gamma = whole(gamma_of_rate(*length, *percent / 100.0));
  run.acceptance = counts_of_shares(block, run);
  if (run.acceptance) check_counts(*run.acceptance, run.gamma, block.line(), contents);
}

void GenaiPerfReader::read(const KeyValueBlock& block, LogContents& contents) {
  const auto throughput = block.real("output token throughput");
  const auto tpot_ms = block.real("inter token latency (ms)");
  Observation run{.line = block.line(), .span = Span::run, .concurrency = concurrency_};
  read_speculation_rows(block, run, contents);
  if (!throughput && !tpot_ms && !run.acceptance_length) return;
  run.times = {
      .output_tokens_per_s = throughput, .tpot_ms = tpot_ms, .ttft_ms = block.real("time to first token (ms)")};
  if (tpot_ms && run.acceptance_length) run.times.iteration_ms = *tpot_ms * *run.acceptance_length;
  if (run.acceptance) run.acceptance_length = std::nullopt;
  const auto answered = block.real("request throughput");
  const auto count = block.real("request count");
  const auto latency_ms = block.real("request latency (ms)");
  if (answered && count && *answered > 0.0) run.times.duration_s = *count / *answered;
  // Requests that decode, by Little's law. The latency of a request includes its TTFT, which is subtracted if known.
  constexpr double ms_per_s = 1000.0;
  if (throughput && tpot_ms) {
    run.requests = decoding_requests(run.times);
  } else if (answered && latency_ms) {
    run.requests = *answered * (*latency_ms - std::min(*latency_ms, run.times.ttft_ms.value_or(0.0))) / ms_per_s;
  }
  prefer_limit(run);
  set_lengths(block.real("input sequence length"), block.real("output sequence length"), run.stratum);
  contents.observations.push_back(std::move(run));
}

}  // namespace

JsonFormat aiperf_records_format() {
  return {"spec_decode_acceptance|benchmark_phase", claims_aiperf_record, of_object<read_aiperf_record>};
}

JsonFormat aiperf_run_format() {
  return {
      "pooled_spec_decode_acceptance_histogram|output_token_throughput|inter_token_latency"
      "|request_latency|request_throughput",
      claims_aiperf_run, of_object<read_aiperf_run>};
}

LineFormat genai_perf_format() { return lines_of<GenaiPerfReader>(genai_perf_anchor); }

}  // namespace foredraft::logs
