// SPDX-License-Identifier: Apache-2.0
#include "logs/table_shapes.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/subjects.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_pairs.hpp"

namespace foredraft::logs {
namespace {

/// A heading that states a load: "64" of "concurrency 64", "8" of "8 users (tok/s)"; `measure` is empty without a unit.
struct LoadHeading {
  std::string load = {}, measure = {};
};

/// nullopt for a heading that names something else, too: "c=1 TTFT".
std::optional<LoadHeading> load_of_heading(const std::string& heading) {
  static const RE2 unit(R"((?i)(.*?)[ ,:_(\[]+(total |agg(?:regate)? )?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)[)\]]?)");
  static const RE2 load(
      R"((?i)(?:c|conc|concurrency|bs|b|batch(?:[ _]size)?|users?|clients?|streams?|-?np|parallel)[ _]?[=:x]?[ _]?(\d{1,5}))");
  static const RE2 words(
      R"((?i)(\d{1,5})x? ?(?:concurrent|parallel|simultaneous|concurrency)?(?: ?(?:requests?|reqs?|users?|clients?|streams?|sessions?))?)"
      R"(|()" +
      std::string(words_of_one_request) + ")");
  static const RE2 behind(
      R"((?i)(?:output |decode |gen(?:eration)? )?(t(?:o?ks?|okens?)?/s(?:ec)?|tps),? ?(?:@ ?|at |\(@? ?)([^()]*)\)?)");
  std::string text = bare_cell(heading), before, total, requests, one;
  LoadHeading found;
  if (RE2::FullMatch(text, behind, &before, &requests)) text = fmt::format("{} {}", requests, before);
  if (RE2::FullMatch(text, unit, &before, &total)) {
    text = before;
    found.measure = total.empty() ? "tok/s" : "total tok/s";
  }
  if (RE2::FullMatch(text, load, &found.load)) return found;
  static const RE2 number(R"(\d+x? ?)");  // alone it may be anything
  if (!RE2::FullMatch(text, words, &requests, &one) || RE2::FullMatch(text, number)) return std::nullopt;
  found.load = one.empty() ? requests : "1";
  return found;
}

/// Whether words name a kind of prompts.
bool names_kind(const std::string& words) {
  static const RE2 known(
      R"((?i).*\b(?:prose|story|stories|code|coding|json|struct(?:ured)?|math|chat|reasoning|creative|essay|summar\w+)"
      R"(|translat\w+|repetitive|qa|rag|agent\w*|tools?|extraction|html|python)\b.*)");
  return RE2::FullMatch(words, known) && !names_other_speed(words);
}

/// The kind of prompts before the unit of a heading: "prose" of "prose tok/s"; empty if there is none.
std::string kind_before_unit(const std::string& heading) {
  static const RE2 kind(R"((?i)([a-z][\w /-]*?)[ _]*[(\[]?(?:t(?:o?ks?|okens?)?/s(?:ec)?|tps)[)\]]?)");
  std::string of;
  const bool is_kind =
      column_of(heading).meaning == Meaning::ignored && RE2::FullMatch(heading, kind, &of) && names_kind(of);
  return is_kind ? of : std::string();
}

/// The load that a cell states in words: "4" of "C=4 (chat)", "8" of "8 users", "1" of "single stream".
std::optional<std::string> load_in_words(const std::string& cell) {
  static const RE2 load(
      R"((?i)(?:at )?(?:(?:c|np|bs|conc(?:urrency)?|batch(?: size)?) ?[=:]? ?(\d{1,5})(?:[^\w.].*)?)"
      R"(|(\d{1,5})x? ?(?:(?:concurrent|parallel|simultaneous)(?:[^a-z].*)?|(?:users?|clients?|streams?|sessions?)(?:[^a-z].*)?))"
      R"(|()" +
      std::string(words_of_one_request) + R"()(?:[^a-z].*)?))");
  std::string after, before, one;
  if (!RE2::FullMatch(bare_cell(cell), load, &after, &before, &one)) return std::nullopt;
  return one.empty() ? after + before : "1";
}

/// Whether a column may hold what the line above its table names: numbers, and its heading names nothing else.
bool holds_numbers(const std::string& heading, std::span<const TableRow> rows, std::size_t column) {
  static const RE2 other(
      R"((?i).*(?:\b(?:vs|speed-?up|gain|change|delta|ratio|vram|mem\w*|[gm]i?b|size|quality|scores?|notes?|power|watts?|ppl)"
      R"(|commit|cache size|capacity|kv|concurrency|runs?|reps?|n|min|max|p\d\d|std\w*|hits?|errors?)\b|%).*)");
  const auto is_empty = [&](const TableRow& row) { return bare_cell(row.cells[column]).empty(); };
  const auto number_or_none = [&](const TableRow& row) {
    const std::string cell = bare_cell(row.cells[column]);
    return cell.empty() || cell == "-" || cell == "\xE2\x80\x94" || number_of_cell(cell).value;
  };
  return !RE2::FullMatch(heading, other) && std::ranges::all_of(rows, number_or_none) &&
         !std::ranges::all_of(rows, is_empty);
}

/// Fills empty cells of first columns from the row above: merged cells are written once.
void fill_down(std::span<const std::string> headings, std::span<const Meaning> meanings, std::vector<TableRow>& rows) {
  if (!headings.front().empty() && !names_rows(meanings.front())) return;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t column = 0; column < rows[i].cells.size() && rows[i].cells[column].empty(); ++column) {
      if (meanings[column] > Meaning::subject) break;  // not of what the row is
      rows[i].cells[column] = rows[i - 1].cells[column];
    }
  }
}

