// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

/// `evalscope perf`: benchmark_summary.json and what its console prints. An iteration is a chunk. Its approximate
/// acceptance rate is computed from the tokens of an iteration alone, which follow from it where they are missing.
namespace foredraft::logs {
namespace {

constexpr std::array<StatedKey, 32> evalscope_keys{{
    {"Number of concurrency", &StatedRun::concurrency},
    {"Concurrency", &StatedRun::concurrency},
    {"Average time per output token (s)", &StatedRun::tpot_ms, 1000.0},
    {"Avg TPOT (ms)", &StatedRun::tpot_ms},
    {"TPOT (ms)", &StatedRun::tpot_ms},
    {"Average time to first token (s)", &StatedRun::ttft_ms, 1000.0},
    {"Avg TTFT (ms)", &StatedRun::ttft_ms},
    {"TTFT (ms)", &StatedRun::ttft_ms},
    {"Output token throughput (tok/s)", &StatedRun::output_tokens_per_s},
    {"Output Throughput (tok/s)", &StatedRun::output_tokens_per_s},
    {"Output Tok Throughput (tok/s)", &StatedRun::output_tokens_per_s},
    {"Average decoded tokens per iter", &StatedRun::length},
    {"Average decoded tokens per iter (tok/iter)", &StatedRun::length},
    {"Avg Decoded Tok/Iter", &StatedRun::length},
    {"Avg Decoded Tokens/Iter", &StatedRun::length},
    {"Decoded Tok/Iter", &StatedRun::length},
    {"Average spec decode acceptance rate", &StatedRun::rate},
    {"Request rate (req/s)", &StatedRun::request_rate_per_s},
    {"Request Rate (req/s)", &StatedRun::request_rate_per_s},
    {"Request throughput (req/s)", &StatedRun::served_requests_per_s},
    {"Request Throughput (req/s)", &StatedRun::served_requests_per_s},
    {"Req Throughput (req/s)", &StatedRun::served_requests_per_s},
    {"Average input tokens per request", &StatedRun::prompt_tokens},
    {"Avg Input Tokens", &StatedRun::prompt_tokens},
    {"Input Tokens", &StatedRun::prompt_tokens},
    {"Average output tokens per request", &StatedRun::output_tokens},
    {"Avg Output Tokens", &StatedRun::output_tokens},
    {"Output Tokens", &StatedRun::output_tokens},
    {"Succeed requests", &StatedRun::completed},
    {"Success Requests", &StatedRun::completed},
    {"Failed requests", &StatedRun::failed},
    {"Failed Requests", &StatedRun::failed},
}};
/// Shares of the tokens of an iteration that were drafted, by the names of several versions: 1 - 1 / length.
constexpr std::array<const char*, 3> evalscope_shares{"Spec. Accept Rate", "Spec Accept Rate",
                                                      "Approx speculative decoding acceptance rate"};
constexpr std::string_view evalscope_anchor =
    R"((?:Average|Avg) (?:time per output token|decoded tokens per iter|TPOT|Decoded Tok)|Decoded Tok/Iter|)"
    R"(TPOT \(ms\)|Output (?:token |Tok )?(?:throughput|Throughput) \(tok/s\))";

/// Any two keys identify a summary, if one is of its times or lengths; not the percentiles of a run, which have them.
bool claims_evalscope(const JsonValue& value) {
  const auto measured = std::ranges::count_if(evalscope_keys, [&](const StatedKey& key) {
    const bool of_result = key.field == &StatedRun::tpot_ms || key.field == &StatedRun::length ||
                           key.field == &StatedRun::output_tokens_per_s;
    return of_result && value.is_object() && value.contains(key.key);
  });
  return measured > 0 && stated_keys_of(value, evalscope_keys) >= 2 && !value.contains("Percentiles");
}

/// Chunks hold at least one token: a smaller mean comes from empty chunks.
void add_evalscope(StatedRun run, std::optional<double> share, LogContents& contents) {
  if (!run.length && share && *share < 1.0) {
    run.length = 1.0 / (1.0 - *share);
    warn_once(contents, "W10", run.line,
              "the acceptance length follows from EvalScope's approximate acceptance rate, a mean over requests");
  }
  if (run.length) run.length = std::max(1.0, *run.length);
  contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
}

void read_evalscope(const JsonFields& summary, LogContents& contents) {
  StatedRun run{.line = summary.line()};
  read_stated(summary, evalscope_keys, run);
  std::optional<double> share;
  for (const char* name : evalscope_shares) note(share, summary.real(name));
  add_evalscope(std::move(run), share, contents);
}

/// The tables that it prints: one row per key; a row for each load, with headings of one or two lines (from 1.10 on, a
/// second table has the tokens of an iteration); or a row with the throughput of each load ("Gen/s") and a block of
/// rows for each, which names the load in its first row: Conc., Rate, Metric, avg and percentiles.
class EvalscopeConsoleReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  /// A load and what tables with a row for each say of it.
  struct Load {
    std::int64_t line = 0;
    std::string requests = {};
    std::vector<std::pair<std::string, std::string>> values = {};  ///< by their keys
  };

