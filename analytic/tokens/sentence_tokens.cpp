// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/sentence_tokens.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/tokens/finite_length.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

constexpr double longest_sentence = 1e5;

}  // namespace

double sentence_tokens_per_iteration(const IidIteration& iteration, double mean_length) {
  if (!(mean_length >= 1.0 && mean_length <= longest_sentence)) {
    throw DomainError(fmt::format("invalid mean_length={} (must lie in [1, {}])", mean_length, longest_sentence));
  }
  const auto shorter = static_cast<std::int64_t>(mean_length);
  // A draft that reaches beyond the sentence yields its rest: the same iterations as with a draft of that length.
  const std::int64_t most = std::min(max_tokens(iteration.gamma, iteration.convention), shorter + 1);
  std::vector<double> pmf;
  for (std::int64_t k = 1; k < most; ++k) pmf.push_back(tokens_probability(iteration, k));
  pmf.push_back(tokens_at_least(iteration, most));
  const double longer_share = mean_length - static_cast<double>(shorter);
  double iterations = (1.0 - longer_share) * expected_iterations(pmf, shorter);
  if (longer_share > 0.0) iterations += longer_share * expected_iterations(pmf, shorter + 1);
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
  // Bisection down to neighbouring doubles: tokens increase with alpha.
  for (double middle = 0.5; low < middle && middle < high; middle = 0.5 * (low + high)) {
    (tokens(middle) < tokens_per_iteration ? low : high) = middle;
  }
  return high;
}

}  // namespace foredraft::analytic
