// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/text_lines.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

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

namespace {

constexpr std::size_t text_columns = 100;

}  // namespace

bool TextLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (!line_.empty() && line_.front() != '#') return true;
  }
  return false;
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (line.size() > text_columns) {
      const std::size_t blank = line.rfind(' ', text_columns);
      if (blank == std::string::npos || line.find_first_not_of(' ') > blank) break;
      result += line.substr(0, blank) + "\n";
      line = std::string(indent, ' ') + line.substr(blank + 1);
    }
    result += line;
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string labeled(std::string_view label, const std::string& text) {
  std::string lines;
  std::string line = fmt::format("{:<{}}", label, label.empty() ? 0 : columns_of_label);
  const std::size_t indent = line.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > indent && line.size() + 1 + word.size() > text_columns) {
      lines += line + "\n";
      line = std::string(indent, ' ');
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return lines + line + "\n";
}

}  // namespace foredraft::experiments
