// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace foredraft::gpu_bench {

/// How many drafts each request of an iteration is to accept: i.i.d. acceptance with probability alpha, so that at
/// least k of gamma are accepted with probability alpha^k.
///
/// Counts are read off that law at the points of a golden-ratio sequence (frac(n / 1.618...)) instead of random ones:
/// of n points the share below any border is off by O(log n / n), not 1 / sqrt(n). A loop that runs a few dozen
/// iterations then has the law's mean to about a per cent, and what remains between prediction and measurement is the
/// model's error and not the luck of the draws.
class ForcedAcceptance {
 public:
  /// alpha in [0, 1], gamma >= 1; throws DomainError.
  ForcedAcceptance(double alpha, std::int64_t gamma);

  /// The next counts, 0 to gamma, one a request.
  void next(std::span<std::int32_t> accepted);

 private:
  std::vector<double> survival_;  ///< P(at least k accepted), k = 1 to gamma
  std::uint64_t point_ = 0;       ///< of [0, 1), as a fraction of 2^64
};

}  // namespace foredraft::gpu_bench
