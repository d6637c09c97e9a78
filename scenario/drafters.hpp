// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "foredraft/drafter.hpp"
#include "foredraft/words.hpp"
#include "scenario/family.hpp"

/// The registry of drafters.
namespace foredraft::scenario {

struct DrafterMember : Member<Drafter> {
  Drafting charge;  ///< per iteration, in passes of c target steps
  bool process;     ///< drafts in process fidelity
  bool token;       ///< drafts in token fidelity
  bool text;        ///< in token fidelity it drafts only text of n-gram models
};
[[nodiscard]] const std::vector<DrafterMember>& drafters();

/// What users call it.
[[nodiscard]] std::string_view name_of(const Drafter& drafter);

/// What an iteration of the drafter is charged.
[[nodiscard]] Drafting drafting(const Drafter& drafter);

/// True if the length of its drafts varies from iteration to iteration.
[[nodiscard]] bool draft_length_varies(const Drafter& drafter);

/// What a charged pass of an iteration of at most `gamma` drafts takes, over a draft step of cost c: 1 but for drafters
/// made of several, whose steps take different times. At most as many drafts as there are costs.
[[nodiscard]] double pass_weight(const Drafter& drafter, std::int64_t gamma);

}  // namespace foredraft::scenario
