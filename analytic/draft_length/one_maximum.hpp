// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analytic/draft_length/best_gamma.hpp"

/// The best draft length of any acceptance process and any verification time that is a line in its tokens. The tokens
/// of an iteration are concave in gamma (a later draft never gains more than an earlier one) and its time is linear, so
/// that the speedup has one maximum. Derivation in docs/model.md.
namespace foredraft::analytic {

/// Speedup at gamma `first` to `last`: rises, or stays, up to its maximum and never rises after it.
struct OneMaximum {
  std::function<double(std::int64_t gamma)> speedup;
  std::int64_t first;
  std::int64_t last;
};

/// The smallest gamma of the greatest speedup, to rounding; nothing where the speedup still rises at `last`. O(log
/// last) speedups.
[[nodiscard]] std::optional<std::int64_t> best_gamma(const OneMaximum& speedups);

/// All gammas around `best` whose speedup is at least (1 - fraction) of that there. fraction in [0, 1].
[[nodiscard]] GammaRange near_best_gamma(const OneMaximum& speedups, std::int64_t best, double fraction);

}  // namespace foredraft::analytic
