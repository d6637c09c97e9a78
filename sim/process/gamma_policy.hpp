// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

/// How long each draft is. The registry of gamma policies is the variant below; `gamma` of a simulation is the longest
/// draft that any of them makes.
namespace foredraft::sim {

/// The longest draft under a policy other than ConstantGamma: iterations are gone through one after another, and the
/// confidence of each drafted token is drawn.
inline constexpr std::int64_t max_policy_gamma = 10'000;

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Two drafts more behind an iteration that accepted all of its drafts, one less (at least one) behind any other
/// [Wagner2024, Sec. 4.1; Wolf2020]. Any process but Trace.
struct Plus2Minus1 {
  std::int64_t start;  ///< drafts of the first iteration of a text; `gamma` where that is less
};

/// Drafting stops behind the first token whose confidence is below the threshold, which is still verified [Wolf2020].
/// Each token of an Iid process then has an acceptance of its own, from Beta(alpha s, (1 - alpha) s), and a confidence
/// that is this acceptance to the power `bias`.
struct ConfidenceThreshold {
  double threshold;      ///< in [0, 1]
  double concentration;  ///< s > 0
  double bias;           ///< > 0; 1: calibrated
};

/// Drafts while the chance that the next one yields a token exceeds c times the best long-run speedup: a drafter that
/// knows the acceptance of its next draft, for a BetaMixture the alpha of the iteration. Iid, Positional, BetaMixture.
struct OptimalStopping {
  double c;  ///< draft/target time of one step
};

/// Input-guided decoding: behind each rejection, be it of a draft or of the copy that a bonus token stands for, so many
/// iterations draft nothing (one token without a bonus token, not tested) while the text finds back to its input. Iid.
struct RealignAfterEdit {
  std::int64_t iterations;
};

using GammaPolicy = std::variant<ConstantGamma, Plus2Minus1, ConfidenceThreshold, OptimalStopping, RealignAfterEdit>;

/// One line of the inventory of gamma policies. RealignAfterEdit is a part of the drafter input_copy and not listed.
struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
};

/// Sorted by name.
[[nodiscard]] const std::vector<PolicyEntry>& policy_registry();

}  // namespace foredraft::sim
