// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/rule_definition.hpp"

namespace foredraft::sim::rules {

RuleDefinition rejection_sampling();

namespace {

/// Several candidates at one position, tried one after the other by recursive rejection: drawn independently
/// [Miao2024, Alg. 2] or without replacement [Chen2024]. The emitted law is p, as with one candidate.
class MultiCandidate final : public VerificationRule {
 public:
  explicit MultiCandidate(const CandidateScheme& scheme) : scheme_(scheme), first_(rejection_sampling().make({})) {}

  [[nodiscard]] CandidateScheme candidates() const override { return scheme_; }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return first_->acceptance(drafted, row_statistic);
  }

  void replacement(const PositionLaws& laws, std::span<double> law) const override { first_->replacement(laws, law); }

 private:
  CandidateScheme scheme_;
  std::unique_ptr<const VerificationRule> first_;
};

}  // namespace

RuleDefinition multi_candidate() {
  return {.entry = {.name = "multi_candidate",
                    .summary = "several candidates a position, tried in turn by recursive rejection",
                    .source = "Miao2024, Alg. 2; Chen2024",
                    .lossless = true,
                    .parameters = {{.name = "candidates",
                                    .default_value = 2.0,
                                    .minimum = 1.0,
                                    .maximum = 1024.0,
                                    .summary = "multi_candidate: candidates of one position; 1: rejection_sampling",
                                    .whole = true},
                                   {.name = "replacement",
                                    .default_value = 1.0,
                                    .minimum = 0.0,
                                    .maximum = 1.0,
                                    .summary = "multi_candidate: candidates drawn with (1) or without (0) replacement",
                                    .whole = true}}},
          .make = [](const RuleParameters& parameters) -> std::unique_ptr<const VerificationRule> {
            return std::make_unique<MultiCandidate>(
                CandidateScheme{.count = static_cast<std::int64_t>(parameters.at("candidates")),
                                .draws = parameters.at("replacement") == 1.0 ? CandidateDraws::with_replacement
                                                                             : CandidateDraws::without_replacement});
          }};
}

}  // namespace foredraft::sim::rules
