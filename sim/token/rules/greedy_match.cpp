// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Accepts the draft iff it is the target's most probable token; emits that token otherwise, and after accepted drafts
/// [Stern2018; Xia2023, Eq. 1-3]. The output is the target's greedy decoding for every q and every temperature. That is
/// the target's own distribution only at temperature 0, so the rule does not count as lossless.
class GreedyMatchRule final : public TopTokenRule {
 public:
  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The index of the most probable token: an integer below 2^53, so exact.
  [[nodiscard]] double row_statistic(const PositionLaws& laws) const override {
    return static_cast<double>(row_argmax(laws.target));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
  }
};

}  // namespace

MadeRule make(const GreedyMatch& /*rule*/) { return std::make_unique<GreedyMatchRule>(); }

}  // namespace foredraft::sim::rules
