// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <fmt/format.h>
#include <cmath>
#include <stdexcept>

#include "core/numbers.hpp"

namespace foredraft {
namespace {

[[noreturn]] void reject(std::string_view name, double value, std::string_view requirement) {
  throw DomainError(fmt::format("invalid {}={} ({})", name, value, requirement));
}

[[noreturn]] void reject(std::string_view name, std::int64_t value, std::string_view requirement) {
  throw DomainError(fmt::format("invalid {}={} ({})", name, value, requirement));
}

bool is_probability(double value) { return value >= 0.0 && value <= 1.0; }

}  // namespace

void check_probability(std::string_view name, double value) {
  if (!is_probability(value)) reject(name, value, "must lie in [0, 1]");
}

void check_nonnegative(std::string_view name, double value) {
  if (!(value >= 0.0 && std::isfinite(value))) reject(name, value, "must be finite and not negative");
}

void check_positive(std::string_view name, double value) {
  if (!(value > 0.0 && std::isfinite(value))) reject(name, value, "must be finite and above 0");
}

void check_at_least(std::string_view name, std::int64_t value, std::int64_t minimum) {
  if (value < minimum) reject(name, value, fmt::format("must be at least {}", minimum));
}

void check_range(std::string_view name, std::int64_t value, std::int64_t minimum, std::int64_t maximum) {
  if (value < minimum || value > maximum) {
    reject(name, value, fmt::format("must lie in {} to {}", minimum, maximum));
  }
}

void check_probabilities(std::string_view name, std::span<const double> values) {
  if (values.empty()) throw DomainError(fmt::format("invalid {} (must have at least one entry)", name));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_probability(values[i])) reject(fmt::format("{}[{}]", name, i), values[i], "must lie in [0, 1]");
  }
}

void check_distribution(std::string_view name, std::span<const double> values, double tolerance) {
  if (values.empty()) throw DomainError(fmt::format("invalid {} (must have at least one entry)", name));
  double total = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0.0 && std::isfinite(values[i]))) {
      reject(fmt::format("{}[{}]", name, i), values[i], "must be finite and not negative");
    }
    total += values[i];
  }
  if (!(std::abs(total - 1.0) <= tolerance)) {
    throw DomainError(fmt::format("invalid sum of {}={} (must be 1)", name, short_number_text(total)));
  }
}

namespace detail {

void condition_failed(const char* kind, const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("{}:{}: {} failed: {}", file, line, kind, condition));
}

}  // namespace detail
}  // namespace foredraft
