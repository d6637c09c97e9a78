// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "core/type_kinds.hpp"
#include "logs/line_fields.hpp"
#include "logs/observation.hpp"

/// Documents that the program writes and reads again, by visiting the fields of structs (visit_fields).
namespace foredraft::logs {

/// The properties of one kind of document.
struct DocumentRules {
  std::string_view schema;                            ///< "foredraft.observations/1"
  std::string_view written_by = {};                   ///< ends the error of another schema: ": import writes it"
  std::string_view null_means = {};                   ///< ends the error of a missing key: "not logged"
  std::int64_t smallest_count = 0;                    ///< minimum of whole numbers
  std::span<const std::string_view> later_keys = {};  ///< added to the schema: files written before lack them
};

/// The two keys of a row of a map, which is written as a list of rows; null for other types.
template <typename Map>
inline constexpr std::pair<const char*, const char*> row_keys{nullptr, nullptr};

template <typename Enum>
constexpr const auto& words_of() {
  if constexpr (std::same_as<Enum, Span>) {
    return span_words;
  } else {
    return decoding_words;
  }
}

template <typename T>
nlohmann::ordered_json encoded(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto& words = words_of<T>();
    return std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.first == value; })->second;
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
                       std::same_as<T, std::set<std::string>>) {
    return value;
  } else if constexpr (is_optional<T>) {
    return value ? encoded(*value) : nlohmann::ordered_json(nullptr);
  } else if constexpr (is_vector<T>) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& entry : value) list.push_back(encoded(entry));
    return list;
  } else if constexpr ((row_keys<T>.first != nullptr)) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& [key, entry] : value) rows.push_back({{row_keys<T>.first, key}, {row_keys<T>.second, entry}});
    return rows;
  } else {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    visit_fields(value, [&](const char* name, const auto& field) { object[name] = encoded(field); });
    return object;
  }
}

/// The document on one line. Replaces invalid UTF-8.
inline std::string line_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Reads values by the names of their fields; adds every problem to a list.
class DocumentDecoder {
 public:
  /// `line`: where the document begins in its file; 0: not said.
  DocumentDecoder(const DocumentRules& rules, ProblemList& problems, std::int64_t line = 0)
      : rules_(rules), problems_(problems), line_(line) {}

  void reject(const std::string& path, std::string text, std::string why) {
    problems_.add({.line = line_, .key = path, .text = std::move(text), .why = std::move(why)});
    ++rejected_;
  }

  [[nodiscard]] bool sound() const { return rejected_ == 0; }
  [[nodiscard]] std::size_t rejected() const { return rejected_; }

  template <typename T>
  void decode(const nlohmann::ordered_json& json, const std::string& path, T& value) {
    if constexpr (is_optional<T>) {
      if (!json.is_null()) decode(json, path, value.emplace());
    } else if constexpr (is_vector<T>) {
      decode_list(json, path, [&](const nlohmann::ordered_json& entry, const std::string& at) {
        decode(entry, at, value.emplace_back());
      });
    } else if constexpr (std::same_as<T, std::set<std::string>>) {
      decode_list(json, path, [&](const nlohmann::ordered_json& entry, const std::string& at) {
        std::string text;
        decode(entry, at, text);
        value.insert(std::move(text));
      });
    } else if constexpr ((row_keys<T>.first != nullptr)) {
      decode_list(json, path, [&](const nlohmann::ordered_json& entry, const std::string& at) {
        Keys row(*this, entry, at);
        std::string key;
        row.read(row_keys<T>.first, key);
        row.read(row_keys<T>.second, value[key]);
        row.done();
      });
    } else if constexpr (std::is_class_v<T> && !std::same_as<T, std::string>) {
      Keys keys(*this, json, path);
      visit_fields(value, [&](const char* name, auto& field) { keys.read(name, field); });
      keys.done();
    } else {
      decode_scalar(json, path, value);
    }
  }

