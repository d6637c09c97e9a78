// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/discounts.hpp"

namespace foredraft::ngram {

Discounts estimate_discounts(std::span<const std::uint32_t> counts) {
  std::array<double, 5> equal{};  // [i]: number of counts that equal i
  for (const std::uint32_t count : counts) {
    if (count < equal.size()) equal[count] += 1.0;
  }
  constexpr Discounts fixed{{0.5, 1.0, 1.5}};
  const double y = equal[1] / (equal[1] + 2.0 * equal[2]);  // 0/0 leads to NaN, which fails below
  Discounts discounts{};
  for (std::size_t i = 1; i <= discounts.of.size(); ++i) {
    const auto count = static_cast<double>(i);
    const double discount = count - (count + 1.0) * y * equal[i + 1] / equal[i];
    // A count i whose successor never occurs would be taken off whole: no use of D_i = i either.
    if (!(discount > 0.0 && discount < count)) return fixed;
    discounts.of[i - 1] = discount;
  }
  return discounts;
}

}  // namespace foredraft::ngram
