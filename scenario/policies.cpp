// SPDX-License-Identifier: Apache-2.0
#include "scenario/policies.hpp"

#include <array>
#include <optional>
#include <variant>

#include "scenario/check.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

bool any(const AcceptanceProcess& /*process*/) { return true; }
bool iid(const AcceptanceProcess& process) { return std::holds_alternative<Iid>(process); }
bool any_length(const AcceptanceProcess& process) {
  return !std::holds_alternative<Trace>(process) && !needs_endless_text(process);
}

// Parameters that the policies with a confidence share.
template <auto Field>
constexpr auto threshold_of(const ValueRange& range) {
  return parameter<Policy, Field>(
      "policy.threshold",
      "drafting stops: confidence_threshold below this confidence, rejection_probability "
      "above this probability of any rejection, entropy_threshold above this square root of "
      "the entropy",
      range);
}
template <auto Field>
constexpr auto first_threshold_of() {
  return parameter<Policy, Field>("policy.first_threshold",
                                  "adaptive_entropy, dynamic_threshold: initial threshold of a sequence",
                                  {.maximum = 1.0}, Given::by_default);
}
template <auto Field>
constexpr auto concentration_of() {
  return parameter<Policy, Field>("policy.concentration",
                                  "policies that use a confidence: s of Beta(alpha s, (1 - alpha) s), the distribution "
                                  "of a token's acceptance; large: all equal",
                                  {.minimum = 1e-6, .maximum = 1e9});
}
template <auto Field>
constexpr auto bias_of() {
  return parameter<Policy, Field>("policy.bias",
                                  "policies that use a confidence: confidence = acceptance probability to this power; "
                                  "1: calibrated, below 1: overconfident",
                                  {.minimum = 1e-3, .maximum = 1e3}, Given::by_default);
}
template <auto Field>
constexpr auto alternatives_of() {
  return parameter<Policy, Field>("policy.alternatives",
                                  "entropy_threshold, adaptive_entropy: tokens that evenly share the rest of the "
                                  "probability",
                                  {.minimum = 1.0, .maximum = 1e6}, Given::by_default);
}

constexpr std::array confidence_parameters{threshold_of<&ConfidenceThreshold::threshold>({.maximum = 1.0}),
                                           concentration_of<&ConfidenceThreshold::concentration>(),
                                           bias_of<&ConfidenceThreshold::bias>()};
constexpr std::array rejection_parameters{threshold_of<&RejectionProbability::threshold>({.maximum = 1.0}),
                                          concentration_of<&RejectionProbability::concentration>(),
                                          bias_of<&RejectionProbability::bias>()};
constexpr std::array entropy_parameters{
    threshold_of<&EntropyThreshold::threshold>({.maximum = 10.0}), concentration_of<&EntropyThreshold::concentration>(),
    bias_of<&EntropyThreshold::bias>(), alternatives_of<&EntropyThreshold::alternatives>()};
constexpr std::array adaptive_parameters{
    first_threshold_of<&AdaptiveEntropy::first_threshold>(), concentration_of<&AdaptiveEntropy::concentration>(),
    bias_of<&AdaptiveEntropy::bias>(), alternatives_of<&AdaptiveEntropy::alternatives>()};
constexpr std::array dynamic_parameters{first_threshold_of<&DynamicThreshold::first_threshold>(),
                                        concentration_of<&DynamicThreshold::concentration>(),
                                        bias_of<&DynamicThreshold::bias>()};
constexpr std::array known_token_parameters{concentration_of<&OptimalTokenStopping::concentration>()};
constexpr std::array start_parameter{parameter<Policy, &Plus2Minus1::start>(
    "policy.start",
    "plus2_minus1: draft length of a sequence's first iteration, at most gamma; no effect "
    "on long-run means",
    {.minimum = 1.0, .maximum = 1e4}, Given::by_default)};

}  // namespace

const std::vector<PolicyMember>& policies() {
  static const std::vector<PolicyMember> all{
      {{.name = "adaptive_entropy",
        .summary = "stops on 1 - sqrt(0.2 entropy) below a threshold that follows acceptance (alias adaedl)",
        .source = "Agrawal2024, Alg. 1",
        .value = AdaptiveEntropy{},
        .parameters = adaptive_parameters},
       iid,
       "adaedl",
       true},
      {{.name = "confidence_threshold",
        .summary = "drafts until a token's confidence is below policy.threshold",
        .source = "Wolf2020: assisted generation of the transformers library",
        .value = ConfidenceThreshold{},
        .parameters = confidence_parameters},
       iid},
      {{.name = "constant",
        .summary = "the same gamma in every iteration",
        .source = "Leviathan2023, Alg. 1",
        .value = ConstantGamma{}},
       any},
      {{.name = "dynamic_threshold",
        .summary = "confidence_threshold with the best threshold for the sequence so far",
        .source = "Wolf2020: assisted generation of the transformers library",
        .value = DynamicThreshold{},
        .parameters = dynamic_parameters},
       iid,
       {},
       true},
      {{.name = "entropy_threshold",
        .summary = "drafts until the square root of a token's entropy exceeds policy.threshold (alias "
                   "svip)",
        .source = "Zhang2025",
        .value = EntropyThreshold{},
        .parameters = entropy_parameters},
       iid,
       "svip"},
      {{.name = "optimal_stopping",
        .summary = "drafts while the next token's probability exceeds c times the best speedup",
        .source = "ours; fixed point as Dinkelbach1967",
        .value = OptimalStopping{}},
       has_independent_iterations},
      {{.name = "optimal_token_stopping",
        .summary = "optimal_stopping if each token's acceptance probability is known before it is "
                   "drafted",
        .source = "ours; fixed point as Dinkelbach1967",
        .value = OptimalTokenStopping{},
        .parameters = known_token_parameters},
       iid},
      {{.name = "plus2_minus1",
        .summary = "gamma + 2 after a fully accepted draft, else gamma - 1, at least 1 (alias heuristic)",
        .source = "Wagner2024, Sec. 4.1; Wolf2020",
        .value = Plus2Minus1{},
        .parameters = start_parameter},
       any_length,
       "heuristic"},
      {{.name = "rejection_probability",
        .summary = "drafts until the probability of any rejection exceeds policy.threshold (alias "
                   "specdecpp_huang)",
        .source = "Huang2024, Sec. 3",
        .value = RejectionProbability{},
        .parameters = rejection_parameters},
       iid,
       "specdecpp_huang"}};
  return all;
}

std::optional<double> token_concentration(const Policy& policy) {
  return std::visit(
      [](const auto& member) -> std::optional<double> {
        if constexpr (requires { member.concentration; }) return member.concentration;
        return std::nullopt;
      },
      policy);
}

std::string_view name_of(const Policy& policy) { return entry_of(policies(), policy).name; }

}  // namespace foredraft::scenario
