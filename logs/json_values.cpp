// SPDX-License-Identifier: Apache-2.0
#include "logs/json_values.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/documents.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// Maximum number of keys: some files of runs have one key per request in one object.
constexpr std::size_t max_requests_of_a_run = 1024;

/// Whether a value may contain this byte outside its strings and brackets: blanks, digits, signs, and the letters of
/// true, false, null, True, False, None, NaN, Infinity.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view(" \t\r\n,:0123456789+-.eEtrufalsnTFNoaIityd")) {
    plain.at(static_cast<unsigned char>(c)) = true;
  }
  return plain;
}();

/// Whether this byte of a string is neither an escape nor a quote.
constexpr std::array<bool, 256> string_bytes = [] {
  std::array<bool, 256> plain{};
  for (bool& byte : plain) byte = true;
  for (const char c : std::string_view("\"'\\\n")) plain.at(static_cast<unsigned char>(c)) = false;
  return plain;
}();

using Words = std::array<std::pair<std::string_view, std::string_view>, 7>;
constexpr Words python_words{{{"True", "true"},
                              {"False", "false"},
                              {"None", "null"},
                              {"NaN", "null"},
                              {"nan", "null"},
                              {"-Infinity", "null"},
                              {"Infinity", "null"}}};

/// Appends the string that begins at text[at] in JSON syntax; returns its end.
std::size_t append_string(std::string_view text, std::size_t at, std::string& json) {
  const char quote = text[at];
  json += '"';
  for (++at; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      if (text[at] != '\'') json += '\\';
    } else if (text[at] == '"') {
      json += '\\';
    }
    json += text[at];
  }
  json += '"';
  return at + 1;
}

std::string as_json(std::string_view text) {
  std::string json;
  json.reserve(text.size());
  // Where a string or one of the words may begin; the text before it is the same in both syntaxes.
  constexpr std::string_view beginnings = "\"'TFNIn-";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find_first_of(beginnings, at), text.size());
    json += text.substr(at, next - at);
    at = next;
    if (at == text.size()) break;
    if (text[at] == '"' || text[at] == '\'') {
      at = append_string(text, at, json);
      continue;
    }
    const auto* const word = std::find_if(python_words.begin(), python_words.end(), [&](const auto& pair) {
      return text.substr(at, pair.first.size()) == pair.first;
    });
    if (word != python_words.end()) {
      json += word->second;
      at += word->first.size();
    } else {
      json += text[at++];
    }
  }
  return json;
}

std::optional<nlohmann::ordered_json> parsed(std::string_view text) {
  ProblemList problems("");
  nlohmann::ordered_json value = parse_json(text, problems, 1, max_requests_of_a_run);
  if (!problems.empty()) return std::nullopt;
  return value;
}

}  // namespace

bool begins_value(std::string_view line) {
  const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_blanks();
  if (!line.starts_with('[')) return line.starts_with('{');
  line.remove_prefix(1);
  skip_blanks();
  return line.empty() || line == "\r" || std::string_view("[{\"'").find(line.front()) != std::string_view::npos;
}

bool begins_member(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('"') && !line.starts_with('\'')) return false;
  const std::size_t end = line.find(line.front(), 1);
  if (end == std::string_view::npos || end == 1) return false;
  return trimmed(line.substr(end + 1)).starts_with(':');
}

std::optional<std::string> completed(std::string_view cut) {
  std::string open;      // brackets
  std::size_t kept = 0;  // bytes up to the last complete member
  std::string kept_open;
  char last = 0;  // bracket or other byte before
  const auto keep = [&](std::size_t end) {
    if (open.empty() || open.find("[{") != std::string::npos || (open.back() == '[' && last != '}')) return;
    kept = end;
    kept_open = open;
  };
  for (std::size_t at = 0; at < cut.size(); ++at) {
    const char c = cut[at];
    if (c == '"' || c == '\'') {
      for (++at; at < cut.size() && cut[at] != c; ++at) {
        if (cut[at] == '\\') ++at;
      }
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty()) return std::nullopt;
      open.pop_back();
      last = c;
      keep(at + 1);
    } else if (c == ',') {
      keep(at);
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') last = c;
  }
  if (cut.substr(0, kept).find('\n') == std::string_view::npos) return std::nullopt;
  std::string whole(cut.substr(0, kept));
  for (auto bracket = kept_open.rbegin(); bracket != kept_open.rend(); ++bracket) whole += *bracket == '{' ? '}' : ']';
  return whole;
}

/// Whether the value may continue with `c`, which is none of the plain bytes.
bool JsonExtent::outside_string(char c) {
  if (c == '{' || c == '[') {
    open_ += c;
    return open_.size() <= max_nesting;
  }
  if (c == '}' || c == ']') {
    if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return false;
    open_.pop_back();
    return true;
  }
  quote_ = c;
  return c == '"' || c == '\'';
}

/// Whether the string may continue with `c`.
bool JsonExtent::inside_string(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == quote_) {
    quote_ = 0;
  }
  return c != '\n';
}

JsonExtent::Found JsonExtent::look(std::string_view text) {
  while (at_ < text.size()) {
    const std::array<bool, 256>& dull = quote_ == 0 ? plain_bytes : string_bytes;
    // A byte after a backslash is never skipped.
    while (!escaped_ && at_ < text.size() && dull[static_cast<unsigned char>(text[at_])]) ++at_;
    if (at_ == text.size()) break;
    const char c = text[at_++];
    if (!(quote_ == 0 ? outside_string(c) : inside_string(c))) return Found::no_value;
    if (open_.empty()) return quote_ == 0 ? Found::end : Found::no_value;
  }
  return Found::nothing_yet;
}

std::optional<nlohmann::ordered_json> parse_value(std::string_view text) {
  if (std::optional<nlohmann::ordered_json> value = parsed(text)) return value;
  return parsed(as_json(text));
}

}  // namespace foredraft::logs
