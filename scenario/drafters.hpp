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
  Drafting charge;  ///< how many draft passes, of c decode steps each, an iteration is charged
  bool process;     ///< supports process fidelity
  bool token;       ///< supports token fidelity
  bool text;        ///< in token fidelity, requires n-gram models
};
[[nodiscard]] const std::vector<DrafterMember>& drafters();

/// The name in the registry.
[[nodiscard]] std::string_view name_of(const Drafter& drafter);

/// How the drafter is charged for an iteration.
[[nodiscard]] Drafting drafting(const Drafter& drafter);

/// True if the draft length varies between iterations.
[[nodiscard]] bool draft_length_varies(const Drafter& drafter);

/// Mean time of a charged draft pass, divided by c, in iterations of at most `gamma` drafts. 1 unless the drafter
/// combines several drafters with different times. A cascade requires as many costs as drafts.
[[nodiscard]] double pass_weight(const Drafter& drafter, std::int64_t gamma);

}  // namespace foredraft::scenario
