// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/axis_reader.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numbers.hpp"
#include "experiments/config/table_reader.hpp"

namespace foredraft::experiments {
namespace {

/// Slack for `to`, in steps: a step such as 0.1 is not exact, so `to` is missed by some 1e-16 of the number of steps.
constexpr double round_off = 1e-9;

double step_of(const AxisRange& range) { return range.step.value_or(range.to >= range.from ? 1.0 : -1.0); }

/// The decimal number that was meant.
double rounded(double number) {
  return parse_real(fmt::format("{:.15g}", number)).value_or(number);  // 15 digits of the largest double overflow
}

}  // namespace

std::optional<RangeRefusal> refuse_range(const AxisRange& range) {
  if (!std::isfinite(range.from) || !std::isfinite(range.to)) return RangeRefusal{"from and to must be finite", ""};
  if (range.step && range.factor) return RangeRefusal{"step and factor exclude each other", "leave one out"};
  if (range.factor) {
    const double factor = *range.factor;
    if (!(factor > 0.0 && std::isfinite(factor) && factor != 1.0)) {
      return RangeRefusal{fmt::format("factor {} never arrives", number_text(factor)), "use factor = 2"};
    }
    if (!(range.from > 0.0 && range.to > 0.0)) return RangeRefusal{"a factor needs from and to above 0", "use step"};
    if (range.from != range.to && (factor > 1.0) != (range.to > range.from)) {
      return RangeRefusal{fmt::format("factor {} leads away from {}", number_text(factor), number_text(range.to)),
                          "swap from and to, or invert the factor"};
    }
    return std::nullopt;
  }
  const double step = step_of(range);
  if (!std::isfinite(step)) return RangeRefusal{"step must be finite", ""};
  if (step == 0.0) return RangeRefusal{"step 0 never arrives", "use a positive step, or a list"};
  if (range.from != range.to && (step > 0.0) != (range.to > range.from)) {
    return RangeRefusal{fmt::format("step {} leads away from {}", number_text(step), number_text(range.to)),
                        "swap from and to, or the sign of step"};
  }
  return std::nullopt;
}

double range_count(const AxisRange& range) {
  const double steps = range.factor ? std::log(range.to / range.from) / std::log(*range.factor)
                                    : (range.to - range.from) / step_of(range);
  return std::floor(steps + round_off) + 1.0;
}

std::vector<double> range_values(const AxisRange& range) {
  FOREDRAFT_EXPECT(!refuse_range(range));
  const auto count = static_cast<std::size_t>(range_count(range));
  std::vector<double> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto steps = static_cast<double>(i);
    values.push_back(
        rounded(range.factor ? range.from * std::pow(*range.factor, steps) : range.from + steps * step_of(range)));
  }
  return values;
}

