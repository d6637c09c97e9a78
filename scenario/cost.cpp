// SPDX-License-Identifier: Apache-2.0
#include "scenario/cost.hpp"

#include <stdexcept>

#include "scenario/pass_times.hpp"
#include "scenario/registries.hpp"

namespace foredraft::scenario {
namespace {

std::optional<DecodingCost> cost_of(const ConstantRatio& cost, const Scenario& /*scenario*/) {
  if (!cost.c) return std::nullopt;
  return constant_ratio(*cost.c);
}

/// [Xia2023, Eq. 4]
std::optional<DecodingCost> cost_of(const MeasuredTimes& cost, const Scenario& /*scenario*/) {
  return DecodingCost{.iteration = (cost.verify_ms + cost.overhead_ms) / cost.step_ms,
                      .draft_pass = cost.draft_ms / cost.step_ms,
                      .sequence = (cost.target_encoder_ms + cost.drafter_encoder_ms + cost.fixed_ms) / cost.step_ms,
                      .plain_sequence = cost.target_encoder_ms / cost.step_ms};
}

std::optional<DecodingCost> cost_of(const LookedUpTimes& cost, const Scenario& scenario) {
  if (!cost.times) throw std::logic_error("the times of passes were not read");
  return cost.times->cost(cost, scenario.gamma, scenario.convention);
}

}  // namespace

const LookedUpTimes* looked_up(const Cost& cost) {
  if (const auto* roofline = std::get_if<Roofline>(&cost)) return roofline;
  return std::get_if<Measured>(&cost);
}

std::optional<DecodingCost> decoding_cost(const Scenario& scenario) {
  if (std::holds_alternative<Server>(scenario.fidelity)) return std::nullopt;
  return std::visit([&](const auto& cost) { return cost_of(cost, scenario); }, scenario.cost);
}

bool gamma_varies(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  return (process != nullptr && !std::holds_alternative<ConstantGamma>(process->policy)) ||
         drafting(scenario.drafter) == Drafting::free;
}

}  // namespace foredraft::scenario
