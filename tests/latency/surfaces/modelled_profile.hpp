// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "latency/profile/profile.hpp"

/// Profiles of devices whose every time follows from a known model.
namespace foredraft::latency::tests {

/// A device similar to an H200.
inline constexpr LatencyModel known_model{.launch_us = 3.0,
                                          .input_us = 2e-4,
                                          .bandwidth_bytes_per_s = 4e12,
                                          .peak_flop_per_s = 600e12,
                                          .sharpness = 3.0,
                                          .attend_launch_us = 8.0,
                                          .attend_peak_flop_per_s = 50e12};

/// The time of a cell under `model`, summed over the operations of its program one by one.
[[nodiscard]] double modelled_us(const LatencyModel& model, const Cell& cell);

/// Plain passes over 1, 2, 4, 8 and 32 tokens at batch 1, 8 and 64 and contexts 128 and 1,024, and drafting one by one
/// of 1, 2 and 4 tokens, of each of these shipped models: fp16, cold, graph. Times are those of `model` times
/// exp(noise z) with z standard normal of a fixed seed; medians are known to 0.4 % and a second run differs by 1 %.
[[nodiscard]] Profile modelled_profile(const LatencyModel& model, const std::vector<std::string>& names, double noise);

/// 2 us plus a time proportional to the elements, batch (2 gamma + 1) vocabulary.
[[nodiscard]] double modelled_sampling_us(std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary);

/// A row of fused_exact with this time, as accurate as those of modelled_profile.
[[nodiscard]] VerificationRow sampling_row(const VerificationCell& cell, double us);

/// Draws and verifications of gamma 1, 4 and 8 at batch 1 and 8: fp16, hot, graph.
void add_sampling(Profile& profile, std::int64_t vocabulary);

}  // namespace foredraft::latency::tests
