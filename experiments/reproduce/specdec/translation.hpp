// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "latency/surfaces/cost_surface.hpp"

/// Time to translate a batch of sentences, without speculation and with SpecDec.
namespace foredraft::experiments {

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
