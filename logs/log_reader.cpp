// SPDX-License-Identifier: Apache-2.0
#include "logs/log_reader.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "core/names.hpp"
#include "logs/json_values.hpp"
#include "logs/line_fields.hpp"
#include "logs/wrapped_lines.hpp"

namespace foredraft::logs {
namespace {

/// Bytes that are examined at once.
constexpr std::size_t slice_bytes = std::size_t{1} << 18U;
constexpr std::string_view list_formats = "run `foredraft list formats`";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Maximum number of rows that are read as one table.
constexpr std::size_t max_table_rows = 10'000;

/// Maximum number of kinds of observations that may alternate in a log, such as those of several engines.
constexpr std::size_t kinds_at_once = 64;

/// Bytes instead of UTF-8, because logs may contain invalid text.
RE2::Options byte_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// Bytes from which is told how all lines are wrapped.
constexpr std::size_t wrapping_sample_bytes = std::size_t{1} << 16U;

/// Pools observations two by two: each with the next of its kind.
void pool_neighbors(std::vector<Observation>& observations) {
  std::vector<Observation> fewer;
  fewer.reserve(observations.size());
  std::vector<std::size_t> alone;  // in `fewer`, the unpaired one of each kind
  for (Observation& observation : observations) {
    const auto match =
        std::find_if(alone.begin(), alone.end(), [&](std::size_t i) { return may_be_pooled(fewer[i], observation); });
    if (match != alone.end()) {
      fewer[*match] = pooled(fewer[*match], observation);
      alone.erase(match);
    } else {
      if (alone.size() == kinds_at_once) alone.erase(alone.begin());
      alone.push_back(fewer.size());
      fewer.push_back(std::move(observation));
    }
  }
  observations = std::move(fewer);
}

}  // namespace

/// A set of patterns that are searched for at once.
class AnchorSet {
 public:
  void add(std::string_view pattern) {
    std::string error;
    if (set_.Add("(?m)" + std::string(pattern), &error) < 0) throw std::logic_error(error);
    empty_ = false;
  }

  void compile() {
    if (!empty_ && !set_.Compile()) throw std::logic_error("too many patterns");
  }

  /// Indices of the patterns found in `text`, ascending, in the order in which they were added, from 0.
  [[nodiscard]] std::vector<int> in(std::string_view text) const {
    std::vector<int> found;
    if (!empty_ && set_.Match(text, &found)) std::sort(found.begin(), found.end());
    return found;
  }

 private:
  RE2::Set set_{byte_options(), RE2::UNANCHORED};
  bool empty_ = true;
};

struct LogReader::State {
 public:
  State(std::string source, std::string_view format, std::span<const LogFormat> known);

  void add(std::string_view bytes);
  LogContents finish();

 private:
  struct Lines {
    const LogFormat* format;
    std::unique_ptr<LineReader> reader;
    bool found = false;  ///< a line of its format
  };
  struct Table {
    const LogFormat* format;
    const CsvFormat* csv;  ///< null: of `whole`
    const TableFormat* whole;
    TableLayout layout;
    std::vector<std::string> columns;
    bool begun = false;               ///< has rows
    std::vector<TableRow> rows = {};  ///< of `whole`
  };

  void release(bool last);
  void scan(bool last);
  bool step(bool last);
  bool skip_rest_of_line();
  bool look_at_unfinished_line();
  bool look_for_end_of_value(bool last);
  void look_at_cut_value();
  void look_at_row();
  void look_at_row_of_whole(std::string_view line);
  void end_table();
  void look_at_line(std::string_view line);

  bool offer_line(std::string_view line);
  bool offer_value(std::string_view text);
  bool offer_cut_value(std::string_view text);
  void note_resembled(std::string_view text, std::span<const int> matching);
  void offer_header(std::string_view line);
  template <typename Offer>
  bool claimed(const LogFormat& format, const Offer& offer);
  template <typename Read>
  bool taken(const Read& read);
  void reject_unknown();
  void reject_endless();

  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(position_); }
  [[nodiscard]] bool may_begin_value() const;
  void advance(std::size_t bytes);

  std::vector<const LogFormat*> formats_;
  std::vector<Lines> line_formats_;
  std::vector<const LogFormat*> value_formats_;
  std::optional<RE2> anything_;    ///< the anchors of all formats
  std::optional<RE2> beginnings_;  ///< the same, and the beginnings of values
  AnchorSet line_anchors_;
  AnchorSet value_anchors_;
  LogContents contents_;
  ProblemList problems_;

