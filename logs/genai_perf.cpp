// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// The table of GenAI-Perf and AIPerf: a row per metric, its mean first.
namespace foredraft::logs {
namespace {

constexpr std::string_view genai_perf_anchor =
    "^[\xE2\x94\x83\xE2\x94\x82|][^\n]*(?:Statistic|Metric|Latency|Sequence Length|Throughput|Request Count|Time To "
    "First Token)";

/// The first two cells of a row; separators may be thin or thick box-drawing characters or plain text.
std::optional<KeyValue> row_of(std::string_view text) {
  for (const std::string_view bar : {"\xE2\x94\x82", "\xE2\x94\x83", "|"}) {
    if (!text.starts_with(bar)) continue;
    const std::size_t first = text.find(bar, bar.size());
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = text.find(bar, first + bar.size());
    if (second == std::string_view::npos) return std::nullopt;
    return KeyValue{.key = trimmed(text.substr(bar.size(), first - bar.size())),
                    .value = trimmed(text.substr(first + bar.size(), second - first - bar.size()))};
  }
  return std::nullopt;
}

class GenaiPerfReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::optional<KeyValue> row = row_of(text);
    if (!row) return false;
    if (row->key == "Statistic" || row->key == "Metric") {
      close(contents);
      in_table_ = row->value == "avg";
      return in_table_;
    }
    return in_table_ && block_.add(row->key, row->value, number);
  }

  void finish(LogContents& contents) override { close(contents); }

 private:
  void close(LogContents& contents);

  KeyValueBlock block_;
  bool in_table_ = false;
};

void GenaiPerfReader::close(LogContents& contents) {
  const KeyValueBlock block = std::exchange(block_, {});
  const auto throughput = block.real("Output Token Throughput (per sec)");
  if (!throughput) return;
  Observation run{.line = block.line(), .span = Span::run};
  run.times = {.output_tokens_per_s = throughput,
               .tpot_ms = block.real("Inter Token Latency (ms)"),
               .ttft_ms = block.real("Time To First Token (ms)")};
  const auto answered = block.real("Request Throughput (per sec)");
  const auto count = block.real("Request Count (count)");
  const auto latency_ms = block.real("Request Latency (ms)");
  if (answered && count && *answered > 0.0) run.times.duration_s = *count / *answered;
  if (answered && latency_ms) run.requests = *answered * *latency_ms / 1000.0;
  const auto prompt = block.real("Input Sequence Length (tokens)");
  const auto output = block.real("Output Sequence Length (tokens)");
  run.stratum.output_tokens = output;
  if (prompt && output) run.stratum.context_tokens = *prompt + *output / 2.0;
  contents.observations.push_back(std::move(run));
}

}  // namespace

LogFormat genai_perf_format() {
  return {.name = "genai-perf",
          .summary = "tables of GenAI-Perf: load and times of a run, speculative or not",
          .engine = "",
          .gives = {"no", "no", "no", "tokens", "yes"},
          .reads = LineFormat{.anchor = genai_perf_anchor, .open = [] { return std::make_unique<GenaiPerfReader>(); }}};
}

}  // namespace foredraft::logs
