// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "answers/runs.hpp"
#include "logs/observation.hpp"

/// Makes the parts of a Run from observations of one setting and load; internal to the folder.
namespace foredraft::answers {

/// Tokens per iteration of a speculative observation; nullopt: not logged. Steps that an engine did not count because
/// they drafted nothing are included.
[[nodiscard]] std::optional<double> length_of(const logs::Observation& observation);

/// An observation from which a part is made, in the order of its log.
struct Placed {
  logs::Observation observation;
  bool unsteady = false;  ///< a window whose times are left out: RunTimesLeftOut::unsteady
};

/// Marks unsteady windows, unless all that are not idle are. `observations`: of one file, in order.
[[nodiscard]] std::vector<Placed> placed(std::span<const logs::Observation> observations);

/// Parts with their times, and the number of windows whose times are left out.
struct RunParts {
  std::vector<RunPart> parts = {};
  RunTimesLeftOut left_out = {};
};
/// `decode_only`: leave out the times of windows of mostly prompts.
[[nodiscard]] RunParts parts_of(std::span<const Placed> observations, bool decode_only);

/// Whether some window only decodes (under 2 % prompts), although others have mostly prompts; nullopt if none has.
[[nodiscard]] std::optional<bool> separates_prefill(std::span<const Placed> observations);

/// The cost of prompt tokens, from windows that decode and prefill; nullopt as analytic::prefill_time().
[[nodiscard]] std::optional<analytic::PrefillTime> prefill_of(std::span<const RunPart> parts);

}  // namespace foredraft::answers
