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
#include <numeric>
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
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// "62 % (273/436)": counts, if they are those of the rate.
void set_counts_of_rate(std::string_view cell, StatedRun& run) {
  static const RE2 counts(R"(.*\(\s*([\d,]+)\s*/\s*([\d,]+)\s*\).*)");
  std::string first, second;
  if (!run.rate || !RE2::FullMatch(piece(cell), counts, &first, &second)) return;
  std::string_view accepted_text = first, drafted_text = second;
  const auto accepted = take_measure(accepted_text);
  const auto drafted = take_measure(drafted_text);
  constexpr double rounded = 0.01;
  if (!accepted || drafted.value_or(0.0) <= 0.0 || std::abs(*accepted / *drafted - *run.rate) > rounded) return;
  run.accepted = accepted;
  run.drafted = drafted;
}

/// Removes counts of drafts that cannot be of all steps: far more tokens were not drafted than steps drafted, and those
/// are of another drafter or of none. No acceptance length follows. Returns whether it did.
bool drop_counts_of_some(StatedRun& run, LogContents& contents) {
  constexpr double far_more = 1.5;
  const double others = run.output_tokens.value_or(0.0) - run.accepted.value_or(0.0),
               drafted = run.drafted.value_or(0.0);
  const double at_most = run.steps ? far_more * *run.steps : run.gamma ? far_more * drafted / *run.gamma : drafted;
  if (!run.accepted || run.length || !(drafted > 0.0) || !(others > at_most)) return false;
  warn_once(contents, "W18", run.line,
            fmt::format("{:.0f} % of the drafts were accepted, which is no acceptance length: {:.0f} tokens are of "
                        "steps that the drafts do not count",
                        100.0 * *run.accepted / drafted, others));
  run.steps = run.drafted = run.accepted = run.rate = std::nullopt;
  return true;
}

/// Removes a rate, and counts without steps, of a drafter that looks tokens up: it drafts nothing where it finds no
/// match, so the draft length gives no acceptance length. `names`: of the row. Returns whether it did.
bool drop_rate_of_lookup(std::string_view names, StatedRun& run, LogContents& contents) {
  if (!run.rate || run.length || run.accepted_per_step || run.steps || !looks_tokens_up(names)) return false;
  warn_once(contents, "W18", run.line,
            fmt::format("{:.0f} % of the drafts were accepted, which is no acceptance length: where {} finds no match, "
                        "it drafts nothing",
                        100.0 * *run.rate, names));
  run.drafted = run.accepted = run.rate = std::nullopt;
  return true;
}

/// "draft" of a row whose name says only that a draft model drafts.
std::optional<std::string> drafter_of_row(std::string_view name) {
  return in_lower_case(name).starts_with("draft") ? std::optional<std::string>("draft") : std::nullopt;
}

/// Whether a cell has a unit that its column cannot have, "900 ms" below tok/s, or two values that differ too much for
/// repetitions, and too little for a mean and its deviation, of which the heading does not say what they are.
bool is_of_other(std::string_view cell, const Column& column) {
  static const RE2 with_unit(R"([^\w.]*[\d.,]+(?:\W{0,3}[\d.,]+)*[ *`]*([a-zA-Z]+(?:/[a-zA-Z]+)*)(?:\W.*)?)",
                             RE2::Latin1);
  static const RE2 pair(R"([^\w.]*([\d.]+) ?/ ?([\d.]+)(?:[^/]*))", RE2::Latin1);
  const auto is_time = [](Meaning one) { return one >= Meaning::tpot && one <= Meaning::duration; };
  const bool speed = column.meaning >= Meaning::speed && column.meaning < Meaning::tpot;
  constexpr double repeated = 1.5, of_deviation = 8.0;
  double first = 0.0, second = 0.0;
  const bool two = (speed || is_time(column.meaning)) && column.heading.find(" / ") == std::string::npos &&
                   RE2::FullMatch(piece(cell), pair, &first, &second);
  const double ratio = std::max(first, second) / std::min(first, second);
  if (two && ratio > repeated && ratio < of_deviation) return true;
  std::string unit;
  if ((!speed && !is_time(column.meaning)) || !RE2::FullMatch(piece(cell), with_unit, &unit)) return false;
  if (in_tokens_per_s(cell)) return !speed;
  const bool in_time = unit == "ms" || unit == "s" || is_time(column_of(unit).meaning);
  return in_time ? speed : unit.find('/') != std::string::npos;
}

}  // namespace

