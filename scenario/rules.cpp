// SPDX-License-Identifier: Apache-2.0
#include "scenario/rules.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/check.hpp"
#include "foredraft/models.hpp"
#include "scenario/check.hpp"
#include "scenario/family.hpp"
#include "scenario/methods.hpp"

namespace foredraft::scenario {
namespace {

template <auto Field>
constexpr MemberParameter<Rule> number(std::string_view name, const ValueRange& range, std::string_view summary) {
  return parameter<Rule, Field>(name, summary, range, Given::by_default);
}

constexpr ValueRange any_logit{.minimum = -1e6, .maximum = 1e6};

constexpr ValueRange either_sign{.minimum = -1.0, .maximum = 1.0};
constexpr ValueRange candidate_count{.minimum = 1.0, .maximum = 1024.0, .whole = true};

constexpr std::array chow_parameters{
    number<&CascadeChow::margin>("rule.margin", either_sign,
                                 "cascade_chow, cascade_diff, cascade_opt: a, margin of the drafter's best "
                                 "probability; -1: rejection_sampling")};
constexpr std::array diff_parameters{number<&CascadeDiff::margin>(
    "rule.margin", either_sign, "cascade_diff: a, margin of the drafter's best probability")};
constexpr std::array opt_parameters{
    number<&CascadeOpt::margin>("rule.margin", {.minimum = -1000.0, .maximum = 1000.0},
                                "cascade_opt: a, margin of the drafter's best probability divided by TV(p, q)")};
constexpr std::array k_seq_parameters{number<&KSeq::candidates>(
    "rule.candidates", candidate_count, "k_seq: candidates of one position; 1: rejection_sampling")};
constexpr std::array sglang_parameters{
    number<&SglangThresholds::threshold_single>(
        "rule.threshold_single", probability_range,
        "sglang_thresholds: tokens with at least this probability are accepted"),
    number<&SglangThresholds::threshold_acc>(
        "rule.threshold_acc", {.maximum = 1.0, .excludes_minimum = true},
        "sglang_thresholds: others are accepted with their probability divided by this; both "
        "1: lossless")};
constexpr std::array top_n_parameters{
    number<&TopNDelta::relaxed_topk>("rule.relaxed_topk",
                                     {.minimum = 1.0, .maximum = static_cast<double>(max_vocabulary), .whole = true},
                                     "top_n_delta: how many of the target's best tokens are accepted; 1: greedy_match"),
    number<&TopNDelta::relaxed_delta>("rule.relaxed_delta", probability_range,
                                      "top_n_delta: maximum difference of their probability from the best token's")};
constexpr std::array lenient_parameters{
    number<&Lenient::lenience>("rule.lenience", {.maximum = 1.0, .excludes_minimum = true},
                               "lenient: l, the fraction of q that p is compared with; 1: rejection_sampling"),
    number<&Lenient::residual>("rule.residual", flag_range,
                               "lenient: a rejection draws from max(0, p - l q) (1) or max(0, p - q) (0)")};
constexpr std::array candidate_parameters{
    number<&MultiCandidate::candidates>("rule.candidates", candidate_count,
                                        "multi_candidate, k_seq: candidates of one position; 1: rejection_sampling"),
    number<&MultiCandidate::replacement>("rule.replacement", flag_range,
                                         "multi_candidate: candidates drawn with (1) or without (0) replacement"),
    parameter<Rule, &MultiCandidate::widths>(
        "rule.widths",
        "multi_candidate: candidates by depth of a tree of drafts; rule.candidates applies "
        "beyond the list",
        candidate_count, Given::optional)};
constexpr std::array sigmoid_parameters{
    number<&SigmoidApproximation::scale_low>("rule.scale_low", any_logit,
                                             "sigmoid_approximation: a in sigma((z - a) / (b - a))"),
    number<&SigmoidApproximation::scale_high>("rule.scale_high", any_logit, "sigmoid_approximation: b, above a"),
    number<&SigmoidApproximation::logit_shift>(
        "rule.logit_shift", any_logit,
        "sigmoid_approximation: added to log p and log q, to make them the models' logits"),
    number<&SigmoidApproximation::bits>("rule.bits", {.minimum = 16.0, .maximum = 64.0, .whole = true},
                                        "sigmoid_approximation: width of the arithmetic: 16, 32 or 64")};
constexpr std::array top_beta_parameters{
    number<&TopBeta::top_beta>("rule.top_beta",
                               {.minimum = 1.0, .maximum = static_cast<double>(max_vocabulary), .whole = true},
                               "top_beta: how many of the target's best tokens are accepted; 1: greedy_match"),
    number<&TopBeta::tolerance>("rule.tolerance", {.maximum = 1000.0},
                                "top_beta: largest log-likelihood gap to the target's best token (nat)"),
    number<&TopBeta::judged>("rule.judged", flag_range,
                             "top_beta: the drafted token's probability is the target's (0), or the drafter's, as "
                             "first published (1)")};
constexpr std::array typical_parameters{
    number<&TypicalAcceptance::epsilon>("rule.epsilon",
                                        {.maximum = 1.0, .excludes_minimum = true, .excludes_maximum = true},
                                        "typical_acceptance: a token above this probability is always accepted"),
    number<&TypicalAcceptance::delta>("rule.delta", {.maximum = 1e6},
                                      "typical_acceptance: factor of exp(-entropy); 0: the square root of epsilon")};

}  // namespace

const std::vector<RuleMember>& rules() {
  static const std::vector<RuleMember> all{
      {{.name = "accept_all",
        .summary = "accept every draft: the drafter's own distribution, unverified",
        .source = "control",
        .value = AcceptAll{}},
       false},
      {{.name = "block_verification",
        .summary = "verify all drafts together: on average at least as many accepted as by rejection_sampling",
        .source = "Sun2025, Alg. 2",
        .value = BlockVerification{}},
       true},
      {{.name = "cascade_chow",
        .summary = "speculative cascade: accept unless max q < 1 - a, then rejection_sampling",
        .source = "Narasimhan2025, Eq. 2",
        .value = CascadeChow{},
        .parameters = chow_parameters},
       false},
      {{.name = "cascade_diff",
        .summary = "speculative cascade: accept unless max q < max p - a, then rejection_sampling",
        .source = "Narasimhan2025, Eq. 5",
        .value = CascadeDiff{},
        .parameters = diff_parameters},
       false},
      {{.name = "cascade_opt",
        .summary = "speculative cascade: accept unless max q < max p - a TV(p, q), then rejection_sampling",
        .source = "Narasimhan2025, Eq. 10",
        .value = CascadeOpt{},
        .parameters = opt_parameters},
       false},
      {{.name = "greedy_match",
        .summary = "accept the target's most probable token only, and emit it otherwise",
        .source = "Stern2018; Xia2023, Eq. 1-3",
        .value = GreedyMatch{}},
       false},
      {{.name = "k_seq",
        .summary = "several candidates a position, each accepted with probability min(1, p/(rho q))",
        .source = "Sun2023, Alg. 2",
        .value = KSeq{},
        .parameters = k_seq_parameters},
       true},
      {{.name = "lenient",
        .summary = "accept with probability min(1, p/(l q)), l the lenience",
        .source = "Leviathan2023, App. A.5",
        .value = Lenient{},
        .parameters = lenient_parameters},
       false},
      {{.name = "multi_candidate",
        .summary = "several candidates a position, tried in turn by recursive rejection",
        .source = "Miao2024, Alg. 2; Chen2024",
        .value = MultiCandidate{},
        .parameters = candidate_parameters},
       true},
      {{.name = "rejection_sampling",
        .summary = "accept with probability min(1, p/q), otherwise draw from the residual max(0, p - q)",
        .source = "Leviathan2023, Alg. 1; Chen2023, Alg. 2",
        .value = RejectionSampling{}},
       true},
      {{.name = "sglang_thresholds",
        .summary = "accept from p >= threshold_single on, below with probability p/threshold_acc",
        .source = "SGLang2025",
        .value = SglangThresholds{},
        .parameters = sglang_parameters},
       false},
      {{.name = "sigmoid_approximation",
        .summary = "rejection sampling on sigmoids of scaled logits instead of probabilities",
        .source = "Wagner2024, Eq. 5",
        .value = SigmoidApproximation{},
        .parameters = sigmoid_parameters},
       false},
      {{.name = "top_beta",
        .summary = "Spec-Verification: accept one of the target's beta best, within a log-likelihood gap",
        .source = "Xia2023, Eq. 8-10",
        .value = TopBeta{},
        .parameters = top_beta_parameters},
       false},
      {{.name = "top_n_delta",
        .summary = "accept one of the target's n best with p >= max p - delta",
        .source = "TensorRTLLM2025",
        .value = TopNDelta{},
        .parameters = top_n_parameters},
       false},
      {{.name = "typical_acceptance",
        .summary = "accept with p > min(epsilon, delta exp(-entropy)), otherwise emit the most probable token",
        .source = "Cai2024",
        .value = TypicalAcceptance{},
        .parameters = typical_parameters},
       false}};
  return all;
}

std::string_view name_of(const Rule& rule) { return entry_of(rules(), rule).name; }

Rule make_rule(std::string_view name, const std::map<std::string, double>& parameters) {
  const RuleMember* entry = find_entry(rules(), name);
  if (entry == nullptr) {
    const std::string method = method_suggestion(name);
    throw DomainError(fmt::format("invalid rule={} (must be one of {}){}{}", name, fmt::join(names_of(rules()), ", "),
                                  method.empty() ? "" : " - ", method));
  }
  Rule rule = entry->value;
  for (const auto& [key, number] : parameters) {
    const std::string full = "rule." + key;
    const auto known = std::ranges::find(entry->parameters, full, &MemberParameter<Rule>::name);
    if (known == entry->parameters.end() || known->type == ValueType::reals) {
      throw DomainError(fmt::format("invalid {}={} (must be a parameter of {})", full, number, name));
    }
    check_numbers(full, known->range, number);
    known->set(rule, number);
  }
  check_rule(rule);
  return rule;
}

}  // namespace foredraft::scenario
