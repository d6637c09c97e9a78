// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#pragma GCC visibility push(default)

/// Draft-length policies. The `gamma` of the scenario is the maximum draft length of each.
namespace foredraft {

/// Maximum draft length under a policy other than ConstantGamma; such policies are simulated token by token.
inline constexpr std::int64_t max_policy_gamma = 10'000;
/// Maximum draft length under OptimalStopping with a BetaMixture; the closed form takes time quadratic in the draft
/// length.
inline constexpr std::int64_t max_known_alpha_gamma = 4096;
/// Maximum mean sequence length under DynamicThreshold, which stores every tested token.
inline constexpr double max_remembered_tokens = 100'000.0;

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Lengthens the draft by two after an iteration that accepted all of its drafts; shortens it by one (to at least one)
/// after any other. [Wagner2024, Sec. 4.1; Wolf2020] Supports all processes except Observed, Runs and Trace.
struct Plus2Minus1 {
  std::int64_t start = 5;  ///< draft length of the first iteration of a text; at most `gamma`
};

// ---- Policies that use a confidence share one joint model of confidence and acceptance, and require an Iid process.
// Each token's acceptance probability is drawn from Beta(alpha s, (1 - alpha) s) with s = `concentration` > 0. Its
// confidence, known once it is drafted, is this probability to the power `bias` > 0 (1: calibrated, below 1:
// overconfident). The token after which drafting stops is still verified.

/// Stops drafting after the first token whose confidence is below the threshold. [Wolf2020]
struct ConfidenceThreshold {
  double threshold = 0.0;      ///< in [0, 1]
  double concentration = 1.0;  ///< s > 0
  double bias = 1.0;           ///< > 0; 1: the confidence is calibrated
};

/// Stops drafting once the estimated probability that a draft so far is rejected (1 minus the product of their
/// confidences) exceeds the threshold. [Huang2024, Sec. 3] In the authors' code the confidence of a token takes effect
/// one draft later.
struct RejectionProbability {
  double threshold = 0.0;  ///< h in [0, 1]; 1: always gamma drafts
  double concentration = 1.0;
  double bias = 1.0;
};

/// Stops drafting after the first token with sqrt(H) above the threshold, where H is the entropy of the drafter's
/// distribution in nats. [Zhang2025] For a published criterion sqrt(c H) > h, the threshold is h / sqrt(c). The
/// distribution is modeled from the confidence only: the token has the confidence as its probability and `alternatives`
/// other tokens share the rest evenly; if each of them would be more probable than the token, the distribution is
/// uniform.
struct EntropyThreshold {
  double threshold = 0.0;          ///< >= 0, sqrt(nats)
  std::int64_t alternatives = 10;  ///< >= 1
  double concentration = 1.0;
  double bias = 1.0;
};

/// Stops drafting after the first token with 1 - sqrt(0.2 H) below a threshold, H as for EntropyThreshold.
/// [Agrawal2024, Alg. 1] After each iteration a running mean of accepted over drafted (weight 0.5) is compared with
/// 0.9. If the mean is lower, the threshold rises by 0.001; otherwise it falls by 0.001 unless gamma drafts were
/// accepted. In the paper the token that stops the draft is not verified; its draft pass is charged in both. A sequence
/// starts with `first_threshold` and a mean of 0.9. Requires finite sequences.
struct AdaptiveEntropy {
  double first_threshold = 0.4;  ///< in [0, 1]
  std::int64_t alternatives = 10;
  double concentration = 1.0;
  double bias = 1.0;
};

/// ConfidenceThreshold with the threshold that was best for the sequence so far. [Wolf2020] The threshold is updated
/// after each iteration once more than five drafts were tested, some accepted and some rejected. It becomes the largest
/// observed confidence that minimizes P(confidence >= threshold | rejected) + 3 P(confidence < threshold | accepted).
/// Each sequence starts with `first_threshold`. Requires finite sequences.
struct DynamicThreshold {
  double first_threshold = 0.4;  ///< in [0, 1]
  double concentration = 1.0;
  double bias = 1.0;
};

/// Drafts while the probability that the next draft yields a token exceeds c times the best long-run speedup. An
/// oracle: it knows the acceptance probability of the next draft (for a BetaMixture, the alpha of the iteration).
/// Supports Iid, Positional and BetaMixture.
struct OptimalStopping {};

/// OptimalStopping for the model of the policies that use a confidence: it knows each token's acceptance probability
/// before the token is drafted. An upper bound for these policies.
struct OptimalTokenStopping {
  double concentration = 1.0;
};

using Policy = std::variant<AdaptiveEntropy, ConfidenceThreshold, ConstantGamma, DynamicThreshold, EntropyThreshold,
                            OptimalStopping, OptimalTokenStopping, Plus2Minus1, RejectionProbability>;

}  // namespace foredraft

#pragma GCC visibility pop
