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

/// The same for readers, with at most 12 digits: 0.3 where 0.1 + 0.2 was computed, without what rounding leaves.
[[nodiscard]] std::string short_number_text(double number);

/// Text for readers of a number that was typed or computed: the shortest text where it has at most 10 digits, as typed
/// numbers do; else 4 significant digits, so that 0.49999999999999994 reads 0.5.
[[nodiscard]] std::string brief_number_text(double number);

/// Text for readers with a fixed number of digits after the point, "0.0500"; from a million on in scientific notation
/// with as many, "3.0000e+300".
[[nodiscard]] std::string decimal_text(double number, int digits);

/// The whole text as a finite number, or nullopt: no blanks, no trailing letters, no "nan", no "inf".
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// The number as an integer if it is one exactly (up to 2^53), else nullopt.
[[nodiscard]] std::optional<std::int64_t> whole(std::optional<double> number);

/// The whole text as an integer: digits, or a number such as 1e6 that is an exact integer (up to 2^53).
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// The whole text as a number: parse_real, or with one suffix: 80% is 0.8; k, m, g are powers of 1000 and K, M, G of
/// 1024, as engines read lengths: 32k is 32000, 32K is 32768.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text);

/// The same as an integer: all 64 bits without a suffix, up to 2^53 with one.
[[nodiscard]] std::optional<std::int64_t> parse_whole_quantity(std::string_view text);

/// Rounds to half precision (IEEE 754 binary16: 11 significant bits, 2^-24 to 65504), ties to even; infinite from 65520
/// on. A sum, difference, product or quotient of two halves, computed in double precision and rounded here, equals the
/// correctly rounded one: 53 >= 2 * 11 + 2 bits.
[[nodiscard]] double round_to_half(double value);

}  // namespace foredraft
