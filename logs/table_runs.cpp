// SPDX-License-Identifier: Apache-2.0
#include "logs/headed_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/observation.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// "62 % (273/436)": counts, if they are those of the rate.
void set_counts_of_rate(std::string_view cell, StatedRun& run) {
  static const RE2 counts(R"(.*\(\s*([\d,]+)\s*/\s*([\d,]+)\s*\).*)");
  std::string first, second;
  if (!run.rate || !RE2::FullMatch(re2::StringPiece(cell.data(), cell.size()), counts, &first, &second)) return;
  std::string_view accepted_text = first, drafted_text = second;
  const auto accepted = take_measure(accepted_text);
  const auto drafted = take_measure(drafted_text);
  constexpr double rounded = 0.01;
  if (!accepted || drafted.value_or(0.0) <= 0.0 || std::abs(*accepted / *drafted - *run.rate) > rounded) return;
  run.accepted = accepted;
  run.drafted = drafted;
}

/// "draft" of a row whose name says only that a draft model drafts.
std::optional<std::string> drafter_of_row(std::string_view name) {
  return in_lower_case(name).starts_with("draft") ? std::optional<std::string>("draft") : std::nullopt;
}

}  // namespace

std::optional<double> HeadedTable::time_ms(const TableRow& row, Meaning meaning) const {
  const auto column = at(meaning);
  const CellNumber time = column ? number_of_cell(row.cells[*column]) : CellNumber{};
  if (!time.value) return std::nullopt;
  return *time.value * (time.unit > 0.0 ? time.unit : columns_[*column].unit);
}

/// Whether the length and the rate of each row, no ranges, give a whole draft length: else the rate is another one, and
/// fits some rows by chance.
bool HeadedTable::rates_tell_gamma() const {
  const double unit = columns_[*at(Meaning::rate)].percent ? 100.0 : 1.0;
  return std::ranges::all_of(rows_, [&](const TableRow& row) {
    const auto length = value(row, Meaning::length);
    const auto rate = value(row, Meaning::rate);
    const auto is_range = [&](Meaning one) {
      return number_of_cell(text(row, one)).value != measure_in(text(row, one)).value;
    };
    if (is_range(Meaning::length) || is_range(Meaning::rate)) return false;
    return !length || !rate || *length <= 1.0 || gamma_of_rate(*length, *rate / unit).has_value();
  });
}

/// What holds for the whole table.
void HeadedTable::tell_same() {
  if (has(Meaning::length) && has(Meaning::rate)) rates_tell_gamma_ = rates_tell_gamma();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto same = [&](const TableRow& row) { return row.cells[i] == rows_.front().cells[i]; };
    if (std::ranges::all_of(rows_, same)) same_.insert(i);
  }
}

/// Adds the columns of positions in their order, from 0 or from 1; none if one before another is missing.
void HeadedTable::add_positions(const TableRow& row, StatedRun& run, LogContents& contents) const {
  std::map<int, double> shares;
  int first = 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].meaning != Meaning::position || !columns_[i].position) continue;
    first = std::min(first, *columns_[i].position);
    if (const auto share = number_of_cell(row.cells[i]).value) shares.emplace(*columns_[i].position, *share);
  }
  if (shares.empty()) return;
  if (std::prev(shares.end())->first != first + static_cast<int>(shares.size()) - 1)
    return warn_once(contents, "W18", row.line, "ignored acceptance by position: a position is missing");
  for (const auto& [position, share] : shares) run.positions.push_back(share);
}

