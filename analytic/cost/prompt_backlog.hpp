// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// Prompts that wait to be read in the passes of a server, first come, first served.
namespace foredraft::analytic {

/// P(N = n) at n of a binomial number: `trials` >= 0 of probability in [0, 1]. Ends where hardly any is left.
[[nodiscard]] std::vector<double> binomial_pmf(std::int64_t trials, double probability);

/// Likewise, Poisson; mean >= 0.
[[nodiscard]] std::vector<double> poisson_pmf(double mean);

/// A pass that starts with this backlog.
struct BacklogPass {
  double room;                   ///< tokens of prompts that it reads at most
  std::vector<double> arrivals;  ///< P(so many prompts join the backlog at its end)
};

/// Long-run share of the passes that start with this backlog.
struct BacklogShare {
  double share;
  std::int64_t prompts;  ///< unread or partly read
  double tokens;         ///< of these, unread
};

/// The passes by backlog, of at most `max_prompts` >= 1 of `prompt_tokens` > 0 each. `parts` >= 1: a prompt is read in
/// multiples of such a part, to which the room of each pass is rounded at random. Exact but for this. Banded
/// elimination without subtractions [Grassmann1985]: prompts leave slowly and join at once.
[[nodiscard]] std::vector<BacklogShare> prompt_backlog(
    double prompt_tokens, std::int64_t max_prompts, std::int64_t parts,
    const std::function<BacklogPass(std::int64_t prompts, double tokens)>& pass);

}  // namespace foredraft::analytic
