// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "sim/process/cycle_counts.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

/// How a run of one kind goes on.
struct KindOfRun {
  double stay_odds;  ///< within a draft
  double rho;

  static Threshold threshold(double odds) { return threshold_of(1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds)); }
  [[nodiscard]] Threshold within() const { return threshold(stay_odds); }
  [[nodiscard]] Threshold across() const { return threshold(stay_odds * rho); }

  /// log P(all positions of a draft of gamma and its bonus token are accepted | the first is), gamma >= 1.
  [[nodiscard]] double log_full(std::int64_t gamma) const {
    const double behind_first = gamma == 1 ? 0.0 : static_cast<double>(gamma - 1) * -std::log1p(1.0 / stay_odds);
    return behind_first - std::log1p(1.0 / (stay_odds * rho));
  }
};

/// What an iteration starts behind, in the long run.
struct Start {
  Threshold accepted;  ///< an accepted bonus token
  Threshold easy;      ///< of an easy run, given that
};

/// An iteration behind a rejection ends full in a run of kind k with b/2 full_k, one inside such a run with
/// across_k full_k: as often as full iterations of the kind begin they end.
Start start_of(const Runs& runs, const std::array<KindOfRun, 2>& kinds, std::int64_t gamma) {
  constexpr Threshold never{.high = 0, .low = 0};
  if (gamma == 0 || runs.b == 0.0) return {never, never};
  std::array<double, 2> begin{};
  std::array<double, 2> end{};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double log_full = kinds.at(k).log_full(gamma);
    begin.at(k) = 0.5 * runs.b * std::exp(log_full);
    end.at(k) = -std::expm1(log_full - std::log1p(1.0 / (kinds.at(k).stay_odds * kinds.at(k).rho)));
  }
  double easy = begin[0] * end[1];
  double hard = begin[1] * end[0];
  const double rejected = end[0] * end[1];
  if (rejected == 0.0 && easy == 0.0 && hard == 0.0) {  // no run ever ends
    easy = begin[0];
    hard = begin[1];
  }
  const double accepted = easy + hard;
  if (accepted == 0.0) return {never, never};
  return {threshold_of(accepted / (accepted + rejected), rejected / (accepted + rejected)),
          threshold_of(easy / accepted, hard / accepted)};
}

class RunsSimulator final : public Simulator {
 public:
  RunsSimulator(const Runs& runs, const IterationShape& shape, const BlockPlan& plan) : shape_(shape), plan_(plan) {
    const double odds = runs.a / (1.0 - runs.a);
    const std::array kinds{KindOfRun{odds * std::exp(runs.spread), runs.rho},
                           KindOfRun{odds * std::exp(-runs.spread), runs.rho}};
    begin_ = threshold_of(runs.b, 1.0 - runs.b);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      within_.at(k) = kinds.at(k).within();
      across_.at(k) = kinds.at(k).across();
    }
    start_ = start_of(runs, kinds, shape.gamma);
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    Draws starts(key, chain_start_draws, block, 2);
    const bool after_acceptance = starts.below(start_.accepted, 0, 0);
    std::size_t kind = starts.below(start_.easy, 0, 1) ? easy : hard;
    // The last draw of an iteration tells the kind of the run that begins in it: only one can.
    Draws draws(key, bernoulli_draws, block, static_cast<std::uint64_t>(shape_.gamma) + 2);
    const auto steps = [&](std::uint64_t i, bool accepted) {
      if (!accepted) {
        if (!draws.below(begin_, i, 0)) return std::int64_t{0};
        kind = draws.below(even, i, static_cast<std::uint64_t>(shape_.gamma) + 1) ? easy : hard;
      }
      return accepted_steps(draws, i, kind, accepted ? 0 : 1);
    };
    return count_cycles(shape_, plan_.in_block(block), after_acceptance, key.stop, steps);
  }

 private:
  static constexpr std::size_t easy = 0;
  static constexpr std::size_t hard = 1;
  static constexpr Threshold even{.high = 1U << 15U, .low = 0};

  /// Positions of iteration i that are accepted, from `position` on one by one; the last is the bonus token.
  [[nodiscard]] std::int64_t accepted_steps(Draws& draws, std::uint64_t i, std::size_t kind,
                                            std::int64_t position) const {
    for (; position <= shape_.gamma; ++position) {
      const bool across = position == 0 || position == shape_.gamma;
      if (!draws.below(across ? across_.at(kind) : within_.at(kind), i, static_cast<std::uint64_t>(position))) break;
    }
    return position;
  }

  IterationShape shape_;
  BlockPlan plan_;
  Threshold begin_{};                  ///< the position behind a rejection is accepted
  std::array<Threshold, 2> within_{};  ///< [kind]
  std::array<Threshold, 2> across_{};  ///< [kind]: into the bonus token, and out of it
  Start start_{};
};

}  // namespace

std::unique_ptr<Simulator> make_runs_simulator(const Runs& runs, const IterationShape& shape,
                                               std::uint64_t iterations) {
  return std::make_unique<RunsSimulator>(runs, shape, plan_iterations(iterations, shape.gamma + 2));
}

}  // namespace foredraft::sim