namespace {

/// A range of more values is counted but not listed, and refused.
constexpr double max_axis_values = 1e5;

std::optional<double> number_of(const scenario::Node& node) {
  if (const auto* real = std::get_if<double>(&node.value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*integer);
  return std::nullopt;
}

/// One key of [axes]: a list, or a range of numbers.
class AxisReader {
 public:
  AxisReader(const scenario::Parameter& parameter, std::string key, ProblemList& problems)
      : parameter_(parameter), key_(std::move(key)), problems_(problems) {}

  /// How many values it has, however absurd; nothing where it is wrong. Short ones are listed in `axis`.
  std::optional<double> read(const scenario::Node& node, scenario::Axis& axis) {
    const auto* list = std::get_if<scenario::Array>(&node.value);
    const auto* table = std::get_if<scenario::Mapping>(&node.value);
    if (list == nullptr && table == nullptr) {
      problems_.add(
          {.line = node.line,
           .key = key_,
           .text = "wrong type",
           .why = fmt::format("must be a list or {{ from, to, step or factor }}, is {}", scenario::kind_of(node)),
           .suggestion = "put a single value into [fixed]"});
      return std::nullopt;
    }
    const auto count = list != nullptr ? read_list(node, *list, axis) : read_range(node, *table, axis);
    if (count) refuse_repeats(node, axis);
    return count;
  }

 private:
  std::optional<double> read_list(const scenario::Node& node, const scenario::Array& list, scenario::Axis& axis) {
    if (list.empty()) {
      problems_.add({.line = node.line,
                     .key = key_,
                     .text = "empty axis",
                     .why = "no value means no point",
                     .suggestion = "give at least one value or remove the axis"});
      return std::nullopt;
    }
    bool sound = true;
    for (const scenario::Node& entry : list) {
      if (auto value = scenario::read_value(parameter_, entry, key_, problems_)) {
        axis.values.push_back(std::move(*value));
      } else {
        sound = false;
      }
    }
    return sound ? std::optional(static_cast<double>(list.size())) : std::nullopt;
  }

  std::optional<double> read_range(const scenario::Node& node, const scenario::Mapping& table, scenario::Axis& axis) {
    if (parameter_.type != scenario::ValueType::real && parameter_.type != scenario::ValueType::integer) {
      problems_.add({.line = node.line, .key = key_, .text = "wrong type", .why = "only numbers have ranges"});
      return std::nullopt;
    }
    TableReader reader(table, key_, problems_);
    const auto bound = [&](std::string_view name, bool required) -> std::optional<double> {
      const scenario::Node* entry = required ? reader.require(name, "a range needs from and to") : reader.take(name);
      if (entry == nullptr) return std::nullopt;
      const auto number = number_of(*entry);
      if (!number) {
        problems_.add({.line = entry->line,
                       .key = reader.full_key(name),
                       .text = "wrong type",
                       .why = fmt::format("must be a number, is {}", scenario::kind_of(*entry))});
      }
      return number;
    };
    const auto from = bound("from", true);
    const auto to = bound("to", true);
    const AxisRange range{from.value_or(0), to.value_or(0), bound("step", false), bound("factor", false)};
    static const std::vector<std::string> known{"from", "to", "step", "factor"};
    reader.refuse_unread(known);
    if (!from || !to) return std::nullopt;
    if (const auto refused = refuse_range(range)) {
      problems_.add({.line = node.line,
                     .key = key_,
                     .text = "impossible range",
                     .why = refused->why,
                     .suggestion = refused->suggestion});
      return std::nullopt;
    }
    const double count = range_count(range);
    if (count > max_axis_values) {
      problems_.add({.line = node.line,
                     .key = key_,
                     .text = fmt::format("{:.0f} values", count),
                     .why = fmt::format("a range has at most {:.0f}", max_axis_values),
                     .suggestion = "coarsen its step"});
      return count;
    }
    return list_range(node, range, axis) ? std::optional(count) : std::nullopt;
  }

  bool list_range(const scenario::Node& node, const AxisRange& range, scenario::Axis& axis) {
    for (const double number : range_values(range)) {
      const bool whole = parameter_.type == scenario::ValueType::integer;
      if (whole && number != std::trunc(number)) {
        problems_.add({.line = node.line,
                       .key = key_,
                       .text = fmt::format("invalid {}={}", parameter_.name, number_text(number)),
                       .why = "must be a whole number",
                       .suggestion = "use a whole step or factor, or a list"});
        return false;
      }
      const scenario::Node entry = whole && std::abs(number) < 0x1p63
                                       ? scenario::Node{node.line, static_cast<std::int64_t>(number)}
                                       : scenario::Node{node.line, number};
      auto value = scenario::read_value(parameter_, entry, key_, problems_);
      if (!value) return false;  // one message for a range is enough
      axis.values.push_back(std::move(*value));
    }
    return true;
  }

  void refuse_repeats(const scenario::Node& node, const scenario::Axis& axis) {
    std::vector<scenario::Value> sorted = axis.values;
    std::sort(sorted.begin(), sorted.end());
    const auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
    if (repeated == sorted.end()) return;
    problems_.add({.line = node.line,
                   .key = key_,
                   .text = fmt::format("repeats {}", scenario::to_text(*repeated)),
                   .why = "each value of an axis is one point"});
  }

  const scenario::Parameter& parameter_;
  std::string key_;
  ProblemList& problems_;
};

}  // namespace

std::optional<double> read_axis(const scenario::Node& node, const std::string& key, scenario::Axis& axis,
                                ProblemList& problems) {
  return AxisReader(*axis.parameter, key, problems).read(node, axis);
}

}  // namespace foredraft::experiments