/// A row for each cell of `columns`: column `named` has one of `names`, column `measure` the cell; others are copied.
ShapedTable melted(std::span<const std::string> headings, std::span<const TableRow> rows,
                   std::span<const std::size_t> columns, std::span<const std::string> names, std::string_view named,
                   std::string_view measure) {
  ShapedTable table;
  std::vector<std::size_t> shared;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    if (std::ranges::find(columns, i) != columns.end()) continue;
    shared.push_back(i);
    table.headings.push_back(headings[i]);
  }
  table.headings.emplace_back(named);
  table.headings.emplace_back(measure);
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableRow one{.cells = {}, .line = row.line};
      for (const std::size_t column : shared) one.cells.push_back(row.cells[column]);
      one.cells.push_back(names[i]);
      one.cells.push_back(row.cells[columns[i]]);
      table.rows.push_back(std::move(one));
    }
  }
  return table;
}

}  // namespace

std::string measure_in_caption(std::string_view caption) {
  static const RE2 time(R"((?i).*(?:\btpot\b|time per (?:output )?token|ms ?/ ?tok|ms per tok).*)");
  static const RE2 milliseconds(R"((?i).*(?:[^a-z]|^)ms(?:[^a-z].*|$))");
  static const RE2 speed(R"((?i).*(?:\bt(?:o?ks?|oken|okens)?(?:/| per )s(?:ecs?|econds?)?\b|\btps\b).*)");
  static const RE2 other(R"((?i).*(?:prompt|prefill|\bpp\b|ttft|first token|input).*)");
  const re2::StringPiece text = piece(caption);
  const bool is_time = RE2::FullMatch(text, time);
  const bool is_speed = RE2::FullMatch(text, speed);
  if (is_time == is_speed || RE2::FullMatch(text, other)) return {};
  static const RE2 all(R"((?i).*\b(?:aggregate|total|system|all requests|combined|whole[- ]batch)\b.*)");
  static const RE2 each(
      R"((?i).*(?:\bper[- ](?:request|req|user|stream|client|sequence)|/(?:request|req|user|stream)|single[- ]stream).*)");
  if (is_speed)
    return RE2::FullMatch(text, each) ? "tok/s per request" : RE2::FullMatch(text, all) ? "total tok/s" : "tok/s";
  return RE2::FullMatch(text, milliseconds) ? "TPOT (ms)" : "TPOT";
}

