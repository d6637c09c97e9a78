// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/prefill_time.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/intervals.hpp"

namespace foredraft::analytic {
namespace {

constexpr std::size_t fewest_windows = 8;
constexpr double least_scatter = 0.01;  // of rates over their mean: below, nothing tells prompts from decoding
constexpr double ms_per_s = 1000.0;

}  // namespace

// An iteration takes d + c p with p prompt tokens in it, p = r T at r prompt tokens per second: 1/T = 1/d - (c/d) r. In
// this form noise of the iteration time is in the dependent variable alone; over p it would be in both and pass for a
// cost of prompts.
std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows) {
  for (const MixedWindow& window : windows) {
    check_positive("iteration_ms", window.iteration_ms);
    check_nonnegative("prompt_tokens_per_s", window.prompt_tokens_per_s);
  }
  if (windows.size() < fewest_windows) return std::nullopt;
  const auto number = static_cast<double>(windows.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const MixedWindow& window : windows) {
    mean_x += window.prompt_tokens_per_s / ms_per_s / number;  // per ms, as the iterations
    mean_y += 1.0 / window.iteration_ms / number;
  }
  double squares_x = 0.0;
  double products = 0.0;
  for (const MixedWindow& window : windows) {
    const double x = window.prompt_tokens_per_s / ms_per_s - mean_x;
    squares_x += x * x;
    products += x / window.iteration_ms;
  }
  if (!(squares_x > number * least_scatter * least_scatter * mean_x * mean_x)) return std::nullopt;
  const double slope = products / squares_x;
  const double intercept = mean_y - slope * mean_x;
  const double decode = 1.0 / intercept;
  const double cost = -slope * decode;
  // What each window moves slope, d and ln c by: whatever the noise of each, their squares add up to the variances.
  double slope_variance = 0.0;
  double decode_variance = 0.0;
  double cost_variance = 0.0;
  for (const MixedWindow& window : windows) {
    const double x = window.prompt_tokens_per_s / ms_per_s - mean_x;
    const double residual = 1.0 / window.iteration_ms - intercept - slope * (x + mean_x);
    const double of_slope = x * residual / squares_x;
    const double of_intercept = residual / number - mean_x * of_slope;
    slope_variance += of_slope * of_slope;
    decode_variance += std::pow(of_intercept * decode * decode, 2.0);
    cost_variance += std::pow(of_slope / slope - of_intercept * decode, 2.0);
  }
  const double correction = std::sqrt(number / (number - 2.0));
  const double slope_error = correction * std::sqrt(slope_variance);
  if (!(intercept > 0.0) || !(slope + normal_quantile(0.95) * slope_error < 0.0)) return std::nullopt;
  return PrefillTime{.decode_ms = {decode, correction * std::sqrt(decode_variance)},
                     .per_prompt_token_ms = {cost, cost * correction * std::sqrt(cost_variance)}};
}

}  // namespace foredraft::analytic
