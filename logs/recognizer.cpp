// SPDX-License-Identifier: Apache-2.0
#include "logs/recognizer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "core/documents.hpp"
#include "core/names.hpp"
#include "core/readable.hpp"
#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/expectations.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_reader.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_heads.hpp"
#include "logs/table_shapes.hpp"
#include "logs/wrapped_lines.hpp"

namespace foredraft::logs {

namespace {

constexpr std::string_view list_formats = "run `foredraft list formats`";

/// Limits for records of users' own scripts: levels of nesting, values offered per document, and the number of other
/// values after which the search ends.
constexpr std::size_t max_record_depth = 4;
constexpr std::size_t max_offers = 100'000;
constexpr std::size_t max_other_records = 10'000;

/// Maximum number of columns of a table in any heading; its cells are repeated for each arm.
constexpr std::size_t max_table_columns = 128;

/// Maximum number of observations of which no two may be pooled.
constexpr std::size_t max_kinds = 8 * max_observations;

/// Maximum number of kinds of observations that may alternate in a log, such as those of several engines.
constexpr std::size_t kinds_at_once = 64;

/// Pools observations in pairs, in place: each with the next of its kind.
void pool_neighbors(std::vector<Observation>& observations) {
  std::size_t kept = 0;
  std::vector<std::size_t> alone;  // the one of each kind that has no partner yet
  for (std::size_t i = 0; i < observations.size(); ++i) {
    Observation& observation = observations[i];
    const auto match = std::find_if(alone.begin(), alone.end(),
                                    [&](std::size_t at) { return may_be_pooled(observations[at], observation); });
    if (match != alone.end()) {
      observations[*match] = pooled(observations[*match], std::move(observation));
      alone.erase(match);
      continue;
    }
    if (alone.size() == kinds_at_once) alone.erase(alone.begin());
    alone.push_back(kept);
    if (kept != i) observations[kept] = std::move(observation);
    ++kept;
  }
  observations.resize(kept);
}

}  // namespace

Recognizer::Recognizer(std::string source, std::string_view format, std::span<const LogFormat> known)
    : problems_(std::move(source)), pool_beyond_(max_observations) {
  std::vector<std::string> names;
  for (const LogFormat& one : known) {
    names.emplace_back(one.name);
    if (!format.empty() && format != one.name) continue;
    formats_.push_back(&one);
    if (const auto* const lines = std::get_if<LineFormat>(&one.reads)) {
      line_formats_.push_back({.format = &one, .reader = lines->open(), .own = lines->own});
    } else if (std::holds_alternative<JsonFormat>(one.reads)) {
      value_formats_.push_back(&one);
    } else if (std::holds_alternative<TableFormat>(one.reads)) {
      table_format_ = &one;
    }
  }
  if (formats_.empty() && !format.empty()) {
    const std::string_view near = nearest(format, names);
    fail({.key = "format",
          .text = fmt::format("\"{}\" is no known format", format),
          .suggestion = near.empty() ? std::string(list_formats) : fmt::format("did you mean {}?", near)});
  }
  anchors_ = anchors_of(formats_);
}

void Recognizer::fail(Problem problem) {
  problems_.add(std::move(problem));
  problems_.raise();
  throw std::logic_error("a problem was not raised");
}

LogContents Recognizer::finish(std::int64_t lines, Problem nothing) {
  if (table_) end_table();
  finish_values();
  if (contents_.observations.empty() && !records_.empty()) read_records();
  for (const Lines& of : line_formats_) {
    if (!of.found) continue;
    taken([&] {
      of.reader->finish(contents_);
      return true;
    });
  }
  name_by_captions();
  launches_.name_runs(contents_);
  stated_acceptance_.take_lines(contents_);
  stated_length_.name_runs(contents_);
  stated_length_.name_loads(contents_);
  stated_length_.tell_threshold(contents_);
  share_length(contents_);
  stated_acceptance_.name_runs(contents_);
  tell_rates(contents_);
  keep_tables_apart(read_tables_, contents_);
  keep_sections_apart(sections_, contents_);
  keep_rows_apart(contents_);
  tell_unused_rows(contents_);
  contents_.lines = lines;
  tell_unused_tables(unused_, contents_, problems_);
  if (contents_.format.empty() && problems_.empty()) {
    nothing.line = resembled_line_;
    if (nothing.text.empty()) {
      nothing.text = formats_.size() == 1 ? fmt::format("no line of the format {}", formats_.front()->name)
                                          : "no line of a known format";
    }
    if (broken_line_ > 0) nothing.why = fmt::format("its JSON breaks at line {}", broken_line_);
    if (resembled_ != nullptr)
      nothing.why = fmt::format("looks like {}, but has too few of its keys to be sure", resembled_->name);
    const bool unknown = nothing.suggestion.empty() && nothing.why.empty() && formats_.size() > 1;
    if (nothing.suggestion.empty()) nothing.suggestion = list_formats;
    problems_.add(std::move(nothing));
    if (unknown) throw UnknownFormat(problems_.text());
  }
  problems_.raise();
  std::stable_sort(contents_.observations.begin(), contents_.observations.end(),
                   [](const Observation& a, const Observation& b) { return a.line < b.line; });
  return std::move(contents_);
}

bool Recognizer::again(std::string_view line, std::int64_t number) {
  line_ = number;
  if (last_lines_ != nullptr) {
    const bool own = std::ranges::any_of(
        last_lines_->own, [&](std::string_view words) { return line.find(words) != std::string_view::npos; });
    return own && line.size() <= max_line_bytes && offer(*last_lines_, shown(line), {});
  }
  if (last_ == nullptr || !line.starts_with('{') || !document_.read(line)) return false;
  const bool rest = line.find_first_not_of(" \t\r", document_.size()) != std::string_view::npos;
  if (rest || document_.shape() != last_shape_) return false;
  return read_value(*last_, document_.value());
}

bool Recognizer::offer(Lines& lines, std::string_view line, std::string_view above) {
  const bool taken = claimed(*lines.format, [&] { return lines.reader->line_below(above, line, line_, contents_); });
  lines.found = lines.found || taken;
  return taken;
}

bool Recognizer::line(std::string_view line, std::int64_t number, std::string_view caption, std::string_view lead) {
  line_ = number;
  const std::vector<int> matching = anchors_->lines.in(line);
  const bool launches = !matching.empty() && static_cast<std::size_t>(matching.back()) == line_formats_.size();
  if (launches && launches_.read(line, caption, number)) captions_.end(number, true);
  const bool taken = std::any_of(matching.begin(), matching.end(), [&](int index) {
    if (static_cast<std::size_t>(index) == line_formats_.size()) {
      note_section(sections_, {.line = number, .words = std::string(line)});
      return false;
    }
    Lines& lines = line_formats_[static_cast<std::size_t>(index)];
    if (!offer(lines, line, lead.empty() ? caption : lead)) return false;
    last_lines_ = &lines;
    return true;
  });
  if (taken) captions_.note_reading();
  if (taken && !caption.empty() && lead != lead_) {  // else the caption may be a line of the run's console
    if (names_arm_above(caption, lead)) captions_.note(lead, number, true);
    lead_ = lead;
  }
  if (taken || (!matching.empty() && contents_.format.empty())) captions_.note(caption, number, taken);
  return taken;
}

bool Recognizer::read_value(const LogFormat& format, const JsonValue& value) {
  return claimed(format, [&] {
    const auto& json = std::get<JsonFormat>(format.reads);
    if (json.finish) unfinished_.insert(&format);
    json.read(value, line_, contents_);
    return true;
  });
}

void Recognizer::finish_values() {
  for (const LogFormat* format : std::exchange(unfinished_, {})) {
    taken([&] {
      std::get<JsonFormat>(format->reads).finish(contents_);
      return true;
    });
  }
}

bool Recognizer::value(std::string_view text, std::int64_t number) {
  line_ = number;
  last_lines_ = nullptr;
  last_ = nullptr;
  const std::vector<int> matching = anchors_->values.in(text);
  const bool records =
      anchors_->records && other_records_ < max_other_records && RE2::PartialMatch(piece(text), *anchors_->records);
  if (matching.empty() && !records) return false;
  if (!document_.read(text)) {
    broken_line_ = number + std::ranges::count(text.substr(0, document_.size()), '\n');
    return false;
  }
  counted_to_ = text.data();
  offers_left_ = max_offers;
  if (offer_value(document_.value(), matching, 0)) return true;
  line_ = number;
  keep_records(document_.value(), number);
  note_resembled(text, matching);
  return false;
}

namespace {

/// The members of an object that are runs by their keys, "baseline" and "mtp_k3"; empty unless both arms are there.
std::vector<const JsonValue*> runs_by_key(const JsonValue& value) {
  std::vector<const JsonValue*> runs;
  if (!value.is_object()) return runs;
  for (const JsonValue& member : value)
    if (member.is_object() && is_arm(member.key())) runs.push_back(&member);
  const auto plain = std::ranges::count_if(runs, [](const JsonValue* run) { return arm_named(run->key()).plain; });
  if (plain == 0 || plain == std::ssize(runs)) runs.clear();
  return runs;
}

/// Gives the arm of their key to runs of which nothing else says whether they speculate.
void name_by_key(const std::string& key, std::span<Observation> runs) {
  const Arm arm = arm_named(key);
  for (Observation& run : runs) {
    if (run.decoding == Decoding::unknown) run.decoding = arm.plain ? Decoding::plain : Decoding::speculative;
    if (run.decoding != Decoding::speculative || arm.plain) continue;
    note(run.gamma, whole(arm.gamma));
    note(run.drafter, arm.drafter);
  }
}

}  // namespace

/// The first format that claims the value; null: none does.
const LogFormat* Recognizer::claimant(const JsonValue& value, std::span<const int> matching, std::size_t depth) const {
  const bool within = depth > 0 && !(depth == 1 && document_.value().is_array());
  for (const int index : matching) {
    const LogFormat& format = *value_formats_[static_cast<std::size_t>(index)];
    const auto& json = std::get<JsonFormat>(format.reads);
    if ((json.within || !within) && json.claims(value)) return &format;
  }
  return nullptr;
}

/// Offers the value, else its members, such as the runs in a user's own file; not those of which only some have a
/// format. Returns whether anything was read.
bool Recognizer::offer_value(const JsonValue& value, std::span<const int> matching, std::size_t depth) {
  if (offers_left_ == 0) return false;
  --offers_left_;
  line_ += std::count(counted_to_, value.source().data(), '\n');
  counted_to_ = value.source().data();
  if (const LogFormat* const format = claimant(value, matching, depth)) {
    last_shape_ = document_.shape();
    read_value(*format, value);
    if (depth == 0) last_ = format;
    return true;
  }
  if (depth == max_record_depth) return false;
  const std::vector<const JsonValue*> named = runs_by_key(value);
  const auto lacks_format = [&](const JsonValue* run) { return claimant(*run, matching, depth + 1) == nullptr; };
  if (std::ranges::any_of(named, lacks_format)) return false;
  bool read = false;
  for (const JsonValue& part : value) {
    if (!part.is_structured()) continue;
    const std::size_t before = contents_.observations.size();
    read = offer_value(part, matching, depth + 1) || read;
    const bool has_arm = std::ranges::find(named, &part) != named.end();
    if (has_arm && before <= contents_.observations.size())  // else neighbors were pooled
      name_by_key(part.key(), std::span(contents_.observations).subspan(before));
  }
  return read;
}

std::optional<std::string> Recognizer::texts(std::string_view text) {
  if (!document_.read(text)) return std::nullopt;
  for (std::string& texts : wrapped_texts(document_.value())) {
    std::size_t of_formats = 0;
    for (std::string_view rest = texts; !rest.empty() && of_formats < 2;) {
      const std::size_t end = std::min(rest.find('\n') + 1, rest.size());
      if (!anchors_->lines.in(rest.substr(0, end)).empty()) ++of_formats;
      rest.remove_prefix(end);
    }
    if (of_formats == 2) return std::move(texts);
  }
  return std::nullopt;
}

bool Recognizer::cut_value(std::string_view text, std::int64_t number) {
  // One line after others is left out: its program may still have been writing it.
  if (!contents_.format.empty() && text.find('\n') == std::string_view::npos) return false;
  const std::optional<std::string> whole = completed(text);
  if (!whole) return false;
  const LogContents before = contents_;
  on_trial_ = true;
  bool read = false;
  try {
    read = value(*whole, number);
    finish_values();
  } catch (const RejectedRecord&) {
    contents_ = before;
  }
  on_trial_ = false;
  return read;
}

/// Notes the first format that shares a key with the value.
void Recognizer::note_resembled(std::string_view text, std::span<const int> matching) {
  if (resembled_ != nullptr) return;
  for (const int index : matching) {
    const LogFormat& format = *value_formats_[static_cast<std::size_t>(index)];
    const RE2 key(fmt::format("[\"'](?:{})[\"']", std::get<JsonFormat>(format.reads).anchor), byte_options());
    if (!RE2::PartialMatch(piece(text), key)) continue;
    resembled_ = &format;
    resembled_line_ = line_;
    return;
  }
}

/// Begins a list of arms ("- plain: 41") if the line is a title with their unit: "Throughput (tok/s):".
bool Recognizer::title(std::string_view line) {
  constexpr std::size_t max_title = 100;
  if (table_format_ == nullptr || line.size() > max_title || line.find_first_of("|\t") != line.npos) return false;
  std::string measure = measure_in_caption(line);
  if (measure.empty()) return false;
  table_ = {.format = table_format_,
            .csv = nullptr,
            .whole = &std::get<TableFormat>(table_format_->reads),
            .layout = TableLayout::list,
            .columns = {"config", std::move(measure)},
            .caption = std::string(line)};
  return true;
}

/// Begins a table whose headings a format claims; true also if they were rejected.
bool Recognizer::begin_table(std::vector<std::string> columns, TableLayout layout, std::string_view caption) {
  const bool too_wide = columns.size() > max_table_columns;
  for (const LogFormat* format : formats_) {
    const auto* const csv = std::get_if<CsvFormat>(&format->reads);
    const auto* const whole = too_wide ? nullptr : std::get_if<TableFormat>(&format->reads);
    if (whole == nullptr && (csv == nullptr || layout != TableLayout::commas || columns.size() < 3)) continue;
    bool sound = false;  // else its rows would repeat the problem of its header
    if (!taken([&] { return sound = csv != nullptr ? csv->claims(columns) : whole->claims(columns); })) continue;
    if (!sound) return true;
    table_ = {.format = format,
              .csv = csv,
              .whole = whole,
              .layout = layout,
              .columns = std::move(columns),
              .caption = std::string(caption)};
    for (std::size_t i = 0; csv != nullptr && i < table_->columns.size(); ++i)
      table_->places.try_emplace(table_->columns[i], i);
    return true;
  }
  return false;
}

void Recognizer::header(std::string_view line, std::int64_t number, std::string_view caption, std::string_view above,
                        std::string_view lead) {
  const bool ruled = is_ruling(line) && !above.empty();
  const bool between = ruled && !trimmed(line).starts_with('|');  // bars that enclose the head stand beside empty cells
  const std::size_t count = between ? table_cells(line, TableLayout::bars).size() : 0;
  if (ruled) line = above;
  line_ = number;
  const TableLayout layout = between ? TableLayout::bars : layout_of(line);
  std::vector<std::string> columns = table_cells(line, layout, count);
  std::ranges::transform(columns, columns.begin(),
                         [](std::string one) { return with_few_brackets(heading_of_query(std::move(one))); });
  const std::string_view text = trimmed(line);
  const bool item = layout == TableLayout::blanks &&  // of a list, a command
                    (text.starts_with("- ") || (text.starts_with("--") && columns.size() == 2) || text.ends_with('\\'));
  if (item) columns.clear();
  if (!ruled && text.ends_with(':') && title(line)) return;
  if (columns.size() < 2) {
    if (!ruled) title(line);
    return;
  }
  const bool too_wide = columns.size() > max_table_columns;
  if (begin_table(columns, layout, caption)) {
    if (table_) table_->lead = lead;
    return;
  }
  if (too_wide && layout != TableLayout::commas && unused_.size() < max_problems) {  // no sentence
    unused_.push_back({.line = number,
                       .problem = {.line = number,
                                   .key = columns.front(),
                                   .text = fmt::format("a table of {} columns", columns.size()),
                                   .why = fmt::format("at most {} are read", max_table_columns)}});
  }
  if (!ruled) {
    title(line);
  } else if (table_format_ != nullptr && !too_wide) {
    table_ = {.format = table_format_,
              .csv = nullptr,
              .whole = &std::get<TableFormat>(table_format_->reads),
              .layout = layout,
              .columns = std::move(columns),
              .caption = std::string(caption),
              .unclaimed = true};
  }
}

bool Recognizer::row(std::string_view line, std::int64_t number) {
  line_ = number;
  const bool first = std::exchange(table_->at_header, false);
  const bool empty = trimmed(line).empty();
  table_->spaced = table_->spaced || (first && empty);
  if (!std::exchange(table_->after_empty, empty) && empty && table_->spaced) return true;
  if (table_->whole != nullptr) return row_of_whole(line, number);
  const std::vector<std::string> cells = csv_cells(line);
  if (cells.size() != table_->columns.size()) {
    if (first && cells.size() > 1) {
      warn_once(contents_, "W18", number,
                fmt::format("ignored a table of {} columns whose first row has {} cells", table_->columns.size(),
                            cells.size()));
    }
    table_.reset();
    return false;
  }
  table_->begun = true;
  if (cells != table_->columns) {
    claimed(*table_->format, [&] {
      table_->csv->row(CsvFields(table_->columns, table_->places, cells, number), contents_);
      return true;
    });
  }
  return true;
}

bool Recognizer::row_of_whole(std::string_view line, std::int64_t number) {
  if (is_ruling(line)) return true;
  const bool list = table_->layout == TableLayout::list;
  std::vector<std::string> cells = table_cells(line, table_->layout, table_->columns.size());
  if (list && !cells.empty() && !arm_in_text(cells.front()) && !arm_named(cells.front()).plain) cells.clear();
  if (table_->layout == TableLayout::enclosed) join_gains(cells, table_->columns.size());
  const bool cut = table_->layout == TableLayout::enclosed && trimmed(line).starts_with('|') &&
                   !trimmed(line).ends_with('|') && cells.size() > 1 && cells.size() < table_->columns.size();
  if (cut) {
    const bool whole = !table_->rows.empty() && is_whole(cells.back(), table_->rows.back().cells[cells.size() - 1]);
    if (!whole) cells.back().clear();
    cells.resize(table_->columns.size());
  }
  if (cells.size() != table_->columns.size()) {
    end_table();
    return false;
  }
  if (table_->rows.size() == max_table_rows) {
    Table rest = *table_;
    rest.rows.clear();
    rest.goes_on = true;
    end_table();
    table_ = std::move(rest);
  }
  if (this->line(line, number, {}) || cells == table_->columns) return true;
  const auto has_number = [](const std::string& cell) {
    const std::string text = bare_cell(cell);
    std::string_view rest = text;
    return take_measure(rest).has_value();
  };
  const bool may_be_head = table_->unclaimed || (table_->rows.empty() && may_be_upper_head(table_->columns, cells));
  if (may_be_head && std::ranges::none_of(cells, has_number)) {  // a second one
    Table above = *std::exchange(table_, std::nullopt);
    JoinedHead joined = joined_head(above.columns, cells, above.caption);
    begin_table(std::move(joined.headings), above.layout, joined.caption);
    if (table_) {
      table_->lead = above.lead;
      return true;
    }
    table_ = std::move(above);
  }
  table_->rows.push_back({.cells = std::move(cells), .line = number});
  return true;
}

void Recognizer::end_table() {
  const Table table = *std::exchange(table_, std::nullopt);
  if (table.whole == nullptr || table.rows.empty()) return;
  const WrittenTable written{
      .headings = table.columns, .rows = table.rows, .caption = table.caption, .lead = table.lead};
  UnusedTable unused = unused_table(written);
  unused.claimed = !table.unclaimed;
  if (is_above_expected(table.caption)) {
    unused.problem = {.line = unused.line,
                      .key = unused.headings,
                      .text = readable(table.caption, 60),
                      .why = "expected, not measured",
                      .suggestion = "give what was measured"};
    unused_.push_back(std::move(unused));
    return;
  }
  if (table.caption.starts_with('#')) captions_.end(table.rows.front().line, false);  // of an earlier heading
  try {
    const std::size_t before = contents_.observations.size();
    table.whole->read(written, contents_);
    if (contents_.observations.size() == before) {
      if (unused.has_speeds && unused_.size() < max_problems) unused_.push_back(std::move(unused));
      return;
    }
    if (read_tables_.size() < max_told_tables)
      read_tables_.push_back(
          {.first_line = table.rows.front().line, .last_line = table.rows.back().line, .caption = table.caption});
    claimed(*table.format, [] { return true; });
  } catch (const RejectedRecord& rejected) {
    for (const Problem& problem : rejected.problems()) {  // a long table would repeat them
      const bool told = std::ranges::any_of(unused_, [&](const UnusedTable& one) {
        return one.problem.key == problem.key && one.problem.text == problem.text && one.problem.why == problem.why;
      });
      if (told && table.goes_on) continue;
      unused_.push_back(unused);
      unused_.back().problem = problem;
    }
  }
}

void Recognizer::note_format(const LogFormat& format) {
  if (noted_ == &format) return;
  noted_ = &format;
  const std::string padded = fmt::format(" {} ", contents_.format);
  if (padded.find(fmt::format(" {} ", format.name)) != std::string::npos) return;
  contents_.format += contents_.format.empty() ? "" : " ";
  contents_.format += format.name;
}

/// Whether `offer` says that its format claimed the item; if so, records it.
template <typename Offer>
bool Recognizer::claimed(const LogFormat& format, const Offer& offer) {
  const std::string engine_before = contents_.engine;
  if (!taken(offer)) return false;
  took_something_ = true;
  if (!format.engine.empty()) contents_.engine = format.engine;
  if (!engine_before.empty() && contents_.engine != engine_before) {
    fail({.line = line_,
          .text = fmt::format("a line of {} after lines of {}", contents_.engine, engine_before),
          .why = "observations of two engines are not comparable",
          .suggestion = "split the log by engine"});
  }
  note_format(format);
  if (contents_.observations.size() > pool_beyond_) {
    pool_neighbors(contents_.observations);
    pool_beyond_ = std::max(max_observations, 2 * contents_.observations.size());
    if (contents_.observations.size() > max_kinds)
      fail({.line = line_,
            .text = fmt::format("more than {} runs or requests that all differ in their conditions", max_kinds),
            .why = "they cannot be counted together",
            .suggestion = "give a part of the log"});
  }
  return true;
}

/// The result of `read`; true if it throws RejectedRecord, which is collected.
template <typename Read>
bool Recognizer::taken(const Read& read) {
  try {
    return read();
  } catch (const RejectedRecord& rejected) {
    if (on_trial_) throw;
    for (Problem problem : rejected.problems()) {
      if (problem.line == 0) problem.line = line_;
      problems_.add(std::move(problem));
    }
    if (problems_.problems().size() >= max_problems) problems_.raise();
    return true;
  }
}

}  // namespace foredraft::logs
