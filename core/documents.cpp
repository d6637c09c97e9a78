// SPDX-License-Identifier: Apache-2.0
#include "core/documents.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/readable.hpp"

namespace foredraft {
namespace {

bool check_size(std::string_view text, std::size_t max_bytes, ProblemList& problems) {
  if (text.size() <= max_bytes) return true;
  problems.add({.text = fmt::format("{} bytes", text.size()), .why = fmt::format("must be at most {}", max_bytes)});
  return false;
}

Problem too_deep(std::int64_t line) {
  return {.line = line,
          .text = fmt::format("nested deeper than {} levels", max_nesting),
          .why = "nested tables and lists",
          .suggestion = "remove levels"};
}

/// Position after the string that begins at text[at], with `quotes` quotes at either end and escapes in double quotes.
std::size_t end_of_string(std::string_view text, std::size_t at, std::size_t quotes) {
  const char quote = text[at];
  for (at += quotes; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote && quotes == 1) {
      return at + 1;
    } else if (text[at] == quote) {
      // Up to two quotes may precede the three that end the string; a search beyond them would be quadratic.
      const std::string_view closing = text.substr(at, quotes + 2);
      const std::size_t end = at + std::min(closing.find_first_not_of(quote), closing.size());
      if (end - at >= quotes) return end;
      at = end - 1;
    }
  }
  return text.size();
}

/// Nesting depth of a TOML text, from its tokens.
class TomlDepth {
 public:
  /// Line of the first key or value nested deeper than max_nesting; nullopt if there is none.
  std::optional<std::int64_t> line_too_deep(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = end_of_token(text, at);
      read(text[at]);
      if (depth_ > max_nesting) return line_;
      line_ += std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                          text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
      at = end;
    }
    return std::nullopt;
  }

 private:
  struct Open {
    bool table;
    std::size_t depth;  ///< of the contents of the bracket
  };

  static std::size_t end_of_token(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (c == '#') return std::min(text.find('\n', at), text.size());
    if (c != '"' && c != '\'') return at + 1;
    const bool multi_line = text.size() - at >= 3 && text[at + 1] == c && text[at + 2] == c;
    return end_of_string(text, at, multi_line ? 3 : 1);
  }

  void read(char c) {
    if (c == '\n' && open_.empty()) {
      if (in_header_) header_ = depth_;
      in_header_ = false;
      in_key_ = true;
      depth_ = header_;
    } else if (c == '[' && open_.empty() && in_key_) {
      depth_ = in_header_ ? depth_ + 1 : 1;
      in_header_ = true;
    } else if (c == '[' || c == '{') {
      open_.push_back({c == '{', ++depth_});
      in_key_ = c == '{';
    } else if ((c == ']' || c == '}') && !open_.empty()) {
      open_.pop_back();
      in_key_ = false;
    } else if (c == ',' && !open_.empty()) {
      depth_ = open_.back().depth;
      in_key_ = open_.back().table;
    } else if (c == '=') {
      in_key_ = false;
    } else if (c == '.' && in_key_) {
      ++depth_;
    }
  }

  std::vector<Open> open_;  ///< open brackets of the current value
  std::size_t header_ = 0;  ///< depth of the table of the last header
  std::size_t depth_ = 0;
  std::int64_t line_ = 1;
  bool in_header_ = false;
  bool in_key_ = true;
};

/// The limit (max_nesting or `max_keys`) that a JSON text exceeds.
std::optional<Problem> json_problem(std::string_view text, std::int64_t line, std::size_t max_keys) {
  std::vector<std::size_t> keys;  // number of keys in each open bracket
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at, 1) - 1;
    } else if (c == '\n') {
      ++line;
    } else if (c == '[' || c == '{') {
      keys.push_back(0);
      if (keys.size() > max_nesting) return too_deep(line);
    } else if ((c == ']' || c == '}') && !keys.empty()) {
      keys.pop_back();
    } else if (c == ':' && !keys.empty() && ++keys.back() > max_keys) {
      return Problem{.line = line, .text = fmt::format("more than {} keys in one object", max_keys)};
    }
  }
  return std::nullopt;
}

