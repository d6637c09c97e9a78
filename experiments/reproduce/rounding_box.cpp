// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/rounding_box.hpp"

#include <algorithm>
#include <stdexcept>

namespace foredraft::experiments {

RoundedValue propagate_rounding(const std::vector<RoundedValue>& inputs,
                                const std::function<double(std::span<const double>)>& f) {
  constexpr std::size_t most_inputs = 10;
  if (inputs.empty() || inputs.size() > most_inputs) throw std::logic_error("rounding box: 1 to 10 inputs");
  std::vector<double> place;
  std::transform(inputs.begin(), inputs.end(), std::back_inserter(place),
                 [](const RoundedValue& input) { return input.value; });
  const double value = f(place);
  RoundedValue result{.value = value, .rounding = {value, value}};
  for (std::size_t corner = 0; corner < (std::size_t{1} << inputs.size()); ++corner) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      place[i] = ((corner >> i) & 1U) == 0 ? inputs[i].rounding.low : inputs[i].rounding.high;
    }
    const double there = f(place);
    result.rounding = {std::min(result.rounding.low, there), std::max(result.rounding.high, there)};
  }
  return result;
}

RoundedValue rounded(const PrintedNumber& printed, double scale) {
  return {.value = scale * printed.value, .rounding = {scale * printed.rounding.low, scale * printed.rounding.high}};
}

}  // namespace foredraft::experiments