std::string_view measure_by_batch(std::span<const std::string> headings, std::span<const TableRow> rows) {
  // Not users: those that wait for each other multiply the time of an answer.
  static const RE2 batch("(?i)(?:bs|batch(?:[ _-]?size)?)"), number(R"(\d+(?:\.\d+)?)");
  const auto is_number = [&](const std::string& cell) { return RE2::FullMatch(bare_cell(cell), number); };
  const auto is_bare = [&](const TableRow& row) { return std::ranges::all_of(row.cells, is_number); };
  if (rows.size() < 2 || headings.size() < 3 || !RE2::FullMatch(headings.front(), batch) ||
      !std::ranges::all_of(headings.subspan(1), is_arm) || !std::ranges::all_of(rows, is_bare))
    return {};
  const auto grown = [&](std::size_t column) {
    return *number_of_cell(rows[1].cells[column]).value / *number_of_cell(rows[0].cells[column]).value;
  };
  constexpr double small_batch = 4.0;  // a step reads all weights, which takes longer than computing for so few
  constexpr double nearly = 0.75;      // of several times as many
  const double more = grown(0);
  if (*number_of_cell(rows[0].cells[0]).value > small_batch || !(more >= 2.0)) return {};
  bool from_plain = false;
  for (std::size_t i = 1; i < headings.size(); ++i) {
    if (!(grown(i) > 1.0)) return {};
    const bool plain = arm_named(headings[i]).plain;
    if (plain && !(grown(i) >= nearly * more)) return {};
    from_plain = from_plain || plain;
  }
  return from_plain ? "total tok/s" : "";
}

std::optional<std::string> load_in_caption(std::string_view caption) {
  static const RE2 load(
      R"((?i)(?:[^a-z]|^)(?:(?:concurrency|conc|batch[ _-]size|bs)(?: (?:of|was|is))?[ =:]{0,3}|(?:np|n[ _-]parallel)[ =:]{1,3}|(?:c|batch) ?= ?|)" +
      std::string(counts_of_users) +
      R"())"
      R"((\d{1,5})(.*))");
  static const RE2 load_first(  // not the last one of "1, 4 and 8 concurrent requests"
      R"((?i)^(.*?)\b(\d{1,5})(?:[x ]{1,2}|-way )(?:(?:concurren(?:t|cy)|parallel|simultaneous)(?: [a-z]|[,;.)]|\W*$)|(?:users|clients|streams)\b|(?:user|client|stream)(?:[,;:.)]|\W*$))"
      R"(|(?:(?:requests|prompts) )?(?:at (?:once|a time)|in (?:flight|parallel))\b))");
  static const RE2 list(R"((?i).*\d ?(?:,|/|-|to|and|or|&|\xE2\x80\x93) ?)", RE2::Latin1);
  static const RE2 one(fmt::format(R"((?i)\W*(?:at )?{}\b[^/]*)", words_of_one_request));
  std::string requests, rest, again;
  const re2::StringPiece text = piece(caption);
  if (RE2::FullMatch(text, one)) return "1";
  if (RE2::PartialMatch(text, load_first, &rest, &requests))
    return RE2::FullMatch(rest, list) ? std::nullopt : std::optional(requests);
  static const RE2 one_of_heading(R"((?i)[#* ]*b ?= ?(\d{1,5})(?: ?\([^()]*\))?[*: ]*)");
  if (RE2::FullMatch(text, one_of_heading, &requests)) return requests;
  static const RE2 clause(  // "A100, batch 1"
      R"((?i)(?:^|[,;:(|#]) ?(?:at )?(?:batch[ -]|parallel )(\d{1,5})( ?(?:[,;:.)|].*|$)))");
  if (!RE2::PartialMatch(text, load, &requests, &rest) && !RE2::PartialMatch(text, clause, &requests, &rest))
    return std::nullopt;
  static const RE2 other(
      R"((?i), ?\d+(?:\.\d+)?(?: ?[/+] ?\d+)?(?:k\b| ?x?[ -]?(?:runs?|rep\w*|trials?|seeds?|samples?|prompts?|questions)"
      R"(|tok(?:ens?)?|in(?:put)?|out(?:put)?|context|gpus?|gi?b|b)\b).*)");
  static const RE2 several(R"( ?(?:[,/|-]|\.\.|to|and|\xE2\x80\x93) ?\d.*)", RE2::Latin1);
  if ((RE2::FullMatch(rest, several) && !RE2::FullMatch(rest, other)) || RE2::PartialMatch(rest, load, &again))
    return std::nullopt;
  return requests;
}

std::string name_of(const Arm& arm) {
  if (arm.plain) return "baseline";
  const std::string name = arm.drafter.value_or("speculative");
  return arm.gamma ? fmt::format("{} K={}", name, *arm.gamma) : name;
}

