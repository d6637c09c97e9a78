// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arm_columns.hpp"
#include "logs/formats.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/stated_run.hpp"

/// Tables with headings as people write them (headings.cpp): one row per run. An ambiguous heading is resolved by the
/// values if only one reading fits them, else the table is rejected with the heading that would settle it.
namespace foredraft::logs {
namespace {

/// Something measured: one of these is in every header.
constexpr std::string_view headings_anchor =
    R"((?i)\bt(?:o?ks?|oken|okens)?[/\\]s|\bt/s|(?:\b|_)tps\b|tok(?:en)?s?[ _]per[ _]s|\btpot|\bms/|ms[ _]per|\bitl\b)"
    R"(|inter[- _]token|throughput|\bacc\b|acc(?:ept\w*)?[ _.]len|accept\w*|\btau\b|\bAL\b|\ba\.len|time[ _]per|\bspeed\b)"
    R"(|akzeptanz|durchsatz|\xE6\x8E\xA5\xE5\x8F\x97|\xE5\x90\x9E\xE5\x90\x90)"
    R"(|^[ \t>]*\|?[ \t*]*(?:metrics?|measure\w*|quantity|statistic|parameter|result)?[ \t*]*[|,;\t].*)"
    R"((?:\bk ?= ?\d|baseline|plain|vanilla|without|\boff\b|mtp|eagle|dflash|no[- ]spec|\bspec|n[-_ ]max))";

/// Rows of a table of which each pair is compared.
constexpr std::size_t max_compared_rows = 256;

/// A cell as a number: "90.7 ± 2.1" is 90.7, "75 %" 75 with its percent sign, "16K" 16000; nullopt for "n/a" and "-".
struct Number {
  std::optional<double> value = {};
  bool percent = false;
  double unit = 0.0;  ///< milliseconds of "175 ms" and "0.2 s"; 0: none
};

/// "31,2" and "1.234,5" with a point; as it is if its commas may be those of thousands.
std::string with_decimal_point(std::string text) {
  static const RE2 comma(R"((?:(?:\d{1,3}(?:\.\d{3})+|\d+),(?:\d{1,2}|\d{4,})|0,\d+)(?:[^\d,.].*)?)");
  if (!RE2::FullMatch(text, comma)) return text;
  const std::size_t at = text.find(',');
  std::string whole = text.substr(0, at);
  std::erase(whole, '.');
  return whole + "." + text.substr(at + 1);
}

std::string bare(std::string_view cell) {
  std::string text;
  for (const char c : cell) {
    if (c != '*' && c != '`' && c != '~') text += c;
  }
  constexpr std::string_view about = "\xE2\x89\x88";  // almost equal
  if (text.starts_with(about)) text.erase(0, about.size());
  return std::string(trimmed(text));
}

/// Nullopt for what is none, or negative.
std::optional<double> take_measure(std::string_view& text) {
  const auto number = take_number(text);
  return number && *number >= 0.0 && std::isfinite(*number) ? number : std::nullopt;
}

Number number_of(std::string_view cell) {
  const std::string text = with_decimal_point(bare(cell));
  if (text.find("->") != std::string::npos || text.find("\xE2\x86\x92") != std::string::npos) return {};
  std::string_view rest = text;
  Number number{.value = take_measure(rest)};
  if (!number.value) return {};
  if (rest.starts_with('k') || rest.starts_with('K')) *number.value *= 1000.0;
  rest = trimmed(rest);
  number.percent = rest.starts_with('%');
  if (rest == "ms") number.unit = 1.0;
  if (rest == "s") number.unit = 1000.0;
  return number;
}

/// Something measured, in a cell: as number_of, but the mean of several runs ("58 / 60 / 62") and the middle of a range
/// ("10-11 tok/s").
Number measured(std::string_view cell) {
  Number number = number_of(cell);
  static const RE2 runs(R"([\d.]+(?: ?/ ?[\d.]+){2,})");
  static const RE2 range("([\\d.]+)%? ?(?:-|\xE2\x80\x93) ?([\\d.]+) ?(%?)(?:\\D.*)?");
  const std::string text = bare(cell);
  double low = 0.0, high = 0.0;
  std::string percent;
  if (RE2::FullMatch(text, runs)) {
    double sum = 0.0, count = 0.0;
    std::string_view rest = text;
    while (const auto run = take_measure(rest)) {
      sum += *run;
      ++count;
      rest = trimmed(rest);
      if (!rest.empty()) rest.remove_prefix(1);  // the slash
    }
    number.value = sum / count;
  } else if (RE2::FullMatch(text, range, &low, &high, &percent) && low < high) {
    number = {.value = 0.5 * (low + high), .percent = !percent.empty()};
  }
  return number;
}

/// A table whose columns mean something.
class HeadedTable {
 public:
  HeadedTable(std::span<const std::string> headings, std::span<const TableRow> rows) : rows_(rows) {
    for (const std::string& heading : headings) columns_.push_back(column_of(bare(heading)));
    tell_names();
    keep_first_of_each();
    tell_apart();
  }