  bool head(const std::vector<std::string>& cells);
  bool row_of_load(const std::vector<std::string>& cells, std::int64_t number);
  void read(const KeyValueBlock& block, LogContents& contents) override;

  std::vector<std::string> upper_ = {};                                     ///< first line of a head
  std::vector<std::string> words_ = {};                                     ///< its line with "Conc.", if it may go on
  std::vector<std::string> columns_ = {};                                   ///< of the last table of loads
  std::size_t row_ = 0;                                                     ///< the next of that table
  std::size_t first_ = 0;                                                   ///< the first load of its run
  std::vector<Load> loads_ = {};                                            ///< of these tables, in their order
  std::map<std::pair<std::string, std::string>, std::string> speeds_ = {};  ///< output tokens/s by load and rate
};

bool is_evalscope_key(std::string_view name) {
  return name == "Latency (s)" || std::ranges::find(evalscope_keys, name, &StatedKey::key) != evalscope_keys.end() ||
         std::ranges::find(evalscope_shares, name) != evalscope_shares.end();
}

/// The key that the heading of a table of loads stands for: "Avg TPOT (ms)" of "Avg TPOT(ms)".
std::string key_of_column(std::string heading) {
  if (heading == "Gen. toks/s") return "Output Throughput (tok/s)";
  if (heading == "Avg In Toks") return "Avg Input Tokens";
  if (heading == "Avg Out Toks") return "Avg Output Tokens";
  static const RE2 unit(R"((\w)\()");
  RE2::Replace(&heading, unit, "\\1 (");
  return heading;
}

/// Reads a line of a head: "Conc." stands in its first or its last.
bool EvalscopeConsoleReader::head(const std::vector<std::string>& cells) {
  const auto join = [&](const std::vector<std::string>& upper, const std::vector<std::string>& lower) {
    for (std::size_t i = 0; i < columns_.size() && upper.size() == lower.size(); ++i)
      columns_[i] = key_of_column(std::string(trimmed(upper[i] + " " + lower[i])));
  };
  const std::vector<std::string> words = std::exchange(words_, {});
  if (cells.size() > 3 && cells[0].empty() && cells[1].empty()) {
    if (words.size() == cells.size()) {
      join(words, cells);
      return true;
    }
    upper_ = cells;
    return false;  // may be the head of any table
  }
  if (cells.size() <= 3 || cells[0] != "Conc.") return false;
  columns_ = words_ = cells;
  join(std::exchange(upper_, {}), cells);
  row_ = first_;
  return true;
}

/// Reads a row of a table with a row for each load.
bool EvalscopeConsoleReader::row_of_load(const std::vector<std::string>& cells, std::int64_t number) {
  constexpr std::size_t max_loads = 1024;
  constexpr std::size_t speed = 4;
  if (cells.size() != columns_.size()) return false;
  if (cells.size() > speed && columns_[speed] == "Gen/s") {
    if (speeds_.size() < max_loads) speeds_[{cells[0], cells[1]}] = cells[speed];
    return true;
  }
  if (std::ranges::none_of(columns_, is_evalscope_key) || cells[0].empty()) return false;
  const auto repeats = [&](const auto& value) {
    return is_evalscope_key(value.first) && std::ranges::find(columns_, value.first) != columns_.end();
  };
  if (row_ == first_ && row_ < loads_.size() && std::ranges::any_of(loads_[row_].values, repeats))
    first_ = row_ = loads_.size();  // of the next run
  if (row_ >= loads_.size() || loads_[row_].requests != cells[0]) {
    if (loads_.size() == max_loads) return true;
    row_ = loads_.size();
    loads_.push_back({.line = number, .requests = cells[0]});
  }
  std::vector<std::pair<std::string, std::string>>& values = loads_[row_].values;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (is_evalscope_key(columns_[i])) values.emplace_back(columns_[i], cells[i]);
    if (columns_[i] == "Rate") values.emplace_back("Request Rate (req/s)", cells[i]);
  }
  ++row_;
  return true;
}