std::vector<TableRow> meant_rows(std::span<const std::string> headings, std::span<const TableRow> rows) {
  const std::vector<Meaning> meanings = meanings_of(headings);
  std::vector<TableRow> meant = with_both_sides(meanings, rows);
  fill_down(headings, meanings, meant);
  return meant;
}

void tell_loads(ShapedTable& table) {
  const std::vector<Meaning> meanings = meanings_of(table.headings);
  if (std::ranges::find(meanings, Meaning::concurrency) != meanings.end()) return;
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    if (meanings[i] != Meaning::ignored && !names_rows(meanings[i])) continue;
    std::map<std::string, std::string> cells;  // by load: those of one load say the same
    const bool loads = std::ranges::all_of(table.rows, [&](const TableRow& row) {
      const auto load = load_in_words(row.cells[i]);
      return load && cells.emplace(*load, row.cells[i]).first->second == row.cells[i];
    });
    if (!loads || table.rows.empty()) continue;
    table.headings[i] = "concurrency";
    for (TableRow& row : table.rows) row.cells[i] = *load_in_words(row.cells[i]);
    return;
  }
}

namespace {

/// Whether headings are a load and rising numbers, the first of which is 0, or a word for it, or not.
bool are_load_and_numbers(std::span<const std::string> headings, bool from_zero) {
  static const RE2 load(
      R"((?i)(?:max[ _-])?(?:concurrenc(?:y|ies)|batch(?:[ _-]sizes?)?|bs|users|clients|streams|c(?:onc)?))");
  if (headings.size() < 3 || !RE2::FullMatch(bare_cell(headings.front()), load)) return false;
  double before = 0.0;
  return from_zero == arm_named(bare_cell(headings[1])).plain &&
         std::ranges::all_of(headings.subspan(from_zero ? 2 : 1), [&](const auto& one) {
           static const RE2 number(R"(\d{1,5})");
           const bool rises = RE2::FullMatch(bare_cell(one), number) && *number_of_cell(one).value > before;
           if (rises) before = *number_of_cell(one).value;
           return rises;
         });
}

}  // namespace

bool is_head_of_loads(std::span<const std::string> headings) { return are_load_and_numbers(headings, false); }

bool may_be_lengths(std::span<const std::string> headings) { return are_load_and_numbers(headings, true); }

void tell_lengths(ShapedTable& table) {
  if (!may_be_lengths(table.headings)) return;
  if (bare_cell(table.headings[1]) != "0") {
    for (std::string& one : std::span(table.headings).subspan(2)) one = "K=" + bare_cell(one);
    return;
  }
  reject({.line = table.rows.front().line,
          .key = table.headings[1],
          .text = "may mean several things",
          .why = "a draft length?",
          .suggestion = fmt::format("call the columns \"K={}\", \"K={}\"", table.headings[1], table.headings.back())});
}

ShapedTable table_below_loads(std::span<const std::string> headings, std::span<const TableRow> rows) {
  ShapedTable table{.headings = {"concurrency"}};
  for (const TableRow& row : rows) table.headings.push_back(row.cells.front());
  for (std::size_t i = 1; i < headings.size(); ++i) {
    TableRow one{.cells = {headings[i]}, .line = rows.front().line};
    for (const TableRow& row : rows) one.cells.push_back(row.cells[i]);
    table.rows.push_back(std::move(one));
  }
  return table;
}

bool names_time_of_tokens(std::string_view heading) {
  static const RE2 time(
      R"((?i)(?:(?:avg|average|mean|total|e2e|end[- ]to[- ]end|wall(?:[- ]clock)?|gen(?:eration)?|decod(?:e|ing)|eval)[-_. ]*)*)"
      R"((?:(?:time|latency|duration|elapsed)[-_ ]*)?[\[(]?(?:ms|s|secs?|seconds|time|latency|duration|elapsed)[\])]?)");
  return RE2::FullMatch(piece(heading), time);
}

bool names_answer_time(std::string_view heading) {
  static const RE2 time(
      R"((?i)(?:(?:avg|average|mean|total|e2e|end[- ]to[- ]end|wall|generation)\.?[ -])*(?:latency|time)(?: ?\((?:s|secs?|seconds|ms)\))?)");
  return RE2::FullMatch(piece(heading), time);
}

