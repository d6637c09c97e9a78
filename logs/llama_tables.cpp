// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// The tables of llama-bench (Markdown) and llama-batched-bench: autoregressive decoding, one sequence or several at
/// once.
namespace foredraft::logs {
namespace {

/// | PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s | T s | S t/s |, or the end of a row of llama-bench.
constexpr std::string_view table_anchor =
    R"(^\|(?:[ \t]*[\d.]+ \|){10}[ \t]*\r?$|^\|[^\n]*\|[ \t]*(?:pp|tg)\d+[^|\n]*\|[ \t]*\d)";

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t end = row.find('|');
    cells.push_back(trimmed(row.substr(0, end)));
    if (end == std::string_view::npos) break;
    row.remove_prefix(end + 1);
  }
  // Cells before the first and after the last bar are empty.
  if (!cells.empty() && cells.front().empty()) cells.erase(cells.begin());
  if (!cells.empty() && cells.back().empty()) cells.pop_back();
  return cells;
}

std::optional<double> number_in(std::string_view cell) { return take_number(cell); }

std::optional<Observation> batched_row(const std::vector<std::string_view>& cells, std::int64_t line) {
  const auto prompt = number_in(cells[0]);
  const auto output = number_in(cells[1]);
  const auto batch = number_in(cells[2]);
  const auto decode_s = number_in(cells[6]);
  const auto duration = number_in(cells[8]);
  if (!prompt || !output || !batch || !decode_s || !(*output > 0.0) || !(*batch > 0.0)) return std::nullopt;
  Observation run{.line = line, .span = Span::run, .decoding = Decoding::plain};
  run.requests = batch;
  run.times = {.duration_s = duration,
               .output_tokens_per_s = number_in(cells[7]),
               .prompt_tokens_per_s = number_in(cells[5]),
               .iteration_ms = 1000.0 * *decode_s / *output};
  run.stratum.context_tokens = *prompt + *output / 2.0;
  run.stratum.output_tokens = output;
  return run;
}

/// "tg128", "pp512 @ d4096": one sequence after a context of this many tokens.
std::optional<Observation> bench_row(std::string_view test, std::string_view speed, std::int64_t line) {
  const bool generates = test.starts_with("tg");
  if (!generates && !test.starts_with("pp")) return std::nullopt;
  std::string_view rest = test.substr(2);
  const auto tokens = take_number(rest);
  const auto rate = number_in(speed);
  if (!tokens || !rate || !(*rate > 0.0) || rest.find('+') != std::string_view::npos) return std::nullopt;
  Observation run{.line = line, .span = Span::run, .decoding = Decoding::plain};
  run.requests = 1.0;
  run.stratum.context_tokens = number_after(rest, "@ d").value_or(0.0) + *tokens / 2.0;
  if (generates) {
    run.times.output_tokens_per_s = rate;
    run.times.iteration_ms = 1000.0 / *rate;
    run.stratum.output_tokens = tokens;
  } else {
    run.times.prompt_tokens_per_s = rate;
  }
  return run;
}

class LlamaTablesReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::vector<std::string_view> cells = cells_of(text);
    if (cells.size() < 2) return false;
    std::optional<Observation> run = bench_row(cells[cells.size() - 2], cells.back(), number);
    if (!run && cells.size() == 10) run = batched_row(cells, number);
    if (run) contents.observations.push_back(*run);
    return run.has_value();
  }

  void finish(LogContents& /*contents*/) override {}
};

}  // namespace

LogFormat llama_tables_format() {
  return {.name = "llama-tables",
          .summary = "tables of llama-bench (Markdown) and llama-batched-bench: times of decode steps",
          .engine = "llama.cpp",
          .gives = {"-", "-", "-", "iteration", "yes"},
          .reads = LineFormat{.anchor = table_anchor, .open = [] { return std::make_unique<LlamaTablesReader>(); }}};
}

}  // namespace foredraft::logs
