// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// GuideLLM's console and its CSV: tables with headings over two or three rows and one row per benchmark.
namespace foredraft::logs {
namespace {

/// A column of a table: the cells of its headings from top to bottom, in lower case. TPOT is read from the columns of
/// ITL: GuideLLM's own TPOT includes the time to the first token.
struct ConsoleColumn {
  std::string_view headings;
  std::optional<double> StatedRun::*field;
};

constexpr std::array<ConsoleColumn, 19> console_columns{{
    // before 0.4
    {"request stats per second", &StatedRun::served_requests_per_s},
    {"request stats concurrency", &StatedRun::requests},
    {"out tok/sec mean", &StatedRun::output_tokens_per_s},
    {"ttft (ms) mean", &StatedRun::ttft_ms},
    {"itl (ms) mean", &StatedRun::tpot_ms},
    {"requests made comp", &StatedRun::completed},
    {"requests made err", &StatedRun::failed},
    {"prompt tok/req comp", &StatedRun::prompt_tokens},
    {"output tok/req comp", &StatedRun::output_tokens},
    // from 0.4 on
    {"requests per sec mean", &StatedRun::served_requests_per_s},
    {"requests concurrency mean", &StatedRun::requests},
    {"requests concurrency mdn", &StatedRun::concurrency},  // of "concurrent" only
    {"output tokens per sec mean", &StatedRun::output_tokens_per_s},
    {"ttft ms mdn", &StatedRun::ttft_ms},
    {"itl ms mdn", &StatedRun::tpot_ms},
    {"input tok per req mdn", &StatedRun::prompt_tokens},
    {"output tok per req mdn", &StatedRun::output_tokens},
    {"stream iter per req mdn", &StatedRun::chunks},
    {"output tok per stream iter mdn", &StatedRun::chunk_tokens},
}};

/// Maximum number of benchmarks of a report.
constexpr std::size_t max_benchmarks = 4096;
/// Maximum size of a line of a table in bytes: a cell above several columns is repeated.
constexpr std::size_t max_row_bytes = 4096;

/// Cells between bars, in lower case; a cell above several columns, followed by as many bars, is repeated for each.
std::vector<std::string> spread_cells(std::string_view line) {
  std::vector<std::string> cells;
  line = trimmed(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t bar = std::min(line.find('|'), line.size());
    const std::string cell = in_lower_case(trimmed(line.substr(0, bar)));
    const std::size_t next = std::min(line.find_first_not_of('|', bar), line.size());
    cells.insert(cells.end(), std::max<std::size_t>(1, next - bar), cell);
    line.remove_prefix(next);
  }
  return cells;
}

/// The name of a benchmark: "synchronous", "constant@2.50".
struct Strategy {
  std::string_view name;
  std::optional<double> value;
};

std::optional<Strategy> strategy_of(std::string_view cell) {
  constexpr std::array<std::string_view, 6> strategies{"synchronous", "concurrent", "constant",
                                                       "poisson",     "throughput", "async"};
  const std::size_t at = std::min(cell.find('@'), cell.size());
  if (std::ranges::find(strategies, cell.substr(0, at)) == strategies.end()) return std::nullopt;
  std::string_view rest = cell.substr(std::min(at + 1, cell.size()));
  return Strategy{.name = cell.substr(0, at), .value = take_number(rest)};
}

class GuideLlmConsoleReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override { close(contents); }

 private:
  struct Benchmark {
    std::string strategy = {};
    StatedRun run = {};
  };

  bool heading(std::string_view text, const std::vector<std::string>& cells);
  void close(LogContents& contents);