bool names_phase_time(std::string_view heading) {
  static const RE2 time(
      R"((?i)(?:decod(?:e|ing)|gen(?:eration)?|total|e2e|end[- ]to[- ]end|wall(?:[- ]clock)?)(?: time| latency)?,? ?[\[(]?(?:ms|s|secs?|seconds)[\])]?)");
  return RE2::FullMatch(piece(heading), time);
}

bool names_loads(std::span<const std::string> headings) {
  const auto is_load = [](const std::string& heading) { return load_of_heading(heading).has_value(); };
  const std::vector<Meaning> meanings = meanings_of(headings);
  return std::ranges::count_if(headings, is_load) >= 2 &&
         (headings.front().empty() ||
          std::ranges::any_of(meanings, [](Meaning one) { return one == Meaning::name || one == Meaning::gamma; }));
}

std::optional<ShapedTable> table_by_load(std::span<const std::string> headings, std::span<const TableRow> rows,
                                         std::string_view measure) {
  if (!names_loads(headings)) return std::nullopt;
  std::vector<std::size_t> columns;
  std::vector<std::string> loads;
  bool speeds = true;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const auto load = load_of_heading(headings[i]);
    if (!load) continue;
    columns.push_back(i);
    loads.push_back(load->load);
    speeds = speeds && (!load->measure.empty() || holds_speeds(rows, i));
    if (load->measure == "total tok/s") measure = "total tok/s";
  }
  if (speeds && measure.find("tok/s") == std::string_view::npos) measure = "tok/s";
  if (measure.empty()) {
    reject({.line = rows.front().line,
            .key = headings[columns.front()],
            .text = "may mean several things",
            .why = "a speed, a time or an acceptance?",
            .suggestion = "write what was measured in the line above the table, \"tok/s\" or \"TPOT (ms)\", or in a "
                          "column, with another one for the concurrency"});
  }
  return melted(headings, rows, columns, loads, "concurrency", measure);
}

void tell_blocks(ShapedTable& table) {
  static const RE2 block(R"((?i)(?:draft |verify |verification )?block(?:[ _-]?size)?)");
  const std::vector<Meaning> meanings = meanings_of(table.headings);
  const auto place = [&](Meaning meaning) {
    return static_cast<std::size_t>(std::ranges::find(meanings, meaning) - meanings.begin());
  };
  const std::size_t length = place(Meaning::length), rate = place(Meaning::rate);
  if (place(Meaning::gamma) < meanings.size()) return;
  const auto cell = [](const TableRow& row, std::size_t at) {
    return at < row.cells.size() ? number_of_cell(row.cells[at]) : CellNumber{};
  };
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    if (!RE2::FullMatch(table.headings[i], block)) continue;
    const auto with_known = [&](const TableRow& row) {
      constexpr double rounded = 0.01;
      const auto tokens = cell(row, length).value, size = cell(row, i).value;
      if (size && std::ranges::any_of(row.cells, fills_blocks)) return *size > 1.0 && tokens.value_or(1.0) <= *size;
      const CellNumber share = cell(row, rate);
      if (!tokens || !size || !share.value) return bare_cell(row.cells[i]).empty();
      const double expected = 1.0 + *share.value / (share.percent ? 100.0 : 1.0) * (*size - 1.0);
      return *size > 1.0 && std::abs(*tokens - expected) <= rounded * expected;
    };
    if (!std::ranges::all_of(table.rows, with_known)) return;
    table.headings[i] = "K (block - 1)";
    for (TableRow& row : table.rows) {
      if (const auto size = number_of_cell(row.cells[i]).value) row.cells[i] = fmt::format("{:.0f}", *size - 1.0);
    }
    return;
  }
}

bool may_name_kinds(std::span<const std::string> headings) {
  const std::vector<Meaning> meanings = meanings_of(headings);
  constexpr std::size_t max_columns = 16;
  return headings.size() <= max_columns && (headings.front().empty() || meanings.front() == Meaning::name) &&
         std::ranges::count(meanings, Meaning::ignored) >= 2 &&
         std::ranges::all_of(meanings, [](Meaning one) { return one < Meaning::speed || one > Meaning::duration; });
}

