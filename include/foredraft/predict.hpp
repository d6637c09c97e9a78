// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

#pragma GCC visibility push(default)

/// Closed forms of a scenario.
namespace foredraft {

/// Every quantity that has a closed form; what has none is NaN (all of them in token fidelity), what is unbounded
/// infinite. [Leviathan2023, Eq. 1, Thm. 3.8, Thm. 3.11; docs/model.md for the others] Throws DomainError on a value
/// outside its range, on parts of a scenario that do not go together, on a time that nobody knows, and for files that
/// the scenario names and that were not read (read_inputs).
[[nodiscard]] ClosedForm predict(const Scenario& scenario);

/// The constant draft length of the greatest speedup. All draft lengths from `first_near_best` to `last_near_best` come
/// within 1 % of it.
struct BestDraftLength {
  std::optional<std::int64_t> gamma = {};            ///< drafted tokens per iteration; nothing: the longer, the better
  double speedup = 1.0;                              ///< over plain decoding; where gamma is unbounded the limit
  std::optional<std::int64_t> first_near_best = {};  ///< nothing where no range is known
  std::optional<std::int64_t> last_near_best = {};
};

/// Searched over all draft lengths, whatever scenario.gamma: after [Leviathan2023, Sec. 3.4]. For process fidelity with
/// an acceptance other than Trace, a constant draft length, endless text and a cost that was not looked up for one
/// gamma: Profile::speedups answers for those. Throws DomainError for any other scenario and as predict() does.
[[nodiscard]] BestDraftLength best_draft_length(const Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
