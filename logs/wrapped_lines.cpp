// SPDX-License-Identifier: Apache-2.0
#include "logs/wrapped_lines.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "logs/json_values.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// Minimum number of lines per service name: the first column of a table has a name per row.
constexpr std::size_t lines_of_a_service = 4;

/// `vllm-1  | ` of docker compose, [pod/name/container] of kubectl, the times of kubectl, docker and job logs,
/// journalctl with host and unit, [1,0]<stdout>: of mpirun, (worker pid=42) of Ray. `name`: RE2 of a service's name
/// without a number, or one that nothing matches.
std::string line_prefix(std::string_view name) {
  return fmt::format(
      R"((?:\[\d+,\d+\]<std(?:out|err)>: ?|\((?:[\w.-]+ )*pid=\d+(?:, ip=[\d.]+)?\) )?)"
      R"((?:data: ?)?(?:[ \t]*> ?)*(?:[A-Za-z][\w.-]*[-_]\d+ +\| ?|({}) +\| ?)?(?:> ?|\[pod/[^\]\n]+\] )"
      R"(|(?:[^\t\n]{{1,80}}\t[^\t\n]{{1,80}}\t)?\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d) )"
      R"((?:std(?:out|err) [FP] |\S+ [^\s\[]+\[\d+\]: )?)"
      R"(|[A-Z][a-z]{{2}} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? \S+ [^\s\[:]+(?:\[\d+\])?: )*)",
      name);
}

/// The line without its prefix. `service`: a name without a number may be one; else it is the first cell of a table.
/// `name`: set to that name, if not null.
std::string_view without_prefix(std::string_view line, bool service, std::string* name = nullptr) {
  static const RE2 of_services(line_prefix(R"([A-Za-z][\w.-]*)"), RE2::Latin1);
  static const RE2 pattern(line_prefix(R"([^\x00-\xff])"), RE2::Latin1);
  re2::StringPiece rest = piece(line);
  if (name == nullptr) {
    RE2::Consume(&rest, service ? of_services : pattern);
  } else {
    RE2::Consume(&rest, of_services, name);
  }
  return {rest.data(), rest.size()};
}

/// The line without its number, as editors and `cat -n` show it, or that of its task, which srun puts before it.
std::string_view without_number(std::string_view line, std::int64_t* number = nullptr) {
  static const RE2 pattern(R"([ \t]*(\d{1,9})(?:\t|: ?))", RE2::Latin1);
  re2::StringPiece rest = piece(line);
  std::int64_t found = 0;
  RE2::Consume(&rest, pattern, number == nullptr ? &found : number);
  return {rest.data(), rest.size()};
}

/// Whether the numbers before all lines of a log are those of lines or of tasks, not its first column.
class LineNumbers {
 public:
  void add(std::string_view line) {
    std::int64_t number = 0;
    const std::string_view rest = without_number(line, &number);
    const bool numbered = rest.size() < line.size();
    const bool tab = numbered && line[line.size() - rest.size() - 1] == '\t';
    of_lines_ = of_lines_ && tab && (lines_ == 0 || number == last_ + 1);
    of_tasks_ = of_tasks_ && numbered && !tab;
    if (of_tasks_) tasks_.insert(number);
    last_ = number;
    ++lines_;
  }

  [[nodiscard]] bool found() const {
    constexpr std::size_t fewest = 3;
    return lines_ >= fewest && (of_lines_ || (of_tasks_ && lines_ >= lines_of_a_service * tasks_.size()));
  }

 private:
  std::size_t lines_ = 0;
  std::int64_t last_ = 0;
  std::set<std::int64_t> tasks_ = {};
  bool of_lines_ = true;
  bool of_tasks_ = true;
};

/// Without the marks of a quotation.
std::string_view without_quote(std::string_view line) {
  while (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
  return line;
}

/// Keys whose text is the line: of docker and fluentd, of structured loggers, journalctl, Google Cloud and Loki.
constexpr std::array<std::string_view, 6> line_keys{"log", "message", "msg", "MESSAGE", "textPayload", "line"};

/// The end of the string whose first byte is text[at]: its closing quote, or the end.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '"') {
    at = std::min(text.find_first_of("\"\\", at), text.size());
    if (at < text.size() && text[at] == '\\') at = std::min(at + 2, text.size());
  }
  return at;
}

/// The end of the value that begins at text[at].
std::size_t end_of_member(std::string_view text, std::size_t at) {
  for (std::size_t depth = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = end_of_quoted(text, at + 1);
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}')) break;
    if (c == '}' || c == ']') --depth;
  }
  return std::min(at, text.size());
}

