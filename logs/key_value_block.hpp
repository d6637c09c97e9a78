// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Results printed as one `key: value` a line.
namespace foredraft::logs {

/// The lines of one result.
class KeyValueBlock {
 public:
  /// `line`: where it stands. A key that is there already belongs to the next result: false, and nothing is added.
  bool add(std::string_view key, std::string_view value, std::int64_t line);

  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// Nothing where the key is absent or its value is no such thing.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const;
  [[nodiscard]] std::string_view text(std::string_view key) const;
  /// Values of `prefix` 0, 1, 2 and so on, up to the first that is absent.
  [[nodiscard]] std::vector<double> list(std::string_view prefix) const;
  /// Of the last line.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::map<std::string, std::string, std::less<>> values_ = {};
  std::int64_t line_ = 0;
};

}  // namespace foredraft::logs
