// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analytic/cost/published_costs.hpp"
#include "analytic/cost/speedup_fit.hpp"
#include "experiments/reproduce/published.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "sim/token/models/model_pair.hpp"

/// Common parts of the tables of the two SpecDec papers.
namespace foredraft::experiments {

inline constexpr std::int64_t ladder_contexts = 8000;
inline constexpr std::int64_t ladder_ranks = 32;

struct LadderTarget {
  sim::TopBetaRule rule;
  double acceptance;
};

/// The three parameters of a LogitLadder from three acceptances, by Newton's method on the logarithms of spread, noise
/// and unlike, from a start for a drafter that is right nine times in ten. Throws std::runtime_error if it does not
/// converge.
[[nodiscard]] sim::LogitLadder fit_ladder(const sim::LadderContexts& contexts,
                                          const std::array<LadderTarget, 3>& targets);

// ---- Read from the printed cells named here.

/// The module profile of [Xia2022, Table 18], of a translation with 3.1 iterations on average (its Table 1,
/// "high-efficiency"): drafting and verification per iteration, the encoders and "Others" per sentence.
[[nodiscard]] analytic::BlockLatency specdec_profile();

/// Time of the same sentence under beam search: the profile's total times the speedup printed for it, 4.5.
[[nodiscard]] double specdec_beam_ms();

/// Greedy decoding relative to beam search, in [Xia2022, Table 1] as in every table that prints both.
[[nodiscard]] double specdec_greedy_speedup();

/// Mean tokens of a translation: Tok times iterations of one row of [Xia2022, Table 5] (vanilla, NAT-base).
[[nodiscard]] double specdec_mean_tokens();

/// The i.i.d. acceptance that yields this many tokens per iteration of a test set, and back: blocks of `block` drafts
/// without a bonus token, sentences of specdec_mean_tokens().
[[nodiscard]] double specdec_alpha(double tokens_per_iteration, std::int64_t block);
[[nodiscard]] double specdec_tokens(double alpha, std::int64_t block);

/// Tok / speedup (the cost of an iteration in tokens of autoregressive decoding) as a line in k, by least squares over
/// the printed rows of a table of block sizes: [Xia2023, Table 3] or [Xia2022, Table 2].
[[nodiscard]] analytic::Line specdec_cost_line(const PublishedTable& block_sizes);

/// intercept + slope * block.
[[nodiscard]] double specdec_cost(const analytic::Line& line, std::int64_t block);

// ---- Time to translate a batch of sentences, without speculation and with SpecDec.

inline constexpr std::int64_t specdec_block = 25;

/// Tokens of every sentence of a batch, source and translation alike: the papers' mean, rounded.
[[nodiscard]] std::int64_t translation_tokens();

/// A batch takes setup + steps * step.
struct BatchTimes {
  double setup_ms = 0.0;  ///< encoders, and other costs paid once
  double step_ms = 0.0;   ///< a decode step, or drafting a block and verifying it
};

/// Rooflines of Transformer-base and of a drafter in fp32 (the format that the papers' memory tables show), launches
/// free.
class TranslationDevice {
 public:
  /// `device`: a shipped data sheet; `drafter`: a shape of an encoder and a decoder.
  TranslationDevice(const std::string& device, const std::string& drafter);

  /// `context`: tokens of each sentence so far.
  [[nodiscard]] BatchTimes plain(std::int64_t batch, std::int64_t beam, std::int64_t context) const;
  [[nodiscard]] BatchTimes specdec(std::int64_t batch, std::int64_t context) const;

 private:
  latency::CostSurface target_, drafting_, target_encoder_, drafter_encoder_;
};

/// The i.i.d. acceptance that yields these tokens per iteration in sentences of translation_tokens().
[[nodiscard]] double translation_alpha(double tokens_per_iteration);

/// Mean iterations of a batch of sentences at this acceptance: each sentence runs until it has finished, the batch
/// until the slowest has.
[[nodiscard]] double own_pace_iterations(double alpha, std::int64_t batch);

}  // namespace foredraft::experiments
