// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft {

/// The nearest number of half precision (IEEE 754 binary16: 11 significant bits, 2^-24 to 65504), ties to even;
/// infinite from 65520 on. Sums, differences, products and quotients of two halves taken in double precision and
/// rounded here are rounded once: 53 bits are more than twice 11, and two.
[[nodiscard]] double round_to_half(double value);

}  // namespace foredraft
