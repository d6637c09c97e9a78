// SPDX-License-Identifier: Apache-2.0
#include "logs/log_reader.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/documents.hpp"
#include "logs/captions.hpp"
#include "logs/html_tables.hpp"
#include "logs/json_values.hpp"
#include "logs/languages.hpp"
#include "logs/line_fields.hpp"
#include "logs/recognizer.hpp"
#include "logs/setups.hpp"
#include "logs/wrapped_lines.hpp"

namespace foredraft::logs {
namespace {

/// Bytes that are examined at once.
constexpr std::size_t slice_bytes = std::size_t{1} << 18U;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Number of bytes at the beginning from which the wrapping of all lines is determined.
constexpr std::size_t wrapping_sample_bytes = std::size_t{1} << 16U;

/// Whether a line is the title of a console, whatever ran: of the tables of AIPerf, GuideLLM, EvalScope and SGLang,
/// between rulings ("==== Serving Benchmark Result ====", "= PERFORMANCE OVERVIEW"), or of a logger whose message is
/// what follows.
bool is_title(std::string_view line) {
  static const RE2 title(
      R"(.*\| LLM Metrics.*|Benchmarks .*:|Benchmarking summary:|Input lens: .*|\x{2139} .*|={8,} ?[\w ]+ ?={8,}|= [A-Z][A-Z &]+|\W*\d+[-:/]\d\d.*\d:\d\d.*\b(?:INFO|DEBUG|WARNING)\b\W*)");
  return RE2::FullMatch(piece(line), title);
}

/// The words before a progress bar, "with MTP: " of "with MTP: 100%|####| 9/9 [...]"; nullopt for other lines.
std::optional<std::string_view> name_of_progress(std::string_view line) {
  static const RE2 bar(R"([^|%]*?(\d{1,3})%\|[^|]*\| *\d+/\d+ \[.*)");
  re2::StringPiece percent;
  if (line.find("%|") == std::string_view::npos || !RE2::FullMatch(piece(line), bar, &percent)) return std::nullopt;
  return line.substr(0, static_cast<std::size_t>(percent.data() - line.data()));
}

/// Whether a line is one of a list, "- 40 tok/s", "2. MTP", of a table, or has the options of a command: it stands
/// between the words that lead a list or a table and its other lines.
bool is_item(std::string_view line) {
  static const RE2 mark(
      R"([ \t]*(?:[-*+]|\x{2022}|\d{1,2}[.)])[ \t].*|[ \t]*(?:-[a-z-]|\$ ).*|.* --[a-z].*|[A-Za-z][\w ()/.-]{0,48}: +\d.*|[|\x{2502}\x{2503}].*)");
  return RE2::FullMatch(piece(line), mark);
}

/// Whether marks around a line make it the name of what is below: "[with MTP]", "--- baseline ---".
bool is_marked(std::string_view line) {
  static const RE2 marked(R"(\[[^\[\]]+\]:?|([-=#*]{2,}|>>+) .*[^\s>*=#-].*)");
  return RE2::FullMatch(piece(line), marked);
}

/// "# HELP engine:accepted The drafts of speculative decoding.": every server has it, with and without speculation.
bool is_comment_of_metric(std::string_view line) {
  static const RE2 comment(R"(# (?:HELP|TYPE|UNIT) \w*[:_][\w:]*(?: .*)?)");
  return line.starts_with("# ") && RE2::FullMatch(piece(line), comment);
}

/// Whether a line says nothing of the runs around it: a caption may be above it.
bool says_nothing(std::string_view line) {
  return is_title(line) || name_of_progress(line) || is_comment_of_metric(line);
}

/// The comment behind a command, "eagle3, K = 3" of "$ curl host/metrics  # eagle3, K = 3", or the arm that names a
/// progress bar, else the line itself.
std::string_view caption_in(std::string_view line) {
  if (const auto name = name_of_progress(line); name && arm_in_caption(*name)) return trimmed(*name);
  if (!line.starts_with("$ ") && !line.starts_with("curl ")) return line;
  const std::size_t comment = line.rfind(" # ");
  return comment == std::string_view::npos ? line : trimmed(line.substr(comment + 3));
}

}  // namespace

/// Cuts the bytes of a log into lines and values.
struct LogReader::State {
 public:
  State(std::string source, std::string_view format, std::span<const LogFormat> known);

