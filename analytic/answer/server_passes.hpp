// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "analytic/cost/load_equilibrium.hpp"
#include "foredraft/cost.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/server.hpp"
#include "foredraft/words.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"

namespace foredraft::analytic {

/// Variance of a fixed or lognormal length, divided by its squared mean.
[[nodiscard]] double squared_variation(const TokenCount& count);

/// Times of a server's forward passes, looked up or given, and of its engine.
class ServedPasses {
 public:
  ServedPasses(const Server& server, const Scenario& scenario, double context = 0.0)
      : server_(server),
        scenario_(scenario),
        looked_up_(scenario::looked_up(scenario.cost)),
        context_(context),
        schedule_(scenario::gamma_of_batches(server, scenario.gamma)),
        longest_(std::ranges::max(schedule_, {}, &GammaRange::gamma).gamma),
        prompt_(static_cast<std::int64_t>(server.prompt.tokens)),
        cached_(static_cast<std::int64_t>(server.prefix_hit * server.prompt.tokens)) {}

  [[nodiscard]] std::int64_t gamma_at(std::int64_t batch) const {
    return std::ranges::lower_bound(schedule_, std::max<std::int64_t>(batch, 1), {}, &GammaRange::to_batch)->gamma;
  }
  [[nodiscard]] std::int64_t verified_tokens(std::int64_t batch) const {
    return max_tokens(gamma_at(batch), scenario_.convention);
  }
  /// Tokens of a prompt that are not in the prefix cache; at least 1 if there are prompts.
  [[nodiscard]] std::int64_t unread() const { return prompt_ > 0 ? std::max<std::int64_t>(prompt_ - cached_, 1) : 0; }

  /// Time of each pass of an iteration.
  struct Passes {
    std::function<double(std::int64_t batch, std::int64_t gamma, double chunk)> verify_us;
    std::function<double(std::int64_t batch, std::int64_t gamma)> draft_us;  ///< all draft passes
    std::function<double(double chunk)> draft_prompt_us;
  };

  [[nodiscard]] double verify_us(std::int64_t batch, std::int64_t gamma, std::int64_t chunk) const;
  [[nodiscard]] double draft_us(std::int64_t batch, std::int64_t gamma) const;
  [[nodiscard]] double draft_prompt_us(std::int64_t chunk) const {
    return drafts_prompts() ? drafter_us({.batch = 1, .tokens = chunk, .context = chunk_context(), .prompt = true})
                            : 0.0;
  }

  [[nodiscard]] Passes looked_up_passes() const;

  /// `chunk`: prompt tokens in the pass.
  [[nodiscard]] IterationParts iteration(const Passes& passes, std::int64_t batch, double chunk) const;

  [[nodiscard]] double iteration_us(std::int64_t batch) const {
    return iteration(looked_up_passes(), batch, 0.0).total();
  }

  /// Time of a separate prefill pass of each model over this many prompts.
  [[nodiscard]] double prompt_us(std::int64_t prompts) const;

  /// The batch sizes after which the draft length changes or passes are no longer captured.
  [[nodiscard]] std::vector<std::int64_t> jumps() const;

  /// Prompt tokens that fit into a pass.
  [[nodiscard]] double room(std::int64_t batch) const {
    return static_cast<double>(server_.engine.pass_tokens - batch * verified_tokens(batch));
  }

 private:
  /// Mean context length of the prompt tokens in a pass: cached tokens and the tokens read in earlier passes.
  [[nodiscard]] double chunk_context() const;
  [[nodiscard]] bool drafts_prompts() const { return draft_passes(longest_, drafting_) > 0; }
  [[nodiscard]] double target_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.target_step(shape)
                                 : looked_up_->times->target_us(shape, scenario_.convention);
  }
  [[nodiscard]] double drafter_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.drafter_step(shape) : looked_up_->times->drafter_us(shape);
  }

  const Server& server_;
  const Scenario& scenario_;
  const LookedUpTimes* looked_up_;
  double context_;
  std::vector<GammaRange> schedule_;
  std::int64_t longest_;
  std::int64_t prompt_;
  std::int64_t cached_;
  Drafting drafting_ = scenario::drafting(scenario_.drafter);
};

}  // namespace foredraft::analytic
