// SPDX-License-Identifier: Apache-2.0
#include "logs/wrapped_lines.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>

#include "logs/json_values.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// `vllm-1  | ` of docker compose, [pod/name/container] of kubectl, the times of kubectl and docker, journalctl with
/// host and unit. A name without a number may be the first cell of a table: it is captured.
const RE2& line_prefix() {
  static const RE2 pattern(
      R"((?:> ?)*(?:[A-Za-z][\w.-]*[-_]\d+ +\| ?|([A-Za-z][\w.-]*) +\| ?)?(?:> ?|\[pod/[^\]\n]+\] )"
      R"(|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] |\S+ [^\s\[]+\[\d+\]: )?)"
      R"(|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? \S+ [^\s\[:]+(?:\[\d+\])?: )*)",
      RE2::Latin1);
  return pattern;
}

/// Without its prefix; `name`: of a service without a number.
std::string_view without_prefix(std::string_view line, std::string* name = nullptr) {
  re2::StringPiece rest(line.data(), line.size());
  if (name == nullptr) {
    RE2::Consume(&rest, line_prefix());
  } else {
    RE2::Consume(&rest, line_prefix(), name);
  }
  return {rest.data(), rest.size()};
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

/// The text of a line that is wrapped in an object, as it is written there.
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

}  // namespace

Wrapping wrapping_of(std::string_view beginning) {
  std::size_t lines = 0, prefixed = 0, named = 0, wrapped = 0;
  std::set<std::string> names;
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const bool cut = end == beginning.size() && lines > 0;
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (cut || trimmed(line).empty()) continue;
    ++lines;
    std::string name;
    if (without_prefix(line, &name).size() < line.size()) {
      ++prefixed;
      if (!name.empty()) {
        ++named;
        names.insert(name);
      }
    }
    if (wrapped_text(line)) ++wrapped;
  }
  // The names of a table's first column are as many as its rows.
  constexpr std::size_t lines_of_a_service = 4;
  if (names.size() > 1 && lines < lines_of_a_service * names.size()) prefixed -= named;
  const auto nearly_all = [&](std::size_t some) { return lines > 0 && 10 * some >= 9 * lines; };
  if (nearly_all(wrapped)) return Wrapping::json;
  return nearly_all(prefixed) ? Wrapping::prefix : Wrapping::none;
}

void append_unwrapped(Wrapping wrapping, std::string_view line, std::string& text) {
  if (wrapping == Wrapping::prefix) text += without_prefix(line);
  const auto wrapped = wrapping == Wrapping::json ? wrapped_text(line) : std::nullopt;
  if (wrapped) {
    std::string shown_line = unescaped(*wrapped);
    if (line.ends_with('\n') && !shown_line.ends_with('\n')) shown_line += '\n';
    EscapeFilter().append(shown_line, text);
  } else if (wrapping != Wrapping::prefix) {
    text += line;
  }
}

}  // namespace foredraft::logs
