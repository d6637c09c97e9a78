// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_table.hpp"

#include <fmt/format.h>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>

#include "core/documents.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::array loop_roles{latency::Role::autoregressive_drafting, latency::Role::block_drafting,
                                latency::Role::head_drafting};
constexpr std::array loop_launches{latency::Launch::graph, latency::Launch::eager};

// One list of fields per struct, for writing and for reading.

void visit_loop_fields(auto& cell, auto&& visit)
  requires std::same_as<std::remove_const_t<std::remove_reference_t<decltype(cell)>>, LoopCell>
{
  visit("target", cell.target);
  visit("drafter", cell.drafter);
  visit("drafting", cell.drafting);
  visit("dtype", cell.dtype);
  visit("launch", cell.launch);
  visit("gamma", cell.gamma);
  visit("alpha", cell.alpha);
  visit("batch", cell.batch);
  visit("context", cell.context);
}

void visit_loop_fields(auto& row, auto&& visit)
  requires std::same_as<std::remove_const_t<std::remove_reference_t<decltype(row)>>, LoopRow>
{
  visit_loop_fields(row.cell, visit);
  visit("plain_us", row.plain.median_us);
  visit("plain_ci95_low_us", row.plain.median_ci95_us.low);
  visit("plain_ci95_high_us", row.plain.median_ci95_us.high);
  visit("plain_samples", row.plain.samples);
  visit("iteration_us", row.iteration.median_us);
  visit("iteration_ci95_low_us", row.iteration.median_ci95_us.low);
  visit("iteration_ci95_high_us", row.iteration.median_ci95_us.high);
  visit("iteration_samples", row.iteration.samples);
  visit("tokens_per_iteration", row.tokens_per_iteration);
  visit("between_runs", row.between_runs);
}

template <typename Row>
std::string loop_csv_line(const Row& row, auto&& text) {
  std::string line;
  visit_loop_fields(
      row, [&](const char* name, const auto& value) { line += (line.empty() ? "" : ",") + text(name, value); });
  return line + "\n";
}

template <typename Row>
std::string loop_csv_header() {
  return loop_csv_line(Row{}, [](const char* name, const auto& /*value*/) { return std::string(name); });
}

template <typename Row>
std::string loop_csv(const std::vector<Row>& rows) {
  std::string csv = loop_csv_header<Row>();
  for (const Row& row : rows) {
    csv += loop_csv_line(row, [](const char* /*name*/, const auto& value) { return latency::cell_text(value); });
  }
  return csv;
}

template <typename Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Words>
bool read_word(std::string_view text, const Words& words, auto& value) {
  for (const auto& word : words) {
    if (to_string(word) != text) continue;
    value = word;
    return true;
  }
  return false;
}

bool read_field(std::string_view text, std::string& value) {
  value = text;
  return !text.empty();
}
/// Whether the text is a count.
bool read_field(std::string_view text, std::int64_t& value) { return read_number(text, value) && value >= 0; }
bool read_field(std::string_view text, double& value) { return read_number(text, value) && std::isfinite(value); }
bool read_field(std::string_view text, latency::Role& value) { return read_word(text, loop_roles, value); }
bool read_field(std::string_view text, latency::Launch& value) { return read_word(text, loop_launches, value); }
bool read_field(std::string_view text, std::optional<double>& value) {
  value.reset();
  return text.empty() || read_field(text, value.emplace());
}

/// The text up to the next `end`, removed from the front of `rest`.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t length = rest.find(end);
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
  return part;
}

template <typename Row>
std::vector<Row> read_loop_csv(std::string_view csv, const std::string& name) {
  ProblemList problems(name);
  if (!check_line_limits(csv, problems)) throw DomainError(problems.text());
  const std::string header = loop_csv_header<Row>();
  if (!csv.starts_with(header)) {
    throw DomainError(
        fmt::format("{}:1: wrong columns (must be {})", name, std::string_view(header).substr(0, header.size() - 1)));
  }
  csv.remove_prefix(header.size());
  std::vector<Row> rows;
  for (int number = 2; !csv.empty(); ++number) {
    std::string_view line = take_until(csv, '\n');
    const auto reject = [&](const std::string& problem) {
      throw DomainError(fmt::format("{}:{}: {}", name, number, problem));
    };
    Row row;
    visit_loop_fields(row, [&](const char* field, auto& value) {
      const std::string_view text = take_until(line, ',');
      if (!read_field(text, value)) reject(fmt::format("invalid {}=\"{}\"", field, text));
    });
    if (!line.empty()) reject("more cells than columns");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string loop_cells_csv(const std::vector<LoopCell>& cells) { return loop_csv(cells); }
std::string loop_rows_csv(const std::vector<LoopRow>& rows) { return loop_csv(rows); }

std::vector<LoopCell> read_loop_cells(std::string_view csv, const std::string& name) {
  return read_loop_csv<LoopCell>(csv, name);
}

std::vector<LoopRow> read_loop_rows(std::string_view csv, const std::string& name) {
  return read_loop_csv<LoopRow>(csv, name);
}

}  // namespace foredraft::gpu_bench