  void read(LogContents& contents) const;

 private:
  [[nodiscard]] std::optional<std::size_t> at(Meaning meaning) const {
    const auto found = std::ranges::find(columns_, meaning, &Column::meaning);
    return found == columns_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - columns_.begin()));
  }
  [[nodiscard]] bool has(Meaning meaning) const { return at(meaning).has_value(); }
  [[nodiscard]] std::string_view text(const TableRow& row, Meaning meaning) const {
    const auto column = at(meaning);
    return column ? std::string_view(row.cells[*column]) : std::string_view{};
  }
  [[nodiscard]] std::optional<double> value(const TableRow& row, Meaning meaning) const {
    return measured(text(row, meaning)).value;
  }
  [[nodiscard]] std::vector<double> values_in(std::size_t column) const;

  void tell_names();
  void keep_first_of_each();
  void tell_apart();
  void tell_gamma();
  void tell_speed();
  void tell_time(Meaning meaning, std::string_view heading);
  void tell_inter_token();
  void tell_mean_accepted();
  void tell_rate();
  [[noreturn]] void refuse(Meaning meaning, std::string_view why, std::string_view call_it) const;

  [[nodiscard]] const Arm& arm_of(const TableRow& row) const;
  void set_acceptance_of(const TableRow& row, StatedRun& run) const;
  [[nodiscard]] bool rates_tell_gamma() const;
  void set_speed_of(const TableRow& row, StatedRun& run) const;
  [[nodiscard]] std::optional<double> time_ms(const TableRow& row, Meaning meaning) const;
  [[nodiscard]] bool set_benchy_test(const TableRow& row, StatedRun& run) const;
  [[nodiscard]] std::optional<Observation> run_of(const TableRow& row, bool has_plain, LogContents& contents) const;
  [[nodiscard]] std::string kind_of(const TableRow& row) const;
  [[nodiscard]] std::string read_as() const;

  std::span<const TableRow> rows_;
  std::vector<Column> columns_;
  mutable std::map<std::pair<std::string, std::string>, Arm> arms_ = {};  ///< of the cells with length and name
};

std::vector<double> HeadedTable::values_in(std::size_t column) const {
  std::vector<double> values;
  for (const TableRow& row : rows_) {
    if (const auto value = number_of(row.cells[column]).value) values.push_back(*value);
  }
  return values;
}

void HeadedTable::refuse(Meaning meaning, std::string_view why, std::string_view call_it) const {
  reject({.line = rows_.front().line,
          .key = columns_[*at(meaning)].heading,
          .text = "may mean several things",
          .why = std::string(why),
          .suggestion = std::string(call_it)});
}

/// A first column without a heading names its rows, and so does one of models or devices where nothing else does: of
/// arms, if one is without speculation or states a draft length; else of kinds of prompts.
void HeadedTable::tell_names() {
  const auto names_arms = [&](std::size_t column) {
    return std::ranges::any_of(rows_, [&](const TableRow& row) {
      const Arm arm = arm_named(bare(row.cells[column]));
      return arm.plain || arm.gamma;
    });
  };
  if (columns_.front().heading.empty() && values_in(0).size() < rows_.size())
    columns_.front().meaning = names_arms(0) ? Meaning::name : Meaning::category;
  const auto subject = at(Meaning::subject);
  if (subject && !has(Meaning::name) && !has(Meaning::gamma) && names_arms(*subject))
    columns_[*subject].meaning = Meaning::name;
}

