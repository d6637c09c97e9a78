// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/speedup_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "core/check.hpp"
#include "core/intervals.hpp"

namespace foredraft::analytic {
namespace {

/// Relative change of a factor for a relative change of each time.
enum Time : std::size_t { plain_token, iteration, drafting, verification, plain_pass, time_count };
using Slopes = std::array<double, time_count>;

struct Link {
  ChainFactor factor;
  double value;
  Slopes slopes;
};

void check_time(std::string_view name, const Estimate& time) {
  check_positive(name, time.mean);
  check_nonnegative("standard_error", time.standard_error);
}

void check(const ChainTimes& times) {
  check_time("tokens", times.tokens);
  if (times.tokens.mean < 1.0) throw DomainError("invalid tokens (must be at least 1: an iteration yields a token)");
  check_time("plain_token", times.plain_token);
  check_time("iteration", times.iteration);
  if (times.verification) check_time("verification", *times.verification);
  if (times.plain_pass) check_time("plain_pass", *times.plain_pass);
  if (times.drafting) {
    check_nonnegative("drafting", times.drafting->mean);
    check_nonnegative("standard_error", times.drafting->standard_error);
  }
}

double relative_error(const Estimate& time) { return time.mean > 0.0 ? time.standard_error / time.mean : 0.0; }

Slopes relative_errors(const ChainTimes& times) {
  const Estimate exact{1.0, 0.0};
  return {relative_error(times.plain_token), relative_error(times.iteration),
          relative_error(times.drafting.value_or(exact)), relative_error(times.verification.value_or(exact)),
          relative_error(times.plain_pass.value_or(exact))};
}

double error_of(const Slopes& slopes, const Slopes& errors) {
  double squares = 0.0;
  for (std::size_t i = 0; i < time_count; ++i) squares += slopes.at(i) * slopes.at(i) * errors.at(i) * errors.at(i);
  return std::sqrt(squares);
}

std::vector<Link> known_links(const ChainTimes& times) {
  std::vector<Link> links;
  const auto& verify = times.verification;
  if (verify && times.plain_pass) {
    links.push_back({ChainFactor::verification, times.plain_pass->mean / verify->mean, {0, 0, 0, -1, 1}});
  }
  if (verify && times.drafting) {
    const double both = verify->mean + times.drafting->mean;
    const double drafting_share = times.drafting->mean / both;
    const double verify_share = verify->mean / both;
    links.push_back({ChainFactor::drafting, verify_share, {0, 0, -drafting_share, drafting_share, 0}});
    links.push_back(
        {ChainFactor::engine_overhead, both / times.iteration.mean, {0, -1, drafting_share, verify_share, 0}});
  }
  if (times.plain_pass) {
    links.push_back({ChainFactor::plain_overhead, times.plain_token.mean / times.plain_pass->mean, {1, 0, 0, 0, -1}});
  }
  return links;
}

/// The links, and what they leave as one more.
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
    const double share = lost == 0.0 ? std::numeric_limits<double>::quiet_NaN() : std::log(link.value) / lost;
    chain.links.push_back({link.factor, link.value, link.value * error_of(link.slopes, errors), share});
  }
  return chain;
}

}  // namespace foredraft::analytic
