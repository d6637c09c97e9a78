// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "answers/runs.hpp"
#include "logs/observation.hpp"

/// From observations of one setting and load to the parts of a Run; internal to the folder.
namespace foredraft::answers {

/// Tokens per iteration of a speculative observation; nullopt: not logged. Steps that an engine did not count because
/// they drafted nothing are included.
[[nodiscard]] std::optional<double> length_of(const logs::Observation& observation);

/// An observation of a speculative server that a part is made of, in the order of its log, or of a plain one.
struct Placed {
  logs::Observation observation;
  bool unsteady = false;  ///< a window within which the requests in flight changed: how many ran is not known
};

/// Marks unsteady windows, unless none of them is steady. `observations` are those of one file, in order.
[[nodiscard]] std::vector<Placed> placed(std::span<const logs::Observation> observations);

/// Parts with their times, and how many windows lose theirs.
struct RunParts {
  std::vector<RunPart> parts = {};
  RunTimesLeftOut left_out = {};
};
/// `decode_only`: windows of prompts lose theirs.
[[nodiscard]] RunParts parts_of(std::span<const Placed> observations, bool decode_only);

/// Whether windows that only decode are left if those of prompts are left out; empty: there are none of prompts.
[[nodiscard]] std::optional<bool> separates_prefill(std::span<const Placed> observations);

/// Windows that decode and prefill, for the cost of prompt tokens.
[[nodiscard]] std::optional<analytic::PrefillTime> prefill_of(std::span<const RunPart> parts);

}  // namespace foredraft::answers
