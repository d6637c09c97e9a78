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

/// Text for display, without round-off: 0.1 + 0.2 gives 0.3. The shortest text if it has at most 13 characters; else 12
/// significant digits.
[[nodiscard]] std::string short_number_text(double number);

/// Text for display: the shortest text if it has at most 10 digits, like typed numbers; else 4 significant digits, so
/// that 0.49999999999999994 gives 0.5.
[[nodiscard]] std::string brief_number_text(double number);

/// Text for display with a fixed number of decimals, "0.0500". From a million on in scientific notation, "3.0000e+300".
[[nodiscard]] std::string decimal_text(double number, int digits);

/// Parses the whole text as a finite number. nullopt for spaces, trailing letters, "nan" and "inf".
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// The number as an integer if it is exactly one (up to 2^53), else nullopt.
[[nodiscard]] std::optional<std::int64_t> whole(std::optional<double> number);

/// Parses the whole text as an integer: digits, or a number such as 1e6 that is exactly an integer (up to 2^53).
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Parses the whole text as parse_real does, with an optional suffix: 80% is 0.8. As in engines, k, m, g are powers of
/// 1000 and K, M, G powers of 1024: 32k is 32000, 32K is 32768.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text);

/// The same for an integer: all 64 bits without a suffix, up to 2^53 with a suffix.
[[nodiscard]] std::optional<std::int64_t> parse_whole_quantity(std::string_view text);

/// Rounds to half precision (IEEE 754 binary16: 11 significant bits, 2^-24 to 65504), ties to even; infinite from 65520
/// on. Rounding a double-precision sum, difference, product or quotient of two halves gives the correctly rounded
/// result, because 53 >= 2 * 11 + 2 bits.
[[nodiscard]] double round_to_half(double value);

}  // namespace foredraft