/// The raw text of a line that is wrapped in an object; nullopt for another line.
std::optional<std::string_view> wrapped_text(std::string_view line) {
  const auto skip_blanks = [&](std::size_t at) { return std::min(line.find_first_not_of(" \t", at), line.size()); };
  std::size_t at = skip_blanks(0);
  if (at == line.size() || line[at] != '{') return std::nullopt;
  while (true) {
    at = skip_blanks(at + 1);
    if (at == line.size() || line[at] != '"') return std::nullopt;
    const std::size_t end = end_of_quoted(line, at + 1);
    const std::string_view key = line.substr(at + 1, end - std::min(end, at + 1));
    at = skip_blanks(std::min(end + 1, line.size()));
    if (at == line.size() || line[at] != ':') return std::nullopt;
    at = skip_blanks(at + 1);
    if (at < line.size() && line[at] == '"' && std::ranges::find(line_keys, key) != line_keys.end()) {
      const std::size_t close = end_of_quoted(line, at + 1);
      return close == line.size() ? std::nullopt : std::optional(line.substr(at + 1, close - at - 1));
    }
    at = end_of_member(line, at);
    if (at == line.size() || line[at] != ',') return std::nullopt;
  }
}

void add_texts(const JsonValue& value, std::array<std::string, 2>& texts) {
  for (const JsonValue& member : value) {
    if (member.is_structured()) add_texts(member, texts);
    if (!member.is_string()) continue;
    std::string text = member.string();
    if (!text.ends_with('\n')) text += '\n';
    if (std::ranges::find(line_keys, member.key()) != line_keys.end()) texts[0] += text;
    texts[1] += text;
  }
}

bool is_digit_of_prefix(char c) { return c >= '0' && c <= '9'; }

std::string shape_of(std::string_view prefix) {
  std::string shape;
  for (const char c : prefix) {
    if (!is_digit_of_prefix(c)) {
      shape += c;
    } else if (shape.empty() || shape.back() != '0') {
      shape += '0';
    }
  }
  return shape;
}

/// Without a prefix of this shape; the line itself if it has none.
std::string_view without_shape(std::string_view line, std::string_view shape) {
  std::string_view rest = line;
  for (const char c : shape) {
    if (rest.empty() || (c == '0' ? !is_digit_of_prefix(rest.front()) : rest.front() != c)) {
      // An empty line may lack the blanks at the end of its prefix.
      return trimmed(rest).empty() && c == ' ' ? rest : line;
    }
    rest.remove_prefix(1);
    while (c == '0' && !rest.empty() && is_digit_of_prefix(rest.front())) rest.remove_prefix(1);
  }
  return rest;
}

/// The text before the first rule of a console: "[2026-06-01 10:00:00] [I] ============ Serving Benchmark".
std::string_view before_rule(std::string_view beginning) {
  const std::size_t rule = std::min(beginning.find("========"), beginning.find("--------"));
  if (rule == std::string_view::npos) return {};
  const std::size_t end = rule == 0 ? std::string_view::npos : beginning.rfind('\n', rule - 1);
  const std::string_view prefix = beginning.substr(end + 1, rule - end - 1);
  constexpr std::size_t longest = 120;
  // A prefix has a digit, ends with a blank, and does not draw a table.
  const bool is_prefix = prefix.size() <= longest && prefix.find_first_of("0123456789") != std::string_view::npos &&
                         prefix.find_first_of("|+") == std::string_view::npos && prefix.ends_with(' ');
  return is_prefix ? prefix : std::string_view{};
}

/// The width in bytes at which a terminal broke the lines of a log, 0 if none did: no line is longer, and no line after
/// one of exactly that width begins like the others. Lines of a log begin alike, with a time or a name.
std::size_t terminal_width(std::string_view beginning) {
  constexpr std::size_t narrowest = 60;
  constexpr std::size_t common_beginning = 4;
  std::size_t width = 0;
  std::vector<std::string_view> lines;
  while (!beginning.empty()) {
    const std::size_t end = beginning.find('\n');
    if (end == std::string_view::npos && !lines.empty()) break;  // may be cut
    lines.push_back(shown(beginning.substr(0, end)));
    width = std::max(width, lines.back().size());
    beginning.remove_prefix(std::min(end == std::string_view::npos ? end : end + 1, beginning.size()));
  }
  if (width < narrowest || lines.size() < 2) return 0;
  // The first line may be the rest of a broken one.
  const auto shorter = std::ranges::find_if(lines, [&](std::string_view line) { return line.size() < width; });
  const std::string_view first = lines.end() - shorter > 1 ? *(shorter + 1) : lines.front();
  if (first.size() < common_beginning) return 0;
  const std::string common = shape_of(first.substr(0, common_beginning));
  std::size_t cut = 0, others = 0, alike = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool begins_alike = shape_of(lines[i].substr(0, common_beginning)) == common;
    if (lines[i - 1].size() == width) {
      if (begins_alike) return 0;
      ++cut;
    } else {
      ++others;
      if (begins_alike) ++alike;
    }
  }
  return cut >= 2 && alike >= 2 && 10 * alike >= 9 * others ? width : 0;
}

}  // namespace

