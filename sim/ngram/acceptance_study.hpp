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

/// Acceptance at every token of the target's own text: what the closed forms call alpha, measured where
/// [Leviathan2023, Sec. 4.2] measures it, and the process that i.i.d. acceptance stands for.
namespace foredraft::ngram {

/// Blocks of random numbers from here on belong to studies: no draw of a simulation of the same key is among them.
inline constexpr std::uint64_t first_study_block = std::uint64_t{1} << 31U;

/// At each of `tokens` positions of text of the target, a draft is drawn at the true context and verified: draft
/// `index` (from 0) of an iteration whose drafts in front of it are the text's own tokens. This is how the accuracy of
/// a head is stated, whose acceptance in an iteration also knows that the drafts before were accepted.
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
    positions,  ///< tokens looked at
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
  /// [r]: times that r acceptances followed a rejection before the next one. One run for each rejection counted above,
  /// read to its end behind the text, however long it is. Empty at temperature 0: greedy texts are too short for their
  /// runs.
  std::vector<std::uint64_t> runs;

  void merge(const StudyTally& other);
  bool operator==(const StudyTally&) const = default;
};

/// Any number of threads gives the same tally. Throws DomainError on null or unequal models, an index without a model,
/// another temperature, or no tokens. Draws are not shared with a simulation of the same key.
[[nodiscard]] StudyTally run_acceptance_study(const AcceptanceStudy& study, const sim::RunKey& key, unsigned threads);

/// Expected acceptance: the token average of beta. At temperature 1 from min(1, q(x) / p(x)) of the emitted x ~ p, of
/// expectation beta; at temperature 0 the share of positions where target and drafter choose the same token.
[[nodiscard]] Estimate alpha(const StudyTally& tally);
/// Accepted drafts over positions: the same expectation, with the noise of the verification.
[[nodiscard]] Estimate accepted_share(const StudyTally& tally);
/// P(accept | the position before was accepted), and | rejected: the two parameters of the fitted Markov chain.
[[nodiscard]] Estimate accept_after_acceptance(const StudyTally& tally);
[[nodiscard]] Estimate accept_after_rejection(const StudyTally& tally);

}  // namespace foredraft::ngram
