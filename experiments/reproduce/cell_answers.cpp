// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/cell_answers.hpp"

#include <fmt/format.h>

namespace foredraft::experiments {

CellAnswer input_cell(std::string note) {
  return {.kind = Kind::input, .ours = {}, .interval = {}, .note = std::move(note), .finding = {}};
}

CellAnswer exact_cell(const RoundedValue& ours, std::string formula) {
  return {
      .kind = Kind::exact, .ours = ours.value, .interval = ours.rounding, .note = std::move(formula), .finding = {}};
}

CellAnswer predicted_cell(double ours, const PrintedNumber& published, const std::string& from) {
  return {.kind = Kind::predicted,
          .ours = ours,
          .interval = {},
          .note = fmt::format("{}; off by {:+.1f} %", from, 100.0 * (ours / published.value - 1.0)),
          .finding = {}};
}

CellAnswer fitted_cell(double ours, std::string what) {
  return {.kind = Kind::fitted, .ours = ours, .interval = {}, .note = std::move(what), .finding = {}};
}

CellAnswer unreachable_cell(std::string why) {
  return {.kind = Kind::out_of_reach, .ours = {}, .interval = {}, .note = std::move(why), .finding = {}};
}

CellAnswer with_finding(CellAnswer answer, std::string arithmetic) {
  answer.finding = std::move(arithmetic);
  return answer;
}

RoundedValue rounded_difference(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] - x[1]; });
}

RoundedValue rounded_product(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] * x[1]; });
}

RoundedValue rounded_quotient(const RoundedValue& a, const RoundedValue& b) {
  return propagate_rounding({a, b}, [](std::span<const double> x) { return x[0] / x[1]; });
}

bool contradicts(const RoundedValue& computed, const PrintedNumber& published) {
  return !intersects(computed.rounding, published.rounding);
}

}  // namespace foredraft::experiments