void HeadedTable::set_acceptance_of(const TableRow& row, StatedRun& run, LogContents& contents) const {
  run.length = value(row, Meaning::length);
  run.accepted_per_step = value(row, Meaning::accepted_per_step);
  run.rate = value(row, Meaning::rate);
  if (run.rate && columns_[*at(Meaning::rate)].percent) *run.rate /= 100.0;
  if (run.length && run.rate && !run.gamma && !rates_tell_gamma_) run.rate = std::nullopt;
  for (const Meaning speed : {Meaning::speed, Meaning::total_speed, Meaning::request_speed}) {
    if (!run.rate) run.rate = rate_beside(text(row, speed));
  }
  run.steps = value(row, Meaning::steps);
  run.drafted = value(row, Meaning::drafted);
  set_counts_of_rate(text(row, Meaning::rate), run);
  for (const std::string& cell : row.cells) {  // ik_llama.cpp: tokens accepted / drafted, and drafts
    const auto counts = numbers_in(cell, "drafts #/#, tokens #/#");
    if (counts.size() != 4) continue;
    run.steps = counts[1];
    run.accepted = counts[2];
    run.drafted = counts[3];
  }
  std::string_view accepted = text(row, Meaning::accepted);
  if (const auto counted = take_number(accepted)) run.accepted = counted;
  accepted = trimmed(accepted);
  if (run.accepted && accepted.starts_with('/')) {
    accepted.remove_prefix(1);
    if (const auto drafted = take_number(accepted)) run.drafted = drafted;
  }
  std::string list = bare_cell(text(row, Meaning::positions));
  std::ranges::replace(list, '/', ' ');
  std::ranges::replace(list, ',', ' ');
  std::string_view rest = list;
  while (const auto share = take_number(rest)) {
    run.positions.push_back(*share);
    if (rest.starts_with('%')) rest.remove_prefix(1);
  }
  add_positions(row, run, contents);
  const bool percent = std::ranges::any_of(run.positions, [](double share) { return share > 1.0; });
  for (double& share : run.positions) share /= percent ? 100.0 : 1.0;
}

/// The speed of a row that states only its gain over the one plain row, in a column that says so and with which the
/// speeds of the others agree.
std::optional<double> HeadedTable::speed_by_gain(const TableRow& row) const {
  static const RE2 over(
      R"((?i)(?:vs\.?|over|(?:gain|speed-?up|change) (?:vs\.?|over)|relative to) (?:the )?(?:k ?= ?0|base(?:line)?|plain|ar|off|none|no[- ](?:spec|mtp|draft)\w*|without.*)\W*)");
  const Meaning speed = has(Meaning::request_speed) ? Meaning::request_speed : Meaning::total_speed;
  const auto column =
      std::ranges::find_if(columns_, [](const Column& one) { return RE2::FullMatch(one.heading, over); });
  constexpr std::size_t max_rows = 256;
  if (column == columns_.end() || !has(speed) || value(row, speed) || rows_.size() > max_rows) return std::nullopt;
  const auto at = static_cast<std::size_t>(column - columns_.begin());
  const auto is_plain = [&](const TableRow& one) { return arm_of(one).plain; };
  const auto plain = std::ranges::find_if(rows_, is_plain);
  if (plain == rows_.end() || std::ranges::count_if(rows_, is_plain) > 1 || !value(*plain, speed)) return std::nullopt;
  const auto agrees = [&](const TableRow& one) {
    constexpr double rounded = 0.02;
    const auto gain = gain_in(one.cells[at]), of = value(one, speed);
    return !gain || !of || std::abs(*of / *value(*plain, speed) - *gain) <= rounded * *gain;
  };
  const auto gain = gain_in(row.cells[at]);
  if (!gain || !std::ranges::all_of(rows_, agrees)) return std::nullopt;
  return *value(*plain, speed) * *gain;
}

void HeadedTable::set_speed_of(const TableRow& row, StatedRun& run) const {
  run.output_tokens_per_s = value(row, Meaning::total_speed);
  run.request_tokens_per_s = value(row, Meaning::request_speed);
  if (const auto speed = speed_by_gain(row))
    (has(Meaning::request_speed) ? run.request_tokens_per_s : run.output_tokens_per_s) = speed;
  run.tpot_ms = time_ms(row, Meaning::tpot);
  run.iteration_ms = time_ms(row, chunks_ ? Meaning::inter_token : Meaning::iteration);
  run.ttft_ms = time_ms(row, Meaning::ttft);
  if (const auto ms = time_ms(row, Meaning::duration)) run.duration_s = *ms / 1000.0;
  // The load is unknown, but the same for all runs: their times have the ratios of their speeds.
  const bool timed = run.tpot_ms || run.request_tokens_per_s || run.concurrency || several_;
  if (!timed && run.output_tokens_per_s.value_or(0.0) > 0.0) run.tpot_ms = 1000.0 / *run.output_tokens_per_s;
}

