// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"
#include "sim/ngram/speculation.hpp"

namespace foredraft::sim {

/// Name and one line of explanation of each kind of model pair, for `foredraft list models`.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] const std::vector<ModelEntry>& model_registry();

}  // namespace foredraft::sim

namespace foredraft {

/// The n-gram models of a scenario, trained on its corpus.
struct TrainedModels {
  std::shared_ptr<const ngram::Model> target;
  std::optional<ngram::Drafter> drafter;  ///< empty: drafts are copied
};

}  // namespace foredraft

namespace foredraft::sim {

// ---- A synthetic model of the rank of a drafted token among the verifier's most probable ones, for rules that accept
// more than the most probable token. It has three parameters, to be fitted.
//
// The verifier's log-probabilities, best first, fall by spread * E_r / r from rank r to the next, E_r independent
// standard exponentials: the spacings of the largest of many exponential-tailed logits. The drafter sees the same
// ladder through Gumbel noise of scale `noise` and takes its best, so it drafts rank r with probability proportional to
// exp(-gap_r / noise). A fraction `unlike` of the drafts is not on the ladder and is never accepted.

struct LogitLadder {
  double spread;  ///< of the verifier's logits, in nats, > 0
  double noise;   ///< of the drafter, in nats, > 0
  double unlike;  ///< fraction of drafts off the ladder, in [0, 1]
};

/// Accepts a draft among the verifier's `top_beta` best tokens whose log-probability is at most `tolerance` below the
/// best. top_beta = 1 or tolerance = 0: only the best. [Xia2023, Eq. 8-10]
struct TopBetaRule {
  std::int64_t top_beta;
  double tolerance;
};

/// Contexts drawn once, so that acceptance is reproducible and never falls as top_beta or tolerance rises.
class LadderContexts {
 public:
  /// `contexts` >= 1 ladders of `ranks` >= 1 tokens; no draft has a lower rank.
  LadderContexts(std::int64_t contexts, std::int64_t ranks, std::uint64_t seed);

  /// Mean over the contexts of the probability that a draft is accepted. top_beta in 1 to ranks, tolerance >= 0.
  [[nodiscard]] double acceptance(const LogitLadder& ladder, const TopBetaRule& rule) const;

 private:
  std::size_t ranks_;
  std::vector<double> gaps_;  ///< contexts x ranks, at spread 1
};

/// Draws the target's distributions of a SyntheticModels, one context at a time, as logits in single precision. The
/// context is defined by these numbers, whichever code converts them to probabilities.
class SyntheticTarget {
 public:
  /// `parameter` in zipf [0, 100], gaussian_logits [0, 1e6], dirichlet [1e-6, 1e6].
  SyntheticTarget(TargetDistribution distribution, double parameter, std::int64_t vocabulary);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  /// vocabulary() rounded up for the vector kernels.
  [[nodiscard]] std::size_t row_size() const;

  /// Logits of context `index` of the stream `id`, up to a constant; row_size() entries, -infinity after the
  /// vocabulary. A pure function of its arguments. `words` is scratch.
  void logits(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
              std::vector<std::uint64_t>& words) const;

 private:
  void shuffled_zipf(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
                     std::vector<std::uint64_t>& words) const;
  void log_dirichlet(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row) const;

  TargetDistribution distribution_;
  double parameter_;
  std::size_t vocabulary_;
  std::vector<float> zeros_;        ///< gaussian_logits: the base to which the noise is added
  std::vector<float> rank_logits_;  ///< zipf: -parameter * log(rank)
};

}  // namespace foredraft::sim
