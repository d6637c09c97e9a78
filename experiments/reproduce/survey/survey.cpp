// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/tokens/acceptance.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t mlp_heads = 3;

/// The i.i.d. acceptance of three heads that explains their tokens per step.
CellAnswer head_acceptance(const PrintedNumber& tokens) {
  const RoundedValue alpha = propagate_rounding({rounded(tokens)}, [](std::span<const double> in) {
    return analytic::alpha_from_acceptance_length(in[0], mlp_heads, Convention::bonus);
  });
  return fitted_cell(tokens.value,
                     fmt::format("each of {} heads is right {:.3f} ({:.3f} to {:.3f}) of the time, solved from this "
                                 "cell; at most {} tokens",
                                 mlp_heads, alpha.value, alpha.rounding.low, alpha.rounding.high, mlp_heads + 1));
}

CellAnswer printed_value(const PublishedTable& table, std::size_t row) {
  const std::string& quantity = table.text(row, "quantity");
  const PrintedNumber value = table.number(row, "value");
  if (quantity == "tokens per step") return head_acceptance(value);
  if (quantity == "latency per token") {
    const RoundedValue ratio = rounded_quotient(rounded(table.number(row, "baseline")), rounded(value));
    return input_cell(fmt::format("{} / {} = {:.2f}x ({:.3f} to {:.3f})", table.text(row, "baseline"), value.text,
                                  ratio.value, ratio.rounding.low, ratio.rounding.high));
  }
  if (quantity == "throughput") {
    return unreachable_cell(fmt::format("needs the trained heads; {:.2f} ms a token", 1000.0 / value.value));
  }
  return unreachable_cell("needs the trained heads");
}

}  // namespace

ExperimentResult survey(const ExperimentSettings& /*settings*/) {
  TableAccount account("survey", "survey_numbers", {"method", "base_model", "quantity", "condition"});
  const PublishedTable& table = account.published();
  account.each("baseline", [&](std::size_t row) {
    return table.text(row, "quantity") == "tokens per step" ? head_acceptance(table.number(row, "baseline"))
                                                            : input_cell();
  });
  account.each("value", [&](std::size_t row) { return printed_value(table, row); });
  return account.finish("Numbers of a survey article on Medusa and on IBM's multi-stage MLP drafter: what they imply.");
}

}  // namespace foredraft::experiments
