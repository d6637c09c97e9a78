// SPDX-License-Identifier: Apache-2.0
#include "logs/headed_table.hpp"

#include <fmt/format.h>
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
#include "logs/sglang_options.hpp"
#include "logs/table_cells.hpp"

/// An ambiguous heading is resolved by the values if only one reading fits them, else the table is rejected with the
/// heading that would settle it.
namespace foredraft::logs {
namespace {

bool is_dash(std::string_view cell) {
  return cell == "-" || cell == "\xE2\x80\x93" || cell == "\xE2\x80\x94";  // en dash and em dash
}

/// The arm that the draft length states, else the name.
Arm arm_of_cells(std::string_view length_cell, std::string_view name_cell) {
  const std::string length = bare_cell(length_cell);
  const std::string name = bare_cell(name_cell);
  Arm arm = arm_named(name);
  if (is_dash(name)) arm.plain = true;
  if (length.empty()) return arm;
  const auto tokens = number_of_cell(length).value;
  const bool adaptive = arm.adaptive || ends_drafts_early(length);
  if (tokens) {
    arm.gamma = tokens;
    arm.plain = *tokens == 0.0;
  } else if (const Arm stated = arm_named(length); stated.plain || is_dash(length)) {
    arm.plain = true;
  } else {
    arm = {.gamma = stated.gamma,
           .drafter = arm.drafter ? arm.drafter : stated.drafter,
           .speculative = stated.speculative};
  }
  arm.adaptive = adaptive && !arm.plain;
  return arm;
}

/// True for an arm without drafts that states only its draft length: "0", "MTP (K = 0)".
bool is_zero(std::string_view length_cell, std::string_view name_cell) {
  const Arm named = arm_named(bare_cell(name_cell));
  return named.gamma == 0.0 || (!named.plain && number_of_cell(length_cell).value == 0.0);
}

/// What a column that may hold draft lengths counts otherwise.
Meaning counted_in(const Column& column) {
  static const RE2 drafts("(?i).*draft.*"), other("(?i).*(?:step|window).*");
  return RE2::FullMatch(column.heading, drafts) && !RE2::FullMatch(column.heading, other) ? Meaning::drafted
                                                                                          : Meaning::ignored;
}

}  // namespace

std::vector<double> HeadedTable::values_in(std::size_t column) const {
  std::vector<double> values;
  for (const TableRow& row : rows_) {
    if (const auto value = number_of_cell(row.cells[column]).value) values.push_back(*value);
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

/// "+8 %" below "throughput", "5.32x" below "max concurrency" are something else than their headings say.
void HeadedTable::drop_gains() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t gains = 0, numbers = 0;
    for (const TableRow& row : rows_) {
      const CellNumber number = measure_in(row.cells[i]);
      if (number.gain) ++gains;
      if (number.value) ++numbers;
    }
    const Meaning meaning = columns_[i].meaning;
    const bool names = meaning == Meaning::name || meaning == Meaning::category || meaning == Meaning::subject;
    if (gains > 0 && gains == numbers && !names && !may_be_share(meaning)) columns_[i].meaning = Meaning::ignored;
    const bool speeds = std::ranges::all_of(rows_, [&](const TableRow& row) { return in_tokens_per_s(row.cells[i]); });
    if (meaning == Meaning::name && speeds) columns_[i].meaning = Meaning::ignored;
  }
}

/// A column of a few "tokens" of which runs without speculation have none is that of draft lengths: no answer is so
/// short.
void HeadedTable::tell_draft_tokens() {
  constexpr double longest = 64.0;
  static const RE2 tokens("(?i)(?:num[-_ ]|n[-_ ]|#[-_ ]?)?tok(?:en)?s?");
  const auto column = at(Meaning::output_tokens), name = at(Meaning::name);
  if (!column || !name || has(Meaning::gamma) || !RE2::FullMatch(columns_[*column].heading, tokens)) return;
  bool plain = false, drafts = false;
  for (const TableRow& row : rows_) {
    const std::string cell = bare_cell(row.cells[*column]);
    const double value = number_of_cell(cell).value.value_or(0.0);
    if (value > longest || value != std::floor(value)) return;
    const bool is_plain = arm_named(bare_cell(row.cells[*name])).plain;
    if (is_plain != (value == 0.0)) return;
    (is_plain ? plain : drafts) = true;
  }
  if (plain && drafts) columns_[*column].meaning = Meaning::gamma;
}

/// A column "MTP" of "on" and "off", or of numbers, is that of draft lengths.
void HeadedTable::tell_switch() {
  static const RE2 drafter("(?i)(?:(?:" + std::string(names_of_drafters) +
                           ")(?:-?[123])?|spec|speculat\\w*|spec[-_ ]?dec(?:od\\w*)?|sd)");
  static const RE2 setting("(?i)(?:on|off|yes|no|true|false|none|enabled|disabled|-|\\d{1,2})?");
  if (has(Meaning::gamma)) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    const auto is_setting = [&](const TableRow& row) { return RE2::FullMatch(bare_cell(row.cells[i]), setting); };
    if ((column.meaning != Meaning::ignored && column.meaning != Meaning::name) ||
        !RE2::FullMatch(column.heading, drafter) || !std::ranges::all_of(rows_, is_setting))
      continue;
    column.meaning = Meaning::gamma;
    return;
  }
}

