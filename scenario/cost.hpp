// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/decoding_cost.hpp"
#include "foredraft/cost.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/server.hpp"
#include "foredraft/words.hpp"

namespace foredraft {

/// Times of forward passes of a target and its drafter on one device, from a profile or a data sheet. Thread-safe.
class ForwardPassTimes {
 public:
  ForwardPassTimes() = default;
  ForwardPassTimes(const ForwardPassTimes&) = delete;
  ForwardPassTimes& operator=(const ForwardPassTimes&) = delete;
  ForwardPassTimes(ForwardPassTimes&&) = delete;
  ForwardPassTimes& operator=(ForwardPassTimes&&) = delete;
  virtual ~ForwardPassTimes() = default;

  /// Cost of decoding at one batch size, context length and draft length; nullopt if it does not fit into memory.
  /// Throws DomainError if unknown.
  [[nodiscard]] virtual std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                         Convention convention) const = 0;

  /// Time in us, including verification and sampling of the iteration. Throws DomainError if unknown.
  [[nodiscard]] virtual double target_us(const StepShape& shape, Convention convention) const = 0;
  /// Throws DomainError if this pass of the target does not fit into memory.
  virtual void check_memory(const StepShape& shape) const = 0;
  /// Time in us of one draft pass, which for a block drafter drafts all shape.tokens tokens. Throws DomainError if
  /// unknown.
  [[nodiscard]] virtual double drafter_us(const StepShape& shape) const = 0;
};

}  // namespace foredraft

/// Costs and properties that follow from a scenario.
namespace foredraft::scenario {

/// The cost if it is looked up, else null.
[[nodiscard]] const LookedUpTimes* looked_up(const Cost& cost);

/// Cost of decoding with drafts of `gamma` tokens; the time of a draft pass is the mean over the draft. nullopt without
/// c, if the models do not fit into memory, and for a server, because its batch size varies. Throws DomainError for an
/// unknown time and std::logic_error for times that were not read.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(const Scenario& scenario, std::int64_t gamma);

/// The same at the scenario's gamma.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(const Scenario& scenario);

/// c, the time of a draft step in decode steps of the target; a cascade's steps take multiples of it. nullopt like
/// decoding_cost.
[[nodiscard]] std::optional<double> draft_step(Scenario scenario);

/// Decode steps that each verified token after the first adds to a verification; 0 for costs that are looked up.
[[nodiscard]] double verify_growth(const Cost& cost);

/// True if the draft length varies between iterations at a fixed batch size.
[[nodiscard]] bool gamma_varies(const Scenario& scenario);

}  // namespace foredraft::scenario
