// SPDX-License-Identifier: Apache-2.0
#include "logs/headed_table.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

/// Times and speeds: their unit, and whether they are of a token, of an iteration, of one request or of all; the tests
/// of llama-benchy.
namespace foredraft::logs {
namespace {

/// Maximum number of rows of which each pair is compared.
constexpr std::size_t max_compared_rows = 256;

}  // namespace

/// A heading such as "Decode" is that of a speed if a cell has its unit: "21 t/s".
void HeadedTable::tell_speeds_in_cells() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (!may_be_speed(column.heading) ||
        std::ranges::none_of(rows_, [&](const TableRow& row) { return in_tokens_per_s(row.cells[i]); }))
      continue;
    column = {.heading = column.heading, .meaning = column_of(column.heading + " tok/s").meaning};
  }
  const auto is_speed = [](const Column& one) {
    return one.meaning >= Meaning::total_speed && one.meaning <= Meaning::tpot;
  };
  if (std::ranges::any_of(columns_, is_speed)) return;
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  if (const auto only = only_speed(headings)) columns_[*only].meaning = Meaning::speed;
}

/// Requests/s with decimals beside a concurrency are those that were served.
void HeadedTable::tell_request_rate() {
  const auto rate = at(Meaning::request_rate), load = at(Meaning::concurrency);
  const auto is_whole = [](double value) { return value == std::floor(value); };
  if (rate && load && !std::ranges::all_of(values_in(*rate), is_whole) &&
      std::ranges::all_of(values_in(*load), is_whole))
    columns_[*rate].meaning = Meaning::ignored;
}

/// Times without a unit are in milliseconds if all are long, in seconds if all are short; else rejects the table.
void HeadedTable::tell_time(Meaning meaning, std::string_view heading) {
  constexpr double surely_ms = 2.0;
  constexpr double surely_s = 0.3;
  const auto column = at(meaning);
  if (!column || columns_[*column].unit > 0.0) return;
  std::vector<double> values;
  for (const TableRow& row : rows_) {
    const CellNumber time = number_of_cell(row.cells[*column]);
    if (time.value && time.unit == 0.0) values.push_back(*time.value);
  }
  if (std::ranges::all_of(values, [](double value) { return value >= surely_ms; })) {
    columns_[*column].unit = 1.0;
  } else if (std::ranges::all_of(values, [](double value) { return value < surely_s; })) {
    columns_[*column].unit = 1000.0;
  } else {
    refuse(meaning, "seconds or milliseconds?",
           fmt::format("call it {} or {}_s", heading, heading.substr(0, heading.size() - 3)));
  }
}

/// An inter-token latency is that of an iteration, and tells the acceptance length, if it equals TPOT in plain runs and
/// exceeds it in runs that draft, and the table has no acceptance. It is that of a token if the speed of one request
/// that drafts says so, and none is stated as that of one request: the table of the other arm, without drafts to say
/// so, could only be read by that one. Else it is ignored beside a TPOT or a speed.
void HeadedTable::tell_inter_token() {
  const auto column = at(Meaning::inter_token);
  if (!column) return;
  constexpr double same = 1.1;
  std::size_t plain = 0, drafts = 0, other = 0;
  for (const TableRow& row : rows_) {
    const auto chunk = number_of_cell(row.cells[*column]).value;
    const auto token = number_of_cell(text(row, Meaning::tpot)).value;
    if (!chunk || !token) continue;
    const bool one = *chunk <= same * *token && *token <= same * *chunk;
    if (arm_of(row).plain && one) ++plain;
    if (!arm_of(row).plain && *chunk > same * *token) ++drafts;
    if (arm_of(row).plain != one) ++other;
  }
  const bool has_acceptance =
      std::ranges::any_of(columns_, [](const Column& one) { return one.meaning >= Meaning::length; });
  if (plain > 0 && drafts > 0 && other == 0 && !has_acceptance && !has(Meaning::iteration)) {
    chunks_ = true;
    columns_[*column].unit = columns_[*at(Meaning::tpot)].unit;
    return;
  }
  // Counters of drafts that are 0 are of a server without, whose times between tokens are those of tokens.
  const auto counts_none = [&](Meaning meaning) {
    const std::vector<double> counts = has(meaning) ? values_in(*at(meaning)) : std::vector<double>{};
    return !counts.empty() && std::ranges::all_of(counts, [](double count) { return count == 0.0; });
  };
  const bool none = counts_none(Meaning::steps) || counts_none(Meaning::drafted) || counts_none(Meaning::accepted);
  bool of_token = false;
  for (const TableRow& row : rows_) {
    constexpr double rounded = 0.02, several = 1.5;
    const double ms = number_of_cell(row.cells[*column]).value.value_or(0.0) *
                      (columns_[*column].unit > 0.0 ? columns_[*column].unit : 1.0);
    const auto speed = value(row, has(Meaning::speed) ? Meaning::speed : Meaning::total_speed);
    const double tokens = std::max(1.0, value(row, Meaning::length).value_or(1.0));
    const double requests = ms * speed.value_or(0.0) / 1000.0;  // if it is the time of a token
    of_token = of_token || ((tokens > same || none) && std::abs(requests - 1.0) <= rounded);
    several_ = several_ || requests > several * tokens;
  }
  if (of_token && !has(Meaning::tpot) && !has(Meaning::request_speed)) {
    columns_[*column].meaning = Meaning::tpot;
    return tell_time(Meaning::tpot, "tpot_ms");
  }
  if (!has(Meaning::tpot) && !has(Meaning::speed) && !has(Meaning::request_speed) && !has(Meaning::total_speed)) {
    refuse(Meaning::inter_token, "of a token or of an iteration?", "call it tpot_ms (token) or iteration_ms");
  }
  columns_[*column].meaning = Meaning::ignored;
}

