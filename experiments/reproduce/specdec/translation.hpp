// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "latency/surfaces/cost_surface.hpp"

/// Time to translate a batch of sentences, without speculation and with SpecDec.
namespace foredraft::experiments {

inline constexpr std::int64_t specdec_block = 25;

/// Tokens of every sentence, source and translation: the papers' mean, rounded.
[[nodiscard]] std::int64_t translation_tokens();

/// A batch takes setup + steps * step.
struct BatchTimes {
  double setup_ms = 0.0;  ///< encoders and other costs per batch
  double step_ms = 0.0;   ///< a decode step, or drafting and verifying a block
};

/// Rooflines of Transformer-base and of a drafter in fp32 (the format in the papers' memory tables), without launch
/// times.
class TranslationDevice {
 public:
  /// `device`: a shipped data sheet; `drafter`: an encoder-decoder shape.
  TranslationDevice(const std::string& device, const std::string& drafter);

  /// `context`: tokens of each sentence so far.
  [[nodiscard]] BatchTimes plain(std::int64_t batch, std::int64_t beam, std::int64_t context) const;
  [[nodiscard]] BatchTimes specdec(std::int64_t batch, std::int64_t context) const;

 private:
  latency::CostSurface target_, drafting_, target_encoder_, drafter_encoder_;
};

/// The i.i.d. acceptance with these tokens per iteration in sentences of translation_tokens().
[[nodiscard]] double translation_alpha(double tokens_per_iteration);

/// Mean iterations of a batch at this acceptance if each sentence advances by its own tokens; the batch ends with the
/// slowest sentence.
[[nodiscard]] double own_pace_iterations(double alpha, std::int64_t batch);

}  // namespace foredraft::experiments
