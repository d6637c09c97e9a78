// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#pragma GCC visibility push(default)

/// Draft-length policies. The `gamma` of the scenario is the maximum draft length of each.
namespace foredraft {

/// Maximum draft length under a policy other than ConstantGamma, which iterates step by step and draws a confidence for
/// each drafted token.
inline constexpr std::int64_t max_policy_gamma = 10'000;
/// Maximum draft length under OptimalStopping of a BetaMixture, whose closed form takes time quadratic in it.
inline constexpr std::int64_t max_known_alpha_gamma = 4096;
/// Maximum mean sequence length under DynamicThreshold, which remembers every token that was tested.
inline constexpr double max_remembered_tokens = 100'000.0;

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Lengthens the draft by two after an iteration that accepted all of its drafts; shortens it by one (to at least one)
/// after any other. [Wagner2024, Sec. 4.1; Wolf2020] Any process but Observed, Runs and Trace.
struct Plus2Minus1 {
  std::int64_t start = 5;  ///< draft length of the first iteration of a text; at most `gamma`
};

// ---- Policies that see a confidence share one joint model of confidence and acceptance. Each token of an Iid process
// gets an acceptance probability of its own, drawn from Beta(alpha s, (1 - alpha) s) with s = `concentration` > 0, and
// known once it is drafted as a confidence: this probability to the power `bias` > 0 (1: calibrated, below 1:
// overconfident). Drafting stops after a token; that token is still verified.

/// Stops drafting after the first token whose confidence is below the threshold. [Wolf2020]
struct ConfidenceThreshold {
  double threshold = 0.0;      ///< in [0, 1]
  double concentration = 1.0;  ///< s > 0
  double bias = 1.0;           ///< > 0; 1: the confidence is calibrated
};

/// Stops drafting once the probability that any draft so far is rejected, 1 - the product of their confidences, exceeds
/// the threshold. [Huang2024, Sec. 3] Their code sees the confidence of a token one draft later.
struct RejectionProbability {
  double threshold = 0.0;  ///< h in [0, 1]; 1: always gamma drafts
  double concentration = 1.0;
  double bias = 1.0;
};

/// Stops drafting after the first token whose row of the drafter has an entropy H with sqrt(H) above the threshold. H
/// is in nats; sqrt(c H) > h is sqrt(H) > h / sqrt(c). [Zhang2025] The row has two levels: the confidence, and the rest
/// spread evenly over `alternatives` tokens; with less confidence than that it is uniform. H is then a function of the
/// confidence alone.
struct EntropyThreshold {
  double threshold = 0.0;          ///< >= 0, sqrt(nats)
  std::int64_t alternatives = 10;  ///< >= 1
  double concentration = 1.0;
  double bias = 1.0;
};

/// Stops drafting after the first token with 1 - sqrt(0.2 H) below a threshold, H as for EntropyThreshold. After each
/// iteration a running mean of accepted over drafted (weight 0.5) is compared with 0.9: below, the threshold rises by
/// 0.001; else it falls by that unless gamma drafts were accepted. [Agrawal2024, Alg. 1] There the token that stops the
/// draft is not verified; its pass is paid in both. A text begins with `first_threshold` and a mean of 0.9. Needs
/// finite sequences.
struct AdaptiveEntropy {
  double first_threshold = 0.4;  ///< in [0, 1]
  std::int64_t alternatives = 10;
  double concentration = 1.0;
  double bias = 1.0;
};

/// ConfidenceThreshold with the threshold that was best for the text so far. After each iteration in which more than
/// five tested drafts are known, accepted and rejected ones among them, it becomes the largest confidence seen that
/// minimizes P(confidence >= threshold | rejected) + 3 P(confidence < threshold | accepted). [Wolf2020] A text begins
/// anew with `first_threshold`. Needs finite sequences.
struct DynamicThreshold {
  double first_threshold = 0.4;  ///< in [0, 1]
  double concentration = 1.0;
  double bias = 1.0;
};

/// Drafts while the probability that the next draft yields a token exceeds c times the best long-run speedup. An
/// oracle: it knows the acceptance probability of the next draft (for a BetaMixture, the alpha of the iteration). Iid,
/// Positional, BetaMixture.
struct OptimalStopping {};

/// OptimalStopping where each token of an Iid process has an acceptance probability of its own, drawn as for the
/// policies that see a confidence, and known before it is drafted. No policy of these is faster.
struct OptimalTokenStopping {
  double concentration = 1.0;
};

using Policy = std::variant<AdaptiveEntropy, ConfidenceThreshold, ConstantGamma, DynamicThreshold, EntropyThreshold,
                            OptimalStopping, OptimalTokenStopping, Plus2Minus1, RejectionProbability>;

}  // namespace foredraft

#pragma GCC visibility pop
