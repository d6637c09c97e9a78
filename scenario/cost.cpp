// SPDX-License-Identifier: Apache-2.0
#include "scenario/cost.hpp"

#include <algorithm>
#include <stdexcept>

#include "scenario/pass_times.hpp"
#include "scenario/registries.hpp"

namespace foredraft::scenario {
namespace {

/// Target steps of the tokens of a verification behind its first.
double grown(double verify_growth, const Scenario& scenario) {
  const std::int64_t tokens = max_tokens(scenario.gamma, scenario.convention);
  return verify_growth * static_cast<double>(std::max<std::int64_t>(tokens - 1, 0));
}

std::optional<DecodingCost> cost_of(const ConstantRatio& cost, const Scenario& scenario) {
  if (!cost.c) return std::nullopt;
  DecodingCost all = constant_ratio(*cost.c);
  all.iteration += grown(cost.verify_growth, scenario);
  return all;
}

/// [Xia2023, Eq. 4]
std::optional<DecodingCost> cost_of(const MeasuredTimes& cost, const Scenario& scenario) {
  return DecodingCost{
      .iteration = (cost.verify_ms + cost.overhead_ms) / cost.step_ms + grown(cost.verify_growth, scenario),
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

double verify_growth(const Cost& cost) {
  if (const auto* ratio = std::get_if<ConstantRatio>(&cost)) return ratio->verify_growth;
  const auto* times = std::get_if<MeasuredTimes>(&cost);
  return times == nullptr ? 0.0 : times->verify_growth;
}

bool gamma_varies(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  return (process != nullptr && !std::holds_alternative<ConstantGamma>(process->policy)) ||
         drafting(scenario.drafter) == Drafting::free;
}

}  // namespace foredraft::scenario
