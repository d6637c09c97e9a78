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

/// Policies of the draft length: those of a scenario, and the one that the drafter input_copy implies.
namespace foredraft::sim {

/// Input-guided decoding: after each rejection, of a draft or of the copy at a bonus token, this many iterations draft
/// nothing (without a bonus token: one token, not tested) until text and input are aligned again. Requires Iid.
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

// ---- Process fidelity: simulates only which drafts are accepted.

struct ProcessSimulation {
  AcceptanceProcess process;
  std::int64_t gamma;  ///< drafted tokens of an iteration; with a policy the maximum, then at least 1
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;  ///< without `sequence`: iterations to run. Ignored by Trace, which is replayed once
  std::optional<SequenceLength> sequence;  ///< finite sequences ...
  std::uint64_t sequences;                 ///< ... and how many of them; ignored without `sequence`
  Path path;
  GammaPolicy policy = ConstantGamma{};
  double draft_ratio =
      0.0;  ///< c for OptimalStopping: cost of a draft pass divided by that of the rest of an iteration
};

/// Throws DomainError for an argument outside its domain.
[[nodiscard]] std::unique_ptr<Simulator> make_process_simulator(ProcessSimulation simulation);

/// One outcome per token position from accepted counts per iteration of a run recorded at `gamma` drafts: k accepted
/// drafts, then a rejection; for gamma accepted drafts, with a bonus token, an unobserved position.
[[nodiscard]] std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted,
                                                                  std::int64_t gamma, Convention convention);

/// The simulation with the drafter's acceptance, cost and, for input_copy, its policy. Throws DomainError for a value
/// out of range, a drafter that exists only in token fidelity, and a process or policy that it cannot be combined with.
[[nodiscard]] ProcessSimulation drafted_by(const Drafter& drafter, ProcessSimulation simulation);

// ---- The acceptance processes as rows of thresholds, except traces, which are replayed.

/// [k]: acceptance of position k given that all before it in the iteration were accepted; `after_acceptance`: whether
/// the token before the iteration was accepted (matters only for the Markov chain). A Beta mixture becomes the
/// positional process with the same distribution of an iteration: (a + k) / (a + b + k).
[[nodiscard]] Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                               bool after_acceptance);

/// [k]: position k and all before it in the iteration accepted. Never increases with k.
[[nodiscard]] Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                             bool after_acceptance);

}  // namespace foredraft::sim