  void add(std::string_view bytes);
  LogContents finish();

 private:
  void release(bool last);
  void scan(bool last);
  bool step(bool last);
  bool goes_on();
  bool skip_rest_of_line();
  bool look_at_unfinished_line();
  bool look_for_end_of_value(bool last);
  bool unwrap_texts(std::size_t size, bool dull);
  bool skip_cut_line();
  void look_at_cut_value();
  void skip_member_name();
  void look_at_line(std::string_view line);

  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(position_); }
  [[nodiscard]] std::string_view line() const { return rest().substr(0, rest().find('\n')); }
  [[nodiscard]] bool may_begin_value() const;
  void advance(std::size_t bytes);
  void note_caption(std::string_view passed);
  void note_sections(std::string_view passed);
  void note_underlined(std::string_view text, bool names, bool leads);

  Recognizer formats_;

  TextEncoding encoding_;
  EscapeFilter escapes_;
  std::string arrived_;                      ///< before lines are unwrapped
  std::optional<Unwrapper> unwrapper_ = {};  ///< empty: not yet known how lines are wrapped
  HtmlTables html_ = {};
  std::string buffer_;                    ///< unexamined from `position_` on
  std::size_t position_ = 0;              ///< of the beginning of a line or value, unless `in_dull_line_`
  std::size_t complete_ = 0;              ///< after the last complete line
  std::int64_t line_ = 1;                 ///< line number at `position_`
  std::optional<JsonExtent> value_ = {};  ///< begins at `position_`
  std::size_t words_ = 0;                 ///< bytes of its line before it
  std::size_t no_value_before_ = 0;       ///< up to here no value begins that a format claims
  bool goes_on_ = false;                  ///< the previous item belonged to a format
  bool in_dull_line_ = false;             ///< the rest of this line is ignored
  bool at_start_ = true;
  bool of_cut_value_ = true;    ///< all lines so far are of a value whose beginning was cut off
  bool opened_ = false;         ///< a bracket that is not in the log is at `position_`
  bool ends_in_line_ = false;   ///< the last line has no end yet
  std::string caption_ = {};    ///< for the next table: see note_caption()
  bool after_gap_ = true;       ///< the last passed line is empty or a fence of code, or there is none
  std::string below_gap_ = {};  ///< the last passed line, if such a line or nothing is above it; see note_sections()
  std::string lead_ = {};       ///< the heading, or the line with a colon at its end, above a list or a command
  std::string label_ = {};      ///< the last line that names an arm
  int below_label_ = 0;         ///< lines below it that are not empty
  bool underlined_ = false;     ///< lead_ stands above a line of "=", as a heading of all that follows does
  bool in_fence_ = false;       ///< of code
  std::string last_ = {};       ///< the last passed line, empty within a fence: else it leads to the one below it
  std::string above_ = {};      ///< the line above, if it may be the head of a table in Markdown
  bool binary_ = false;
  std::size_t unrecognized_ = 0;  ///< bytes since the last item of a format
};

LogReader::State::State(std::string source, std::string_view format, std::span<const LogFormat> known)
    : formats_(std::move(source), format, known) {}