bool EvalscopeConsoleReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  std::vector<std::string> cells = table_cells(text, TableLayout::bars);
  for (std::string& cell : cells) cell = bare_cell(cell);
  constexpr std::size_t metric = 2;
  if (head(cells) || row_of_load(cells, number)) return true;
  if (cells.size() > metric + 2 && is_evalscope_key(cells[metric])) {
    if (!cells[0].empty()) {
      close(contents);
      add("Concurrency", cells[0], number, contents);
      add("Request Rate (req/s)", cells[1], number, contents);
    }
    add(cells[metric], cells[metric + 1], number, contents);
    return true;
  }
  std::erase_if(cells, [](const std::string& cell) { return cell.empty(); });
  if (cells.size() != 2 || !is_evalscope_key(cells[0])) return false;
  add(cells[0], cells[1], number, contents);
  return true;
}

void EvalscopeConsoleReader::finish(LogContents& contents) {
  close(contents);
  for (const Load& load : loads_) {
    add("Concurrency", load.requests, load.line, contents);
    for (const auto& [key, value] : load.values) add(key, value, load.line, contents);
    close(contents);
  }
}

void EvalscopeConsoleReader::read(const KeyValueBlock& block, LogContents& contents) {
  StatedRun run{.line = block.line()};
  for (const StatedKey& key : evalscope_keys) {
    const auto value = block.real(key.key);
    if (value && !(run.*key.field)) run.*key.field = *value * key.unit;
  }
  const auto speed =
      speeds_.find({std::string(block.text("Concurrency")), std::string(block.text("Request Rate (req/s)"))});
  if (!run.output_tokens_per_s && speed != speeds_.end()) {
    std::string_view text = speed->second;
    run.output_tokens_per_s = take_number(text);
  }
  std::optional<double> share;
  for (const char* name : evalscope_shares) {
    const bool percent = block.text(name).find('%') != std::string_view::npos;
    if (const auto value = block.real(name)) share = *value / (percent ? 100.0 : 1.0);
  }
  if (run.tpot_ms || run.length || share || run.output_tokens_per_s) add_evalscope(std::move(run), share, contents);
}

}  // namespace

JsonFormat evalscope_format() { return {evalscope_anchor, claims_evalscope, of_each<read_evalscope>, true}; }

LineFormat evalscope_console_format() {
  return lines_of<EvalscopeConsoleReader>(
      "^\xE2\x94\x83 *Conc\\. +\xE2\x94\x83 |^\xE2\x94\x83 +\xE2\x94\x83 +\xE2\x94\x83|^\xE2\x94\x82 *[\\d-]+ "
      "\xE2\x94\x82 "
      "*(?:-|INF|[\\d.]+) \xE2\x94\x82 *[\\d.]+ \xE2\x94\x82|"
      "^(?:\\||\xE2\x94\x82) *\\**(?:Time taken for tests|Number of concurrency|Concurrency|Succe(?:ed|ss) [Rr]equests|"
      "Failed [Rr]equests|Request [Rr]ate|Req(?:uest)? [Tt]hroughput|Output (?:token |Tok "
      ")?[Tt]hroughput|(?:Average|Avg) |"
      "TPOT|TTFT|Decoded Tok|Spec\\.? Accept Rate|Approx spec)[^|\n]*(?:\\||\xE2\x94\x82) *\\**[\\d.-]+%?\\** "
      "*(?:\\||\xE2\x94\x82)"
      "|^(?:\\||\xE2\x94\x82) *(?:[\\d.-]+)? *(?:\\||\xE2\x94\x82) *(?:[\\d.-]+|INF)? *(?:\\||\xE2\x94\x82) "
      "*(?:Latency "
      "\\(s\\)|TTFT \\(ms\\)|TPOT \\(ms\\)|(?:Input|Output) Tokens|Decoded Tok/Iter|Spec\\. Accept Rate) "
      "*(?:\\||\xE2\x94\x82) *[\\d.]+%? *(?:\\||\xE2\x94\x82)");
}

}  // namespace foredraft::logs