/// First columns without a heading name arms, if one is without speculation or states a draft length; else the first
/// names kinds of prompts, others models or devices. A column of models or devices names arms if no other does.
void HeadedTable::tell_names() {
  const auto names_arms = [&](std::size_t column) {
    return std::ranges::any_of(rows_, [&](const TableRow& row) {
      const Arm arm = arm_named(bare_cell(row.cells[column]));
      return arm.plain || arm.gamma;
    });
  };
  for (std::size_t i = 0; i < columns_.size() && columns_[i].heading.empty(); ++i) {
    if (values_in(i).size() == rows_.size()) continue;
    columns_[i].meaning = names_arms(i) ? Meaning::name : i == 0 ? Meaning::category : Meaning::subject;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {  // "empty" and "32k" of contexts tell rows apart
    const auto is_word = [&](const TableRow& row) {
      const std::string cell = bare_cell(row.cells[i]);
      static const RE2 none("(?i)n/?a|none");
      return !cell.empty() && !is_dash(cell) && !number_of_cell(cell).value && !RE2::FullMatch(cell, none);
    };
    if (columns_[i].meaning == Meaning::context_tokens && std::ranges::any_of(rows_, is_word))
      columns_[i].meaning = has(Meaning::category) ? Meaning::subject : Meaning::category;
  }
  const auto subject = at(Meaning::subject);
  tell_switch();
  if (columns_.front().meaning == Meaning::ignored && !has(Meaning::name) && !has(Meaning::gamma) && !subject &&
      std::ranges::any_of(rows_, [](const TableRow& row) { return arm_named(bare_cell(row.cells.front())).plain; }))
    columns_.front().meaning = Meaning::name;  // "decoder"
  const auto adds_drafter = [&](const TableRow& row) {
    return !setup_drafted_for(bare_cell(row.cells[*subject])).empty();
  };
  names_subjects_ = subject && !has(Meaning::name) && !has(Meaning::gamma) &&
                    (names_arms(*subject) || std::ranges::any_of(rows_, adds_drafter));
  if (names_subjects_) columns_[*subject].meaning = Meaning::name;
}

/// "acc" holds counts, no rates, where its whole numbers are parts of drafted tokens: above 100, or as a column of
/// rates says.
void HeadedTable::tell_accepted() {
  constexpr double percent = 100.0, rounded = 0.006;  // rates have two digits
  const auto is_drafted = [](const Column& one) {
    return one.meaning == Meaning::drafted || (one.may_be_count && counted_in(one) == Meaning::drafted);
  };
  const auto drafts = std::ranges::find_if(columns_, is_drafted);
  if (drafts == columns_.end() || has(Meaning::accepted)) return;
  const auto number = [&](const TableRow& row, const Column& column) {
    const CellNumber cell = number_of_cell(row.cells[static_cast<std::size_t>(&column - columns_.data())]);
    return cell.percent ? std::nullopt : cell.value;
  };
  for (Column& column : columns_) {
    if (column.meaning != Meaning::rate || column.percent) continue;
    bool counts = true, many = false, divides = false;
    for (const TableRow& row : rows_) {
      const auto accepted = number(row, column), drafted = number(row, *drafts);
      if (!accepted && !drafted) continue;  // of a run without speculation
      counts = counts && accepted && drafted && *accepted == std::floor(*accepted) && *accepted <= *drafted;
      if (!counts) break;
      many = many || *accepted > percent;
      for (const Column& other : columns_) {
        const bool rates = &other != &column && other.meaning == Meaning::rate;
        const auto rate =
            rates ? number_of_cell(row.cells[static_cast<std::size_t>(&other - columns_.data())]).value : std::nullopt;
        divides = divides || (rate && *drafted > 0.0 &&
                              std::abs(*accepted / *drafted - *rate / (*rate > 1.0 ? percent : 1.0)) <= rounded);
      }
    }
    if (!counts || (!many && !divides)) continue;
    column.meaning = Meaning::accepted;
    drafts->meaning = Meaning::drafted;
    return;
  }
}

/// Ignores a meaning that is repeated. A heading that may count does, beside a sure draft length; a column of numbers
/// is no name beside another name.
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
    if (sure && column.may_be_count) column.meaning = counted_in(column);
    const auto before = columns_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool repeated =
        std::any_of(columns_.begin(), before, [&](const Column& one) { return one.meaning == column.meaning; });
    if (repeated) column.meaning = Meaning::ignored;
  }
}