void LogReader::State::add(std::string_view bytes) {
  if (!bytes.empty()) ends_in_line_ = bytes.back() != '\n';
  while (!bytes.empty()) {
    const std::string_view slice = bytes.substr(0, slice_bytes);
    std::string decoded;
    const std::string_view text = encoding_.utf8(slice, decoded);
    binary_ = binary_ || text.find('\0') != std::string_view::npos;
    escapes_.append(text, arrived_);
    release(false);
    unrecognized_ += slice.size();
    scan(false);
    if (formats_.took_something()) unrecognized_ = 0;
    if (unrecognized_ > max_unrecognized_bytes) {
      formats_.fail(
          {.line = line_,
           .text = fmt::format("more than {} MiB without a line of a known format", max_unrecognized_bytes >> 20U),
           .why = binary_ ? "binary, not text" : "the input may have no end",
           .suggestion = binary_ ? "run `foredraft list formats`" : "keep the lines of one server, e.g. by grep"});
    }
    bytes.remove_prefix(slice.size());
  }
}

/// Passes on the received bytes as whole lines, unwrapped and with the words of tables in English.
void LogReader::State::release(bool last) {
  if (!unwrapper_) {
    if (!last && arrived_.size() < wrapping_sample_bytes) return;
    unwrapper_.emplace(arrived_);
  }
  std::string_view text = arrived_;
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !last && text.size() <= max_line_bytes) break;
    const std::size_t size = std::min(end == std::string_view::npos ? end : end + 1, text.size());
    unwrapper_->append(text.substr(0, size), lines);
    text.remove_prefix(size);
  }
  std::string tables;
  html_.append(lines, tables);
  if (last) html_.finish(tables);
  append_in_english(tables, buffer_);
  arrived_.erase(0, arrived_.size() - text.size());
}

/// Drops times that no engine reaches, such as the size of a cache that was read as a speed, and names them.
void drop_impossible_speeds(LogContents& contents) {
  constexpr double least_ms = 0.02, most_together = 1e6;
  for (Observation& one : contents.observations) {
    ObservedTimes& times = one.times;
    const bool each = times.tpot_ms && *times.tpot_ms < least_ms;
    const bool together = times.output_tokens_per_s.value_or(0.0) > most_together;
    if (!each && !together) continue;
    const double speed = each ? 1000.0 / *times.tpot_ms : *times.output_tokens_per_s;
    if (each) times.tpot_ms.reset();
    if (together) times.output_tokens_per_s.reset();
    contents.warnings.push_back({.code = "W18",
                                 .line = one.line,
                                 .message = fmt::format("{:.7g} tok/s is not used: no engine is so fast", speed)});
  }
}

LogContents LogReader::State::finish() {
  arrived_ += encoding_.left();
  release(true);
  scan(true);
  Problem nothing{.text = ""};
  if (line_ == 1 && !ends_in_line_) {
    nothing.text = "the file is empty";
  } else if (binary_) {
    nothing.text = "binary, not text";
  }
  if (binary_) nothing.suggestion = "save it as text in UTF-8";
  formats_.note_containers(unwrapper_->containers());
  LogContents contents = formats_.finish(line_ - (ends_in_line_ ? 0 : 1), std::move(nothing));
  drop_impossible_speeds(contents);
  return contents;
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
  const std::size_t examined = position_ - words_;
  buffer_.erase(0, examined);
  no_value_before_ -= std::min(no_value_before_, examined);
  position_ = words_;
}

/// Examines the next item; returns false if that needs more bytes.
bool LogReader::State::step(bool last) {
  if (value_) return look_for_end_of_value(last);
  if (in_dull_line_) return skip_rest_of_line();
  if (position_ >= complete_) return look_at_unfinished_line();
  if (formats_.tables().in_table()) {
    in_dull_line_ = formats_.row(shown(line()), line_);
    return true;
  }
  if (goes_on_ && goes_on()) return true;
  if (of_cut_value_ && skip_cut_line()) return true;
  if (of_cut_value_) look_at_cut_value();
  skip_member_name();
  if (may_begin_value()) {
    value_.emplace();
    return true;
  }
  re2::StringPiece found;
  if (!formats_.anchors().beginnings->Match(buffer_, position_, complete_, RE2::UNANCHORED, &found, 1)) {
    advance(complete_ - position_);
    return true;
  }
  const auto at = static_cast<std::size_t>(found.data() - buffer_.data());
  const std::size_t end_before = at == 0 ? std::string::npos : buffer_.rfind('\n', at - 1);
  if (end_before != std::string::npos && end_before >= position_) advance(end_before + 1 - position_);
  look_at_line(line());
  return true;
}

