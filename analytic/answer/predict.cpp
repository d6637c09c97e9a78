// SPDX-License-Identifier: Apache-2.0
#include "foredraft/predict.hpp"

#include <fmt/format.h>
#include <limits>

#include "analytic/answer/answer.hpp"
#include "analytic/answer/prediction.hpp"
#include "core/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"

namespace foredraft {
namespace {

/// Throws DomainError for a scenario whose draft lengths analytic::predict cannot compare.
void check_comparable(const Scenario& scenario) {
  const auto refuse = [](std::string_view what) { throw DomainError(fmt::format("no best draft length of {}", what)); };
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) return refuse("another fidelity than process");
  if (std::holds_alternative<Trace>(process->acceptance)) {
    return refuse(fmt::format("acceptance {} (it has no closed form)", scenario::name_of(process->acceptance)));
  }
  if (scenario::gamma_varies(scenario)) return refuse("drafts of varying length");
  if (process->sequence_length) return refuse("finite sequences");
  if (scenario::looked_up(scenario.cost) != nullptr) return refuse("a cost that was looked up for one gamma");
  if (!scenario::decoding_cost(scenario)) return refuse("a scenario without a cost");
}

}  // namespace

ClosedForm predict(const Scenario& scenario) {
  scenario::check_scenario(scenario);
  scenario::check_read(scenario);
  return analytic::answer(scenario);
}

BestDraftLength best_draft_length(const Scenario& scenario) {
  scenario::check_scenario(scenario);
  check_comparable(scenario);
  const analytic::Prediction prediction = analytic::predict(scenario, std::nullopt);
  BestDraftLength best{.gamma = prediction.best.gamma,
                       .speedup = prediction.best.speedup.value_or(std::numeric_limits<double>::infinity())};
  if (prediction.near_best) {
    best.first_near_best = prediction.near_best->first;
    best.last_near_best = prediction.near_best->last;
  }
  return best;
}

}  // namespace foredraft
