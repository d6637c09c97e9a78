// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// Prompts that wait for prefill in the passes of a server, first come, first served.
namespace foredraft::analytic {

/// [n]: P(N = n) of the binomial distribution with `trials` >= 0 and `probability` in [0, 1]. The negligible tail is
/// cut off.
[[nodiscard]] std::vector<double> binomial_pmf(std::int64_t trials, double probability);

/// The same for the Poisson distribution; mean >= 0.
[[nodiscard]] std::vector<double> poisson_pmf(double mean);

/// A pass that starts with this backlog.
struct BacklogPass {
  double room;                   ///< maximum prompt tokens that it reads
  std::vector<double> arrivals;  ///< [n]: P(n prompts join the backlog at the end of the pass)
};

/// A backlog and the long-run fraction of passes that start with it.
struct BacklogShare {
  double share;
  std::int64_t prompts;  ///< unread or partly read
  double tokens;         ///< unread tokens of these prompts
};

/// Stationary distribution of the backlog, with at most `max_prompts` >= 1 prompts of `prompt_tokens` > 0 each. Prompts
/// are discretized into `parts` >= 1 equal parts, and the room of each pass is rounded to whole parts at random;
/// otherwise exact. Solved by banded elimination without subtractions [Grassmann1985].
[[nodiscard]] std::vector<BacklogShare> prompt_backlog(
    double prompt_tokens, std::int64_t max_prompts, std::int64_t parts,
    const std::function<BacklogPass(std::int64_t prompts, double tokens)>& pass);

}  // namespace foredraft::analytic