  EscapeFilter escapes_;
  std::string arrived_;                    ///< before lines are unwrapped
  std::optional<Wrapping> wrapping_ = {};  ///< empty: not yet known
  std::string buffer_;                     ///< unexamined from `position_` on
  std::size_t position_ = 0;               ///< of the beginning of a line, unless `in_dull_line_`
  std::size_t complete_ = 0;               ///< after the last complete line
  std::int64_t line_ = 1;                  ///< line number at `position_`
  std::optional<JsonExtent> value_ = {};   ///< begins at `position_`
  std::size_t no_value_before_ = 0;        ///< up to there the text is not a value, or one that no format claims
  std::optional<Table> table_ = {};
  std::vector<Problem> table_problems_ = {};  ///< of tables that could not be read
  bool in_dull_line_ = false;                 ///< the rest of this line is ignored
  bool at_start_ = true;
  bool of_cut_value_ = true;  ///< all lines so far are of a value whose beginning was cut off
  bool opened_ = false;       ///< a bracket that is not in the log is at `position_`
  bool on_trial_ = false;     ///< what is rejected now is no error
  bool ends_in_line_ = false;
  bool binary_ = false;
  /// The first value that has a key of a format, but too few of them, and its line.
  const LogFormat* resembled_ = nullptr;
  std::int64_t resembled_line_ = 0;
  std::size_t pool_beyond_ = max_observations;
  std::size_t unrecognized_ = 0;  ///< bytes since the last item of a format
};

LogReader::State::State(std::string source, std::string_view format, std::span<const LogFormat> all_known)
    : problems_(std::move(source)) {
  std::vector<std::string> anchors;
  std::vector<std::string> names;
  for (const LogFormat& known : all_known) {
    names.emplace_back(known.name);
    if (!format.empty() && format != known.name) continue;
    formats_.push_back(&known);
    std::visit([&](const auto& reads) { anchors.push_back(fmt::format("(?:{})", reads.anchor)); }, known.reads);
    if (const auto* const lines = std::get_if<LineFormat>(&known.reads)) {
      line_anchors_.add(lines->anchor);
      line_formats_.push_back({.format = &known, .reader = lines->open()});
    } else if (const auto* const json = std::get_if<JsonFormat>(&known.reads)) {
      value_anchors_.add(json->anchor);
      value_formats_.push_back(&known);
    }
  }
  if (formats_.empty() && !format.empty()) {
    const std::string_view near = nearest(format, names);
    problems_.add({.key = "format",
                   .text = fmt::format("\"{}\" is no known format", format),
                   .suggestion = near.empty() ? std::string(list_formats) : fmt::format("did you mean {}?", near)});
    problems_.raise();
  }
  const std::string any = fmt::format("{}", fmt::join(anchors, "|"));
  anything_.emplace("(?m)" + any, byte_options());
  beginnings_.emplace(fmt::format("(?m){}|{}", json_anchor, any), byte_options());
  if (!beginnings_->ok()) throw std::logic_error(beginnings_->error());
  line_anchors_.compile();
  value_anchors_.compile();
}

void LogReader::State::add(std::string_view bytes) {
  if (!bytes.empty()) ends_in_line_ = bytes.back() != '\n';
  while (!bytes.empty()) {
    const std::string_view slice = bytes.substr(0, slice_bytes);
    binary_ = binary_ || slice.find('\0') != std::string_view::npos;
    escapes_.append(slice, arrived_);
    release(false);
    unrecognized_ += slice.size();
    scan(false);
    if (unrecognized_ > max_unrecognized_bytes) reject_endless();
    bytes.remove_prefix(slice.size());
  }
}

/// Passes on what arrived: of a log whose lines are wrapped whole lines, unwrapped.
void LogReader::State::release(bool last) {
  if (!wrapping_) {
    if (!last && arrived_.size() < wrapping_sample_bytes) return;
    wrapping_ = wrapping_of(arrived_);
  }
  if (*wrapping_ == Wrapping::none) {
    buffer_ += arrived_;
    arrived_.clear();
    return;
  }
  std::string_view text = arrived_;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !last && text.size() <= max_line_bytes) break;
    const std::size_t size = std::min(end == std::string_view::npos ? end : end + 1, text.size());
    append_unwrapped(*wrapping_, text.substr(0, size), buffer_);
    text.remove_prefix(size);
  }
  arrived_.erase(0, arrived_.size() - text.size());
}

