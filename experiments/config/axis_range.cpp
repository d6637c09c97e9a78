// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/axis_range.hpp"

#include <fmt/format.h>
#include <cmath>

#include "core/contract.hpp"
#include "core/numbers.hpp"

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

}  // namespace foredraft::experiments
