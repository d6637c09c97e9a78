// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arm_columns.hpp"
#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/cell_lists.hpp"
#include "logs/formats.hpp"
#include "logs/headed_table.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/subjects.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_heads.hpp"
#include "logs/table_pairs.hpp"
#include "logs/table_shapes.hpp"
#include "logs/table_speedups.hpp"

/// Tables with headings as people write them (headings.cpp). Other shapes become one row a run (table_shapes.cpp,
/// arm_columns.cpp), which is read by what its columns mean (headed_table.hpp).
namespace foredraft::logs {
namespace {

/// Every header has one of these: something measured, or a word of another shape.
constexpr std::string_view headings_anchor =
    R"((?i)\bt(?:o?ks?|oken|okens)?[/\\]s|\bt/s|(?:\b|_)tps\b|tok(?:en)?s?(?:[ _]per[ _]s|_s(?:ec)?(?:\b|_))|(?:\b|_)tpot|\bms/|ms[ _]per|\bitl\b)"
    R"(|inter[- _]token|throughput|\bacc\b|acc(?:ept\w*)?[ _.]len|accept\w*|\btau\b|\bAL\b|\ba\.len|time[ _]per|\bspeed\b)"
    R"(|\btg ?\d+\b|\bdecode[ \t*]*(?:[|,;\t]|  )|^[ \t>]*\|[ \t*]*(?:run|mode|config\w*|method|arm|setup|variant|metrics?|condition)[ \t*]*\|)"
    R"(|(?:concurrency|batch size|bs|users|\bnp) ?=? ?\d+[ \t*]*(?:[|,;\t]|$))"
    R"(|^[ \t>|*]*(?:max[ _-])?(?:concurrency|conc|c|batch(?:[ _-]?size)?|bs|users|clients|streams)[ \t*]*[|,;\t ][ \t*]*)"
    R"((?:(?:k|n|gamma|n[-_ ]max) ?= ?\d|plain|base(?:line)?|vanilla|off|none|ar\b|w/o|without|no[-_ ]?(?:spec|mtp|draft|eagle|sd)|0[ \t*]*[|,;\t]))"
    R"(|^[ \t>]*\|?[ \t*_.-]*(?:metrics?|measure\w*|quantity|statistic|parameter|result)?[ \t*]*[|,;\t].*)"
    R"((?:\bk ?= ?\d|baseline|plain|vanilla|without|\boff\b|mtp|eagle|dflash|medusa|no[- ]spec|\bspec|\bdraft|n[-_ ]max))"
    R"(|^[ \t]*\w+[ \t]+(?:plain|base(?:line)?|vanilla|off)[ \t]+[-+]*(?:mtp|eagle|dflash|spec)\S*(?:[ \t]+\S+)?[ \t]*$)"
    R"(|^[ \t>]*\|[ \t*]*(?:max[ _-])?(?:concurrenc(?:y|ies)|batch(?:[ _-]sizes?)?|bs|users|clients|streams)[ \t*]*(?:\|[ \t*]*\d{1,5}[ \t*]*){2})"
    R"(|^[ \t>]*\|[ \t]*\|[ \t*]*[a-z][^|\n]*\|[ \t*]*[a-z][^|\n]*\|)"
    R"(|[|,;\t][ \t*]*\+ ?(?:mtp|eagle|dflash|spec|draft|n-?gram))"
    R"(|^[ \t]*(?:\||:?-{2,}:?[ \t]*\|)[ \t]*:?-{2,}[-:| \t]*$)"  // the ruling below a head
    R"(|\b(?:method|mode|config\w*|draft|drafter|setting|variant|approach)\b.*[|\t;].*\b(?:time|latency)\b)"
    R"(|^[\w ,;|\t()-]*[,;|\t_ ]tok(?:en)?s?[\w ,;|\t()-]*\r?$|"(?:\w+_)?tok(?:en)?s"[ \t]*:)";

/// Headings without a first one of which no letter says anything: "_".
std::vector<std::string> without_sign(std::vector<std::string> headings) {
  static const RE2 sign("[-_. ]+");
  if (RE2::FullMatch(headings.front(), sign)) headings.front().clear();
  return headings;
}

/// Headings with "prompt" for a first "test": that of llama-benchy is behind the model.
std::vector<std::string> without_test(std::vector<std::string> headings) {
  if (column_of(bare_cell(headings.front())).meaning == Meaning::benchy_test) headings.front() = "prompt";
  return headings;
}

/// Calls a first column of tests, none of llama-benchy ("tg128"), that of the runs, if a cell names an arm that drafts,
/// else that of the prompts.
void tell_tests(ShapedTable& table) {
  static const RE2 of_benchy("(?i)(?:pp|tg) ?\\d+.*");
  if (column_of(table.headings.front()).meaning != Meaning::benchy_test) return;
  const auto is_of_benchy = [](const TableRow& row) { return RE2::FullMatch(bare_cell(row.cells.front()), of_benchy); };
  const auto drafts = [](const TableRow& row) {
    const auto arm = arm_in_text(bare_cell(row.cells.front()));
    return arm && !arm->plain;
  };
  if (std::ranges::any_of(table.rows, is_of_benchy)) return;
  table.headings.front() = std::ranges::any_of(table.rows, drafts) ? "config" : "prompt";
}

/// Whether headings, at most 60 % of them unknown, name something measured and something that tells rows apart; or name
/// an arm and a speed for sure; or are those of another shape.
bool claims_headings(std::span<const std::string> written) {
  const std::vector<std::string> headings = without_sides(without_test(without_sign(headings_of_lists(written))));
  if (is_head_of_loads(headings) || may_be_lengths(headings) || names_speedups(headings) || may_name_change(headings) ||
      names_groups(headings))
    return true;
  constexpr std::size_t max_heading = 60;  // most other lines with commas have longer parts
  const bool other = std::ranges::any_of(headings, [](const std::string& one) {
    std::string_view rest = one;
    static const RE2 cell(R"(\W*\d[\d.,]*[ `*]*(?:%|x|ms|s|t(?:o?ks?|okens?)?/s(?:ec)?|tps)(?:\W.*)?)");  // of a row
    return one.size() > max_heading || (take_number(rest) && rest.empty()) || clock_in(one) ||
           RE2::FullMatch(one, cell) || in_tokens_per_s(one);
  });
  if (other) return false;
  std::vector<Meaning> known;
  std::size_t unknown = 0;
  static const RE2 beside(  // not read
      R"((?i)(?:p\d\d|min|max|std|prefill|prompt|num|valid|accuracy|score)\b.*|.*(?:[/ ]gpu|\bttft)\b.*)");
  for (const std::string& heading : headings) {
    const Meaning meaning = column_of(bare_cell(heading)).meaning;
    if (meaning == Meaning::ignored && RE2::FullMatch(bare_cell(heading), beside)) continue;
    if (meaning != Meaning::ignored) {
      known.push_back(meaning);
    } else if (!may_be_speed(bare_cell(heading))) {
      ++unknown;
    }
  }
  const auto any = [&](std::initializer_list<Meaning> of) {
    return std::ranges::any_of(of, [&](Meaning one) { return std::ranges::find(known, one) != known.end(); });
  };
  const bool sure = any({Meaning::name, Meaning::gamma}) &&
                    any({Meaning::speed, Meaning::total_speed, Meaning::request_speed, Meaning::tpot});
  if (5 * unknown > 3 * headings.size() && !sure)
    return names_arms(headings) || names_loads(headings) || may_name_kinds(headings);
  const bool measured =
      (only_speed(headings) && any({Meaning::name, Meaning::gamma})) ||
      std::ranges::any_of(headings, [](const std::string& one) { return may_be_speed(one); }) ||
      any({Meaning::speed, Meaning::total_speed, Meaning::request_speed, Meaning::tpot, Meaning::iteration,
           Meaning::inter_token, Meaning::length, Meaning::accepted_per_step, Meaning::mean_accepted, Meaning::rate});
  const bool told =
      any({Meaning::gamma, Meaning::name, Meaning::concurrency, Meaning::steps, Meaning::category, Meaning::subject,
           Meaning::prompt_tokens, Meaning::context_tokens}) ||
      (any({Meaning::drafted}) && any({Meaning::accepted}) &&
       any({Meaning::speed, Meaning::total_speed, Meaning::request_speed})) ||
      headings.front().empty() ||
      (any({Meaning::benchy_test}) && any({Meaning::ttft, Meaning::total_speed, Meaning::request_speed})) ||
      (any({Meaning::length}) && any({Meaning::speed, Meaning::total_speed, Meaning::request_speed}));
  static const RE2 speedup("(?i)speed-?up.*");
  const bool gains =
      std::ranges::any_of(headings, [](const auto& one) { return RE2::FullMatch(bare_cell(one), speedup); });
  const auto is_time = [&](const std::string& one) {
    return names_answer_time(bare_cell(one)) || (gains && names_phase_time(bare_cell(one)));
  };
  const auto is_time_of_tokens = [](const std::string& one) { return names_time_of_tokens(bare_cell(one)); };
  const bool answers = any({Meaning::name, Meaning::gamma}) &&
                       (std::ranges::any_of(headings, is_time) ||
                        (any({Meaning::output_tokens}) && std::ranges::any_of(headings, is_time_of_tokens)));
  const bool counted = any({Meaning::steps}) && any({Meaning::accepted}) && any({Meaning::gamma, Meaning::drafted});
  return (measured && told) || counted || answers || names_arms(headings) || names_loads(headings) ||
         may_name_kinds(headings);
}

/// Whether the first of the headings is unknown and another one is that of a speed: the first may be that of arms.
bool may_name_rows(std::span<const std::string> headings) {
  const auto is_speed = [](const std::string& one) {
    const Meaning meaning = column_of(bare_cell(one)).meaning;
    return meaning >= Meaning::speed && meaning <= Meaning::tpot;
  };
  const auto is_value = [](const std::string& one) { return one.ends_with(':') || number_of_cell(one).value; };
  return column_of(bare_cell(headings.front())).meaning == Meaning::ignored &&
         std::ranges::none_of(headings, is_value) && std::ranges::any_of(headings.subspan(1), is_speed);
}

/// "1" of the headings "tg128 (c1)" and "tok/s (bs=1)"; nullopt if there is none, or several.
std::optional<std::string> load_of_headings(std::span<const std::string> headings) {
  static const RE2 test(R"((?i)tg ?\d+ ?\(c(\d+)\).*)");
  std::set<std::string> loads;
  for (const std::string& one : headings) {
    std::string load;
    if (RE2::FullMatch(one, test, &load)) loads.insert(load);
    for (const double requests : loads_in(one)) loads.insert(fmt::format("{}", requests));
  }
  return loads.size() == 1 ? std::optional(*loads.begin()) : std::nullopt;
}

/// The table with columns for the load and the arm, if the line above states them and no column does; not for a load
/// above 1 if the table does not say whether speeds are of all requests or of each, unless it has the times of tokens,
/// too, or each row has both arms (`paired`), of which the ratio is the same.
ShapedTable with_caption(ShapedTable table, std::string_view caption, const std::optional<Arm>& arm, bool paired) {
  const auto has = [&](Meaning meaning) {
    return std::ranges::any_of(table.headings,
                               [&](const std::string& one) { return column_of(one).meaning == meaning; });
  };
  const auto add = [&](std::string_view heading, const std::string& cell) {
    table.headings.emplace_back(heading);
    for (TableRow& row : table.rows) row.cells.push_back(cell);
  };
  auto load = load_in_caption(caption);
  if (!load) load = load_of_headings(table.headings);
  if (load && !has(Meaning::concurrency) &&
      (!has(Meaning::speed) || load == "1" || has(Meaning::tpot) || (paired && !has(Meaning::length))))
    add("concurrency", *load);
  if (arm) add("config", name_of(*arm));
  return table;
}

/// The arm that the line above a table names, if its rows name none: a cell of something measured, "n/a", does not.
std::optional<Arm> arm_above(const ShapedTable& table, std::string_view caption) {
  const auto names_arm = [&](const TableRow& row) {
    for (std::size_t i = 0; i < table.headings.size(); ++i) {
      if (column_of(table.headings[i]).meaning < Meaning::speed && arm_named(row.cells[i]).plain) return true;
    }
    return false;
  };
  const bool has_arms =
      std::ranges::any_of(table.rows, names_arm) || std::ranges::any_of(table.headings, [](const std::string& one) {
        const Meaning meaning = column_of(one).meaning;
        return meaning == Meaning::gamma || meaning == Meaning::name;
      });
  return has_arms ? std::nullopt : arm_in_caption(caption);
}

/// The only draft length that the line above a table states, if it names no drafter, of which it would be: "K=4 for
/// all".
std::optional<std::int64_t> length_above(std::string_view caption) {
  static const RE2 stated("(?i)(?:^|[ ,;(`*])(?:k|gamma|\xCE\xB3) ?= ?(\\d{1,2})\\b( ?(?:[/,|-]|to|and|or|vs) ?\\d)?");
  static const RE2 drafter("(?i)(?:^|[^a-z])(?:" + std::string(names_of_drafters) + ")");
  std::set<std::int64_t> lengths;
  std::int64_t length = 0;
  std::string more;
  for (re2::StringPiece rest = piece(caption); RE2::FindAndConsume(&rest, stated, &length, &more);)
    lengths.insert(more.empty() ? length : 0);
  const bool one = lengths.size() == 1 && *lengths.begin() > 0 && !RE2::PartialMatch(piece(caption), drafter);
  return one ? std::optional(*lengths.begin()) : std::nullopt;
}

/// The table without columns of times whose cells are moments: "2026-05-06 11:00:00", seconds or milliseconds since
/// 1970, as monitoring exports.
ShapedTable without_moments(ShapedTable table) {
  static const RE2 moment(R"(\d{4}-\d\d-\d\d[ T]\d.*|1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?)");
  for (std::size_t i = table.headings.size(); i-- > 0;) {
    const auto is_moment = [&](const TableRow& row) { return RE2::FullMatch(bare_cell(row.cells[i]), moment); };
    const bool of_time = column_of(table.headings[i]).meaning == Meaning::duration && table.headings.size() > 1;
    if (!of_time || !std::ranges::all_of(table.rows, is_moment)) continue;
    table.headings.erase(table.headings.begin() + static_cast<std::ptrdiff_t>(i));
    for (TableRow& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return table;
}

/// The table without the row numbers, from 0, that pandas prints first below no heading, if another column tells rows
/// apart: else they may be draft lengths.
ShapedTable without_index(ShapedTable table) {
  const auto tells_rows = [](const std::string& one) {
    const Meaning meaning = column_of(bare_cell(one)).meaning;
    return meaning == Meaning::concurrency || meaning == Meaning::gamma || meaning == Meaning::name;
  };
  if (!table.headings.front().empty() || std::ranges::none_of(table.headings, tells_rows)) return table;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (bare_cell(table.rows[i].cells.front()) != std::to_string(i)) return table;
  }
  table.headings.erase(table.headings.begin());
  for (TableRow& row : table.rows) row.cells.erase(row.cells.begin());
  return table;
}

/// Removes rows that name no load in a column of loads, "KV pool" or "TTFT (ms)", and names them.
void drop_other_rows(ShapedTable& table, LogContents& contents) {
  const auto is_load = [](const std::string& one) { return column_of(one).meaning == Meaning::concurrency; };
  const auto at = static_cast<std::size_t>(std::ranges::find_if(table.headings, is_load) - table.headings.begin());
  if (at == table.headings.size()) return;
  static const RE2 other(R"(\W*\pL{2}.*)"), highest("(?i)(?:max|inf|unlimited|all|auto|peak|default|none|n/a)\\b.*");
  const auto is_other = [&](const TableRow& row) {
    const std::string cell = bare_cell(row.cells[at]);
    return RE2::FullMatch(cell, other) && !RE2::FullMatch(cell, highest) && !number_of_cell(cell).value;
  };
  const auto has_load = [&](const TableRow& row) { return number_of_cell(row.cells[at]).value.has_value(); };
  if (std::ranges::count_if(table.rows, has_load) < 2) return;
  for (const TableRow& row : table.rows) {
    if (is_other(row))
      warn_once(contents, "W18", row.line,
                fmt::format("the row \"{}\" is not read: no number of requests", bare_cell(row.cells[at])));
  }
  std::erase_if(table.rows, is_other);
}

/// The table with a column of the speed of each answer, if it has those of output tokens and of their time and no
/// speed: times alone are compared as if all answers were as long. Beside a load, tokens may be of all requests or of
/// each.
ShapedTable with_speeds_of_answers(ShapedTable table, LogContents& contents) {
  static const RE2 decoding("(?i)(?:decod|gen|eval).*");
  static const RE2 in_ms(R"((?i)(?:.*[^a-z])?ms[)\]]?)");
  static const RE2 duration(R"((?i)\d[\d.,]* ?(?:m?s|secs?|seconds)?)");  // no time of day
  const std::vector<Meaning> meanings = meanings_of(table.headings);
  const auto is_speed = [](Meaning one) { return one >= Meaning::speed && one <= Meaning::iteration; };
  const auto place = [](auto found, auto begin) { return static_cast<std::size_t>(found - begin); };
  const std::size_t tokens = place(std::ranges::find(meanings, Meaning::output_tokens), meanings.begin());
  const std::size_t time = place(std::ranges::find_if(table.headings, names_time_of_tokens), table.headings.begin());
  if (tokens == meanings.size() || time == meanings.size() || std::ranges::any_of(meanings, is_speed)) return table;
  const double ms_of_heading = RE2::FullMatch(table.headings[time], in_ms) ? 1.0 : 1000.0;
  std::vector<double> speeds;
  for (const TableRow& row : table.rows) {
    const CellNumber taken = number_of_cell(row.cells[time]);
    const double count = number_of_cell(row.cells[tokens]).value.value_or(0.0), value = taken.value.value_or(0.0);
    if (!(count > 1.0 && value > 0.0) || !RE2::FullMatch(bare_cell(row.cells[time]), duration)) return table;
    speeds.push_back(1000.0 * count / (value * (taken.unit > 0.0 ? taken.unit : ms_of_heading)));
  }
  if (!RE2::FullMatch(table.headings[time], decoding))
    warn_once(contents, "W12", table.rows.front().line, "the time per token includes that of the prompt");
  warn_once(contents, "W22", table.rows.front().line,
            fmt::format("tokens/s = {} / {}", table.headings[tokens], table.headings[time]));
  for (const std::size_t column : {std::max(tokens, time), std::min(tokens, time)}) {  // they may tell no rows apart
    const auto at = static_cast<std::ptrdiff_t>(column);
    for (TableRow& row : table.rows) row.cells.erase(row.cells.begin() + at);
    table.headings.erase(table.headings.begin() + at);
  }
  const bool loaded = std::ranges::find(meanings, Meaning::concurrency) != meanings.end();
  table.headings.emplace_back(loaded ? "tok/s" : "tok/s per request");
  for (std::size_t i = 0; i < speeds.size(); ++i) table.rows[i].cells.push_back(fmt::format("{}", speeds[i]));
  return table;
}

/// Calls a column of prompts, in a table without one of runs, that of the runs if each of its cells names an arm:
/// "prose, no speculation", "prose, MTP K=2".
void tell_named_prompts(ShapedTable& table) {
  const std::vector<Meaning> meanings = meanings_of(table.headings);
  const auto is = [&](Meaning one) { return std::ranges::find(meanings, one) != meanings.end(); };
  if (!is(Meaning::category) || is(Meaning::name) || is(Meaning::gamma)) return;
  const auto at = static_cast<std::size_t>(std::ranges::find(meanings, Meaning::category) - meanings.begin());
  std::set<bool> plain;
  for (const TableRow& row : table.rows) {
    const auto arm = arm_in_text(bare_cell(row.cells[at]));
    if (!arm) return;
    plain.insert(arm->plain);
  }
  if (plain.size() == 2) table.headings[at] = "config";
}

/// Makes rows of metrics columns, and names those of no arm.
void drop_other_metrics(ShapedTable& table, LogContents& contents) {
  const std::int64_t line = table.rows.front().line;
  for (const std::string& other : tell_rows_of_metrics(table))
    warn_once(contents, "W18", line, fmt::format("the row \"{}\" is not read: it is of no single arm", other));
}

/// The table with a column of acceptance lengths, if its caption says that they stand in brackets behind speeds:
/// "285 (2.41)" below "Throughput (AL)".
ShapedTable with_lengths_in_brackets(ShapedTable table, std::string_view caption) {
  static const RE2 says_so(R"((?i).*\((?:al|tau|\x{3c4}|accept(?:ance|ed)?[ -]len(?:gth)?)\).*)");
  static const RE2 both(R"([^\w(]*[\d.,]+[^(]*\((\d{1,2}\.\d+)\).*)");
  const auto meaning = [](const std::string& one) { return column_of(one).meaning; };
  const auto is_speed = [](Meaning one) { return one >= Meaning::speed && one <= Meaning::tpot; };
  const auto speed = std::ranges::find_if(table.headings, is_speed, meaning);
  if (speed == table.headings.end() || !RE2::FullMatch(caption, says_so) ||
      std::ranges::find(table.headings, Meaning::length, meaning) != table.headings.end())
    return table;
  const auto at = static_cast<std::size_t>(speed - table.headings.begin());
  table.headings.emplace_back("acceptance length");
  for (TableRow& row : table.rows) {
    std::string length;
    RE2::FullMatch(row.cells[at], both, &length);
    row.cells.push_back(length);
  }
  return table;
}

/// Whether rows that were one have a plain run each and another one, as those of arms in columns.
bool has_both(const ShapedTable& table) {
  if (table.headings.front() != "config") return false;
  return std::ranges::all_of(table.rows, [&](const TableRow& row) {
    const auto is_other = [&](const TableRow& other) {
      return other.line == row.line && arm_named(other.cells.front()).plain != arm_named(row.cells.front()).plain;
    };
    return std::ranges::any_of(table.rows, is_other);
  });
}

/// Takes the measure of all cells from the heading of names: "tok/s" above "baseline" and "MTP".
std::string take_measure(ShapedTable& table) {
  std::string measure = measure_in_caption(table.headings.front());
  const auto is_number = [](const TableRow& row) { return number_of_cell(row.cells.front()).value.has_value(); };
  if (measure.empty() || std::ranges::any_of(table.rows, is_number)) return {};
  table.headings.front().clear();
  return measure;
}

void read_headed_table(const WrittenTable& written, LogContents& contents) {
  ShapedTable table;
  for (const std::string& heading : written.headings) table.headings.push_back(bare_cell(heading));
  table = with_told_values(without_sign(std::move(table.headings)), written.rows);
  tell_tests(table);
  tell_named_prompts(table);
  table = without_index(without_moments(std::move(table)));
  const auto is_plain = [](const TableRow& row) { return arm_named(bare_cell(row.cells.front())).plain; };
  const std::string measure_of_names = take_measure(table);
  const bool rows_named = may_name_rows(table.headings) && std::ranges::any_of(table.rows, is_plain);
  if (!rows_named && !claims_headings(written.headings) && !claims_headings(table.headings)) return;
  std::string caption(written.caption);
  for (const std::string& other : tell_rows_of_lengths(table, caption)) {
    warn_once(contents, "W18", written.rows.front().line,
              fmt::format("the row \"{}\" is not read: no draft length, no run without speculation", other));
  }
  if (tell_change(table, caption))
    warn_once(contents, "W22", written.rows.front().line, "before = without speculation; after = with it");
  table = by_listed_load(with_speeds_of_answers(std::move(table), contents));
  const std::string sides = tell_sides(table, caption);
  if (!sides.empty() && !table.rows.empty())
    warn_once(contents, "W22", table.rows.front().line,
              fmt::format("pairs are \"{}\": without speculation, and with it", sides));
  table.rows = meant_rows(table.headings, table.rows);
  tell_loads(table);
  tell_blocks(table);
  drop_other_rows(table, contents);
  tell_lengths(table);
  if (is_head_of_loads(table.headings)) table = table_below_loads(table.headings, table.rows);
  std::string measure = measure_in_caption(caption);
  if (measure.empty()) measure = measure_of_names;
  if (const auto by_batch = measure_by_batch(table.headings, table.rows); measure.empty() && !by_batch.empty()) {
    measure = by_batch;
    warn_once(contents, "W22", table.rows.front().line,
              "numbers without a unit that multiply with the batch = tok/s of all requests");
  }
  bool paired = false;
  if (auto over = table_over_plain(table.headings, table.rows)) {
    table = *std::move(over);
  } else if (auto by_speedup = table_by_speedup(table.headings, table.rows)) {
    table = *std::move(by_speedup);
    paired = true;
  } else if (auto by_group = table_by_group(table.headings, table.rows)) {
    table = *std::move(by_group);
  } else if (auto by_load = table_by_load(table.headings, table.rows, measure)) {
    table = *std::move(by_load);
    drop_other_metrics(table, contents);
  } else if (auto by_arm = table_by_arm(table.headings, table.rows, measure)) {
    table = *std::move(by_arm);
    paired = has_both(table);
  } else if (auto by_kind = table_by_kind(table.headings, table.rows, measure)) {
    table = *std::move(by_kind);
    drop_other_metrics(table, contents);
  } else if (auto with_plain = table_with_plain_kind(table.headings, table.rows)) {
    for (const TableRow& row : table.rows) {
      if (std::ranges::find(with_plain->rows, row.line, &TableRow::line) == with_plain->rows.end())
        warn_once(contents, "W09", row.line,
                  fmt::format("no plain run at the load of {}", bare_cell(row.cells.front())));
    }
    warn_once(contents, "W22", table.rows.front().line, "the only plain run is taken for all kinds of prompts");
    table = *std::move(with_plain);
  }
  table = by_listed_load(std::move(table));  // of metrics that were rows
  table = with_lengths_in_brackets(std::move(table), caption);
  const std::string_view above = names_arm_above(caption, written.lead) ? written.lead : std::string_view(caption);
  const auto arm = arm_above(table, above);
  table = with_caption(std::move(table), caption, arm, paired);
  const std::size_t before = contents.observations.size();
  HeadedTable(table.headings, table.rows).read(contents);
  const auto named = arm_in_caption(above);
  const auto length = length_above(caption);
  for (Observation& run : std::span(contents.observations).subspan(before)) {
    if (arm && run.decoding == Decoding::unknown) run.decoding = Decoding::speculative;
    const bool fits = run.acceptance_length.value_or(1.0) <= static_cast<double>(length.value_or(0)) + 1.0;
    if (run.decoding == Decoding::speculative && fits && !run.tree) note(run.gamma, length);
    if (!named || run.decoding != Decoding::speculative) continue;
    note_drafter(run, *named);
    if (named->adaptive) run.adaptive = true;
  }
}

/// As claims_headings, or may_name_rows of no sentence: a heading has two words.
bool may_be_table(std::span<const std::string> headings) {
  const auto has_words = [](const std::string& one) { return one.find_first_of(" _") != std::string::npos; };
  return claims_headings(headings) || (std::ranges::any_of(headings, has_words) && may_name_rows(headings));
}

}  // namespace

TableFormat table_format() { return {headings_anchor, may_be_table, read_headed_table}; }

}  // namespace foredraft::logs
