// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/iteration_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/check.hpp"
#include "core/intervals.hpp"

namespace foredraft::analytic {
namespace {

constexpr double not_known = unknown<double>;

void check_positive_estimate(std::string_view name, const Estimate& time) {
  check_positive(name, time.mean);
  check_nonnegative("standard_error", time.standard_error);
}

void check_drafting(const Estimate& time) {
  check_nonnegative("drafting", time.mean);
  check_nonnegative("standard_error", time.standard_error);
}

}  // namespace

// An iteration takes d + c p with p prompt tokens in it, p = r T at r prompt tokens per second: 1/T = 1/d - (c/d) r. In
// this form only the dependent variable has the noise of the iteration time. As a function of p both variables would
// have it, and noise would look like a cost of prompts.
std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows) {
  constexpr std::size_t min_windows = 8;
  constexpr double min_scatter = 0.01;  // relative scatter of rates needed to separate prompts from decoding
  constexpr double ms_per_s = 1000.0;
  for (const MixedWindow& window : windows) {
    check_positive("iteration_ms", window.iteration_ms);
    check_nonnegative("prompt_tokens_per_s", window.prompt_tokens_per_s);
  }
  if (windows.size() < min_windows) return std::nullopt;
  const auto number = static_cast<double>(windows.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const MixedWindow& window : windows) {
    mean_x += window.prompt_tokens_per_s / ms_per_s / number;  // per ms, like the iterations
    mean_y += 1.0 / window.iteration_ms / number;
  }
  double squares_x = 0.0;
  double products = 0.0;
  for (const MixedWindow& window : windows) {
    const double x = window.prompt_tokens_per_s / ms_per_s - mean_x;
    squares_x += x * x;
    products += x / window.iteration_ms;
  }
  if (!(squares_x > number * min_scatter * min_scatter * mean_x * mean_x)) return std::nullopt;
  const double slope = products / squares_x;
  const double intercept = mean_y - slope * mean_x;
  const double decode = 1.0 / intercept;
  const double cost = -slope * decode;
  // Influence of each window on slope, d and ln c; the sums of squares are the variances for any noise.
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

namespace {

/// Relative change of a factor per relative change of each time.
enum Time : std::size_t { plain_token, iteration, drafting, verification, decode_step, time_count };
using Slopes = std::array<double, time_count>;

struct Link {
  ChainFactor factor;
  double value;
  Slopes slopes;
};

void check(const ChainTimes& times) {
  check_positive_estimate("tokens", times.tokens);
  if (times.tokens.mean < 1.0) throw DomainError("invalid tokens (must be at least 1: an iteration yields a token)");
  check_positive_estimate("plain_token", times.plain_token);
  check_positive_estimate("iteration", times.iteration);
  if (times.verification) check_positive_estimate("verification", *times.verification);
  if (times.decode_step) check_positive_estimate("decode_step", *times.decode_step);
  if (times.drafting) check_drafting(*times.drafting);
}

double relative_error(const Estimate& time) { return time.mean > 0.0 ? time.standard_error / time.mean : 0.0; }

Slopes relative_errors(const ChainTimes& times) {
  const Estimate exact{1.0, 0.0};
  return {relative_error(times.plain_token), relative_error(times.iteration),
          relative_error(times.drafting.value_or(exact)), relative_error(times.verification.value_or(exact)),
          relative_error(times.decode_step.value_or(exact))};
}

double error_of(const Slopes& slopes, const Slopes& errors) {
  double squares = 0.0;
  for (std::size_t i = 0; i < time_count; ++i) squares += slopes.at(i) * slopes.at(i) * errors.at(i) * errors.at(i);
  return std::sqrt(squares);
}

std::vector<Link> known_links(const ChainTimes& times) {
  std::vector<Link> links;
  const auto& verify = times.verification;
  if (verify && times.decode_step) {
    links.push_back({ChainFactor::verification, times.decode_step->mean / verify->mean, {0, 0, 0, -1, 1}});
  }
  if (verify && times.drafting) {
    const double both = verify->mean + times.drafting->mean;
    const double drafting_share = times.drafting->mean / both;
    const double verify_share = verify->mean / both;
    links.push_back({ChainFactor::drafting, verify_share, {0, 0, -drafting_share, drafting_share, 0}});
    links.push_back(
        {ChainFactor::engine_overhead, both / times.iteration.mean, {0, -1, drafting_share, verify_share, 0}});
  }
  if (times.decode_step) {
    links.push_back({ChainFactor::plain_overhead, times.plain_token.mean / times.decode_step->mean, {1, 0, 0, 0, -1}});
  }
  return links;
}

/// The links; the remainder is the last one.
std::vector<Link> links_of(const ChainTimes& times) {
  constexpr std::size_t all_known = 4;
  std::vector<Link> links = known_links(times);
  if (links.size() == all_known) return links;
  Link rest{ChainFactor::iteration_cost, times.plain_token.mean / times.iteration.mean, {1, -1, 0, 0, 0}};
  for (const Link& link : links) {
    rest.value /= link.value;
    for (std::size_t i = 0; i < time_count; ++i) rest.slopes.at(i) -= link.slopes.at(i);
  }
  links.push_back(rest);
  return links;
}

std::vector<ChainFactor> causes_of(std::span<const Link> links, const Slopes& errors) {
  const auto less = [](const Link& left, const Link& right) { return left.value < right.value; };
  const Link& worst = *std::min_element(links.begin(), links.end(), less);
  std::vector<ChainFactor> causes;
  for (const Link& link : links) {
    Slopes difference = link.slopes;
    for (std::size_t i = 0; i < time_count; ++i) difference.at(i) -= worst.slopes.at(i);
    const double noise = normal_quantile(0.95) * error_of(difference, errors);
    if (link.value < 1.0 && std::log(link.value / worst.value) <= noise) causes.push_back(link.factor);
  }
  return causes;
}

}  // namespace

SpeedupChain speedup_chain(const ChainTimes& times) {
  check(times);
  const Slopes errors = relative_errors(times);
  const std::vector<Link> links = links_of(times);
  double lost = 0.0;
  for (const Link& link : links) lost += std::log(link.value);
  const double ratio = times.plain_token.mean / times.iteration.mean;
  const double speedup = times.tokens.mean * ratio;
  const double error = std::hypot(relative_error(times.tokens), errors[plain_token], errors[iteration]);
  SpeedupChain chain{.promised = times.tokens.mean,
                     .links = {},
                     .speedup = {speedup, speedup * error},
                     .causes = causes_of(links, errors),
                     .overlapped = times.verification && times.drafting &&
                                   times.verification->mean + times.drafting->mean > times.iteration.mean};
  for (const Link& link : links) {
    const double share = lost == 0.0 ? not_known : std::log(link.value) / lost;
    chain.links.push_back({link.factor, link.value, link.value * error_of(link.slopes, errors), share});
  }
  return chain;
}

}  // namespace foredraft::analytic
