// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/intervals.hpp"

/// Values of JSON answers. Unknown values are null.
namespace foredraft {

inline nlohmann::ordered_json finite_json(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

template <typename Value>
nlohmann::ordered_json value_or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// null for an empty word.
inline nlohmann::ordered_json word_or_null(const std::string& word) {
  return word.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(word);
}

/// A list with what `row` makes of each entry of `range`.
nlohmann::ordered_json list_json(const auto& range, const auto& row) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& entry : range) list.push_back(row(entry));
  return list;
}

/// [low, high]; null unless both are finite.
inline nlohmann::ordered_json interval_json(double low, double high) {
  return std::isfinite(low) && std::isfinite(high) ? nlohmann::ordered_json{low, high}
                                                   : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json interval_json(const Interval& interval) {
  return interval_json(interval.low, interval.high);
}

inline nlohmann::ordered_json interval_json(const std::optional<Interval>& interval) {
  return interval ? interval_json(*interval) : nlohmann::ordered_json(nullptr);
}

/// {"mean", "standard_error", "ci95": [low, high]}; a value that is not finite is null.
inline nlohmann::ordered_json estimate_json(const Estimate& estimate) {
  const Interval interval = normal_interval(estimate);
  return {{"mean", finite_json(estimate.mean)},
          {"standard_error", finite_json(estimate.standard_error)},
          {"ci95", {finite_json(interval.low), finite_json(interval.high)}}};
}

}  // namespace foredraft