/// The value of a cell; nullopt if it says that it is of something else.
std::optional<double> HeadedTable::value(const TableRow& row, Meaning meaning) const {
  const auto column = at(meaning);
  if (!column || is_of_other(row.cells[*column], columns_[*column])) return std::nullopt;
  const CellNumber number = measure_in(row.cells[*column]);
  return number.gain && !may_be_share(meaning) ? std::nullopt : number.value;
}

std::optional<double> HeadedTable::time_ms(const TableRow& row, Meaning meaning) const {
  const auto column = at(meaning);
  const CellNumber time = column ? number_of_cell(row.cells[*column]) : CellNumber{};
  if (!time.value || !measure_in(row.cells[*column]).value || is_of_other(row.cells[*column], columns_[*column]))
    return std::nullopt;
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
    return !length || !rate || *length <= 1.0 || ends_early(row) || gamma_of_rate(*length, *rate / unit).has_value();
  });
}

/// Beside a number of drafts, draft tokens are those of all: vLLM's counters. An "n" is no draft length if another one
/// follows from both.
void HeadedTable::tell_counters() {
  static const RE2 drafts("(?i).*drafts"), tokens("(?i).*tok.*");
  const auto steps = at(Meaning::steps);
  if (!steps || !RE2::FullMatch(columns_[*steps].heading, drafts)) return;
  for (Column& column : columns_) {
    if (column.may_be_count && RE2::FullMatch(column.heading, tokens)) column.meaning = Meaning::drafted;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto differs = [&](const TableRow& row) {
      const double drafted = value(row, Meaning::drafted).value_or(0.0), of = value(row, Meaning::steps).value_or(0.0);
      return of > 0.0 && std::fmod(drafted, of) == 0.0 && number_of_cell(row.cells[i]).value != drafted / of;
    };
    if (columns_[i].may_be_count && columns_[i].meaning == Meaning::gamma && std::ranges::any_of(rows_, differs))
      columns_[i].meaning = Meaning::ignored;
  }
}

/// What holds for the whole table.
void HeadedTable::tell_same() {
  if (has(Meaning::length) && has(Meaning::rate)) rates_tell_gamma_ = rates_tell_gamma();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto same = [&](const TableRow& row) { return row.cells[i] == rows_.front().cells[i]; };
    if (std::ranges::all_of(rows_, same)) same_.insert(i);
  }
}