void HeadedTable::tell_apart() {
  tell_streams();
  tell_gamma();
  tell_request_rate();
  names_plain_ = std::ranges::any_of(rows_, [&](const TableRow& row) {
    const std::string_view length = text(row, Meaning::gamma);
    const std::string_view name = text(row, Meaning::name);
    return arm_of_cells(length, name).plain && !is_zero(length, name);
  });
  tell_time(Meaning::tpot, "tpot_ms");
  tell_time(Meaning::ttft, "ttft_ms");
  tell_time(Meaning::iteration, "iteration_ms");
  tell_accepted_per_step();
  tell_rate();
  tell_counts();
  tell_mean_accepted();
  tell_zero();
  tell_inter_token();
  tell_speed();
}

/// SGLang's settings: depth, width and tokens of trees, and of chains, which are one token wide.
bool HeadedTable::tell_tree_sizes() {
  constexpr double largest = 1024.0;  // more are drafts in all
  static const RE2 depth("(?i)(?:(?:spec\\w*|num|draft)[-_ ])*steps"),
      width("(?i)(?:(?:spec\\w*|eagle)[-_ ])*top[-_ ]?k"),
      tokens("(?i)(?:(?:spec\\w*|num)[-_ ])*draft(?:[-_ ]tok(?:en)?s?)?");
  const auto column_named = [&](const RE2& name) {
    return std::ranges::find_if(columns_, [&](const Column& one) { return RE2::FullMatch(one.heading, name); });
  };
  const auto steps = column_named(depth), wide = column_named(width), drafts = column_named(tokens);
  if (steps == columns_.end() || wide == columns_.end() || drafts == columns_.end()) return false;
  const auto number = [&](const TableRow& row, const auto& column) {
    return number_of_cell(row.cells[static_cast<std::size_t>(column - columns_.begin())]).value.value_or(0.0);
  };
  const auto fits = [&](const TableRow& row) {
    const double verified = number(row, drafts), deep = number(row, steps);
    return deep <= 0.0 || (verified > deep && verified <= largest);
  };
  if (!std::ranges::all_of(rows_, fits)) return false;
  steps->meaning = Meaning::gamma;
  wide->meaning = Meaning::tree_width;
  drafts->meaning = Meaning::tree_tokens;
  for (const auto& column : {steps, wide, drafts}) column->may_be_count = false;
  return true;
}

/// A few "steps" are the draft length, and beside "topk" (SGLang's settings) all, where sizes of trees tell rows apart.
/// A small depth beside a draft length is that of a tree, no context.
void HeadedTable::tell_trees() {
  if (tell_tree_sizes()) return;
  constexpr double deepest = 64.0;
  const auto depth = at(Meaning::context_tokens);
  if (depth && has(Meaning::gamma) && in_lower_case(columns_[*depth].heading) == "depth") {
    const std::vector<double> depths = values_in(*depth);
    const bool small = std::ranges::all_of(depths, [](double tokens) { return tokens >= 1.0 && tokens <= deepest; });
    if (small && depths.size() < rows_.size()) columns_[*depth].meaning = Meaning::ignored;  // a plain row has none
  }
  static const RE2 tree("(?i)(?:eagle[-_ ]?)?top[-_ ]?k|num[-_ ]draft(?:[-_ ]tokens)?");
  const auto is_tree = [](const Column& c) { return c.meaning != Meaning::drafted && RE2::FullMatch(c.heading, tree); };
  const auto steps = at(Meaning::steps);
  static const RE2 name("(?i)(?:num[-_ ])?steps");
  const bool few = steps && RE2::FullMatch(columns_[*steps].heading, name) && !has(Meaning::gamma) &&
                   !values_in(*steps).empty() && !counts_steps(*steps);
  if (!steps || (!few && std::ranges::none_of(columns_, is_tree))) return;
  columns_[*steps].meaning = Meaning::gamma;
  columns_[*steps].may_be_count = false;
  for (Column& column : columns_)
    if (is_tree(column)) column.meaning = Meaning::subject;
}