/// A heading that may count is no draft length beside one that may not, and a number no name beside another name.
void HeadedTable::keep_first_of_each() {
  const auto is_name = [](const Column& column) { return column.meaning == Meaning::name; };
  for (std::size_t i = 0; i < columns_.size() && std::ranges::count_if(columns_, is_name) > 1; ++i) {
    if (is_name(columns_[i]) && values_in(i).size() == rows_.size()) columns_[i].meaning = Meaning::ignored;
  }
  const bool sure = std::ranges::any_of(
      columns_, [](const Column& column) { return column.meaning == Meaning::gamma && !column.may_be_count; });
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (column.meaning == Meaning::position || column.meaning == Meaning::subject) continue;
    if (sure && column.may_be_count) column.meaning = column.heading.size() > 1 ? Meaning::drafted : Meaning::ignored;
    const auto before = columns_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool repeated =
        std::any_of(columns_.begin(), before, [&](const Column& one) { return one.meaning == column.meaning; });
    if (repeated) column.meaning = Meaning::ignored;
  }
}

void HeadedTable::tell_apart() {
  tell_gamma();
  tell_time(Meaning::tpot, "tpot_ms");
  tell_time(Meaning::ttft, "ttft_ms");
  tell_time(Meaning::iteration, "iteration_ms");
  tell_rate();
  tell_mean_accepted();
  tell_inter_token();
  tell_speed();
}

/// Draft lengths are small whole numbers.
void HeadedTable::tell_gamma() {
  constexpr double longest = 64.0;
  const auto column = at(Meaning::gamma);
  if (!column) return;
  const std::vector<double> values = values_in(*column);
  const bool lengths =
      std::ranges::all_of(values, [&](double value) { return value <= longest && value == std::floor(value); });
  if (lengths) return;
  if (columns_[*column].may_be_count) {
    columns_[*column].meaning = columns_[*column].heading.size() > 1 ? Meaning::drafted : Meaning::ignored;
  } else if (std::ranges::any_of(values, [](double value) { return value != std::floor(value); })) {
    columns_[*column].meaning = Meaning::ignored;
  }
}

