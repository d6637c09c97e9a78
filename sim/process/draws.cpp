// SPDX-License-Identifier: Apache-2.0
#include "sim/process/draws.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace foredraft::sim {

Draws::Draws(const RunKey& key, const DrawPurposes& purposes, std::uint64_t block, std::uint64_t positions)
    : key_(philox_key(key.seed)),
      counter_(philox_counter({.purpose = purposes.leading, .point = key.point, .block = block}, 0)),
      tie_id_{.purpose = purposes.tie, .point = key.point, .block = block},
      positions_(positions) {}

std::uint64_t Draws::trailing(std::uint64_t iteration, std::uint64_t position) const {
  const PhiloxWords words = philox4x32_10(philox_counter(tie_id_, iteration * positions_ + position), key_);
  return std::uint64_t{words[1]} << 32U | words[0];
}

void Draws::fill(std::uint64_t index, std::uint64_t position) {
  // Eight iterations share their draws, so start with the first position unless it is out of the window.
  first_ = position < window ? index - position : index;
  FOREDRAFT_EXPECT(first_ + window <= std::uint64_t{1} << 56U);  // the draw index has 56 bits of the counter
  kernels().fill_draws(key_.data(), counter_.data(), first_, window, words_.data());
}

namespace {

const double log_4 = std::log(4.0);

/// Uniform on the open interval (0, 1), exactly symmetric: 1 minus it is neither rounded nor 0.
double open_uniform(RandomStream& random) { return (static_cast<double>(random.next_u64() >> 12U) + 0.5) * 0x1.0p-52; }

/// Rate of the proposals' tails: the rate of the Beta distribution if it has a pole, else the best one.
double proposal_rate(double a, double b, double share_b) {
  if (std::min(a, b) <= 1.0) return std::min(a, b);
  return std::sqrt((2.0 * a * share_b - 1.0) / (1.0 - 2.0 / (a + b)));
}

/// log(e^x + e^y)
double log_sum(double x, double y) { return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y))); }

/// log(1 / (1 + e^-log_odds))
double log_share(double log_odds) { return -log_sum(0.0, -log_odds); }

double share(double log_odds) { return 1.0 / (1.0 + std::exp(-log_odds)); }

}  // namespace

BetaDistribution::BetaDistribution(double a, double b)
    : share_a_{.value = 1.0 / (1.0 + b / a), .log = log_share(std::log(a) - std::log(b))},
      share_b_{.value = 1.0 / (1.0 + a / b), .log = log_share(std::log(b) - std::log(a))},
      sum_(a + b),
      log_odds_(std::log(a) - std::log(b)) {
  const double rate = proposal_rate(a, b, share_b_.value);
  spread_ = 1.0 / rate;
  exponent_ = a + rate;
}

BetaVariate BetaDistribution::draw(RandomStream& random, std::uint64_t place) const {
  // An attempt takes one draw and succeeds with probability >= 1/4, so a variate exceeds its part with probability <
  // 1e-32.
  constexpr std::uint64_t stretch = 256;
  random.seek(place * stretch);
  for (;;) {
    const double u = open_uniform(random);
    const double w = open_uniform(random);
    const double v = spread_ * std::log(u / (1.0 - u));  // log-odds relative to those of a / b
    const double distance = std::abs(v);
    // log((b + a e^v) / (a + b)): without cancellation near v = 0, without overflow for large v.
    const Share& near = v > 0.0 ? share_a_ : share_b_;
    const Share& far = v > 0.0 ? share_b_ : share_a_;
    const double fall = far.value * std::expm1(-distance);
    const double log_total =
        std::max(v, 0.0) + (fall > -0.5 ? std::log1p(fall) : log_sum(near.log, far.log - distance));
    if (exponent_ * v - sum_ * log_total - log_4 < std::log(u * u * w)) continue;
    return {share(log_odds_ + v), share(-log_odds_ - v)};
  }
}

// Geometric: the smallest L with P(length > L) = (1 - 1/mean)^L below a uniform on (0, 1].
std::int64_t draw_length(const SequenceLength& distribution, RandomStream& random) {
  if (!distribution.geometric) return static_cast<std::int64_t>(distribution.tokens);
  const double uniform = 1.0 - random.uniform();
  return 1 + static_cast<std::int64_t>(std::log(uniform) / std::log1p(-1.0 / distribution.tokens));
}

}  // namespace foredraft::sim