/// Speeds of all requests rise with the load, those of each fall, and are not above those that the times of tokens
/// give; else rejects the table.
void HeadedTable::tell_speed() {
  const auto column = at(Meaning::speed);
  if (!column) return;
  Column& speed = columns_[*column];
  const auto load = at(Meaning::concurrency);
  const std::vector<double> loads = load ? values_in(*load) : std::vector<double>{};
  constexpr double several = 1.5, fastest = 1000.0;  // requests, whose 1000 ms hold tok/s tokens; iterations/s of one
  const bool together = tell_whole_runs(*column) || std::ranges::any_of(rows_, [&](const TableRow& row) {
                          if (has(Meaning::benchy_test) && output_test(row).empty()) return false;  // of prompts
                          const double tokens_per_s = value(row, Meaning::speed).value_or(0.0);
                          const double tokens =
                              arm_of(row).plain ? 1.0 : value(row, Meaning::length).value_or(tokens_per_s);
                          return time_ms(row, Meaning::tpot).value_or(0.0) * tokens_per_s > several * 1000.0 ||
                                 tokens_per_s > fastest * tokens;
                        });
  constexpr double rounded = 1.1;  // of a request, which waits for its first token, too; two together have twice that
  const auto has_both = [&](const TableRow& row) { return value(row, Meaning::speed) && time_ms(row, Meaning::tpot); };
  const bool each =
      std::ranges::any_of(rows_, has_both) && std::ranges::all_of(rows_, [&](const TableRow& row) {
        return !has_both(row) || *value(row, Meaning::speed) * *time_ms(row, Meaning::tpot) <= rounded * 1000.0;
      });
  const bool alone = !together && !has(Meaning::request_speed) &&
                     (each || std::ranges::all_of(loads, [](double requests) { return requests <= 1.0; }));
  if (alone || together || has(Meaning::request_speed) || has(Meaning::tpot)) {
    speed.meaning = alone ? Meaning::request_speed : Meaning::total_speed;
    return;
  }
  struct Loaded {
    Arm arm = {};
    std::string setup = {};
    double load = 0.0, speed = 0.0;
  };
  std::vector<Loaded> runs;
  for (const TableRow& row : rows_.first(std::min(rows_.size(), max_compared_rows))) {
    const auto requests = number_of_cell(row.cells[*load]).value;
    const auto tokens = number_of_cell(row.cells[*column]).value;
    if (!requests || !tokens) continue;
    runs.push_back({.arm = arm_of(row),
                    .setup = kind_in(bare_cell(text(row, Meaning::name))) + " / " + kind_of(row),
                    .load = *requests,
                    .speed = *tokens});
  }
  std::size_t rises = 0, falls = 0, clear_falls = 0;
  for (const Loaded& few : runs) {
    for (const Loaded& many : runs) {
      const bool same_arm = few.setup == many.setup && few.arm.plain == many.arm.plain &&
                            few.arm.gamma == many.arm.gamma && few.arm.drafter == many.arm.drafter;
      if (!same_arm || !(many.load >= 2.0 * few.load)) continue;
      constexpr double clearly = 1.2, saturated = 1.05;
      if (many.speed > clearly * few.speed) ++rises;
      if (many.speed < few.speed) ++falls;
      if (saturated * many.speed < few.speed) ++clear_falls;
    }
  }
  const auto has_another = [&](const Loaded& one) { return std::ranges::count(runs, one.load, &Loaded::load) > 1; };
  if (rises > 0 && clear_falls == 0) {
    speed.meaning = Meaning::total_speed;
  } else if (falls > 0 && rises == 0) {
    speed.meaning = Meaning::request_speed;
  } else if (std::ranges::all_of(runs, has_another)) {
    speed.meaning = Meaning::total_speed;  // or each: runs of a load have the same ratio
    only_ratios_ = true;
  } else {
    refuse(Meaning::speed, "of all requests together or of each?",
           "call it \"total tok/s\" (all) or \"tok/s per request\" (each)");
  }
}

