// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace foredraft::ngram {

/// What modified Kneser-Ney takes off a count of 1, 2, and 3 or more.
struct Discounts {
  std::array<double, 3> of;  ///< 0 < of[i] < i + 1

  [[nodiscard]] double operator()(std::uint32_t count) const { return of[count < 3 ? count - 1 : 2]; }
};

/// D_i = i - (i + 1) Y t_{i+1} / t_i, Y = t_1 / (t_1 + 2 t_2), t_i the number of counts that equal i
/// [Chen1999, Sec. 3]. Counts whose t_1 .. t_4 do not allow it (one is zero, or a D_i leaves its range: tiny texts, or
/// tokens that a vocabulary limit has cleared of rare words) take 1/2, 1 and 3/2, which leave every token some
/// probability.
[[nodiscard]] Discounts estimate_discounts(std::span<const std::uint32_t> counts);

}  // namespace foredraft::ngram
