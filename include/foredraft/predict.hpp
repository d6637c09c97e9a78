// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

#pragma GCC visibility push(default)

/// Closed forms of a scenario.
namespace foredraft {

/// Every quantity that has a closed form; NaN for one without (all of them in token fidelity), infinity for an
/// unbounded one. [Leviathan2023, Eq. 1, Thm. 3.8, Thm. 3.11; docs/model.md for the others] Throws DomainError for a
/// value out of range, contradicting parts of a scenario, an unknown time, and files that were not read yet
/// (read_inputs).
[[nodiscard]] ClosedForm predict(const Scenario& scenario);

/// The constant draft length with the maximum speedup. Draft lengths from `first_near_best` to `last_near_best` have a
/// speedup within 1 % of the maximum.
struct BestDraftLength {
  std::optional<std::int64_t> gamma = {};            ///< drafted tokens per iteration; empty: longer is always better
  double speedup = 1.0;                              ///< over autoregressive decoding; the limit if gamma is unbounded
  std::optional<std::int64_t> first_near_best = {};  ///< empty if no range is known
  std::optional<std::int64_t> last_near_best = {};
};

/// Best constant draft length over all lengths; scenario.gamma is not used. Generalizes [Leviathan2023, Sec. 3.4].
/// Requires process fidelity, an acceptance other than Trace, a constant draft length, endless text, and a cost that is
/// not looked up (use Profile::speedups for those). Throws DomainError for any other scenario and as predict() does.
[[nodiscard]] BestDraftLength best_draft_length(const Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
