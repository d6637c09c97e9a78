// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/sentence_tokens.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "analytic/numerics/stable_forms.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::experiments {

double sentence_tokens_per_iteration(const analytic::IidIteration& iteration, double mean_length) {
  constexpr double longest_sentence = 1e5;
  check_probability("alpha", iteration.alpha);
  analytic::check_gamma(iteration.gamma, iteration.convention);
  if (!(mean_length >= 1.0 && mean_length <= longest_sentence)) {
    throw DomainError(fmt::format("invalid mean_length={} (must lie in [1, {}])", mean_length, longest_sentence));
  }
  const auto shorter = static_cast<std::int64_t>(mean_length);
  // A draft longer than the rest of the sentence takes the same iterations as a draft of that length.
  const std::int64_t maximum = std::min(max_tokens(iteration.gamma, iteration.convention), shorter + 1);
  std::vector<double> pmf;
  for (std::int64_t k = 1; k < maximum; ++k) pmf.push_back(analytic::tokens_probability(iteration, k));
  pmf.push_back(analytic::tokens_at_least(iteration, maximum));
  const double longer_share = mean_length - static_cast<double>(shorter);
  double iterations = (1.0 - longer_share) * analytic::expected_iterations(pmf, shorter);
  if (longer_share > 0.0) iterations += longer_share * analytic::expected_iterations(pmf, shorter + 1);
  return mean_length / iterations;
}

double alpha_from_sentence_tokens(double tokens_per_iteration, std::int64_t gamma, Convention convention,
                                  double mean_length) {
  const auto tokens = [&](double alpha) {
    return sentence_tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = convention}, mean_length);
  };
  double low = 0.0;
  double high = 1.0;
  if (!(tokens(low) <= tokens_per_iteration && tokens_per_iteration <= tokens(high))) {
    throw DomainError(fmt::format("invalid tokens_per_iteration={} (must lie in [{}, {}])", tokens_per_iteration,
                                  tokens(low), tokens(high)));
  }
  // Bisection down to neighboring doubles: tokens increase with alpha.
  for (double middle = 0.5; low < middle && middle < high; middle = 0.5 * (low + high)) {
    (tokens(middle) < tokens_per_iteration ? low : high) = middle;
  }
  return high;
}

}  // namespace foredraft::experiments