/// True if the next line is like the item before it, which belonged to a format.
bool LogReader::State::goes_on() {
  const std::size_t end = std::min(rest().find('\n'), rest().size());
  goes_on_ = position_ >= no_value_before_ && formats_.again(rest().substr(0, end), line_);
  if (!goes_on_) return false;
  caption_.clear();
  after_gap_ = false;
  position_ += end;
  if (position_ < buffer_.size()) {
    ++position_;
    ++line_;
  }
  return true;
}

/// Skips a truncated first line if the second is a member of a value.
bool LogReader::State::skip_cut_line() {
  const std::string_view first = line();
  if (line_ > 1 || position_ + first.size() + 1 >= complete_) return false;
  const std::string_view after = rest().substr(first.size() + 1);
  const bool cut = begins_member(shown(after.substr(0, after.find('\n')))) && !begins_member(shown(first)) &&
                   !may_begin_value() && !RE2::PartialMatch(piece(first), *formats_.anchors().anything);
  if (cut) advance(first.size() + 1);
  return cut;
}

/// Inserts the opening bracket before the first member of an object whose beginning was cut off.
void LogReader::State::look_at_cut_value() {
  const std::string_view line = shown(this->line());
  if (begins_member(line)) {
    buffer_.insert(position_, 1, '{');
    ++complete_;
    opened_ = true;
  } else {
    of_cut_value_ = line.find_first_not_of(" \t}],") == std::string_view::npos;
  }
}

/// Skips the name of an object that was posted without the one around it: `"timings": {`.
void LogReader::State::skip_member_name() {
  const std::string_view line = this->line();
  const bool named = !of_cut_value_ && position_ >= no_value_before_ && begins_member(line);
  const std::size_t value = line.find('{');
  if (named && value != std::string_view::npos && RE2::PartialMatch(piece(line), std::string(posted_member_anchor)))
    position_ += value;
}

bool LogReader::State::skip_rest_of_line() {
  const std::size_t end = rest().find('\n');
  in_dull_line_ = end == std::string_view::npos;
  advance(in_dull_line_ ? rest().size() : end + 1);
  if (formats_.tables().has_rows() || goes_on_) {  // a row or line that was read is none of the next
    caption_.clear();
    below_gap_.clear();
  }
  return !in_dull_line_;
}

bool LogReader::State::look_at_unfinished_line() {
  if (rest().size() <= max_line_bytes) return false;
  if (may_begin_value()) {
    value_.emplace();
  } else {
    formats_.skip_line();
    in_dull_line_ = true;
  }
  return true;
}

bool LogReader::State::may_begin_value() const { return position_ >= no_value_before_ && begins_value(line()); }

bool LogReader::State::look_for_end_of_value(bool last) {
  const JsonExtent::Found found = rest().size() > max_json_bytes ? JsonExtent::Found::no_value : value_->look(rest());
  if (found == JsonExtent::Found::nothing_yet && !last) return false;
  const bool opened = std::exchange(opened_, false);
  const std::size_t words = std::exchange(words_, 0);
  if (found == JsonExtent::Found::nothing_yet && formats_.values().cut(rest(), line_)) {
    value_.reset();
    advance(rest().size());
    return true;
  }
  const std::size_t size = found == JsonExtent::Found::end ? value_->size() : 1;
  value_.reset();
  const std::size_t line_end = rest().find('\n', size);
  const bool dull = line_end != std::string_view::npos &&
                    !RE2::PartialMatch(piece(rest().substr(0, line_end)), *formats_.anchors().anything);
  const bool whole = found == JsonExtent::Found::end;
  const std::string_view before = std::string_view(buffer_).substr(position_ - words, words);
  const bool read = whole && !dull && formats_.value(rest().substr(0, size), line_, caption_, before);
  if (whole && !read && unwrap_texts(size, dull)) return true;
  if (read || (whole && dull && words == 0)) {  // words are of a line that is still to be read
    advance(size);
    in_dull_line_ = true;
    goes_on_ = read;
  } else {
    no_value_before_ = position_ + size;
    position_ -= words;
    if (opened) {
      buffer_.erase(position_, 1);
      --complete_;
      --no_value_before_;
      of_cut_value_ = false;
    }
  }
  return true;
}