LogContents LogReader::State::finish() {
  release(true);
  scan(true);
  if (table_) end_table();
  for (const Lines& lines : line_formats_) {
    if (!lines.found) continue;
    taken([&] {
      lines.reader->finish(contents_);
      return true;
    });
  }
  contents_.lines = line_ - (ends_in_line_ ? 0 : 1);
  for (Problem& problem : table_problems_) {
    if (contents_.observations.empty()) {
      problems_.add(std::move(problem));
    } else {
      warn_once(contents_, "W18", problem.line, fmt::format("ignored a table: {}: {}", problem.key, problem.text));
    }
  }
  if (contents_.format.empty() && problems_.empty()) reject_unknown();
  problems_.raise();
  std::stable_sort(contents_.observations.begin(), contents_.observations.end(),
                   [](const Observation& a, const Observation& b) { return a.line < b.line; });
  return std::move(contents_);
}

void LogReader::State::scan(bool last) {
  if (at_start_ && (last || buffer_.size() >= byte_order_mark.size())) {
    if (buffer_.starts_with(byte_order_mark)) buffer_.erase(0, byte_order_mark.size());
    at_start_ = false;
  }
  const std::size_t last_end = buffer_.rfind('\n');
  complete_ = last ? buffer_.size() : last_end == std::string::npos ? 0 : last_end + 1;
  while (step(last)) {
  }
  buffer_.erase(0, position_);
  no_value_before_ -= std::min(no_value_before_, position_);
  position_ = 0;
}

/// Examines the next item; returns false if that needs more bytes.
bool LogReader::State::step(bool last) {
  if (value_) return look_for_end_of_value(last);
  if (in_dull_line_) return skip_rest_of_line();
  if (position_ >= complete_) return look_at_unfinished_line();
  if (table_) {
    look_at_row();
    return true;
  }
  if (of_cut_value_) look_at_cut_value();
  if (may_begin_value()) {
    value_.emplace();
    return true;
  }
  re2::StringPiece found;
  if (!beginnings_->Match(buffer_, position_, complete_, RE2::UNANCHORED, &found, 1)) {
    advance(complete_ - position_);
    return true;
  }
  const auto at = static_cast<std::size_t>(found.data() - buffer_.data());
  const std::size_t end_before = at == 0 ? std::string::npos : buffer_.rfind('\n', at - 1);
  if (end_before != std::string::npos && end_before >= position_) advance(end_before + 1 - position_);
  look_at_line(rest().substr(0, rest().find('\n')));
  return true;
}

/// A member of an object whose beginning was cut off begins a value: its bracket is put before it.
void LogReader::State::look_at_cut_value() {
  const std::string_view line = shown(rest().substr(0, rest().find('\n')));
  if (begins_member(line)) {
    buffer_.insert(position_, 1, '{');
    ++complete_;
    opened_ = true;
  } else {
    of_cut_value_ = line.find_first_not_of(" \t}],") == std::string_view::npos;
  }
}

bool LogReader::State::skip_rest_of_line() {
  const std::size_t end = rest().find('\n');
  in_dull_line_ = end == std::string_view::npos;
  advance(in_dull_line_ ? rest().size() : end + 1);
  return !in_dull_line_;
}

bool LogReader::State::look_at_unfinished_line() {
  if (rest().size() <= max_line_bytes) return false;
  if (may_begin_value()) {
    value_.emplace();
  } else {
    ++contents_.skipped_lines;
    in_dull_line_ = true;
  }
  return true;
}

bool LogReader::State::may_begin_value() const {
  return position_ >= no_value_before_ && begins_value(rest().substr(0, rest().find('\n')));
}

bool LogReader::State::look_for_end_of_value(bool last) {
  const JsonExtent::Found found = rest().size() > max_json_bytes ? JsonExtent::Found::no_value : value_->look(rest());
  if (found == JsonExtent::Found::nothing_yet && !last) return false;
  const bool opened = std::exchange(opened_, false);
  if (found == JsonExtent::Found::nothing_yet && offer_cut_value(rest())) {
    value_.reset();
    advance(rest().size());
    return true;
  }
  const std::size_t size = found == JsonExtent::Found::end ? value_->size() : 1;
  value_.reset();
  const std::size_t line_end = rest().find('\n', size);
  const bool dull = line_end != std::string_view::npos && !RE2::PartialMatch(rest().substr(0, line_end), *anything_);
  if (found == JsonExtent::Found::end && (dull || offer_value(rest().substr(0, size)))) {
    advance(size);
    in_dull_line_ = true;
  } else {
    no_value_before_ = position_ + size;
    if (opened) {
      buffer_.erase(position_, 1);
      --complete_;
      --no_value_before_;
      of_cut_value_ = false;
    }
  }
  return true;
}

