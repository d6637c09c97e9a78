// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/intervals.hpp"
#include "sim/ngram/model.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/simulator.hpp"

/// Acceptance at every token of the target's own text: the alpha of the closed forms, measured as in [Leviathan2023,
/// Sec. 4.2], and the acceptance process that i.i.d. acceptance approximates.
namespace foredraft::ngram {

/// First block of random numbers of studies; simulations with the same key use earlier blocks.
inline constexpr std::uint64_t first_study_block = std::uint64_t{1} << 31U;

/// Parameters of a study. At each of `tokens` positions of the target's text, a draft is drawn at the true context and
/// verified: draft `index` (from 0) of an iteration whose earlier drafts are the text's own tokens. The accuracy of a
/// head is defined in this way; its acceptance in an iteration is also conditional on the acceptance of the earlier
/// drafts.
struct AcceptanceStudy {
  std::shared_ptr<const Model> target;
  Drafter drafter;
  std::size_t index;
  double temperature;  ///< 0 or 1
  std::uint64_t tokens;
};

/// Counts of a study. Integers only, so merging is exact in any order.
struct StudyTally {
  enum Quantity : std::size_t {
    positions,  ///< measured tokens
    beta,       ///< estimates of sum_x min(p(x), q(x)) in units of 1 / beta_unit
    accepted,   ///< positions whose draft was accepted
    after_acceptance_accepted,
    after_acceptance_rejected,
    after_rejection_accepted,
    after_rejection_rejected,
    quantity_count
  };
  static constexpr std::int64_t beta_unit = std::int64_t{1} << 24;

  IntegerMoments<quantity_count> units;  ///< one entry per independent text of 2,048 tokens
  /// [r]: number of runs of r acceptances between two rejections. One run per counted rejection, followed to its end
  /// beyond the text. Empty at temperature 0, because greedy texts are too short.
  std::vector<std::uint64_t> runs;

  void merge(const StudyTally& other);
  bool operator==(const StudyTally&) const = default;
};

/// Runs a study; the tally does not depend on the number of threads. Throws DomainError for null or unequal models, an
/// index without a model, another temperature, or no tokens. Shares no draw with a simulation of the same key.
[[nodiscard]] StudyTally run_acceptance_study(const AcceptanceStudy& study, const sim::RunKey& key, unsigned threads);

/// Expected acceptance: the mean of min(1, q(x) / p(x)) over the emitted x ~ p; at temperature 0 the fraction of
/// positions where target and drafter choose the same token.
[[nodiscard]] Estimate alpha(const StudyTally& tally);
/// P(accept | previous position accepted), and | rejected: the two parameters of the fitted Markov chain.
[[nodiscard]] Estimate accept_after_acceptance(const StudyTally& tally);
[[nodiscard]] Estimate accept_after_rejection(const StudyTally& tally);

}  // namespace foredraft::ngram