/// A time without a unit is in milliseconds if all are long, in seconds if all are short.
void HeadedTable::tell_time(Meaning meaning, std::string_view heading) {
  constexpr double surely_ms = 2.0;
  constexpr double surely_s = 0.3;
  const auto column = at(meaning);
  if (!column || columns_[*column].unit > 0.0) return;
  std::vector<double> values;
  for (const TableRow& row : rows_) {
    const Number time = number_of(row.cells[*column]);
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

/// Rates above 1 are percent, unless they can only be lengths: "accept" 2.6 at K = 3. A "rate" of plain runs too is no
/// acceptance: an accuracy. Accepted tokens in percent are a rate.
void HeadedTable::tell_rate() {
  const auto accepted = at(Meaning::accepted);
  const auto in_percent = [](const TableRow& row, std::size_t column) { return number_of(row.cells[column]).percent; };
  if (accepted && !has(Meaning::rate) &&
      std::ranges::any_of(rows_, [&](const TableRow& row) { return in_percent(row, *accepted); }))
    columns_[*accepted].meaning = Meaning::rate;
  const auto column = at(Meaning::rate);
  if (!column) return;
  Column& rate = columns_[*column];
  constexpr double max_rate = 100.0, max_length = 20.0;
  static const RE2 says_rate("(?i).*(?:rate|ratio|%|alpha).*");
  bool lengths = !has(Meaning::length) && !RE2::FullMatch(rate.heading, says_rate);
  for (const TableRow& row : rows_) {
    const Number number = measured(row.cells[*column]);
    const double value = number.value.value_or(0.0);
    rate.percent = rate.percent || number.percent || value > 1.0;
    const Arm& arm = arm_of(row);
    if ((arm.plain && value > 0.0 && value != 1.0) || value > max_rate) {
      rate.meaning = Meaning::ignored;
      return;
    }
    if (number.value && !arm.plain)
      lengths = lengths && !number.percent && value >= 1.0 &&
                value <= std::min(arm.gamma.value_or(max_length) + 1.0, max_length);
  }
  if (lengths && rate.percent) rate = {.heading = rate.heading, .meaning = Meaning::length};
}

/// Below 1 without the bonus token; beside rates and draft lengths it is what these say.
void HeadedTable::tell_mean_accepted() {
  const auto column = at(Meaning::mean_accepted);
  if (!column) return;
  Column& mean = columns_[*column];
  std::size_t with = 0, without = 0;
  for (const TableRow& row : rows_) {
    const auto tokens = number_of(row.cells[*column]).value;
    const Arm arm = arm_of(row);
    if (!tokens || arm.plain) continue;
    auto rate = value(row, Meaning::rate);
    if (rate && columns_[*at(Meaning::rate)].percent) *rate /= 100.0;
    const double drafts = rate.value_or(0.0) * arm.gamma.value_or(0.0);
    constexpr double rounded = 0.05;
    if (*tokens < 1.0 || (drafts > 0.0 && std::abs(*tokens - drafts) <= rounded * drafts)) ++without;
    if (drafts > 0.0 && std::abs(*tokens - 1.0 - drafts) <= rounded * drafts) ++with;
    if (arm.gamma && *tokens > *arm.gamma + rounded) ++with;
  }
  if (with > 0 && without == 0) {
    mean.meaning = Meaning::length;
  } else if (without > 0 && with == 0) {
    mean.meaning = Meaning::accepted_per_step;
  } else {
    refuse(Meaning::mean_accepted, "with the bonus token or without?",
           "call it acceptance_length (with it) or accepted_per_step (without)");
  }
}

/// Beside TPOT it is that of an iteration where it exceeds it in every run that drafts, else it says nothing new.
void HeadedTable::tell_inter_token() {
  const auto column = at(Meaning::inter_token);
  if (!column) return;
  if (!has(Meaning::tpot) && !has(Meaning::speed) && !has(Meaning::request_speed) && !has(Meaning::total_speed)) {
    refuse(Meaning::inter_token, "of a token or of an iteration?", "call it tpot_ms (token) or iteration_ms");
  }
  columns_[*column].meaning = Meaning::ignored;
}

/// Speeds of all requests rise with the load, those of each fall.
void HeadedTable::tell_speed() {
  const auto column = at(Meaning::speed);
  if (!column) return;
  Column& speed = columns_[*column];
  const auto load = at(Meaning::concurrency);
  const std::vector<double> loads = load ? values_in(*load) : std::vector<double>{};
  const bool alone = std::ranges::all_of(loads, [](double requests) { return requests <= 1.0; });
  if (alone || has(Meaning::request_speed) || has(Meaning::tpot)) {
    speed.meaning = alone ? Meaning::request_speed : Meaning::total_speed;
    return;
  }
  struct Loaded {
    Arm arm = {};
    double load = 0.0, speed = 0.0;
  };
  std::vector<Loaded> runs;
  for (const TableRow& row : rows_.first(std::min(rows_.size(), max_compared_rows))) {
    const auto requests = number_of(row.cells[*load]).value;
    const auto tokens = number_of(row.cells[*column]).value;
    if (requests && tokens) runs.push_back({.arm = arm_of(row), .load = *requests, .speed = *tokens});
  }
  std::size_t rises = 0, falls = 0;
  for (const Loaded& few : runs) {
    for (const Loaded& many : runs) {
      const bool same_arm =
          few.arm.plain == many.arm.plain && few.arm.gamma == many.arm.gamma && few.arm.drafter == many.arm.drafter;
      if (!same_arm || !(many.load >= 2.0 * few.load)) continue;
      constexpr double clearly = 1.2;
      if (many.speed > clearly * few.speed) ++rises;
      if (many.speed < few.speed) ++falls;
    }
  }
  if (rises > 0 && falls == 0) {
    speed.meaning = Meaning::total_speed;
  } else if (falls > 0 && rises == 0) {
    speed.meaning = Meaning::request_speed;
  } else {
    refuse(Meaning::speed, "of all requests together or of each?",
           "call it \"total tok/s\" (all) or \"tok/s per request\" (each)");
  }
}

bool is_dash(std::string_view cell) {
  return cell == "-" || cell == "\xE2\x80\x93" || cell == "\xE2\x80\x94";  // the short and the long dash
}

/// From the draft length, else from the name.
Arm arm_of_cells(std::string_view length_cell, std::string_view name_cell) {
  const std::string length = bare(length_cell);
  const std::string name = bare(name_cell);
  Arm arm = arm_named(name);
  if (is_dash(name)) arm.plain = true;
  if (length.empty()) return arm;
  const auto tokens = number_of(length).value;
  if (tokens) {
    arm.gamma = tokens;
    arm.plain = *tokens == 0.0;
  } else if (const Arm stated = arm_named(length); stated.plain || is_dash(length)) {
    arm.plain = true;
  } else {
    arm = {.gamma = stated.gamma, .drafter = arm.drafter ? arm.drafter : stated.drafter};
  }
  return arm;
}

const Arm& HeadedTable::arm_of(const TableRow& row) const {
  const std::pair cells{std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))};
  const auto known = arms_.find(cells);
  return known != arms_.end() ? known->second
                              : arms_.emplace(cells, arm_of_cells(cells.first, cells.second)).first->second;
}

