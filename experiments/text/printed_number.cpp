// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/printed_number.hpp"

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <optional>

#include "foredraft/errors.hpp"

namespace foredraft::experiments {
namespace {

std::optional<double> plain_decimal(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

bool is_printed_number(std::string_view text) { return plain_decimal(text).has_value(); }

PrintedNumber parse_printed_number(std::string_view text) {
  const std::optional<double> parsed = plain_decimal(text);
  if (!parsed) throw DomainError(fmt::format("invalid printed number '{}' (must be a plain decimal number)", text));
  const double value = *parsed;
  const auto point = text.find('.');
  const auto decimals = point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
  const double half_unit = 0.5 * std::pow(10.0, -decimals);
  // Built from decimals again, so that 2.45 is the double nearest to 2.45 and not 2.4 + 0.05 with its round-off.
  const auto shifted = [&](double units) { return std::stod(fmt::format("{:.{}f}", value + units, decimals + 1)); };
  return {.text = std::string(text), .value = value, .rounding = {shifted(-half_unit), shifted(half_unit)}};
}

}  // namespace foredraft::experiments
