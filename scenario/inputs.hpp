// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/decoding_cost.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft {

/// How long forward passes of a target and its drafter take on one device, from what was read once: a profile, a data
/// sheet. Thread-safe.
class PassTimes {
 public:
  PassTimes() = default;
  PassTimes(const PassTimes&) = delete;
  PassTimes& operator=(const PassTimes&) = delete;
  PassTimes(PassTimes&&) = delete;
  PassTimes& operator=(PassTimes&&) = delete;
  virtual ~PassTimes() = default;

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