  /// Calls `each` with every entry of a list and its path.
  void decode_list(const nlohmann::ordered_json& json, const std::string& path, auto&& each) {
    if (!json.is_array()) return reject(path, json.type_name(), "must be a list");
    for (std::size_t i = 0; i < json.size(); ++i) each(json[i], fmt::format("{}[{}]", path, i));
  }

  /// The keys of one object. Every one is required, except DocumentRules::later_keys; no other is allowed.
  class Keys {
   public:
    Keys(DocumentDecoder& decoder, const nlohmann::ordered_json& json, const std::string& path)
        : decoder_(decoder), json_(json), front_(path.empty() ? "" : path + ".") {
      if (!json.is_object()) decoder.reject(path, json.type_name(), "must be an object");
    }
    [[nodiscard]] std::string path(const std::string& name) const { return front_ + name; }
    const nlohmann::ordered_json* find(const std::string& name) {
      known_.insert(name);
      if (!json_.is_object()) return nullptr;
      const auto found = json_.find(name);
      if (found != json_.end()) return &*found;
      const auto& later = decoder_.rules_.later_keys;
      if (std::ranges::find(later, name) != later.end()) return nullptr;
      decoder_.reject(path(name), "missing",
                      fmt::format("all keys are required; null: {}", decoder_.rules_.null_means));
      return nullptr;
    }
    template <typename T>
    void read(const char* name, T& value) {
      if (const nlohmann::ordered_json* found = find(name)) decoder_.decode(*found, path(name), value);
    }
    /// The name of the schema, which must match the rules.
    void read_schema() {
      std::string schema;
      read("schema", schema);
      const DocumentRules& rules = decoder_.rules_;
      if (decoder_.sound() && schema != rules.schema)
        decoder_.reject("schema", schema, fmt::format("must be {}{}", rules.schema, rules.written_by));
    }
    void done() {
      if (!json_.is_object()) return;
      for (const auto& entry : json_.items()) {
        if (known_.contains(entry.key())) continue;
        decoder_.reject(path(entry.key()), "unknown key", fmt::format("not in {}", decoder_.rules_.schema));
      }
    }

   private:
    DocumentDecoder& decoder_;
    const nlohmann::ordered_json& json_;
    std::string front_;
    std::set<std::string> known_ = {};
  };

 private:
  void decode_scalar(const nlohmann::ordered_json& json, const std::string& path, std::string& value) {
    if (!json.is_string()) return reject(path, json.type_name(), "must be a string");
    value = json.get<std::string>();
  }
  void decode_scalar(const nlohmann::ordered_json& json, const std::string& path, bool& value) {
    if (!json.is_boolean()) return reject(path, json.type_name(), "must be true or false");
    value = json.get<bool>();
  }
  void decode_scalar(const nlohmann::ordered_json& json, const std::string& path, double& value) {
    const double number = json.is_number() ? json.get<double>() : -1.0;
    if (!std::isfinite(number) || number < 0.0)
      return reject(path, json.dump(), "must be a finite number of at least 0");
    value = number;
  }
  template <std::signed_integral T>
  void decode_scalar(const nlohmann::ordered_json& json, const std::string& path, T& value) {
    const auto minimum = static_cast<T>(rules_.smallest_count);
    constexpr auto maximum = static_cast<T>(std::min<std::int64_t>(max_logged_count, std::numeric_limits<T>::max()));
    const std::optional<T> number = whole_number<T>(json, minimum, maximum);
    if (!number)
      return reject(path, json.dump(), fmt::format("must be a whole number from {} to {}", minimum, maximum));
    value = *number;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void decode_scalar(const nlohmann::ordered_json& json, const std::string& path, Enum& value) {
    std::string words;
    for (const auto& [member, word] : words_of<Enum>()) {
      words += (words.empty() ? "" : ", ") + std::string(word);
      if (json == word) {
        value = member;
        return;
      }
    }
    reject(path, json.dump(), "must be one of " + words);
  }

  const DocumentRules& rules_;
  ProblemList& problems_;
  std::int64_t line_;
  std::size_t rejected_ = 0;
};

}  // namespace foredraft::logs