/// A share of drafted tokens does not rise with K on one text: rates that rise over all K of an arm are other ones.
void HeadedTable::tell_rising_rates() {
  constexpr double clearly = 1.1;
  const auto column = at(Meaning::rate);
  if (!column) return;
  std::map<std::string, std::map<double, double>> by_arm;  // rates by K
  for (const TableRow& row : rows_) {
    const Arm arm = arm_of(row);
    const auto rate = value(row, Meaning::rate);
    const std::string load = fmt::format("{} {}", text(row, Meaning::concurrency), text(row, Meaning::temperature));
    if (rate && !arm.plain && arm.gamma && !ends_early(row))
      by_arm[fmt::format("{} / {} / {}", arm.drafter.value_or(""), kind_of(row), load)].emplace(*arm.gamma, *rate);
  }
  const auto rises = [](const auto& arm) {
    const auto& rates = arm.second;
    const auto falls = [](const auto& few, const auto& many) { return few.second >= many.second; };
    return rates.size() > 1 && std::ranges::adjacent_find(rates, falls) == rates.end() &&
           rates.rbegin()->second > clearly * rates.begin()->second;
  };
  if (std::ranges::none_of(by_arm, rises)) return;
  rising_ = columns_[*column].heading;
  columns_[*column].meaning = Meaning::ignored;
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
  const double sum = std::reduce(run.positions.begin(), run.positions.end(), 0.0);
  const bool counts = run.steps.value_or(0.0) > 0.0 && sum == run.accepted && sum > 0.0;
  const bool percent = std::ranges::any_of(run.positions, [](double share) { return share > 1.0; });
  for (double& share : run.positions) share /= counts ? *run.steps : percent ? 100.0 : 1.0;
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

void HeadedTable::set_speed_of(const TableRow& row, bool has_plain, StatedRun& run) const {
  run.output_tokens_per_s = value(row, Meaning::total_speed);
  run.request_tokens_per_s = value(row, Meaning::request_speed);
  if (const auto speed = speed_by_gain(row))
    (has(Meaning::request_speed) ? run.request_tokens_per_s : run.output_tokens_per_s) = speed;
  run.tpot_ms = time_ms(row, Meaning::tpot);
  run.iteration_ms = time_ms(row, chunks_ ? Meaning::inter_token : Meaning::iteration);
  run.ttft_ms = time_ms(row, Meaning::ttft);
  if (const auto ms = time_ms(row, Meaning::duration)) run.duration_s = *ms / 1000.0;
  // The load is unknown, but the same for all runs: their times have the ratios of their speeds, and no other meaning.
  const bool timed = run.tpot_ms || run.request_tokens_per_s || run.concurrency || several_ || !has_plain;
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
  run.adaptive = ends_early(row);
  set_acceptance_of(row, run, contents);
  const std::string named = name_of_drafter(row);
  const bool counts_some =
      !arm.plain && (drop_counts_of_some(run, contents) || drop_rate_of_lookup(named, run, contents));
  set_speed_of(row, has_plain, run);
  if (chunks_ && !arm.plain && run.tpot_ms.value_or(0.0) > 0.0 && run.iteration_ms.value_or(0.0) > *run.tpot_ms) {
    run.length = *run.iteration_ms / *run.tpot_ms;
    warn_once(contents, "W10", row.line,
              "acceptance lengths are inter-token latency over time per output token: means of requests");
  }
  if (!run.tpot_ms && !run.output_tokens_per_s && !run.request_tokens_per_s && !run.iteration_ms && !run.length &&
      !run.accepted_per_step && !run.rate && !run.accepted)
    return std::nullopt;
  run.temperature = temperature_of(row);
  const bool drafts =
      counts_some || arm.gamma.value_or(0.0) > 0.0 || arm.tree || ((arm.drafter || arm.speculative) && has_plain);
  Decoding decoding = arm.plain ? Decoding::plain : drafts || accepts(row) ? Decoding::speculative : Decoding::unknown;
  Observation observation = observation_of(run, decoding, contents);
  if (observation.decoding == Decoding::speculative) {
    observation.tree = arm.tree;
    const std::string name = bare_cell(text(row, Meaning::name));
    observation.drafter = labels_.contains(name) || naming_ ? name : arm.drafter;
    if (naming_) *observation.drafter += ", " + bare_cell(row.cells[*naming_]);
    if (threshold_ && number_of_cell(row.cells[*threshold_]).value)
      observation.drafter = fmt::format("{}{}{} {}", observation.drafter.value_or(""), observation.drafter ? ", " : "",
                                        columns_[*threshold_].heading, bare_cell(row.cells[*threshold_]));
    if (!observation.drafter && names_drafters_) observation.drafter = drafter_of_row(name);
  }
  if (has(Meaning::context_tokens)) observation.stratum.context_tokens = value(row, Meaning::context_tokens);
  if (const std::string kind = kind_of(row); !kind.empty()) observation.stratum.category = kind;
  return observation;
}

/// The kind of prompts; also the model and device if these differ between rows, the engine, and what an arm adds.
std::string HeadedTable::kind_of(const TableRow& row) const {
  static const RE2 size("(?i)[\\d.,]+ ?[km]?");
  std::string kind = bare_cell(text(row, Meaning::category));
  if (const auto depth = number_after(output_test(row), "@ d");
      depth.value_or(0.0) > 0.0 && !prompts_.contains(row.line))
    kind += fmt::format("{}depth {}", kind.empty() ? "" : " / ", *depth);
  std::string heading;  // of a number, if it is all
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].meaning != Meaning::subject || row.cells[i].empty() || same_.contains(i)) continue;
    const std::string cell = bare_cell(row.cells[i]);
    heading = kind.empty() && RE2::FullMatch(cell, size) ? columns_[i].heading + " " : "";
    kind += (kind.empty() ? "" : " / ") + cell;
  }
  kind.insert(0, heading);
  std::string setup;  // "Qwen3-8B": "qwen3 8b" adds nothing to it
  for (const auto* told : {&setups_, &additions_}) {
    const auto added = told->find(bare_cell(text(row, Meaning::name)));
    if (added == told->end() || added->second.empty() || added->second == without_repetition(setup)) continue;
    kind += (kind.empty() ? "" : " / ") + added->second;
    setup = added->second;
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
                    switches                                                 ? "whether it drafts"
                    : answers_ && column.meaning == Meaning::tpot            ? "time of a whole answer"
                    : only_ratios_ && column.meaning == Meaning::total_speed ? "tokens/s of all requests or of each"
                                                                             : words_of(column.meaning),
                    unit);
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
    if (!run) {
      tell_unread(row, contents);
      continue;
    }
    runs.push_back(*std::move(run));
    with_numbers.insert(name_of_row(row));
  }
  const std::string rises = "rises with K, as no share of drafted tokens does on one text";
  if (!rising_.empty() && runs.empty())
    reject(
        {.line = rows_.front().line, .key = rising_, .text = rises, .suggestion = "write speeds, or drafted tokens"});
  if (!rising_.empty()) warn_once(contents, "W17", rows_.front().line, fmt::format("{} {}: not used", rising_, rises));
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
              "the times are of whole answers, not of tokens: only their ratios count");
  if (only_ratios_) warn_of_totals(rows_.front().line, contents);
  tell_lists(contents);
  tell_ranges(contents);
  std::ranges::move(runs, std::back_inserter(contents.observations));
  contents.warnings.push_back({.code = "W22", .line = rows_.front().line, .message = read_as()});
}