std::optional<double> HeadedTable::time_ms(const TableRow& row, Meaning meaning) const {
  const auto column = at(meaning);
  const Number time = column ? number_of(row.cells[*column]) : Number{};
  if (!time.value) return std::nullopt;
  return *time.value * (time.unit > 0.0 ? time.unit : columns_[*column].unit);
}

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

/// Whether the length and the rate of each row give a whole draft length: else the rate is another one, and the rows
/// where they do are chance.
bool HeadedTable::rates_tell_gamma() const {
  const double unit = columns_[*at(Meaning::rate)].percent ? 100.0 : 1.0;
  return std::ranges::all_of(rows_, [&](const TableRow& row) {
    const auto length = value(row, Meaning::length);
    const auto rate = value(row, Meaning::rate);
    return !length || !rate || *length <= 1.0 || gamma_of_rate(*length, *rate / unit).has_value();
  });
}

void HeadedTable::set_acceptance_of(const TableRow& row, StatedRun& run) const {
  run.length = value(row, Meaning::length);
  run.accepted_per_step = value(row, Meaning::accepted_per_step);
  run.rate = value(row, Meaning::rate);
  if (run.rate && columns_[*at(Meaning::rate)].percent) *run.rate /= 100.0;
  if (run.length && run.rate && !run.gamma && !rates_tell_gamma()) run.rate = std::nullopt;
  run.steps = value(row, Meaning::steps);
  run.drafted = value(row, Meaning::drafted);
  set_counts_of_rate(text(row, Meaning::rate), run);
  std::string_view accepted = text(row, Meaning::accepted);
  if (const auto counted = take_number(accepted)) run.accepted = counted;
  accepted = trimmed(accepted);
  if (run.accepted && accepted.starts_with('/')) {
    accepted.remove_prefix(1);
    if (const auto drafted = take_number(accepted)) run.drafted = drafted;
  }
  std::string list = bare(text(row, Meaning::positions));
  std::ranges::replace(list, '/', ' ');
  std::ranges::replace(list, ',', ' ');
  std::string_view rest = list;
  while (const auto share = take_number(rest)) {
    run.positions.push_back(*share);
    if (rest.starts_with('%')) rest.remove_prefix(1);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].meaning != Meaning::position) continue;
    if (const auto share = number_of(row.cells[i]).value) run.positions.push_back(*share);
  }
  const bool percent = std::ranges::any_of(run.positions, [](double share) { return share > 1.0; });
  for (double& share : run.positions) share /= percent ? 100.0 : 1.0;
}