/// Whether the times of arms in columns, which only speedups tell from speeds, are those of whole answers: seconds in
/// the cells, which no token takes.
bool HeadedTable::times_answers() const {
  if (answers_) return true;
  constexpr double longest_ms = 500.0;
  const auto column = at(Meaning::tpot);
  if (!column || columns_[*column].heading != measure_of_times || values_in(*column).empty()) return false;
  return std::ranges::all_of(rows_, [&](const TableRow& row) {
    const CellNumber time = number_of_cell(row.cells[*column]);
    return !time.value || (time.unit == 1000.0 && *time.value * time.unit > longest_ms);
  });
}

/// "tg128 (c5) @ d1024": output length, concurrency, prompt length. False for a test of prompts.
bool HeadedTable::set_benchy_test(const TableRow& row, StatedRun& run) const {
  std::string_view test = text(row, Meaning::benchy_test);
  if (test.starts_with("pp")) test.remove_prefix(std::min(test.find(" tg") + 1, test.size()));  // "pp2048 tg128"
  if (!test.starts_with("tg")) return false;
  std::string_view rest = test.substr(2);
  run.output_tokens = take_number(rest);
  run.concurrency = number_after(rest, "(c").value_or(value(row, Meaning::concurrency).value_or(1.0));
  run.prompt_tokens = number_after(rest, "@ d");
  return true;
}

std::optional<Observation> HeadedTable::run_of(const TableRow& row, bool has_plain, LogContents& contents) const {
  StatedRun run{.line = row.line};
  if (has(Meaning::benchy_test) && (has(Meaning::ttft) || has(Meaning::total_speed) || has(Meaning::request_speed))) {
    if (!set_benchy_test(row, run)) return std::nullopt;
  } else {
    run.concurrency = value(row, Meaning::concurrency);
    run.request_rate_per_s = value(row, Meaning::request_rate);
    run.prompt_tokens = value(row, Meaning::prompt_tokens);
    run.output_tokens = value(row, Meaning::output_tokens);
  }
  const Arm arm = arm_of(row);
  run.gamma = arm.plain ? std::nullopt : arm.gamma;
  set_acceptance_of(row, run, contents);
  set_speed_of(row, run);
  if (chunks_ && !arm.plain && run.tpot_ms.value_or(0.0) > 0.0 && run.iteration_ms.value_or(0.0) > *run.tpot_ms) {
    run.length = *run.iteration_ms / *run.tpot_ms;
    warn_once(contents, "W10", row.line,
              "acceptance lengths are inter-token latency over time per output token: means of requests");
  }
  if (!run.tpot_ms && !run.output_tokens_per_s && !run.request_tokens_per_s && !run.iteration_ms && !run.length &&
      !run.accepted_per_step && !run.rate && !run.accepted)
    return std::nullopt;
  run.temperature = temperature_of(row);
  const bool drafts = arm.gamma.value_or(0.0) > 0.0 || ((arm.drafter || arm.speculative) && has_plain);
  Decoding decoding = arm.plain ? Decoding::plain : drafts || accepts(row) ? Decoding::speculative : Decoding::unknown;
  Observation observation = observation_of(run, decoding, contents);
  if (observation.decoding == Decoding::speculative) {
    const std::string name = bare_cell(text(row, Meaning::name));
    observation.drafter = labels_.contains(name) ? name : arm.drafter;
    if (!observation.drafter && names_drafters_) observation.drafter = drafter_of_row(name);
  }
  if (has(Meaning::context_tokens)) observation.stratum.context_tokens = value(row, Meaning::context_tokens);
  if (const std::string kind = kind_of(row); !kind.empty()) observation.stratum.category = kind;
  return observation;
}

