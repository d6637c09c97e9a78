// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

/// Models for token fidelity, where next-token distributions are simulated.
namespace foredraft {

inline constexpr std::int64_t max_vocabulary = 256'000;
/// Maximum n-gram order. A model of order n uses n - 1 tokens of context.
inline constexpr int max_ngram_order = 5;

/// Distribution of a synthetic target's next-token distributions.
enum class TargetDistribution {
  zipf,             ///< p(rank r) proportional to r^-parameter, ranks shuffled anew for every context
  gaussian_logits,  ///< softmax of independent Normal(0, parameter^2) logits
  dirichlet,        ///< symmetric Dirichlet(parameter)
};

/// How the draft distribution is derived from the target's.
enum class DraftDistribution {
  noise,        ///< independent Normal(0, strength^2) added to the logits
  temperature,  ///< logits divided by 1 + strength
  mixing,       ///< (1 - strength) * p + strength * another context's p
};

/// Where the distributions of a synthetic pair come from.
enum class Contexts {
  pooled,  ///< a pool of prepared (p, q) pairs; each position takes a random one. about 1e6 iterations/s
  fresh,   ///< new logits for every position of every iteration; slow, but free of pool effects
};

/// A synthetic target and its drafter. `strength` is solved for such that the expected acceptance sum min(p, q) at
/// temperature 1, averaged over contexts, is `alpha`.
struct SyntheticModels {
  TargetDistribution target = TargetDistribution::gaussian_logits;
  double parameter = 3.0;
  std::int64_t vocabulary = 32'000;  ///< 2 .. 256,000
  DraftDistribution draft = DraftDistribution::noise;
  double alpha = 0.0;       ///< required expected acceptance, in (0, 1]
  std::int64_t pool = 256;  ///< contexts in the pool, >= 1
  Contexts contexts = Contexts::pooled;
};

struct TrainedModels;  // sim/ngram

/// n-gram models of one text: the target of order `target_order`, the drafter of order `draft_order`.
struct NgramModels {
  std::vector<std::string> corpus = {"prose"};  ///< "prose", "code" or files
  std::int64_t vocabulary = 32'000;
  std::int64_t target_order = 5;
  std::int64_t draft_order = 2;
  std::shared_ptr<const TrainedModels> trained = {};  ///< trained on the corpus, read once
};

/// User-defined distributions, one per context; every position takes a random context.
struct GivenDistributions {
  std::vector<std::vector<double>> target = {};  ///< [context][token]: p, each row sums to 1
  std::vector<std::vector<double>> draft = {};   ///< q, likewise
  // A user-defined verification rule that replaces `rule`, tabulated for these contexts; requires temperature 1 and no
  // truncation.
  /// [context][token]: acceptance probability of a drafted token, in [0, 1]; empty: `rule` is used.
  std::vector<std::vector<double>> acceptance = {};
  std::vector<std::vector<double>> replacement = {};  ///< distribution of the token after a rejection; each sums to 1
  std::vector<std::vector<double>> bonus = {};        ///< distribution of the bonus token; empty: `target`
};

struct GivenModels {
  std::shared_ptr<const GivenDistributions> distributions = {};
};

/// Truncation of a distribution after the temperature: first top_k, then top_p, then normalization. Tokens tied with
/// the last kept token are kept too.
struct Truncation {
  std::int64_t top_k = 0;  ///< number of most probable tokens to keep; 0: all
  double top_p = 1.0;      ///< keep the fewest most probable tokens with at least this total probability; (0, 1]
};

using Models = std::variant<SyntheticModels, NgramModels, GivenModels>;

}  // namespace foredraft

#pragma GCC visibility pop