/// Reads a JSON text up to its first syntax error.
class FirstJsonError final : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    read_ = position;
    token_ = last_token;
    number_ = dynamic_cast<const nlohmann::detail::out_of_range*>(&error) != nullptr;
    return false;
  }

  /// Number of bytes read; the last one is the error. Larger than the text if its end is the error.
  [[nodiscard]] std::size_t read() const { return read_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  /// True if the error is a number outside the range of a double.
  [[nodiscard]] bool number() const { return number_; }

 private:
  std::size_t read_ = 0;
  std::string token_;
  bool number_ = false;
};

/// The syntax error of a text that is not valid JSON.
Problem syntax_problem(std::string_view text, std::int64_t first_line) {
  FirstJsonError error;
  static_cast<void>(nlohmann::ordered_json::sax_parse(text, &error));
  const bool early = error.read() > text.size() || text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  std::size_t at = early ? text.size() : std::max<std::size_t>(error.read(), 1) - 1;
  constexpr std::string_view delimiters = " \t\r\n,:[]{}";
  const bool in_word = !early && delimiters.find(text[at]) == std::string_view::npos;
  if (in_word) at = text.find_last_of(delimiters, at) + 1;  // npos + 1 is 0
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;
  const std::string_view word = text.substr(at, in_word ? text.find_first_of(delimiters, at) - at : 1);
  const std::string why = early            ? "unexpected end of the text"
                          : error.number() ? fmt::format("the number {} is too large", readable(word))
                                           : fmt::format("unexpected \"{}\"", readable(word));
  return {.line = first_line + std::count(before.begin(), before.end(), '\n'),
          .key = "syntax",
          .text = fmt::format("invalid JSON at column {}", at - line_begin + 1),
          .why = why};
}

}  // namespace

bool check_toml_limits(std::string_view text, ProblemList& problems) {
  if (!check_size(text, max_toml_bytes, problems)) return false;
  const auto line = TomlDepth().line_too_deep(text);
  if (line) problems.add(too_deep(*line));
  return !line;
}

bool check_line_limits(std::string_view text, ProblemList& problems) {
  std::int64_t line = 1;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > max_line_bytes) {
      problems.add({.line = line,
                    .text = fmt::format("a line of {} bytes", end),
                    .why = fmt::format("must be at most {}", max_line_bytes)});
      return false;
    }
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
    ++line;
  }
}

namespace {

/// Json: the library's type, which determines the time to find keys.
template <typename Json>
nlohmann::ordered_json parse_within(std::string_view text, ProblemList& problems, std::int64_t first_line,
                                    std::size_t max_keys) {
  nlohmann::ordered_json discarded(nlohmann::ordered_json::value_t::discarded);
  if (!check_size(text, max_json_bytes, problems)) return discarded;
  if (auto problem = json_problem(text, first_line, max_keys)) {
    problems.add(std::move(*problem));
    return discarded;
  }
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  problems.add(syntax_problem(text, first_line));
  return discarded;
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, ProblemList& problems, std::int64_t first_line,
                                  std::size_t max_keys) {
  return parse_within<nlohmann::ordered_json>(text, problems, first_line, max_keys);
}

nlohmann::ordered_json parse_large_json(std::string_view text, ProblemList& problems) {
  return parse_within<nlohmann::json>(text, problems, 1, std::numeric_limits<std::size_t>::max());
}

std::string json_reason(std::string_view what) {
  const std::size_t end = what.starts_with("[json.") ? what.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

template <typename Number>
std::optional<Number> whole_number(const nlohmann::ordered_json& json, Number minimum, Number maximum) {
  const auto in_range = [&](auto value) -> std::optional<Number> {
    if (std::cmp_less(value, minimum) || std::cmp_greater(value, maximum)) return std::nullopt;
    return static_cast<Number>(value);
  };
  if (json.is_number_unsigned()) return in_range(json.get<std::uint64_t>());
  if (json.is_number_integer()) return in_range(json.get<std::int64_t>());
  return std::nullopt;
}

template std::optional<std::int32_t> whole_number(const nlohmann::ordered_json&, std::int32_t, std::int32_t);
template std::optional<std::int64_t> whole_number(const nlohmann::ordered_json&, std::int64_t, std::int64_t);
template std::optional<std::uint64_t> whole_number(const nlohmann::ordered_json&, std::uint64_t, std::uint64_t);

}  // namespace foredraft