/// Whether numbers that may be draft lengths count steps or tokens: each kind of prompts has its own, a name states
/// another length, so many tokens were drafted in these steps, or nobody drafts so many steps.
bool HeadedTable::counts_steps(std::size_t column) const {
  constexpr double longest = 16.0;  // more were not seen
  static const RE2 of_steps("(?i).*step.*");
  const bool steps = RE2::FullMatch(columns_[column].heading, of_steps);
  std::map<std::string, std::set<double>> by_kind;
  std::set<double> all;
  for (const TableRow& row : rows_) {
    const double tokens = number_of_cell(row.cells[column]).value.value_or(0.0);
    if (!(tokens > 0.0)) continue;
    const double drafted = value(row, Meaning::drafted).value_or(0.0);
    if (arm_named(bare_cell(text(row, Meaning::name))).gamma.value_or(tokens) != tokens) return true;
    if (steps && (tokens > longest || (drafted >= tokens && drafted <= longest * tokens))) return true;
    by_kind[bare_cell(text(row, Meaning::category))].insert(tokens);
    all.insert(tokens);
  }
  return all.size() > 1 && by_kind.size() > 1 &&
         std::ranges::all_of(by_kind, [](const auto& kind) { return kind.second.size() == 1; });
}

/// An "n" of streams is no draft length: together they are n times as fast as each, or an iteration gives each more
/// than n + 1 tokens.
void HeadedTable::tell_streams() {
  const auto column = at(Meaning::gamma);
  if (!column || in_lower_case(columns_[*column].heading) != "n" || has(Meaning::concurrency)) return;
  constexpr double rounded = 0.05;
  std::size_t fit = 0;
  bool streams = true, more = false;
  for (const TableRow& row : rows_) {
    const double n = number_of_cell(row.cells[*column]).value.value_or(0.0);
    const double each = value(row, Meaning::request_speed).value_or(0.0);
    const double all = value(row, Meaning::total_speed).value_or(0.0);
    if (std::abs(all - n * each) > rounded * all || !(each > 0.0)) streams = false;
    if (n > 1.0) ++fit;
    more = more || value(row, Meaning::length).value_or(0.0) > n + 1.0 + rounded;
  }
  if (streams && fit > 0) {
    columns_[*column].meaning = Meaning::concurrency;
  } else if (more) {
    columns_[*column].meaning = Meaning::subject;
  }
}

/// Draft lengths are small whole numbers: other columns count steps or drafts, or are ignored. "drafts/step" with
/// decimals is a mean of lengths that differ.
void HeadedTable::tell_gamma() {
  constexpr double longest = 64.0;
  const auto column = at(Meaning::gamma);
  if (!column) return;
  const std::vector<double> values = values_in(*column);
  const bool lengths =
      std::ranges::all_of(values, [&](double value) { return value <= longest && value == std::floor(value); });
  if (values.empty() && columns_[*column].may_be_count && !has(Meaning::name)) {
    columns_[*column].meaning = Meaning::name;  // "Draft" of drafters
    return;
  }
  const bool of_plain = std::ranges::any_of(rows_, [&](const TableRow& row) {
    return number_of_cell(row.cells[*column]).value.value_or(0.0) > 0.0 && arm_named(text(row, Meaning::name)).plain;
  });
  const bool counts = columns_[*column].may_be_count && (of_plain || counts_steps(*column));
  if (lengths && !counts) return;
  if (columns_[*column].may_be_count) {
    static const RE2 of_steps("(?i).*steps.*");
    const bool steps = counts && !has(Meaning::steps) && RE2::FullMatch(columns_[*column].heading, of_steps);
    columns_[*column].meaning = steps ? Meaning::steps : counted_in(columns_[*column]);
  } else if (std::ranges::any_of(values, [](double value) { return value != std::floor(value); })) {
    static const RE2 by_step("(?i).*[a-z](?: ?/ ?| per |_per_)[a-z]+");
    columns_[*column].meaning =
        RE2::FullMatch(columns_[*column].heading, by_step) ? Meaning::mean_drafted : Meaning::ignored;
  }
}

