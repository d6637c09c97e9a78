// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/gamma_policy.hpp"
#include "sim/simulator.hpp"

/// Process fidelity: nothing but which drafts are accepted.
namespace foredraft::sim {

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

}  // namespace foredraft::sim