/// A row that is not one of the table ends it, and is looked at again.
void LogReader::State::look_at_row_of_whole(std::string_view line) {
  if (is_ruling(line)) {
    in_dull_line_ = true;
    return;
  }
  std::vector<std::string> cells = table_cells(line, table_->layout, table_->columns.size());
  if (cells.size() != table_->columns.size()) return end_table();
  if (table_->rows.size() == max_table_rows) {
    Table rest = *table_;
    rest.rows.clear();
    end_table();
    table_ = std::move(rest);
  }
  in_dull_line_ = true;
  if (offer_line(line) || cells == table_->columns) return;
  table_->rows.push_back({.cells = std::move(cells), .line = line_});
}

void LogReader::State::end_table() {
  const Table table = *std::exchange(table_, std::nullopt);
  if (table.whole == nullptr || table.rows.empty()) return;
  try {
    const std::size_t before = contents_.observations.size();
    table.whole->read(table.columns, table.rows, contents_);
    if (contents_.observations.size() > before) claimed(*table.format, [] { return true; });
  } catch (const RejectedRecord& rejected) {
    table_problems_.insert(table_problems_.end(), rejected.problems().begin(), rejected.problems().end());
  }
}

void LogReader::State::look_at_row() {
  const std::string_view line = rest().substr(0, rest().find('\n'));
  if (table_->whole != nullptr) return look_at_row_of_whole(shown(line));
  const std::vector<std::string> cells = csv_cells(shown(line));
  if (cells.size() != table_->columns.size()) {
    if (!table_->begun && cells.size() > 1) {
      warn_once(contents_, "W18", line_,
                fmt::format("ignored a table of {} columns whose first row has {} cells", table_->columns.size(),
                            cells.size()));
    }
    table_.reset();
    return;
  }
  table_->begun = true;
  if (cells != table_->columns) {
    claimed(*table_->format, [&] {
      table_->csv->row(table_->columns, cells, line_, contents_);
      return true;
    });
  }
  in_dull_line_ = true;
}

/// A line with an anchor of some format.
void LogReader::State::look_at_line(std::string_view line) {
  if (may_begin_value()) {
    value_.emplace();
    return;
  }
  in_dull_line_ = true;
  if (line.size() > max_line_bytes) {
    ++contents_.skipped_lines;
  } else if (!offer_line(shown(line)) && position_ >= no_value_before_) {
    offer_header(shown(line));
  }
}

void LogReader::State::advance(std::size_t bytes) {
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(position_);
  line_ += std::count(begin, begin + static_cast<std::ptrdiff_t>(bytes), '\n');
  position_ += bytes;
}

bool LogReader::State::offer_line(std::string_view line) {
  const std::vector<int> matching = line_anchors_.in(line);
  return std::any_of(matching.begin(), matching.end(), [&](int index) {
    Lines& lines = line_formats_[static_cast<std::size_t>(index)];
    const bool taken = claimed(*lines.format, [&] { return lines.reader->line(line, line_, contents_); });
    lines.found = lines.found || taken;
    return taken;
  });
}

bool LogReader::State::offer_value(std::string_view text) {
  const std::vector<int> matching = value_anchors_.in(text);
  if (matching.empty()) return false;
  const std::optional<nlohmann::ordered_json> value = parse_value(text);
  if (!value) return false;
  const bool read = std::any_of(matching.begin(), matching.end(), [&](int index) {
    const LogFormat& format = *value_formats_[static_cast<std::size_t>(index)];
    const auto& json = std::get<JsonFormat>(format.reads);
    return json.claims(*value) && claimed(format, [&] {
             json.read(*value, line_, contents_);
             return true;
           });
  });
  if (!read) note_resembled(text, matching);
  return read;
}

