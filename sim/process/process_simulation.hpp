// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// How long each draft is: the policies of a scenario, and what the drafter input_copy does by itself.
namespace foredraft::sim {

/// Input-guided decoding: behind each rejection, be it of a draft or of the copy that a bonus token stands for, so many
/// iterations draft nothing (one token without a bonus token, not tested) while the text finds back to its input. Iid.
struct RealignAfterEdit {
  std::int64_t iterations;
};

/// The alternatives of a variant, and one more.
template <class Policies, class More>
struct WithOneMore;
template <class... Policies, class More>
struct WithOneMore<std::variant<Policies...>, More> {
  using type = std::variant<Policies..., More>;
};

using GammaPolicy = WithOneMore<Policy, RealignAfterEdit>::type;

// ---- Process fidelity: nothing but which drafts are accepted.

struct ProcessSimulation {
  AcceptanceProcess process;
  std::int64_t gamma;  ///< drafted tokens of an iteration; with a policy the most that it may draft, then at least 1
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;  ///< without `sequence`: iterations to run. Ignored by Trace, which is replayed once
  std::optional<SequenceLength> sequence;  ///< finite sequences ...
  std::uint64_t sequences;                 ///< ... and how many of them; ignored without `sequence`
  Path path;
  GammaPolicy policy = ConstantGamma{};
  double draft_ratio = 0.0;  ///< c, which OptimalStopping weighs: a draft pass over the rest of an iteration
};

/// Throws DomainError on an argument outside its domain.
[[nodiscard]] std::unique_ptr<Simulator> make_process_simulator(ProcessSimulation simulation);

/// One outcome per token position from accepted counts per iteration of a recorded run at `gamma` drafts: k accepted
/// drafts then a rejection; gamma accepted drafts then, with a bonus token, an unobserved position.
[[nodiscard]] std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted,
                                                                  std::int64_t gamma, Convention convention);

/// The simulation with the drafter's acceptance, cost and, for input_copy, its policy in place: an Iid process gives
/// the acceptance of the first draft. Throws DomainError on a value outside its range, a drafter of token fidelity
/// alone, and a process or policy that the drafter does not go with.
[[nodiscard]] ProcessSimulation drafted_by(const Drafter& drafter, ProcessSimulation simulation);

// ---- The acceptance processes as rows of thresholds. Traces have none: they are replayed.

/// [k]: acceptance of position k given that all before it in the iteration were accepted; `after_acceptance` tells
/// whether the token before the iteration was (the Markov chain alone cares). A Beta mixture is given as the positional
/// process with the same law of an iteration: (a + k) / (a + b + k).
[[nodiscard]] Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                               bool after_acceptance);

/// [k]: position k and all before it in the iteration accepted. Never increases with k.
[[nodiscard]] Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                             bool after_acceptance);

}  // namespace foredraft::sim
