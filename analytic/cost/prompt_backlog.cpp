// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/prompt_backlog.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace foredraft::analytic {

namespace {

/// Probabilities computed from the largest one, at `mode`, in both directions. `ratio(n)`: P(n) / P(n - 1).
template <typename Ratio>
std::vector<double> pmf_around(std::int64_t mode, std::int64_t last, const Ratio& ratio) {
  constexpr double negligible = 1e-11;
  std::vector<double> pmf(static_cast<std::size_t>(mode) + 1);
  pmf.back() = 1.0;
  double sum = 1.0;
  for (std::int64_t n = mode; n > 0 && pmf[static_cast<std::size_t>(n)] > negligible; --n) {
    pmf[static_cast<std::size_t>(n) - 1] = pmf[static_cast<std::size_t>(n)] / ratio(static_cast<double>(n));
    sum += pmf[static_cast<std::size_t>(n) - 1];
  }
  for (std::int64_t n = mode + 1; n <= last && pmf.back() > negligible; ++n) {
    pmf.push_back(pmf.back() * ratio(static_cast<double>(n)));
    sum += pmf.back();
  }
  for (double& probability : pmf) probability /= sum;
  return pmf;
}

}  // namespace

std::vector<double> binomial_pmf(std::int64_t trials, double probability) {
  const auto all = static_cast<double>(trials);
  const auto mode = static_cast<std::int64_t>((all + 1.0) * std::clamp(probability, 0.0, 1.0));
  const double odds = probability / (1.0 - probability);
  return pmf_around(std::min(mode, trials), trials, [=](double n) { return odds * (all - n + 1.0) / n; });
}

std::vector<double> poisson_pmf(double mean) {
  return pmf_around(static_cast<std::int64_t>(mean), std::numeric_limits<std::int64_t>::max(),
                    [=](double n) { return mean / n; });
}

namespace {

/// A transition matrix with entries near its diagonal.
class Band {
 public:
  Band(std::size_t states, std::size_t down, std::size_t up)
      : down_(down), width_(down + up + 1), entries_(states * width_) {}

  double& at(std::size_t row, std::size_t column) { return entries_[row * width_ + column + down_ - row]; }

 private:
  std::size_t down_;
  std::size_t width_;
  std::vector<double> entries_;
};

/// Stationary distribution of a chain that moves at most `down` states down and `up` states up. Eliminates one state
/// after the other, starting with the last. If the chain cannot move down from a state, this state and those above it
/// hold all of the probability.
std::vector<double> stationary_shares(Band& steps, std::size_t states, std::size_t down, std::size_t up) {
  const auto below = [](std::size_t state, std::size_t distance) { return state > distance ? state - distance : 0; };
  constexpr double large = 1e100;
  std::size_t base = 0;
  for (std::size_t state = states - 1; state > 0; --state) {
    const std::size_t first = below(state, down);
    double leaves = 0.0;
    for (std::size_t to = first; to < state; ++to) leaves += steps.at(state, to);
    if (!(leaves > 0.0)) {
      base = state;
      break;
    }
    for (std::size_t from = below(state, up); from < state; ++from) {
      double& enters = steps.at(from, state);
      if (enters == 0.0) continue;
      enters /= leaves;
      for (std::size_t to = first; to < state; ++to) steps.at(from, to) += enters * steps.at(state, to);
    }
  }
  std::vector<double> shares(states);
  shares[base] = 1.0;
  double sum = 1.0;
  for (std::size_t state = base + 1; state < states; ++state) {
    for (std::size_t from = std::max(base, below(state, up)); from < state; ++from) {
      shares[state] += shares[from] * steps.at(from, state);
    }
    sum += shares[state];
    if (sum < large) continue;
    for (std::size_t i = base; i <= state; ++i) shares[i] /= sum;
    sum = 1.0;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

double whole_if_nearly(double parts) {
  constexpr double round_off = 1e-9;
  return std::abs(parts - std::round(parts)) < round_off ? std::round(parts) : parts;
}

}  // namespace

std::vector<BacklogShare> prompt_backlog(double prompt_tokens, std::int64_t max_prompts, std::int64_t parts,
                                         const std::function<BacklogPass(std::int64_t prompts, double tokens)>& pass) {
  const auto per_prompt = static_cast<std::size_t>(parts);
  const std::size_t states = static_cast<std::size_t>(max_prompts) * per_prompt + 1;
  const double part_tokens = prompt_tokens / static_cast<double>(parts);
  std::vector<BacklogShare> backlog;
  std::vector<BacklogPass> passes;
  std::size_t down = 1;
  std::size_t up = 1;
  for (std::size_t state = 0; state < states; ++state) {
    backlog.push_back({.share = 0.0,
                       .prompts = static_cast<std::int64_t>((state + per_prompt - 1) / per_prompt),
                       .tokens = part_tokens * static_cast<double>(state)});
    passes.push_back(pass(backlog.back().prompts, backlog.back().tokens));
    const double read = std::clamp(whole_if_nearly(passes.back().room / part_tokens), 0.0, static_cast<double>(state));
    down = std::max(down, static_cast<std::size_t>(std::ceil(read)));
    up = std::max(up, std::min((passes.back().arrivals.size() - 1) * per_prompt, states));
  }
  Band steps(states, down, up);
  for (std::size_t state = 0; state < states; ++state) {
    const double read = std::clamp(whole_if_nearly(passes[state].room / part_tokens), 0.0, static_cast<double>(state));
    const auto whole = static_cast<std::size_t>(read);
    const double more = read - static_cast<double>(whole);
    for (std::size_t joined = 0; joined < passes[state].arrivals.size(); ++joined) {
      const double probability = passes[state].arrivals[joined];
      const auto to = [&](std::size_t parts_read) {
        return std::min(state - parts_read + joined * per_prompt, states - 1);
      };
      steps.at(state, to(whole)) += (1.0 - more) * probability;
      if (more > 0.0) steps.at(state, to(whole + 1)) += more * probability;
    }
  }
  const std::vector<double> shares = stationary_shares(steps, states, down, up);
  for (std::size_t state = 0; state < states; ++state) backlog[state].share = shares[state];
  return backlog;
}

}  // namespace foredraft::analytic
