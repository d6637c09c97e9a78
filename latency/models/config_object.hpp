// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problems.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::latency {

/// Maximum of a dimension in config.json; products of two fit into 64 bits.
inline constexpr std::int64_t largest_config_number = 10'000'000;

/// Maximum number of entries of a list that is read.
inline constexpr std::size_t largest_config_list = 100'000;

/// The problems of one document. Duplicates, which occur if a key is read twice, are listed once.
class ConfigProblems {
 public:
  explicit ConfigProblems(ProblemList& problems) : problems_(&problems) {}
  void add(Problem problem);
  [[nodiscard]] std::size_t count() const { return found_.size(); }

  void add_read(std::string key) { read_.insert(std::move(key)); }
  /// The keys that were read and had a value.
  [[nodiscard]] const std::set<std::string>& read() const { return read_; }

 private:
  ProblemList* problems_;
  std::set<std::string> read_;
  std::set<std::pair<std::string, std::string>> found_;  ///< keys and texts
};

/// An object of an untrusted document, read key by key. A missing or null key has no value. A value of another type or
/// out of range is a problem, and the fallback is returned.
class ConfigObject {
 public:
  /// `prefix` precedes keys in messages: "" or "text_config.". `object` and `problems` must outlive this object.
  ConfigObject(const nlohmann::ordered_json& object, std::string prefix, ConfigProblems& problems);

  /// The same object, but problems are added to another list.
  [[nodiscard]] ConfigObject reporting_to(ConfigProblems& problems) const { return {*object_, prefix_, problems}; }

  [[nodiscard]] std::size_t size() const;              ///< number of keys
  [[nodiscard]] bool has(std::string_view key) const;  ///< present and not null
  [[nodiscard]] bool is_text(std::string_view key) const;
  [[nodiscard]] bool is_object(std::string_view key) const;
  [[nodiscard]] bool is_list(std::string_view key) const;
  [[nodiscard]] bool is_negative(std::string_view key) const;  ///< a number below 0

  /// An integer from 0 to `maximum`.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key,
                                                  std::int64_t maximum = largest_config_number) const;
  [[nodiscard]] std::int64_t whole_or(std::string_view key, std::int64_t fallback) const;
  /// The integer at `key`. A missing key is a problem, and 1 is returned.
  [[nodiscard]] std::int64_t required(std::string_view key) const;
  /// A real number from 0 to `largest_config_number`.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view key) const;
  [[nodiscard]] std::optional<ConfigObject> object(std::string_view key) const;
  /// A list of objects.
  [[nodiscard]] std::optional<std::vector<ConfigObject>> tables(std::string_view key) const;
  /// The nested objects with their keys; {"group_0": {...}} has one.
  [[nodiscard]] std::vector<std::pair<std::string, ConfigObject>> entries() const;

  void reject(std::string_view key, std::string text, std::string why = {}, std::string suggestion = {}) const;

 private:
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view key) const;
  template <typename Entry>
  [[nodiscard]] std::optional<std::vector<Entry>> list(
      std::string_view key, std::string_view kind, std::optional<Entry> (*read)(const nlohmann::ordered_json&)) const;
  void reject_type(std::string_view key, const nlohmann::ordered_json& value, std::string_view kind) const;

  const nlohmann::ordered_json* object_;
  std::string prefix_;
  ConfigProblems* problems_;
};

// ---- Readers of the config.json of each architecture.

/// Input and output of a reader of one architecture.
struct FamilyReading {
  ConfigObject config;  ///< of the text model
  ModelShape& shape;
  std::vector<std::string>& notes;
  std::int64_t& drafting_layers;  ///< number of layers for multi-token prediction, not part of the shape
};

struct ConfigFamily {
  std::string_view model_type;
  void (*read)(FamilyReading& reading);
  bool named = true;  ///< may be suggested for a config with these keys; false if another family has the same keys
};

/// All readers, one entry per model_type, sorted. To add an architecture, add an entry.
[[nodiscard]] const std::vector<ConfigFamily>& config_families();

}  // namespace foredraft::latency