/// What a test of output measures behind its prompt: "tg128 @ d1024" of "pp2048 tg128 @ d1024" and of oMLX's
/// "pp2048/tg128"; empty for a test of prompts alone.
std::string_view HeadedTable::output_test(const TableRow& row) const {
  static const RE2 test(R"((?:pp ?[\d,]+ ?[ /,] ?)?(tg ?\d.*))");
  re2::StringPiece output;
  const bool found = RE2::FullMatch(piece(text(row, Meaning::benchy_test)), test, &output);
  return found ? std::string_view(output.data(), output.size()) : std::string_view{};
}

/// Finds the prompt before each test of output: its own, or that of the last row above which tests prompts of the same
/// model, depth and load, as llama-benchy measures both in one request; llama-bench has neither all requests nor TTFT.
void HeadedTable::tell_prompts() {
  static const RE2 test(R"((?:pp ?([\d,]+))?( ?[ /,]? ?tg ?\d+)?(.*))");
  if (!has(Meaning::benchy_test)) return;
  const bool of_request = has(Meaning::ttft) || std::ranges::any_of(columns_, [](const Column& one) {
                            const Meaning of = column_of(one.heading).meaning;
                            return of == Meaning::total_speed || of == Meaning::request_speed;
                          });
  std::map<std::string, double> last;  // by model, depth and load
  std::set<std::pair<double, double>> contexts;
  for (const TableRow& row : rows_) {
    std::string prompt, output, setup;
    if (!RE2::FullMatch(piece(text(row, Meaning::benchy_test)), test, &prompt, &output, &setup)) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Meaning of = columns_[i].meaning;
      if (of == Meaning::subject || of == Meaning::name || of == Meaning::concurrency) setup += "\n" + row.cells[i];
    }
    std::string_view digits = prompt;
    const auto tokens = take_measure(digits);
    if (output.empty() && tokens && of_request) last[setup] = *tokens;
    if (output.empty()) continue;
    const auto before = last.find(setup);
    if (tokens || before != last.end()) prompts_[row.line] = tokens ? *tokens : before->second;
    const double depth = number_after(output_test(row), "@ d").value_or(0.0);
    contexts.emplace(depth, prompts_.contains(row.line) ? prompts_[row.line] : -1.0);
  }
  if (contexts.size() == 1 && contexts.begin()->first == 0.0) prompts_.clear();  // of no depth, and all the same
}

/// "tg128 (c5) @ d1024": output length, concurrency and, where rows differ in it, the prompt behind the depth. False
/// for a test of prompts.
bool HeadedTable::set_benchy_test(const TableRow& row, StatedRun& run) const {
  const std::string_view test = output_test(row);
  if (test.empty()) return false;
  std::string_view rest = trimmed(test.substr(2));
  run.output_tokens = take_number(rest);
  run.concurrency = number_after(rest, "(c").value_or(value(row, Meaning::concurrency).value_or(1.0));
  if (const auto prompt = prompts_.find(row.line); prompt != prompts_.end())
    run.prompt_tokens = prompt->second + number_after(rest, "@ d").value_or(0.0);
  return true;
}

}  // namespace foredraft::logs
