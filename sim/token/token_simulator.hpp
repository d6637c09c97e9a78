// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// A token that an iteration emitted, and its context.
struct EmittedToken {
  Token token;
  std::int64_t context;  ///< row of the pool; -1 if contexts are not numbered
};

/// [i]: the tokens that iteration i emitted, in order.
using EmittedTokens = std::vector<std::vector<EmittedToken>>;

/// Exact acceptances, averaged over the contexts of a finite pool; NaN without one.
struct PoolAcceptance {
  /// Of a draft: the pool mean of acceptance_probability(). NaN if that is, and for several drafts verified together.
  double expected = unknown<double>;
  /// The pool mean of optimal_acceptance(); NaN unless there are several independent candidates.
  double optimal = unknown<double>;
};

/// A simulator of independent iterations that reports tokens, not only their number.
class TokenSimulator final : public Simulator {
 public:
  /// Number of iterations of a block that accepted exactly k drafts, k = 0..gamma. Appends their tokens to the entries
  /// of `emitted`, one for each iteration, unless it is null.
  using RunBlock = std::function<std::vector<std::uint64_t>(const RunKey& key, std::uint64_t block,
                                                            std::uint64_t iterations, EmittedTokens* emitted)>;

  TokenSimulator(const BlockPlan& plan, const IterationShape& shape, const PoolAcceptance& acceptance, RunBlock run)
      : plan_(plan), shape_(shape), acceptance_(acceptance), run_(std::move(run)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }
  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override;

  [[nodiscard]] const PoolAcceptance& acceptance() const { return acceptance_; }

  /// The tokens emitted by a block. The same draws as run_block().
  [[nodiscard]] EmittedTokens emit_block(const RunKey& key, std::uint64_t block) const;

 private:
  BlockPlan plan_;
  IterationShape shape_;
  PoolAcceptance acceptance_;
  RunBlock run_;
};

/// acceptance() of a TokenSimulator; NaN for any other simulator.
[[nodiscard]] PoolAcceptance exact_acceptance(const Simulator& simulator);
[[nodiscard]] inline double expected_acceptance(const Simulator& simulator) {
  return exact_acceptance(simulator).expected;
}

// ---- Token fidelity: explicit distributions p and q over a vocabulary, drawn tokens, and a verification rule.

/// Prepares the run of a checked scenario in token fidelity (pools, alias tables). Synthetic pools are drawn from
/// `plan.seed` (purposes logits and draft_logits), so they are part of the result. Throws DomainError for a plan that
/// counts nothing or too much, a pool above 2 GiB and an alpha that no draft reaches; Interrupted when stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_token_simulator(const Scenario& scenario, const SimulationPlan& plan,
                                                              StopToken stop = {});

/// The run of n-gram models: the target writes text, the drafter drafts its next tokens, or copies them from earlier
/// text (prompt lookup, which searches the last `window` tokens only: at temperature 1 all iterations have the same
/// distribution). A block is 1,024 iterations on its own text and one unit of the tally, so units are independent. At
/// temperature 1 it is one text, whose first iterations are not counted. Greedy text continues from a prompt until it
/// has ngram::Prompts::passage_tokens more, then from the next. The last one is completed, so a run at temperature 0
/// has up to 63 iterations more per block than requested.
[[nodiscard]] std::unique_ptr<Simulator> make_text_simulator(const Scenario& scenario, std::uint64_t iterations);

}  // namespace foredraft::sim
