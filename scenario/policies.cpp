// SPDX-License-Identifier: Apache-2.0
#include "scenario/policies.hpp"

#include <array>

#include "scenario/check.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

bool any(const AcceptanceProcess& /*process*/) { return true; }
bool iid(const AcceptanceProcess& process) { return std::holds_alternative<Iid>(process); }
bool any_length(const AcceptanceProcess& process) {
  return !std::holds_alternative<Trace>(process) && !needs_endless_text(process);
}

constexpr std::array confidence_parameters{
    parameter<Policy, &ConfidenceThreshold::threshold>(
        "policy.threshold", "confidence_threshold: drafting stops after a token with a confidence below it",
        {.maximum = 1.0}),
    parameter<Policy, &ConfidenceThreshold::concentration>(
        "policy.concentration",
        "confidence_threshold: s of Beta(alpha s, (1 - alpha) s), the distribution of a token's acceptance; large: all "
        "alike",
        {.minimum = 1e-6, .maximum = 1e9}),
    parameter<Policy, &ConfidenceThreshold::bias>(
        "policy.bias",
        "confidence_threshold: confidence is acceptance to this power; 1 calibrated, below 1 overconfident",
        {.minimum = 1e-3, .maximum = 1e3}, Given::by_default)};
constexpr std::array start_parameter{parameter<Policy, &Plus2Minus1::start>(
    "policy.start",
    "plus2_minus1: drafts of a text's first iteration, or gamma where that is less; the long run forgets it",
    {.minimum = 1.0, .maximum = 1e4}, Given::by_default)};

}  // namespace

const std::vector<PolicyMember>& policies() {
  static const std::vector<PolicyMember> all{
      {{.name = "confidence_threshold",
        .summary = "drafts until a token of confidence below policy.threshold",
        .source = "Wolf2020: assisted generation of the transformers library",
        .value = ConfidenceThreshold{},
        .parameters = confidence_parameters},
       iid},
      {{.name = "constant",
        .summary = "the same gamma in every iteration",
        .source = "Leviathan2023, Alg. 1",
        .value = ConstantGamma{}},
       any},
      {{.name = "optimal_stopping",
        .summary = "drafts while the next token's chance exceeds c times the best speedup",
        .source = "ours; fixed point as Dinkelbach1967",
        .value = OptimalStopping{}},
       has_independent_iterations},
      {{.name = "plus2_minus1",
        .summary = "gamma + 2 after a fully accepted draft, else gamma - 1, at least 1 (alias heuristic)",
        .source = "Wagner2024, Sec. 4.1; Wolf2020",
        .value = Plus2Minus1{},
        .parameters = start_parameter},
       any_length,
       "heuristic"}};
  return all;
}

std::string_view name_of(const Policy& policy) { return entry_of(policies(), policy).name; }

}  // namespace foredraft::scenario
