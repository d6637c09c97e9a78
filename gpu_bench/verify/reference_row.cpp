// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foredraft::gpu_bench {
namespace {

constexpr double no_logit = -std::numeric_limits<double>::infinity();

bool faulty(double logit) { return std::isnan(logit) || logit == std::numeric_limits<double>::infinity(); }

double cleaned(double logit) {
  if (std::isnan(logit)) return no_logit;
  return std::min(logit, static_cast<double>(std::numeric_limits<float>::max()));
}

}  // namespace

ReferenceRow::ReferenceRow(std::span<const double> stored) : logits(stored.size()), logs(stored.size(), no_logit) {
  std::transform(stored.begin(), stored.end(), logits.begin(), cleaned);
  const auto largest = std::max_element(logits.begin(), logits.end());
  top = static_cast<std::size_t>(largest - logits.begin());
  empty = *largest == no_logit;
  fault = empty || std::any_of(stored.begin(), stored.end(), faulty);
  if (empty) return;
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - *largest);
  std::transform(logits.begin(), logits.end(), logs.begin(),
                 [&](double logit) { return (logit - *largest) - std::log(sum); });
}

ReferenceDraw reference_draw(const std::vector<double>& weights, double uniform) {
  constexpr double infinite_margin = std::numeric_limits<double>::infinity();
  double total = 0.0;
  for (const double weight : weights) total += weight;
  const double threshold = uniform * total;
  ReferenceDraw drawn{0, infinite_margin};
  double before = 0.0;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    const double after = before + weights[x];
    if (weights[x] > 0.0 && before <= threshold) {
      // To the left of the first possible token and to the right of the last there is nothing else to draw.
      const double to_left = before > 0.0 ? threshold - before : infinite_margin;
      const double to_right = after < total ? after - threshold : infinite_margin;
      drawn = {static_cast<std::int32_t>(x), std::min(to_left, to_right)};
    }
    before = after;
  }
  return drawn;
}

ReferenceDraw reference_draw(const ReferenceRow& row, double uniform) {
  std::vector<double> weights(row.logs.size());
  std::transform(row.logs.begin(), row.logs.end(), weights.begin(), [](double log) { return std::exp(log); });
  return reference_draw(weights, uniform);
}

}  // namespace foredraft::gpu_bench
