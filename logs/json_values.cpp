// SPDX-License-Identifier: Apache-2.0
#include "logs/json_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/documents.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// Maximum number of keys of an object: files of some runs have one object with a key per request.
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

/// Whether this byte of a string is neither an escape, a quote nor a line end.
constexpr std::array<bool, 256> string_bytes = [] {
  std::array<bool, 256> plain{};
  for (bool& byte : plain) byte = true;
  for (const char c : std::string_view("\"'\\\n")) plain.at(static_cast<unsigned char>(c)) = false;
  return plain;
}();

}  // namespace

bool begins_value(std::string_view line) {
  const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_blanks();
  if (!line.starts_with('[')) return line.starts_with('{');
  line.remove_prefix(1);
  skip_blanks();
  return line.empty() || line == "\r" || std::string_view("[{\"'").find(line.front()) != std::string_view::npos;
}

std::optional<std::size_t> value_after_words(std::string_view line) {
  const std::size_t brace = line.find_first_of("\"'{");
  if (brace == std::string_view::npos || line[brace] != '{' || !line.substr(0, brace).ends_with(": "))
    return std::nullopt;
  const std::string_view behind = trimmed(line.substr(brace + 1));
  if (behind.starts_with('"') || behind.starts_with('\'')) return brace;
  const bool is_member = trimmed(line).find(' ') == trimmed(line.substr(0, brace)).size();  // without quotes
  return behind.empty() && !is_member ? std::optional(brace) : std::nullopt;
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
    // A record of a list that is not complete is left out, except for complete records of a list in it.
    const bool in_record = open.find("[{") != std::string::npos && !(open.ends_with("[{[") && last == '}');
    if (open.empty() || in_record || (open.back() == '[' && last != '}')) return;
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
  if (kept == 0) return std::nullopt;
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

namespace {

/// The number of the four hexadecimal digits that begin `digits`, taken from it; nullopt if there are fewer.
std::optional<unsigned> take_code_unit(std::string_view& digits) {
  constexpr std::size_t count = 4;
  unsigned code = 0;
  const std::string_view four = digits.substr(0, count);
  const auto [end, error] = std::from_chars(four.data(), four.data() + four.size(), code, 16);
  if (error != std::errc{} || end != four.data() + count) return std::nullopt;
  digits.remove_prefix(count);
  return code;
}

/// The code point of an escape whose digits begin `rest`, taken from it with those of the second half of a pair; a
/// question mark if it is invalid.
unsigned take_code_point(std::string_view& rest) {
  const auto is_half = [](unsigned code, unsigned first) { return code >= first && code < first + 0x400; };
  const unsigned code = take_code_unit(rest).value_or('?');
  if (!is_half(code, 0xD800) && !is_half(code, 0xDC00)) return code;
  std::string_view next = rest;
  if (is_half(code, 0xD800) && next.starts_with("\\u")) {
    next.remove_prefix(2);
    const auto second = take_code_unit(next);
    if (second && is_half(*second, 0xDC00)) {
      rest = next;
      return 0x10000 + ((code - 0xD800) << 10U) + (*second - 0xDC00);
    }
  }
  return '?';
}

}  // namespace

std::string unescaped(std::string_view escaped) {
  std::string text;
  text.reserve(escaped.size());
  while (!escaped.empty()) {
    const std::size_t next = std::min(escaped.find('\\'), escaped.size());
    text += escaped.substr(0, next);
    if (next + 1 >= escaped.size()) break;
    const char c = escaped[next + 1];
    escaped.remove_prefix(next + 2);
    if (c == 'u') {
      append_code_point(take_code_point(escaped), text);
      continue;
    }
    constexpr std::string_view letters = "ntrbf";
    constexpr std::string_view meanings = "\n\t\r\b\f";
    const std::size_t letter = letters.find(c);
    text += letter == std::string_view::npos ? c : meanings[letter];
  }
  return text;
}

std::string_view JsonValue::type_name() const {
  constexpr std::array<std::string_view, 6> names{"null", "boolean", "number", "string", "array", "object"};
  return names.at(static_cast<std::size_t>(type_));
}

double JsonValue::number() const {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text_, text_ + text_size_, value);
  return error == std::errc{} ? value : std::strtod(std::string(source()).c_str(), nullptr);
}

bool JsonValue::is_integer() const { return is_number() && source().find_first_of(".eE") == std::string_view::npos; }

const JsonValue* JsonValue::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const JsonValue* found = nullptr;
  for (const JsonValue& member : *this) {
    if (std::string_view(member.key_, member.key_size_) == key) found = &member;
  }
  return found;
}

namespace {

/// Maximum number of values of a document, which take 256 MiB.
constexpr std::size_t max_values = std::size_t{1} << 23U;

struct Word {
  std::string_view text;
  JsonValue::Type type;
};
constexpr std::array<Word, 10> bare_words{{{"...", JsonValue::Type::null},
                                           {"true", JsonValue::Type::boolean},
                                           {"false", JsonValue::Type::boolean},
                                           {"null", JsonValue::Type::null},
                                           {"True", JsonValue::Type::boolean},
                                           {"False", JsonValue::Type::boolean},
                                           {"None", JsonValue::Type::null},
                                           {"NaN", JsonValue::Type::null},
                                           {"nan", JsonValue::Type::null},
                                           {"Infinity", JsonValue::Type::null}}};

bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }

/// A hash of `text`, `type` and the hash before it, for shape(); not cryptographic.
std::uint64_t mixed(std::uint64_t before, std::string_view text, std::uint64_t type) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = (before ^ (type + 8 * text.size())) * factor;
  while (!text.empty()) {
    std::uint64_t bytes = 0;
    const std::size_t size = std::min(text.size(), sizeof bytes);
    std::memcpy(&bytes, text.data(), size);
    hash = (hash ^ (hash >> 29U) ^ bytes) * factor;
    text.remove_prefix(size);
  }
  return hash;
}

}  // namespace

void JsonDocument::skip_blanks() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

bool JsonDocument::read_string() {
  const char quote = *at_++;
  while (true) {
    while (at_ != end_ && string_bytes[static_cast<unsigned char>(*at_)]) ++at_;
    if (at_ == end_ || *at_ == '\n') return false;
    if (*at_++ == quote) return true;
    if (at_[-1] != '\\') continue;  // the other quote
    if (at_ == end_ || *at_ == '\n') return false;
    ++at_;
  }
}

bool JsonDocument::read_number() {
  const auto digits = [&] {
    const char* const begin = at_;
    while (at_ != end_ && is_digit_byte(*at_)) ++at_;
    return at_ != begin;
  };
  if (*at_ == '-') ++at_;
  const char* const begin = at_;
  if (!digits() || (*begin == '0' && at_ - begin > 1)) return false;
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!digits()) return false;
  }
  return true;
}

bool JsonDocument::read_word(JsonValue& value) {
  std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  const bool negative = rest.starts_with("-Infinity");
  if (negative) rest.remove_prefix(1);
  for (const Word& word : bare_words) {
    if (!rest.starts_with(word.text)) continue;
    value.type_ = word.type;
    at_ += word.text.size() + (negative ? 1 : 0);
    return true;
  }
  return false;
}

bool JsonDocument::read_scalar(JsonValue& value) {
  const char* const begin = at_;
  bool sound = false;
  if (*at_ == '"' || *at_ == '\'') {
    value.type_ = JsonValue::Type::string;
    sound = read_string();
  } else if (is_digit_byte(*at_) || (*at_ == '-' && end_ - at_ > 1 && is_digit_byte(at_[1]))) {
    value.type_ = JsonValue::Type::number;
    sound = read_number();
  } else {
    sound = read_word(value);
  }
  value.text_size_ = static_cast<std::uint32_t>(at_ - begin);
  return sound;
}

bool JsonDocument::skip_omission() {
  constexpr std::string_view dots = "...";
  skip_blanks();
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(dots)) return false;
  at_ += dots.size();
  skip_blanks();
  if (at_ != end_ && *at_ == ',') ++at_;
  skip_blanks();
  return true;
}

/// Reads the name of a member and its colon.
bool JsonDocument::read_key() {
  skip_blanks();
  if (at_ == end_ || (*at_ != '"' && *at_ != '\'')) return false;
  if (++open_.back().keys > max_requests_of_a_run) return false;
  const char* const begin = at_;
  if (!read_string()) return false;
  key_ = {begin + 1, static_cast<std::size_t>(at_ - begin) - 2};
  skip_blanks();
  return at_ != end_ && *at_++ == ':';
}

/// Reads a scalar, or the bracket that opens an array or object and the name of its first member.
bool JsonDocument::read_value() {
  skip_blanks();
  if (at_ == end_ || values_.size() == max_values) return false;
  JsonValue value;
  value.key_ = key_.data();
  value.key_size_ = static_cast<std::uint32_t>(key_.size());
  value.text_ = at_;
  const bool opens = *at_ == '{' || *at_ == '[';
  if (opens) {
    value.type_ = *at_++ == '{' ? JsonValue::Type::object : JsonValue::Type::array;
  } else if (!read_scalar(value)) {
    return false;
  }
  shape_ = mixed(shape_, key_, static_cast<std::uint64_t>(value.type_));
  values_.push_back(value);
  key_ = {};
  if (!opens) return after_value();
  if (open_.size() == max_nesting) return false;
  open_.push_back({.value = static_cast<std::uint32_t>(values_.size() - 1), .keys = 0});
  skip_blanks();
  if (value.type_ == JsonValue::Type::object) skip_omission();
  if (at_ != end_ && (*at_ == '}' || *at_ == ']')) return after_value();
  return value.type_ != JsonValue::Type::object || read_key();
}

/// Reads a comma and the name of the next member, or the brackets that close.
bool JsonDocument::after_value() {
  while (!open_.empty()) {
    JsonValue& open = values_[open_.back().value];
    skip_blanks();
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c == ',') {
      skip_blanks();
      if (open.is_object()) skip_omission();
      if (at_ != end_ && (*at_ == '}' || *at_ == ']')) continue;  // an edited document: a comma after the last member
      return !open.is_object() || read_key();
    }
    if (c != (open.is_object() ? '}' : ']')) return false;
    open.span_ = static_cast<std::uint32_t>(values_.size() - open_.back().value);
    open.text_size_ = static_cast<std::uint32_t>(at_ - open.text_);
    shape_ = mixed(shape_, {}, static_cast<std::uint64_t>(c));
    open_.pop_back();
  }
  return true;
}

bool JsonDocument::read(std::string_view text) {
  values_.clear();
  open_.clear();
  key_ = {};
  shape_ = 0;
  at_ = text.data();
  end_ = text.data() + text.size();
  if (text.size() > max_json_bytes) return false;
  bool sound = false;
  do {
    sound = read_value();
  } while (sound && !open_.empty());
  size_ = static_cast<std::size_t>(at_ - text.data());
  return sound;
}

}  // namespace foredraft::logs