std::array<std::string, 2> wrapped_texts(const JsonValue& document) {
  std::array<std::string, 2> texts;
  add_texts(document, texts);
  return texts;
}

Unwrapper::Unwrapper(std::string_view beginning) : width_(terminal_width(beginning)) {
  std::size_t lines = 0, prefixed = 0, of_services = 0, wrapped = 0, shaped = 0, quoted = 0;
  std::set<std::string> names;
  LineNumbers numbers;
  margin_ = std::string_view::npos;
  shape_ = shape_of(before_rule(beginning));
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const bool cut = end == beginning.size() && lines > 0;
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (cut || trimmed(line).empty()) continue;
    ++lines;
    numbers.add(line);
    margin_ = std::min(margin_, line.find_first_not_of(" \t"));
    std::string name;
    if (without_prefix(line, false).size() < line.size()) ++prefixed;
    if (without_prefix(line, true, &name).size() < line.size()) ++of_services;
    if (!name.empty()) names.insert(name);
    if (const auto text = wrapped_text(line)) {
      ++wrapped;
      ends_are_kept_ = ends_are_kept_ || text->ends_with("\\n");
    }
    if (without_shape(line, shape_).size() < line.size()) ++shaped;
    if (line.starts_with('>')) ++quoted;
  }
  const auto nearly_all = [&](std::size_t some) { return lines > 0 && 10 * some >= 9 * lines; };
  services_ = !nearly_all(prefixed) && nearly_all(of_services) &&
              (names.size() == 1 || lines >= lines_of_a_service * names.size());
  wrapping_ = nearly_all(wrapped)                 ? Wrapping::json
              : nearly_all(prefixed) || services_ ? Wrapping::prefix
              : nearly_all(shaped)                ? Wrapping::shape
              : numbers.found()                   ? Wrapping::number
              : lines > 0 && margin_ > 0          ? Wrapping::margin
              : width_ > 0                        ? Wrapping::width
              : quoted > 0                        ? Wrapping::quote
                                                  : Wrapping::none;
}

/// Appends a line, or, if `partial`, a part that continues in the next record: its line end comes later.
void Unwrapper::append_part(std::string_view line, bool partial, std::string& text) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
    owed_ += '\n';
  }
  text += line;
  if (partial) return;
  text += owed_;
  owed_.clear();
}

void Unwrapper::append(std::string_view line, std::string& text) {
  switch (wrapping_) {
    case Wrapping::none:
      text += line;
      return;
    case Wrapping::shape:
      text += without_shape(line, shape_);
      return;
    case Wrapping::number:
      text += without_number(line);
      return;
    case Wrapping::margin:
      text += line.substr(std::min({margin_, line.find_first_not_of(" \t"), line.size()}));
      return;
    case Wrapping::quote:
      text += without_quote(line);
      return;
    case Wrapping::width:
      append_part(line, shown(line).size() == width_, text);
      return;
    case Wrapping::prefix: {
      containers_.add(line);
      const std::string_view rest = without_prefix(line, services_);
      constexpr std::string_view goes_on = " P ";  // of the records of a container runtime
      const bool partial = line.substr(0, line.size() - rest.size()).ends_with(goes_on);
      if (!partial && owed_.empty()) {
        text += rest;
      } else {
        append_part(rest, partial, text);
      }
      return;
    }
    case Wrapping::json:
      append_wrapped(line, text);
  }
}

/// The text of an object around a line.
void Unwrapper::append_wrapped(std::string_view line, std::string& text) {
  const auto wrapped = wrapped_text(line);
  if (!wrapped) {
    text += line;
    return;
  }
  std::string shown_line;
  EscapeFilter().append(unescaped(*wrapped), shown_line);
  constexpr std::size_t least_of_a_part = 4096;  // docker splits at 16 KiB
  const bool partial = ends_are_kept_ && wrapped->size() >= least_of_a_part && !shown_line.ends_with('\n');
  if (partial || !owed_.empty()) return append_part(shown_line, partial, text);
  if (line.ends_with('\n') && !shown_line.ends_with('\n')) shown_line += '\n';
  text += shown_line;
}

}  // namespace foredraft::logs