/// The kind of prompts; also the model and device if these differ between rows, the engine, and what an arm adds.
std::string HeadedTable::kind_of(const TableRow& row) const {
  std::string kind = bare_cell(text(row, Meaning::category));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].meaning != Meaning::subject || row.cells[i].empty() || same_.contains(i)) continue;
    kind += (kind.empty() ? "" : " / ") + bare_cell(row.cells[i]);
  }
  for (const auto* told : {&setups_, &additions_}) {
    const auto added = told->find(bare_cell(text(row, Meaning::name)));
    if (added != told->end() && !added->second.empty()) kind += (kind.empty() ? "" : " / ") + added->second;
  }
  return kind;
}

/// "read as: K = draft length; tok/s = output tokens/s of one request; not read: notes".
std::string HeadedTable::read_as() const {
  std::string read;
  std::string ignored;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.meaning == Meaning::ignored) {
      if (!column.heading.empty()) ignored += (ignored.empty() ? "" : ", ") + column.heading;
      continue;
    }
    const std::string_view unit = column.unit == 1.0  ? " in ms"
                                  : column.unit > 1.0 ? " in s"
                                  : column.percent    ? " in %"
                                                      : "";
    const bool switches = column.meaning == Meaning::gamma && values_in(i).empty();
    read +=
        fmt::format("{}{} = {}{}", read.empty() ? "" : "; ", column.heading.empty() ? "first column" : column.heading,
                    switches ? "whether it drafts" : words_of(column.meaning), unit);
  }
  std::set<std::string> setups;
  for (const auto& [name, setup] : setups_) setups.insert(setup);
  if (!setups.empty()) read += fmt::format("; not compared with each other: rows of {}", fmt::join(setups, ", "));
  for (const auto& [name, added] : additions_) {
    if (!added.empty() && added != name) read += fmt::format("; {} = with {}", name, added);
  }
  return fmt::format("read as: {}{}{}", read, ignored.empty() ? "" : "; not read: ", ignored);
}

void HeadedTable::read(LogContents& contents) const {
  static const RE2 sum("(?i)(?:total|sum)");
  const bool has_plain = std::ranges::any_of(rows_, [&](const TableRow& row) { return arm_of(row).plain; });
  const bool answers = times_answers();
  std::vector<Observation> runs;
  std::set<std::string> with_numbers;  // names of arms
  const auto name_of_row = [&](const TableRow& row) {
    return bare_cell(text(row, has(Meaning::name) ? Meaning::name : Meaning::gamma));
  };
  for (const TableRow& row : rows_) {
    if (answers && RE2::FullMatch(bare_cell(text(row, Meaning::category)), sum)) continue;
    auto run = run_of(row, has_plain, contents);
    if (!run) continue;
    runs.push_back(*std::move(run));
    with_numbers.insert(name_of_row(row));
  }
  if (runs.empty()) return tell_gains();
  const auto is_empty = [&](const TableRow& row) {
    const Arm arm = arm_of(row);
    return !arm.plain && (arm.gamma || arm.drafter) && !with_numbers.contains(name_of_row(row));
  };
  const auto empty = std::ranges::find_if(rows_, is_empty);
  if (has_plain && empty != rows_.end()) {
    warn_once(contents, "W18", empty->line, fmt::format("{} has no number: not compared", name_of_row(*empty)));
  }
  if (answers)
    warn_once(contents, "W12", rows_.front().line,
              "the times are of whole answers, prompts included: only their ratios count, not the TPOT");
  std::ranges::move(runs, std::back_inserter(contents.observations));
  contents.warnings.push_back({.code = "W22", .line = rows_.front().line, .message = read_as()});
}

/// A table of gains has nothing else to read.
void HeadedTable::tell_gains() const {
  for (std::size_t i = 0; i < columns_.size() && !rows_.empty(); ++i) {
    const Meaning meaning = column_of(columns_[i].heading).meaning;
    const std::string& cell = rows_.front().cells[i];
    if (meaning < Meaning::speed || columns_[i].meaning != Meaning::ignored || !measure_in(cell).gain) continue;
    reject({.line = rows_.front().line,
            .key = columns_[i].heading,
            .text = bare_cell(cell),
            .why = "this is a ratio, but of what to what?",
            .suggestion = "write the values of both arms"});
  }
}

}  // namespace foredraft::logs
