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
/// value out of range, for parts of a scenario that contradict each other, for an unknown time, and for files that the
/// scenario names but that were not read (read_inputs).
[[nodiscard]] ClosedForm predict(const Scenario& scenario);

/// The constant draft length with the maximum speedup. All draft lengths from `first_near_best` to `last_near_best`
/// come within 1 % of it.
struct BestDraftLength {
  std::optional<std::int64_t> gamma =
      {};                ///< drafted tokens per iteration; empty: unbounded, the speedup grows with every length
  double speedup = 1.0;  ///< over autoregressive decoding; the limit if gamma is unbounded
  std::optional<std::int64_t> first_near_best = {};  ///< empty if no range is known
  std::optional<std::int64_t> last_near_best = {};
};

/// Best constant draft length over all lengths; scenario.gamma is not used. Generalizes [Leviathan2023, Sec. 3.4].
/// Requires process fidelity with an acceptance other than Trace, a constant draft length, endless text and a cost that
/// was not looked up for one gamma (use Profile::speedups for those). Throws DomainError for any other scenario and as
/// predict() does.
[[nodiscard]] BestDraftLength best_draft_length(const Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
