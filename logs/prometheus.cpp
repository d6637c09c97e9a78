// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// Metrics of a server in Prometheus format: counters since its start, summed over engines, else gauges.
namespace foredraft::logs {
namespace {

/// One line: `vllm:spec_decode_num_drafts_total{engine="0"} 16950.0`.
struct Sample {
  std::string_view engine, name, labels;
  double value;
};

std::optional<Sample> read_sample(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t end = text.find_first_of("{ ", colon);
  if (colon == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  Sample sample{
      .engine = text.substr(0, colon), .name = text.substr(colon + 1, end - colon - 1), .labels = {}, .value = 0.0};
  std::string_view rest = text.substr(end);
  if (rest.front() == '{') {
    const std::size_t close = rest.rfind('}');
    if (close == std::string_view::npos) return std::nullopt;
    sample.labels = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  }
  const std::optional<double> value = take_number(rest);
  if (!value) return std::nullopt;
  sample.value = *value;
  if (sample.name.ends_with("_total")) sample.name.remove_suffix(std::string_view("_total").size());
  return sample;
}

class PrometheusReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override { close(contents); }

 private:
  void add_counter(std::string_view name, std::string_view labels, std::int64_t count);
  [[nodiscard]] std::optional<double> gauge(std::string_view name) const;
  [[nodiscard]] std::optional<Observation> counted(LogContents& contents) const;
  [[nodiscard]] std::optional<Observation> emitted(LogContents& contents) const;
  [[nodiscard]] std::optional<Observation> last_batch(LogContents& contents) const;
  void close(LogContents& contents);

  std::set<std::string, std::less<>> seen_ = {};  ///< series of this scrape: a repeated one begins the next
  AcceptanceCounts counts_ = {};
  bool has_drafts_ = false;
  std::int64_t emitted_ = 0;  ///< tokens, as vLLM counted them before V1
  std::map<std::string, double, std::less<>> gauges_ = {};
  std::optional<double> running_ = {};
  std::int64_t line_ = 0;
};

/// Gauges of the last batch, or of the total time. SGLang repeats them for every rank; the first one counts.
constexpr std::array<std::string_view, 5> gauge_names{"spec_accept_length", "spec_num_steps", "spec_num_draft_tokens",
                                                      "num_running_reqs", "spec_decode_efficiency"};

bool PrometheusReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<Sample> sample = read_sample(text);
  if (!sample) return false;
  constexpr std::string_view prefix = "spec_decode_num_";
  const std::optional<std::int64_t> count = whole(sample->value);
  const bool running = sample->name == "num_requests_running";
  const bool counter = count && sample->name.starts_with(prefix) && !sample->name.ends_with("_created");
  const bool gauge = std::find(gauge_names.begin(), gauge_names.end(), sample->name) != gauge_names.end();
  const bool of_drafter = sample->labels.find("engine_type=\"draft\"") != std::string_view::npos;
  if (of_drafter || !(running || counter || gauge)) return true;
  if (const std::string series = fmt::format("{}{}", sample->name, sample->labels); !seen_.insert(series).second) {
    close(contents);
    seen_.insert(series);
  }
  contents.engine = sample->engine == "llamacpp" ? "llama.cpp" : sample->engine;
  line_ = number;
  if (running) running_ = running_.value_or(0.0) + sample->value;
  if (gauge) gauges_.try_emplace(std::string(sample->name), sample->value);
  if (counter) add_counter(sample->name.substr(prefix.size()), sample->labels, *count);
  return true;
}

void PrometheusReader::add_counter(std::string_view name, std::string_view labels, std::int64_t count) {
  const auto sum = [&](std::int64_t before) { return sum_of_counts(std::array{before, count}, name, line_); };
  if (name == "drafts") {
    counts_.steps = sum(counts_.steps);
    has_drafts_ = true;
  } else if (name == "draft_tokens") {
    counts_.drafted_tokens = sum(counts_.drafted_tokens.value_or(0));
  } else if (name == "accepted_tokens") {
    counts_.accepted_tokens = sum(counts_.accepted_tokens.value_or(0));
  } else if (name == "emitted_tokens") {
    emitted_ = sum(emitted_);
  } else if (name == "accepted_tokens_per_pos") {
    const auto position = count_after(labels, "position=\"", "\"");
    if (!position || *position >= max_positions) return;
    const auto at = static_cast<std::size_t>(*position);
    counts_.accepted_at.resize(std::max(counts_.accepted_at.size(), at + 1), 0);
    counts_.accepted_at[at] = sum(counts_.accepted_at[at]);
  }
}

std::optional<double> PrometheusReader::gauge(std::string_view name) const {
  const auto found = gauges_.find(name);
  return found == gauges_.end() || !std::isfinite(found->second) ? std::nullopt : std::optional(found->second);
}

std::optional<Observation> PrometheusReader::counted(LogContents& contents) const {
  if (!has_drafts_) return std::nullopt;
  check_counts(counts_, std::nullopt, line_, contents);
  Observation run{.gamma = steady_gamma(counts_), .acceptance = counts_};
  if (!run.gamma && !counts_.accepted_at.empty()) run.gamma = static_cast<std::int64_t>(counts_.accepted_at.size());
  warn_once(
      contents, "W02", line_,
      "counters since the start of the server, including warm-up and all loads - give two scrapes to measure a window");
  return run;
}

/// vLLM before V1: efficiency is emitted tokens divided by the maximum that steps can emit, steps x (K + 1).
std::optional<Observation> PrometheusReader::emitted(LogContents& contents) const {
  const auto efficiency = gauge("spec_decode_efficiency");
  if (!efficiency || !(*efficiency > 0.0 && *efficiency <= 1.0) || !counts_.drafted_tokens) return std::nullopt;
  const double steps = static_cast<double>(emitted_) / *efficiency - static_cast<double>(*counts_.drafted_tokens);
  const auto whole_steps = whole(std::round(steps));
  if (!whole_steps || *whole_steps == 0 || *whole_steps > emitted_) return std::nullopt;
  Observation run{.acceptance = AcceptanceCounts{.steps = *whole_steps,
                                                 .drafted_tokens = counts_.drafted_tokens,
                                                 .accepted_tokens = emitted_ - *whole_steps,
                                                 .steps_estimated = true}};
  const double drafts = std::round(static_cast<double>(*counts_.drafted_tokens) / steps);
  run.gamma = whole(drafts);
  check_counts(*run.acceptance, std::nullopt, line_, contents);
  warn_once(contents, "W05", line_,
            "this engine counts drafts accepted one by one: accepted tokens were computed from emitted ones");
  warn_once(contents, "W02", line_, "counters since the start of the server, including warm-up and all loads");
  return run;
}

/// SGLang. A tree drafts more tokens than its depth, so gamma stays unknown.
std::optional<Observation> PrometheusReader::last_batch(LogContents& contents) const {
  const auto length = gauge("spec_accept_length");
  if (!length || !(*length >= 1.0)) return std::nullopt;
  Observation run{.acceptance_length = length};
  const auto depth = whole(gauge("spec_num_steps"));
  if (depth && gauge("spec_num_draft_tokens") == static_cast<double>(*depth) + 1.0) run.gamma = depth;
  run.requests = gauge("num_running_reqs");
  warn_once(contents, "W02", line_, "the acceptance length is that of the last batch only");
  return run;
}

void PrometheusReader::close(LogContents& contents) {
  std::optional<Observation> run = counted(contents);
  if (!run) run = emitted(contents);
  if (!run) run = last_batch(contents);
  if (run) {
    run->line = line_;
    run->span = Span::run;
    run->decoding = Decoding::speculative;
    if (running_) run->requests = running_;
    if (run->requests == 0.0) run->requests = std::nullopt;
    contents.observations.push_back(std::move(*run));
  }
  seen_.clear();
  counts_ = {};
  has_drafts_ = false;
  emitted_ = 0;
  gauges_.clear();
  running_ = std::nullopt;
}

}  // namespace

LogFormat prometheus_format() {
  return {.name = "prometheus",
          .summary = "scrapes of /metrics: vLLM, llama-server, SGLang; two give their difference",
          .engine = "",
          .gives = {"yes", "yes", "(yes)", "no", "(yes)"},
          .reads = LineFormat{.anchor = R"(^(?:vllm|llamacpp|sglang):\w+[{ ])",
                              .open = [] { return std::make_unique<PrometheusReader>(); }}};
}

}  // namespace foredraft::logs