  std::vector<std::string> headings_ = {};  ///< of the table, a column each
  int headings_left_ = 0;                   ///< rows of headings that may follow
  bool medians_ = false;
  std::size_t row_ = 0;  ///< index of the next row of the table
  std::vector<Benchmark> benchmarks_ = {};
};

bool GuideLlmConsoleReader::heading(std::string_view text, const std::vector<std::string>& cells) {
  const bool first = text.find("||") != std::string_view::npos && (cells[0] == "benchmark" || cells[0] == "metadata");
  if (!first && headings_left_ == 0) return false;
  if (first) {
    headings_.clear();
    headings_left_ = 3;
    row_ = 0;
  }
  --headings_left_;
  headings_.resize(std::max(headings_.size(), cells.size()));
  for (std::size_t i = 1; i < cells.size(); ++i) headings_[i] += (first || cells[i].empty() ? "" : " ") + cells[i];
  return true;
}

/// Sets the load by the name. The limit of "concurrent" is in its name, else the rounded median of requests in flight.
void set_load(std::string_view name, StatedRun& run) {
  const Strategy strategy = *strategy_of(name);
  const auto median = std::exchange(run.concurrency, std::nullopt);
  if (strategy.name == "synchronous") run.concurrency = 1.0;
  if (strategy.name == "concurrent" && median) run.concurrency = std::round(*median);
  if (strategy.name == "concurrent" && strategy.value) run.concurrency = strategy.value;
  if (strategy.name == "constant" || strategy.name == "poisson") run.request_rate_per_s = strategy.value;
}

bool GuideLlmConsoleReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.size() > max_row_bytes) return false;
  const std::vector<std::string> cells = spread_cells(text);
  if (cells.size() < 2) return false;
  if (!strategy_of(cells[0])) return heading(text, cells);
  if (headings_.empty()) return false;
  headings_left_ = 0;
  const auto fields_of = [&](auto&& visit) {
    for (std::size_t i = 1; i < std::min(cells.size(), headings_.size()); ++i) {
      const auto* const column = std::ranges::find(console_columns, headings_[i], &ConsoleColumn::headings);
      std::string_view cell = cells[i];
      if (column == console_columns.end()) continue;
      if (const auto value = take_number(cell); value && *value >= 0.0) visit(column->field, *value);
    }
  };
  bool again = row_ < benchmarks_.size() && benchmarks_[row_].strategy != cells[0];
  if (row_ < benchmarks_.size()) {
    fields_of([&](auto field, double /*value*/) { again = again || (benchmarks_[row_].run.*field).has_value(); });
  }
  if (again || row_ == max_benchmarks) {
    close(contents);
    row_ = 0;
  }
  if (row_ == benchmarks_.size()) benchmarks_.push_back({.strategy = cells[0]});
  StatedRun& run = benchmarks_[row_++].run;
  if (run.line == 0) run.line = number;  // a table without known columns may be that of the next report
  fields_of([&](auto field, double value) { run.*field = value; });
  medians_ = medians_ || std::ranges::find(headings_, "itl ms mdn") != headings_.end();
  return true;
}

void GuideLlmConsoleReader::close(LogContents& contents) {
  for (Benchmark& benchmark : std::exchange(benchmarks_, {})) {
    if (!benchmark.run.tpot_ms && !benchmark.run.output_tokens_per_s) continue;
    if (medians_) warn_of_median("itl", benchmark.run.line, contents);
    set_load(benchmark.strategy, benchmark.run);
    contents.observations.push_back(observation_of(benchmark.run, Decoding::unknown, contents));
  }
}

// ---- `--output-formats csv` (from 0.4 on), of answered requests.

constexpr std::array<ConsoleColumn, 12> csv_columns{{
    {"request counts successful", &StatedRun::completed},
    {"request counts errored", &StatedRun::failed},
    {"time to first token successful ms mean", &StatedRun::ttft_ms},
    {"inter token latency successful ms mean", &StatedRun::tpot_ms},
    {"server throughput successful requests/sec mean", &StatedRun::served_requests_per_s},
    {"server throughput successful concurrency mean", &StatedRun::requests},
    {"server throughput successful concurrency median", &StatedRun::concurrency},
    {"token metrics successful input tokens mean", &StatedRun::prompt_tokens},
    {"token metrics successful output tokens mean", &StatedRun::output_tokens},
    {"token throughput successful output tokens/sec mean", &StatedRun::output_tokens_per_s},
    {"streaming iterations successful count mean", &StatedRun::chunks},
    {"token streaming successful output tokens/iter mean", &StatedRun::chunk_tokens},
}};

void read_csv(const WrittenTable& table, LogContents& contents) {
  constexpr std::size_t more_headings = 2;
  if (table.rows.size() <= more_headings) return;
  std::vector<std::string> headings;
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    std::string heading = table.headings[i];
    for (const TableRow& row : table.rows.first(more_headings)) heading.append(" ").append(row.cells[i]);
    headings.push_back(in_lower_case(trimmed(heading)));
  }
  for (const TableRow& row : table.rows.subspan(more_headings)) {
    StatedRun run{.line = row.line};
    std::string_view strategy;
    for (std::size_t i = 0; i < headings.size(); ++i) {
      if (headings[i] == "benchmark strategy") strategy = row.cells[i];
      const auto* const column = std::ranges::find(csv_columns, headings[i], &ConsoleColumn::headings);
      std::string_view cell = row.cells[i];
      if (column == csv_columns.end()) continue;
      if (const auto value = take_number(cell); value && *value >= 0.0) run.*column->field = value;
    }
    if (!strategy_of(strategy) || (!run.tpot_ms && !run.output_tokens_per_s)) continue;
    set_load(strategy, run);
    contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
  }
}

}  // namespace

TableFormat guidellm_csv_format() {
  return {.anchor = "^Run Info,",
          .claims =
              [](std::span<const std::string> columns) {
                return has_columns(columns, {"Run Info", "Inter Token Latency"});
              },
          .read = read_csv};
}

LineFormat guidellm_console_format() {
  return lines_of<GuideLlmConsoleReader>(
      R"((?:Benchmark|Metadata|Strategy) *\||\| +\| *(?:Mdn|Tot|Sec)\b)"
      R"(|\b(?:synchronous|concurrent|constant|poisson|throughput|async)(?:@[\d.]+)? *\|)");
}

}  // namespace foredraft::logs
