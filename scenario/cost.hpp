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

/// How long forward passes of a target and its drafter take on one device, from what was read once: a profile, a data
/// sheet. Thread-safe.
class ForwardPassTimes {
 public:
  ForwardPassTimes() = default;
  ForwardPassTimes(const ForwardPassTimes&) = delete;
  ForwardPassTimes& operator=(const ForwardPassTimes&) = delete;
  ForwardPassTimes(ForwardPassTimes&&) = delete;
  ForwardPassTimes& operator=(ForwardPassTimes&&) = delete;
  virtual ~ForwardPassTimes() = default;

  /// What decoding costs at one batch, context and draft length; nothing where that does not fit into memory. Throws
  /// DomainError where it is not known.
  [[nodiscard]] virtual std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                         Convention convention) const = 0;

  /// In us; verification and sampling of the iteration included. Throws DomainError where it is not known.
  [[nodiscard]] virtual double target_us(const StepShape& shape, Convention convention) const = 0;
  /// Throws DomainError where this pass of the target does not fit into memory.
  virtual void check_memory(const StepShape& shape) const = 0;
  /// In us: one pass, or the drafting of shape.tokens tokens where one pass drafts all of them. Throws likewise.
  [[nodiscard]] virtual double drafter_us(const StepShape& shape) const = 0;
};

}  // namespace foredraft

/// What a scenario says of itself.
namespace foredraft::scenario {

/// The cost if it is looked up; null if it is given.
[[nodiscard]] const LookedUpTimes* looked_up(const Cost& cost);

/// Cost of decoding with drafts of `gamma` tokens, a draft pass in the mean over them; nullopt without c, if the models
/// do not fit into memory, and for a server, whose batches vary. Throws DomainError for an unknown time and
/// std::logic_error for times that were not read.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(const Scenario& scenario, std::int64_t gamma);

/// The same at the scenario's gamma.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(const Scenario& scenario);

/// c: a draft step in decode steps of the target, of which a cascade takes its own multiple; nullopt as above.
[[nodiscard]] std::optional<double> draft_step(Scenario scenario);

/// Decode steps that each verified token after the first adds to a verification; 0 for costs that are looked up.
[[nodiscard]] double verify_growth(const Cost& cost);

/// True if the draft length varies from iteration to iteration, other than by the batch.
[[nodiscard]] bool gamma_varies(const Scenario& scenario);

}  // namespace foredraft::scenario
