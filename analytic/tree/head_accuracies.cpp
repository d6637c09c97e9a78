// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/head_accuracies.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/numerics/compensated_sum.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Round-off that the decimal numbers of a row may add up to.
constexpr double row_tolerance = 1e-10;

}  // namespace

void check_head(std::span<const double> row, std::int64_t head) {
  if (row.empty()) throw DomainError(fmt::format("invalid accuracies[head {}] (must have at least one rank)", head));
  CompensatedSum total;
  for (std::size_t i = 0; i < row.size(); ++i) {
    check_probability(fmt::format("accuracies[head {}][rank {}]", head, i + 1), row[i]);
    total.add(row[i]);
  }
  if (total.value() > 1.0 + row_tolerance) {
    throw DomainError(
        fmt::format("invalid sum of accuracies[head {}]={} (must be at most 1: at most one candidate of a head is "
                    "accepted; top-k accuracies count earlier ranks again: give their differences)",
                    head, total.value()));
  }
}

HeadAccuracies::HeadAccuracies(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {
  if (rows_.empty()) throw DomainError("invalid accuracies (must have at least one head)");
  for (std::size_t i = 0; i < rows_.size(); ++i) check_head(rows_[i], static_cast<std::int64_t>(i) + 1);
}

double HeadAccuracies::at(std::int64_t depth, std::int64_t rank) const {
  const auto row = head(depth);
  return static_cast<std::size_t>(rank) < row.size() ? row[static_cast<std::size_t>(rank)] : 0.0;
}

bool HeadAccuracies::falls() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const std::vector<double>& row) { return std::is_sorted(row.rbegin(), row.rend()); });
}

double HeadAccuracies::top(std::int64_t depth, std::int64_t count) const {
  CompensatedSum total;
  for (const double accuracy : head(depth).first(static_cast<std::size_t>(count))) total.add(accuracy);
  return std::min(total.value(), 1.0);
}

}  // namespace foredraft::analytic