/// The end of the log cut the value: what is complete of it is read, if a format has it.
bool LogReader::State::offer_cut_value(std::string_view text) {
  const std::optional<std::string> whole = completed(text);
  if (!whole) return false;
  const LogContents before = contents_;
  on_trial_ = true;
  bool read = false;
  try {
    read = offer_value(*whole);
  } catch (const RejectedRecord&) {
    contents_ = before;
  }
  on_trial_ = false;
  return read;
}

/// Notes the first format one of whose keys is a whole one of the value.
void LogReader::State::note_resembled(std::string_view text, std::span<const int> matching) {
  if (resembled_ != nullptr) return;
  for (const int index : matching) {
    const LogFormat& format = *value_formats_[static_cast<std::size_t>(index)];
    const RE2 key(fmt::format("[\"'](?:{})[\"']", std::get<JsonFormat>(format.reads).anchor), byte_options());
    if (!RE2::PartialMatch(text, key)) continue;
    resembled_ = &format;
    resembled_line_ = line_;
    return;
  }
}

void LogReader::State::offer_header(std::string_view line) {
  const TableLayout layout = layout_of(line);
  std::vector<std::string> columns = table_cells(line, layout);
  if (columns.size() < 2) return;
  for (const LogFormat* format : formats_) {
    const auto* const csv = std::get_if<CsvFormat>(&format->reads);
    const auto* const whole = std::get_if<TableFormat>(&format->reads);
    if (whole == nullptr && (csv == nullptr || layout != TableLayout::commas || columns.size() < 3)) continue;
    bool sound = false;  // else its rows would repeat the problem of its header
    if (!taken([&] { return sound = csv != nullptr ? csv->claims(columns) : whole->claims(columns); })) continue;
    if (sound) table_ = {.format = format, .csv = csv, .whole = whole, .layout = layout, .columns = std::move(columns)};
    return;
  }
}

/// Whether `offer` says that its format claimed the item; if so, records it.
template <typename Offer>
bool LogReader::State::claimed(const LogFormat& format, const Offer& offer) {
  const std::string engine_before = contents_.engine;
  if (!taken(offer)) return false;
  unrecognized_ = 0;
  if (!format.engine.empty()) contents_.engine = format.engine;
  if (!engine_before.empty() && contents_.engine != engine_before) {
    problems_.add({.line = line_,
                   .text = fmt::format("a line of {} after lines of {}", contents_.engine, engine_before),
                   .why = "observations of two engines are not comparable",
                   .suggestion = "split the log by engine"});
    problems_.raise();
  }
  const std::string padded = fmt::format(" {} ", contents_.format);
  if (padded.find(fmt::format(" {} ", format.name)) == std::string::npos) {
    contents_.format += contents_.format.empty() ? "" : " ";
    contents_.format += format.name;
  }
  if (contents_.observations.size() > pool_beyond_) {
    pool_neighbors(contents_.observations);
    pool_beyond_ = std::max(max_observations, 2 * contents_.observations.size());
  }
  return true;
}

/// The result of `read`; true if it throws RejectedRecord, which is collected.
template <typename Read>
bool LogReader::State::taken(const Read& read) {
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

void LogReader::State::reject_unknown() {
  const bool empty = line_ == 1 && !ends_in_line_;
  const std::string_view of = formats_.size() == 1 ? formats_.front()->name : "";
  problems_.add({.line = resembled_line_,
                 .text = empty        ? "the file is empty"
                         : binary_    ? "binary, not text"
                         : of.empty() ? "no line of a known format"
                                      : fmt::format("no line of the format {}", of),
                 .why = resembled_ == nullptr
                            ? ""
                            : fmt::format("looks like {}, but has too few of its keys to be sure", resembled_->name),
                 .suggestion = std::string(binary_ ? "save it as text in UTF-8" : list_formats)});
}

void LogReader::State::reject_endless() {
  problems_.add(
      {.line = line_,
       .text = fmt::format("more than {} MiB without a line of a known format", max_unrecognized_bytes >> 20U),
       .why = binary_ ? "binary, not text" : "the input may have no end",
       .suggestion = binary_ ? std::string(list_formats) : "keep the lines of one server, e.g. by grep"});
  problems_.raise();
}

LogReader::LogReader(std::string source, std::string_view format, std::span<const LogFormat> known)
    : state_(std::make_unique<State>(std::move(source), format, known)) {}
LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;
LogReader::~LogReader() = default;

void LogReader::add(std::string_view bytes) { state_->add(bytes); }

LogContents LogReader::finish() { return state_->finish(); }

}  // namespace foredraft::logs