void HeadedTable::set_speed_of(const TableRow& row, StatedRun& run) const {
  run.output_tokens_per_s = value(row, Meaning::total_speed);
  run.request_tokens_per_s = value(row, Meaning::request_speed);
  run.tpot_ms = time_ms(row, Meaning::tpot);
  run.iteration_ms = time_ms(row, Meaning::iteration);
  run.ttft_ms = time_ms(row, Meaning::ttft);
  if (const auto ms = time_ms(row, Meaning::duration)) run.duration_s = *ms / 1000.0;
  // At an unknown load, that of all runs: the ratios of times are those of the speeds.
  const bool timed = run.tpot_ms || run.request_tokens_per_s || run.concurrency;
  if (!timed && run.output_tokens_per_s.value_or(0.0) > 0.0) run.tpot_ms = 1000.0 / *run.output_tokens_per_s;
}

/// "tg128 (c5) @ d1024": output, concurrency, context before it. False for a test of prompts.
bool HeadedTable::set_benchy_test(const TableRow& row, StatedRun& run) const {
  const std::string_view test = text(row, Meaning::benchy_test);
  if (!test.starts_with("tg")) return false;
  std::string_view rest = test.substr(2);
  run.output_tokens = take_number(rest);
  run.concurrency = number_after(rest, "(c").value_or(1.0);
  run.prompt_tokens = number_after(rest, "@ d");
  // A server behind an API: it may speculate.
  return true;
}

std::optional<Observation> HeadedTable::run_of(const TableRow& row, bool has_plain, LogContents& contents) const {
  StatedRun run{.line = row.line};
  if (has(Meaning::benchy_test) && has(Meaning::ttft)) {
    if (!set_benchy_test(row, run)) return std::nullopt;
  } else {
    run.concurrency = value(row, Meaning::concurrency);
    run.prompt_tokens = value(row, Meaning::prompt_tokens);
    run.output_tokens = value(row, Meaning::output_tokens);
  }
  const Arm arm = arm_of(row);
  run.gamma = arm.plain ? std::nullopt : arm.gamma;
  set_acceptance_of(row, run);
  set_speed_of(row, run);
  if (!run.tpot_ms && !run.output_tokens_per_s && !run.request_tokens_per_s && !run.iteration_ms && !run.length &&
      !run.accepted_per_step && !run.rate && !run.accepted)
    return std::nullopt;
  run.temperature = value(row, Meaning::temperature);
  const bool drafts = arm.gamma.value_or(0.0) > 0.0 || ((arm.drafter || arm.speculative) && has_plain);
  Decoding decoding = arm.plain ? Decoding::plain : drafts ? Decoding::speculative : Decoding::unknown;
  Observation observation = observation_of(run, decoding, contents);
  if (observation.decoding == Decoding::speculative) observation.drafter = arm.drafter;
  if (has(Meaning::context_tokens)) observation.stratum.context_tokens = value(row, Meaning::context_tokens);
  if (const std::string kind = kind_of(row); !kind.empty()) observation.stratum.category = kind;
  return observation;
}

/// What its prompts are, and the model and device where these differ between rows.
std::string HeadedTable::kind_of(const TableRow& row) const {
  std::string kind = bare(text(row, Meaning::category));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto same = [&](const TableRow& other) { return other.cells[i] == row.cells[i]; };
    if (columns_[i].meaning != Meaning::subject || row.cells[i].empty() || std::ranges::all_of(rows_, same)) continue;
    kind += (kind.empty() ? "" : " / ") + bare(row.cells[i]);
  }
  return kind;
}

/// "K: draft length; tok/s: output tokens/s of one request; not read: notes".
std::string HeadedTable::read_as() const {
  std::string read;
  std::string ignored;
  for (const Column& column : columns_) {
    if (column.meaning == Meaning::ignored) {
      if (!column.heading.empty()) ignored += (ignored.empty() ? "" : ", ") + column.heading;
      continue;
    }
    const std::string_view unit = column.unit == 1.0  ? " in ms"
                                  : column.unit > 1.0 ? " in s"
                                  : column.percent    ? " in %"
                                                      : "";
    read += fmt::format("{}{} = {}{}", read.empty() ? "" : "; ",
                        column.heading.empty() ? "first column" : column.heading, words_of(column.meaning), unit);
  }
  return fmt::format("read as: {}{}{}", read, ignored.empty() ? "" : "; not read: ", ignored);
}