std::optional<ShapedTable> table_by_kind(std::span<const std::string> headings, std::span<const TableRow> rows,
                                         std::string_view measure) {
  if (!may_name_kinds(headings)) return std::nullopt;
  static const RE2 whole("(?i)(?:overall|all|mean|avg|average|total)");
  const std::vector<Meaning> meanings = meanings_of(headings);
  std::vector<std::size_t> columns;
  std::vector<std::string> kinds;
  std::optional<std::size_t> of_all;
  bool in_cells = true;
  for (std::size_t i = 1; i < headings.size(); ++i) {
    const std::string kind = kind_before_unit(bare_cell(headings[i]));
    const bool like_first = !columns.empty() && columns.back() + 1 == i && names_kind(headings[i]) &&
                            holds_numbers(headings[i], rows, i);  // "code tok/s | prose"
    const bool speeds = !kind.empty() || holds_speeds(rows, i) || (in_cells && like_first);
    if (meanings[i] != Meaning::ignored || (!speeds && (measure.empty() || !holds_numbers(headings[i], rows, i))))
      continue;
    in_cells = in_cells && speeds;
    columns.push_back(i);
    kinds.push_back(kind.empty() ? bare_cell(headings[i]) : kind);
    if (RE2::FullMatch(kinds.back(), whole)) of_all = i;
  }
  if (columns.size() < 2) return std::nullopt;
  const auto is_arm = [](const std::string& kind) { return arm_in_text(kind).has_value(); };
  const auto other = std::find_if_not(kinds.begin(), kinds.end(), is_arm);
  if (other != kinds.end() && std::ranges::any_of(kinds, is_arm)) {
    reject({.line = rows.front().line,
            .key = *other,
            .text = fmt::format("is this a run without speculation, beside {}?", *std::ranges::find_if(kinds, is_arm)),
            .suggestion = "call its column \"baseline\""});
  }
  ShapedTable table = melted(headings, rows, columns, kinds, "category", in_cells ? "tok/s" : measure);
  for (std::size_t i = 0; i < table.headings.size(); ++i) {  // "tok/step (json)" is of one kind
    static const RE2 of_kind(R"(.*\((.*)\)\W*)");
    std::string kind;
    if (!RE2::FullMatch(table.headings[i], of_kind, &kind) || std::ranges::find(kinds, kind) == kinds.end()) continue;
    for (TableRow& row : table.rows) {
      if (row.cells[table.headings.size() - 2] != kind) row.cells[i].clear();
    }
  }
  if (!of_all) return table;
  const std::string name = bare_cell(headings[*of_all]);
  const std::size_t kind = table.headings.size() - 2;
  std::erase_if(table.rows, [&](const TableRow& row) { return row.cells[kind] != name; });
  for (TableRow& row : table.rows) row.cells[kind].clear();
  return table;
}

std::optional<ShapedTable> table_with_plain_kind(std::span<const std::string> headings,
                                                 std::span<const TableRow> rows) {
  const std::vector<Meaning> meanings = meanings_of(headings);
  const auto kind = std::ranges::find(meanings, Meaning::category);
  const bool names_arms = std::ranges::any_of(
      meanings, [](Meaning one) { return one == Meaning::name || one == Meaning::gamma || one == Meaning::subject; });
  if (kind == meanings.end() || names_arms) return std::nullopt;
  const auto at = static_cast<std::size_t>(kind - meanings.begin());
  static const RE2 says_so(R"((?i).*(?:spec|mtp|draft|eagle|dflash|autoregressive|vanilla).*)");
  static const RE2 loaded(R"((?i).*\b(?:concurren\w*|parallel|batch|users?|streams?|aggregate)\b.*)");
  const auto is_plain = [&](const TableRow& row) {
    return arm_named(bare_cell(row.cells[at])).plain && RE2::FullMatch(row.cells[at], says_so);
  };
  const auto plain = std::ranges::find_if(rows, is_plain);
  if (plain == rows.end() || std::ranges::count_if(rows, is_plain) > 1 || rows.size() < 2) return std::nullopt;
  ShapedTable table{.headings = {headings.begin(), headings.end()}};
  table.headings.emplace_back("config");
  for (const TableRow& row : rows) {
    if (is_plain(row) || RE2::FullMatch(row.cells[at], loaded)) continue;
    table.rows.push_back(row);
    table.rows.back().cells.emplace_back("speculative");
    table.rows.push_back(*plain);
    table.rows.back().cells[at] = row.cells[at];
    table.rows.back().cells.emplace_back("baseline");
  }
  return table;
}

}  // namespace foredraft::logs
