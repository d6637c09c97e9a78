// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analytic/cost/load_equilibrium.hpp"
#include "core/check.hpp"

/// Times of passes under a load, for closed loops and for Poisson arrivals.
namespace foredraft::analytic {

inline constexpr double us_per_s = 1e6;
/// Passes with a smaller share of all passes are ignored.
inline constexpr double rare_pass = 1e-12;

inline IterationParts checked_iteration(const ServedLoad& load, std::int64_t batch, double prompt_tokens) {
  const IterationParts parts = load.iteration(batch, prompt_tokens);
  check_positive("iteration", parts.total());
  return parts;
}

inline RequestIterations checked_iterations(const ServedLoad& load, std::int64_t batch) {
  const RequestIterations iterations = load.iterations(batch);
  check_positive("iterations", iterations.mean);
  check_nonnegative("variation", iterations.variation);
  return iterations;
}

inline void add(IterationParts& sum, double weight, const IterationParts& parts) {
  sum.verification += weight * parts.verification;
  sum.overhead += weight * parts.overhead;
  sum.drafting += weight * parts.drafting;
  sum.prompts += weight * parts.prompts;
  sum.engine += weight * parts.engine;
}

inline bool reads_in_chunks(const ServedLoad& load) { return load.chunked.tokens > 0.0; }

/// Prefill passes between two iterations over a random number N of prompts.
class PromptPasses {
 public:
  explicit PromptPasses(const PromptTime& time_us) : time_us_(time_us) {}

  struct Moments {
    double mean_us = 0.0;  ///< E[time_us(N)], 0 for N = 0
    double own_us = 0.0;   ///< E[N time_us(N)] / E[N]: mean time of the pass of a prompt
  };

  /// `pmf` [n]: P(N = n).
  Moments over(const std::vector<double>& pmf) {
    Moments moments;
    if (!time_us_) return moments;
    double prompts = 0.0;
    for (std::size_t n = 1; n < pmf.size(); ++n) {
      const double weight = static_cast<double>(n) * pmf[n];
      moments.mean_us += pmf[n] * us(n);
      moments.own_us += weight * us(n);
      prompts += weight;
    }
    moments.own_us = prompts > 0.0 ? moments.own_us / prompts : us(1);
    return moments;
  }

  /// Time of one pass; prompts >= 1.
  double us(std::size_t prompts) {
    while (known_.size() < prompts) {
      known_.push_back(time_us_(static_cast<std::int64_t>(known_.size()) + 1));
      check_positive("prompt_us", known_.back());
    }
    return known_[prompts - 1];
  }

 private:
  const PromptTime& time_us_;
  std::vector<double> known_;  ///< time of 1, 2, ... prompts
};

/// Number of equal parts of a prompt, 1 to `most`, such that a pass without sequences reads at least `per_pass` of them
/// if `most` permits.
inline std::int64_t parts_of_prompt(const ChunkedPrompts& chunked, double per_pass, double most) {
  const double passes = chunked.tokens / std::max(chunked.room(0), 1.0);
  return static_cast<std::int64_t>(std::clamp(std::ceil(per_pass * passes), 1.0, std::max(most, 1.0)));
}

}  // namespace foredraft::analytic