/// Replaces a document that contains a log, such as an answer of a log store or a notebook, by the lines of that log.
/// A document below 4 KiB without the anchor of a format is left as it is.
bool LogReader::State::unwrap_texts(std::size_t size, bool dull) {
  constexpr std::size_t size_of_a_line = 4096;
  const std::string_view value = rest().substr(0, size);
  if (dull && size < size_of_a_line) return false;
  std::optional<std::string> texts = formats_.values().texts(value);
  if (!texts) return false;
  const auto lines = [](std::string_view text) { return std::count(text.begin(), text.end(), '\n'); };
  if (rest().substr(size).starts_with('\n') && texts->ends_with('\n')) texts->pop_back();
  const auto missing = lines(value) - lines(*texts);
  if (missing > 0) texts->append(static_cast<std::size_t>(missing), '\n');
  complete_ = std::max(complete_, position_ + size) - size + texts->size();
  buffer_.replace(position_, size, *texts);
  return true;
}

/// Reads a line with the anchor of a format.
void LogReader::State::look_at_line(std::string_view line) {
  skip_member_name();
  if (may_begin_value()) {
    value_.emplace();
    return;
  }
  const auto words = value_after_words(line);
  // An object that begins with a key is more than the speeds that a sentence would have.
  const auto is_alone = [&] { return shown(line.substr(*words + 1)).empty(); };
  if (words && position_ >= no_value_before_ && !(is_alone() && !formats_.anchors().lines.in(line).empty())) {
    position_ += *words;
    words_ = *words;
    value_.emplace();
    return;
  }
  in_dull_line_ = true;
  if (line.size() > max_line_bytes) {
    formats_.skip_line();
  } else if (formats_.line(shown(line), line_, caption_, lead_)) {
    goes_on_ = true;
  } else if (position_ >= no_value_before_) {
    formats_.tables().header(shown(line), line_, caption_, above_, lead_);
  }
}

void LogReader::State::advance(std::size_t bytes) {
  note_caption(std::string_view(buffer_).substr(position_, bytes));
  note_sections(std::string_view(buffer_).substr(position_, bytes));
  formats_.passed(std::string_view(buffer_).substr(position_, bytes));
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(position_);
  line_ += std::count(begin, begin + static_cast<std::ptrdiff_t>(bytes), '\n');
  position_ += bytes;
}

/// Keeps the last passed line that is neither empty nor drawn as the caption; a heading after the headings above it:
/// "# Baseline ## chat".
void LogReader::State::note_caption(std::string_view passed) {
  constexpr std::size_t max_caption = 200, max_head = 4096;
  constexpr int near = 12;  // lines above a run with its title and rulings, empty ones too
  std::size_t depth = 0;    // of the last heading
  for (int lines = 0; lines < near && !passed.empty(); ++lines) {
    const std::size_t end = passed.ends_with('\n') ? passed.size() - 1 : passed.size();
    const std::size_t begin = end == 0 ? 0 : passed.rfind('\n', end - 1) + 1;
    const std::string_view text = caption_in(trimmed(shown(passed.substr(begin, end - begin))));
    passed = passed.substr(0, begin);
    if (lines == 0) above_ = text.starts_with('|') && text.size() <= max_head ? text : std::string_view{};
    if (text.starts_with('|')) continue;
    const bool elided = text.find_first_not_of("[(<.>)] ") == std::string_view::npos;  // "..."
    if (elided || text.starts_with("```") || says_nothing(text) || is_ruling(text)) continue;
    const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
    if (depth > 0 && (level == 0 || level >= depth)) return;
    caption_ = depth > 0 ? fmt::format("{} {}", text, caption_).substr(0, max_caption) : text.substr(0, max_caption);
    depth = level;
    if (depth < 2) return;
  }
}

