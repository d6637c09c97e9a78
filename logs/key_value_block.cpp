// SPDX-License-Identifier: Apache-2.0
#include "logs/key_value_block.hpp"

#include <fmt/format.h>

#include "logs/line_fields.hpp"

namespace foredraft::logs {

bool KeyValueBlock::add(std::string_view key, std::string_view value, std::int64_t line) {
  if (!values_.emplace(key, value).second) return false;
  line_ = line;
  return true;
}

std::optional<double> KeyValueBlock::real(std::string_view key) const {
  std::string_view value = text(key);
  const std::optional<double> number = take_number(value);
  return number && *number >= 0.0 ? number : std::nullopt;
}

std::optional<std::int64_t> KeyValueBlock::count(std::string_view key) const { return whole(real(key)); }

std::string_view KeyValueBlock::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view{} : found->second;
}

std::vector<double> KeyValueBlock::list(std::string_view prefix) const {
  std::vector<double> numbers;
  while (const std::optional<double> number = real(fmt::format("{}{}", prefix, numbers.size()))) {
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace foredraft::logs