/// Names a row of which a number is of something else than its column.
void HeadedTable::tell_unread(const TableRow& row, LogContents& contents) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Meaning meaning = columns_[i].meaning;
    const bool several = number_of_cell(row.cells[i]).value && !measure_in(row.cells[i]).value;
    if (!is_speed_or_time(meaning) && (meaning < Meaning::length || meaning > Meaning::rate)) continue;
    if (!several && !is_of_other(row.cells[i], columns_[i])) continue;
    return warn_once(contents, "W18", row.line,
                     fmt::format("\"{}\" is not read: not clearly {}", bare_cell(row.cells[i]), words_of(meaning)));
  }
}

/// Names columns that are not read although two cells hold three values or more: "14.7 / 12.0 / 9.0".
void HeadedTable::tell_lists(LogContents& contents) const {
  static const RE2 list(R"(\W*[\d.,]+(?:\W{0,3}/\W{0,3}[\d.,]+){2,}(?:[^/]*))", RE2::Latin1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto is_list = [&](const TableRow& row) { return RE2::FullMatch(row.cells[i], list); };
    if (columns_[i].meaning == Meaning::ignored && std::ranges::count_if(rows_, is_list) > 1)
      warn_once(contents, "W18", rows_.front().line,
                fmt::format("\"{}\" is not read: several values in a cell", columns_[i].heading));
  }
}

/// Says that the middle of a range of acceptance was used, which is no mean.
void HeadedTable::tell_ranges(LogContents& contents) const {
  for (const Meaning meaning : {Meaning::length, Meaning::rate}) {
    const auto of_range = [&](const TableRow& row) { return value(row, meaning) && is_range(text(row, meaning)); };
    const auto row = std::ranges::find_if(rows_, of_range);
    if (row != rows_.end()) warn_of_range(bare_cell(text(*row, meaning)), row->line, contents);
  }
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