/// A line of "=" makes the arm that was named above it, perhaps before the words with which a program begins, that of
/// all below, up to the next such line.
void LogReader::State::note_underlined(std::string_view text, bool names, bool leads) {
  constexpr int title = 8;  // lines of a program's name, version, address, model and device
  static const RE2 underline("={3,}");
  if (leads) underlined_ = false;
  if (names && !text.starts_with("= ")) {  // no title of a box, which trtllm-bench draws
    label_ = text;
    below_label_ = 0;
  } else if (RE2::FullMatch(piece(text), underline)) {
    underlined_ = !label_.empty();
    if (underlined_) lead_ = std::exchange(label_, {});
  } else if (!text.empty() && ++below_label_ > title) {
    label_.clear();
  }
}

/// Notes what begins a section: a heading as Markdown has them ("## With MTP"), and a caption or command that an empty
/// line, a fence of code or nothing is above.
void LogReader::State::note_sections(std::string_view passed) {
  constexpr std::size_t max_level = 6, max_words = 200;
  for (std::int64_t number = line_; !passed.empty(); ++number) {
    const std::size_t end = std::min(passed.find('\n'), passed.size());
    const std::string_view text = trimmed(shown(passed.substr(0, end)));
    const std::size_t level = passed.find_first_not_of('#');
    passed.remove_prefix(std::min(end + 1, passed.size()));
    if (is_comment_of_metric(text)) continue;
    const bool fence = text.starts_with("```");
    const bool names = (after_gap_ || is_marked(text)) && may_be_heading(text, text.size()) && arm_in_caption(text);
    const bool leads =
        (names || (level > 0 && level != std::string_view::npos) || text.ends_with(':') || text.ends_with(":**")) &&
        !says_nothing(text);
    in_fence_ = in_fence_ != fence;
    note_underlined(text, names, leads);
    if (fence && in_fence_ && !last_.empty() && !last_.starts_with("$ ")) {
      lead_ = last_;
    } else if (leads || (!lead_.empty() && !underlined_ && !text.empty() && !fence && !in_fence_ && !is_item(text) &&
                         !says_nothing(text) && !is_ruling(text))) {
      lead_ = leads ? text.substr(0, max_words) : std::string_view();
    } else if (text.empty() && last_.starts_with('|') && !in_fence_ && !underlined_) {
      lead_.clear();  // the table ends
    }
    if (!fence) last_ = in_fence_ ? std::string_view() : text.substr(0, max_words);
    const bool heading = level > 0 && level <= max_level && level < text.size() && text[level] == ' ';
    const std::string_view caption = fence ? below_gap_ : after_gap_ ? text : std::string_view();
    if (heading) {
      formats_.heading(text, number, after_gap_);
    } else if (!caption.empty()) {
      if (const std::string words = section_in(caption, fence); !words.empty()) formats_.heading(words, number, true);
    }
    static const RE2 tag("</?[a-z]+>");  // "<details>"
    const bool gap =
        text.empty() || fence || is_ruling(text) || (text.starts_with('<') && RE2::FullMatch(piece(text), tag));
    if (!text.empty()) below_gap_ = after_gap_ && !gap ? text.substr(0, max_words) : std::string_view();
    after_gap_ = gap;
  }
}

LogReader::LogReader(std::string source, std::string_view format, std::span<const LogFormat> known)
    : state_(std::make_unique<State>(std::move(source), format, known)) {}
LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;
LogReader::~LogReader() = default;

void LogReader::add(std::string_view bytes) { state_->add(bytes); }

LogContents LogReader::finish() { return state_->finish(); }

}  // namespace foredraft::logs
