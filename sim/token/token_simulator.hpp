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
  /// The pool mean of acceptance_probability(). NaN if that is, for block verification of several drafts, and if the
  /// number of candidates depends on the depth.
  double expected = unknown<double>;
  /// The pool mean of optimal_acceptance(); NaN unless there are several independent candidates, the same number for
  /// each draft.
  double optimal = unknown<double>;
};

/// A simulator of independent iterations that can report the emitted tokens.
class TokenSimulator final : public Simulator {
 public:
  /// Returns [k]: iterations of a block that accepted exactly k drafts, k = 0..gamma. Unless `emitted` is null, appends
  /// the tokens of each iteration to its entry.
  using RunBlock = std::function<std::vector<std::uint64_t>(const RunKey& key, std::uint64_t block,
                                                            std::uint64_t iterations, EmittedTokens* emitted)>;

  TokenSimulator(const BlockPlan& plan, const IterationShape& shape, const PoolAcceptance& acceptance, RunBlock run)
      : plan_(plan), shape_(shape), acceptance_(acceptance), run_(std::move(run)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }
  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override;

  [[nodiscard]] const PoolAcceptance& acceptance() const { return acceptance_; }

  /// The tokens emitted by a block, with the same draws as run_block().
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
/// counts nothing or too much, a pool above 2 GiB and an alpha that no draft distribution reaches; Interrupted when
/// stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_token_simulator(const Scenario& scenario, const SimulationPlan& plan,
                                                              StopToken stop = {});

/// The run of n-gram models. The target generates text; the drafter drafts its next tokens or copies them from earlier
/// text (prompt lookup, which searches only the last `window` tokens, so that at temperature 1 all iterations have the
/// same distribution). A block has 1,024 iterations on its own text and is one unit of the tally, so units are
/// independent. At temperature 1 a block is one text without its first iterations. At temperature 0 text is generated
/// from a prompt for ngram::Prompts::passage_tokens tokens, then from the next prompt; the last one is completed, so a
/// run has up to 63 iterations more per block than requested.
[[nodiscard]] std::unique_ptr<Simulator> make_text_simulator(const Scenario& scenario, std::uint64_t iterations);

}  // namespace foredraft::sim