void HeadedTable::read(LogContents& contents) const {
  const bool has_plain = std::ranges::any_of(rows_, [&](const TableRow& row) { return arm_of(row).plain; });
  std::vector<Observation> runs;
  for (const TableRow& row : rows_) {
    if (auto run = run_of(row, has_plain, contents)) runs.push_back(*std::move(run));
  }
  if (runs.empty()) return;
  std::ranges::move(runs, std::back_inserter(contents.observations));
  contents.warnings.push_back({.code = "W22", .line = rows_.front().line, .message = read_as()});
}

/// Something measured beside something that tells its rows apart, and most headings known where nothing draws the
/// table.
bool claims_headings(std::span<const std::string> headings) {
  constexpr std::size_t max_heading = 60;  // of other lines with commas most begin with more
  const bool other = std::ranges::any_of(headings, [](const std::string& one) {
    std::string_view rest = one;
    return one.size() > max_heading || (take_number(rest) && rest.empty()) || clock_in(one);
  });
  if (other) return false;
  std::vector<Meaning> known;
  std::size_t unknown = 0;
  static const RE2 quantile(R"((?i)(?:p\d\d|min|max|std)\b.*)");  // stands beside a mean
  for (const std::string& heading : headings) {
    const Meaning meaning = column_of(bare(heading)).meaning;
    if (meaning == Meaning::ignored && RE2::FullMatch(bare(heading), quantile)) continue;
    if (meaning != Meaning::ignored) {
      known.push_back(meaning);
    } else if (5 * ++unknown > 3 * headings.size()) {
      return names_arms(headings);
    }
  }
  const auto any = [&](std::initializer_list<Meaning> of) {
    return std::ranges::any_of(of, [&](Meaning one) { return std::ranges::find(known, one) != known.end(); });
  };
  const bool measured =
      any({Meaning::speed, Meaning::total_speed, Meaning::request_speed, Meaning::tpot, Meaning::iteration,
           Meaning::inter_token, Meaning::length, Meaning::accepted_per_step, Meaning::mean_accepted, Meaning::rate});
  const bool told =
      any({Meaning::gamma, Meaning::name, Meaning::concurrency, Meaning::steps, Meaning::category, Meaning::subject}) ||
      headings.front().empty() || (any({Meaning::benchy_test}) && any({Meaning::ttft})) ||
      (any({Meaning::length}) && any({Meaning::speed, Meaning::total_speed, Meaning::request_speed}));
  return (measured && told) || names_arms(headings);
}

/// "22.7 -> 40.6" is a row without speculation and one with it, where the row names an arm.
std::vector<TableRow> with_both_sides(std::span<const std::string> headings, std::span<const TableRow> rows) {
  static const RE2 sides("(.*?)(?:->|\xE2\x86\x92)(.*)");
  std::vector<Meaning> meanings;
  for (const std::string& heading : headings) meanings.push_back(column_of(heading).meaning);
  const auto names_arm = [](Meaning one) { return one == Meaning::gamma || one == Meaning::name; };
  const bool arms = std::ranges::any_of(meanings, names_arm);
  std::vector<TableRow> apart;
  for (const TableRow& row : rows) {
    TableRow plain = row, drafts = row;
    bool two = false;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (names_arm(meanings[i])) {
        plain.cells[i] = "0";
      } else if (RE2::FullMatch(row.cells[i], sides, &plain.cells[i], &drafts.cells[i])) {
        two = true;
      } else if (meanings[i] >= Meaning::length) {  // acceptance
        plain.cells[i].clear();
      }
    }
    if (two && arms) {
      apart.push_back(std::move(plain));
      apart.push_back(std::move(drafts));
    } else {
      apart.push_back(row);
    }
  }
  return apart;
}

void read_headed_table(std::span<const std::string> headings, std::span<const TableRow> written,
                       LogContents& contents) {
  std::vector<std::string> plain;
  for (const std::string& heading : headings) plain.push_back(bare(heading));
  const std::vector<TableRow> rows = with_both_sides(plain, written);
  if (const auto by_arm = table_by_arm(plain, rows)) return HeadedTable(by_arm->headings, by_arm->rows).read(contents);
  HeadedTable(plain, rows).read(contents);
}

}  // namespace

TableFormat table_format() { return {headings_anchor, claims_headings, read_headed_table}; }

}  // namespace foredraft::logs
