// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// JSON values, and dictionaries as printed by Python, embedded in other text.
namespace foredraft::logs {

/// RE2 for a line that may begin a value: `{`, or `[` at its end or before `{`, `[` or a quote; or `: {` at its end or
/// before a quote.
inline constexpr std::string_view json_anchor = R"(^[ \t]*(?:\{|\[[ \t]*(?:\r?$|[\[{"']))|: \{(?:["']|[ \t]*\r?$))";

/// RE2 of a line that names an object which was posted without the one around it: `"timings": {`.
inline constexpr std::string_view posted_member_anchor = R"(^[ \t]*"timings"[ \t]*:[ \t]*\{[ \t\r]*$)";

/// Whether a line may begin with a value.
[[nodiscard]] bool begins_value(std::string_view line);

/// Position of the object behind the words of a logger or a script: "Generated prediction: {" at the end of a line, or
/// "stats: {"tokens": 80, ...". Nullopt for other lines, and for members of a value.
[[nodiscard]] std::optional<std::size_t> value_after_words(std::string_view line);

/// Finds the end of a value incrementally. Stops at the first byte that cannot be part of a value, so that a brace in a
/// line of text costs no more than that line.
class JsonExtent {
 public:
  enum class Found { end, nothing_yet, no_value };

  /// `text` begins with the value; each call has the bytes of the previous one and more.
  [[nodiscard]] Found look(std::string_view text);

  /// Bytes of the value, including leading blanks, after look() found its end.
  [[nodiscard]] std::size_t size() const { return at_; }

 private:
  [[nodiscard]] bool outside_string(char c);
  [[nodiscard]] bool inside_string(char c);

  std::size_t at_ = 0;
  std::string open_ = {};  ///< open brackets
  char quote_ = 0;         ///< of the string that `at_` is in; 0: none
  bool escaped_ = false;
};

/// Whether a line begins with a member of an object, `"key": `, as in a document whose beginning was cut off.
[[nodiscard]] bool begins_member(std::string_view line);

/// A value whose end was cut off, closed after its last complete member. An incomplete object of a list is a record: it
/// is left out, except for complete objects of a list in it. Nullopt if nothing complete is left.
[[nodiscard]] std::optional<std::string> completed(std::string_view cut);

/// The contents of a string, between its quotes. Unpaired halves of surrogate pairs become question marks.
[[nodiscard]] std::string unescaped(std::string_view escaped);

/// A value of a JsonDocument, in which its members follow it. It refers to the text, so that parsing a record of a log
/// allocates nothing.
class JsonValue {
 public:
  enum class Type : std::uint8_t { null, boolean, number, string, array, object };

  /// Over the members of an array or object.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = JsonValue;
    using difference_type = std::ptrdiff_t;
    using pointer = const JsonValue*;
    using reference = const JsonValue&;

    Iterator() = default;
    explicit Iterator(const JsonValue* at) : at_(at) {}
    const JsonValue& operator*() const { return *at_; }
    const JsonValue* operator->() const { return at_; }
    Iterator& operator++() {
      at_ += at_->span_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const JsonValue* at_ = nullptr;
  };

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_null() const { return type_ == Type::null; }
  [[nodiscard]] bool is_boolean() const { return type_ == Type::boolean; }
  [[nodiscard]] bool is_number() const { return type_ == Type::number; }
  [[nodiscard]] bool is_string() const { return type_ == Type::string; }
  [[nodiscard]] bool is_array() const { return type_ == Type::array; }
  [[nodiscard]] bool is_object() const { return type_ == Type::object; }
  [[nodiscard]] bool is_structured() const { return is_array() || is_object(); }
  [[nodiscard]] bool is_true() const { return is_boolean() && (text_[0] == 't' || text_[0] == 'T'); }
  [[nodiscard]] std::string_view type_name() const;

  /// The value as it is written, a string with its quotes.
  [[nodiscard]] std::string_view source() const { return {text_, text_size_}; }
  /// Its name in an object.
  [[nodiscard]] std::string key() const { return unescaped({key_, key_size_}); }
  /// Of a number; infinite beyond the range of double.
  [[nodiscard]] double number() const;
  /// Of a number: written without a point or an exponent.
  [[nodiscard]] bool is_integer() const;
  /// Of a string.
  [[nodiscard]] std::string string() const { return unescaped(source().substr(1, text_size_ - 2)); }

  // Of an array or object; others have no members.
  [[nodiscard]] Iterator begin() const { return Iterator(this + 1); }
  [[nodiscard]] Iterator end() const { return Iterator(this + span_); }
  [[nodiscard]] bool empty() const { return span_ == 1; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  [[nodiscard]] const JsonValue& front() const { return *begin(); }
  /// The last member of an object with this name, as it is written; null if there is none.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// As find(). Precondition: there is such a member.
  [[nodiscard]] const JsonValue& at(std::string_view key) const { return *find(key); }

 private:
  friend class JsonDocument;

  const char* key_ = nullptr;
  const char* text_ = nullptr;
  std::uint32_t key_size_ = 0;
  std::uint32_t text_size_ = 0;
  std::uint32_t span_ = 1;  ///< number of values: this one and all in it
  Type type_ = Type::null;
};

/// The values of a text. Also accepts the single quotes, True, False and None of Python, a comma after the last member,
/// NaN and Infinity (null), and "..." for omitted values (null) or omitted members of an object.
class JsonDocument {
 public:
  /// Reads the value that begins `text`, after blanks. False if there is none, or if it exceeds max_nesting,
  /// max_json_bytes, 1024 keys of an object or 2^23 values. The value refers to the text; the next call ends it.
  [[nodiscard]] bool read(std::string_view text);

  /// After read() returned true.
  [[nodiscard]] const JsonValue& value() const { return values_.front(); }
  /// Bytes of the value, including leading blanks; if read() returned false, bytes before the error.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Equal for values that have the same names and types in the same order.
  [[nodiscard]] std::uint64_t shape() const { return shape_; }

 private:
  struct Open {
    std::uint32_t value;  ///< index
    std::uint32_t keys;
  };

  bool read_value();
  bool read_key();
  /// Skips dots that replace members of an object; false if there are none.
  bool skip_omission();
  bool read_scalar(JsonValue& value);
  bool read_word(JsonValue& value);
  bool read_number();
  bool read_string();
  bool after_value();
  void skip_blanks();

  std::vector<JsonValue> values_ = {};
  std::vector<Open> open_ = {};
  std::string_view key_ = {};
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t shape_ = 0;
};

}  // namespace foredraft::logs