/// Rates above 1 are percent, unless they can only be lengths: "accept" 2.6 at K = 3. A "rate" that plain runs have too
/// is an accuracy. Accepted tokens in percent are a rate.
void HeadedTable::tell_rate() {
  const auto accepted = at(Meaning::accepted);
  const auto in_percent = [](const TableRow& row, std::size_t column) {
    return number_of_cell(row.cells[column]).percent;
  };
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
    const CellNumber number = measure_in(row.cells[*column]);
    const double value = number.value.value_or(0.0);
    rate.percent = rate.percent || number.percent || value > 1.0;
    const Arm arm = arm_of(row);
    const bool all = value == 1.0 || (number.percent && value == 100.0);
    if ((arm.plain && value > 0.0 && !all) || value > max_rate) {
      rate.meaning = Meaning::ignored;
      return;
    }
    if (number.value && !arm.plain)
      lengths = lengths && !number.percent && value >= 1.0 &&
                value <= std::min(arm.gamma.value_or(max_length) + 1.0, max_length);
  }
  if (lengths && rate.percent) rate = {.heading = rate.heading, .meaning = Meaning::length};
}

/// Accepted or drafted tokens that are no whole numbers are no counts: "7.3 / 8" are those of a step, with the bonus
/// token or without.
void HeadedTable::tell_counts() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    const bool counts =
        column.meaning == Meaning::steps || column.meaning == Meaning::drafted || column.meaning == Meaning::accepted;
    const auto is_fraction = [](double value) { return value != std::floor(value); };
    static const RE2 proposals("(?i).*proposals.*");  // of tokens, if no other column has these
    const bool unsure =
        column.meaning == Meaning::steps && RE2::FullMatch(column.heading, proposals) && !has(Meaning::drafted);
    if (counts && (unsure || std::ranges::any_of(values_in(i), is_fraction))) column.meaning = Meaning::ignored;
  }
}

/// More tokens than drafts include the bonus token: acceptance lengths.
void HeadedTable::tell_accepted_per_step() {
  const auto column = at(Meaning::accepted_per_step);
  if (!column) return;
  constexpr double rounded = 0.05;
  const bool with_bonus = std::ranges::any_of(rows_, [&](const TableRow& row) {
    const auto tokens = number_of_cell(row.cells[*column]).value;
    const Arm arm = arm_of(row);
    return tokens && arm.gamma && !arm.plain && *tokens > *arm.gamma + rounded;
  });
  if (with_bonus && !has(Meaning::length)) columns_[*column].meaning = Meaning::length;
}

/// Rejects a table in which K = 0 accepts drafts.
void HeadedTable::tell_zero() {
  for (const TableRow& row : rows_) {
    if (number_of_cell(text(row, Meaning::gamma)).value != 0.0 || !accepts(row)) continue;
    refuse(Meaning::gamma, "0 drafts, of which some are accepted?",
           "leave the acceptance of K = 0 empty, or call the column position");
  }
}

/// A mean below 1 is without the bonus token, one above K with it; else rates and draft lengths tell, or the table is
/// rejected.
void HeadedTable::tell_mean_accepted() {
  const auto column = at(Meaning::mean_accepted);
  if (!column) return;
  Column& mean = columns_[*column];
  std::size_t with = 0, without = 0;
  for (const TableRow& row : rows_) {
    const auto tokens = number_of_cell(row.cells[*column]).value;
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

/// Whether a row says that drafts were accepted.
bool HeadedTable::accepts(const TableRow& row) const {
  constexpr double rounded = 0.05;
  static const RE2 accepted("(?i).*accept.*");
  if (value(row, Meaning::length).value_or(1.0) > 1.0 + rounded) return true;
  if (value(row, Meaning::accepted_per_step).value_or(0.0) > rounded) return true;
  const auto rate = at(Meaning::rate);
  if (!rate || !RE2::FullMatch(columns_[*rate].heading, accepted)) return false;
  const CellNumber share = measure_in(row.cells[*rate]);
  return share.value.value_or(0.0) > 0.0 && share.value != 1.0 && !(share.percent && share.value == 100.0);
}

/// A "baseline" that accepts drafts is another version that drafts.
Arm HeadedTable::arm_of(const TableRow& row) const {
  const std::pair cells{std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))};
  auto known = arms_.find(cells);
  if (known == arms_.end()) known = arms_.emplace(cells, arm_of_cells(cells.first, cells.second)).first;
  Arm arm = known->second;
  if (arm.plain && (accepts(row) || (names_plain_ && is_zero(cells.first, cells.second))))
    arm = {.drafter = arm.drafter, .adaptive = arm.adaptive};
  if (arm.plain) return arm;
  arm.tree =
      tree_of_sizes(whole(arm.gamma), whole(value(row, Meaning::tree_width)), whole(value(row, Meaning::tree_tokens)));
  if (arm.tree) arm.gamma.reset();
  return arm;
}

}  // namespace foredraft::logs
