// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {

namespace {

/// Several candidates at one position, tried one after the other by recursive rejection: drawn independently [Miao2024,
/// Alg. 2] or without replacement [Chen2024]. The emitted distribution is p, as with one candidate.
class MultiCandidateRule final : public VerificationRule {
 public:
  explicit MultiCandidateRule(const CandidateScheme& scheme) : scheme_(scheme), first_(make(RejectionSampling{})) {}

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

MadeRule make(const MultiCandidate& rule) {
  return std::make_unique<MultiCandidateRule>(CandidateScheme{
      .count = rule.candidates,
      .draws = rule.replacement ? CandidateDraws::with_replacement : CandidateDraws::without_replacement});
}

}  // namespace foredraft::sim::rules
