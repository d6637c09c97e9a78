// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foredraft {

/// Appends the shortest text that reads back to the same double. Infinities and NaN as "inf", "-inf", "nan".
void append_number(std::string& text, double number);
void append_number(std::string& text, std::uint64_t number);
[[nodiscard]] std::string number_text(double number);

/// For people: so many digits behind the point, "0.0500"; from a million on, where digits fill the line and say
/// nothing, in powers of ten with as many, "3.0000e+300".
[[nodiscard]] std::string decimal_text(double number, int digits);

/// The whole text as a finite number, or nothing: no blanks, no trailing letters, no "nan", no "inf".
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// A number that is whole, up to 2^53; else nothing.
[[nodiscard]] std::optional<std::int64_t> whole(std::optional<double> number);

/// The whole text as a whole number: digits, or a number such as 1e6 that is one exactly (up to 2^53).
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// A number as people write it: parse_real, or with one suffix: 80% is 0.8; k, m, g are powers of 1000 and K, M, G of
/// 1024, as engines read lengths: 32k is 32000, 32K is 32768.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text);

/// The same as a whole number: all of 64 bits without a suffix, up to 2^53 with one.
[[nodiscard]] std::optional<std::int64_t> parse_whole_quantity(std::string_view text);

/// The nearest number of half precision (IEEE 754 binary16: 11 significant bits, 2^-24 to 65504), ties to even;
/// infinite from 65520 on. Sums, differences, products and quotients of two halves taken in double precision and
/// rounded here are rounded once: 53 bits are more than twice 11, and two.
[[nodiscard]] double round_to_half(double value);

}  // namespace foredraft
