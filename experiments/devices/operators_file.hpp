// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "latency/profile/profile.hpp"

/// Steps that are sums of operators' times, as scripts/operators/aisimulate_steps.py writes them:
/// foredraft.operators/1.
namespace foredraft::experiments {

/// A profile of source `operators`, with what was asked and where it comes from in its notes. `name` stands in
/// messages. Throws InputError for the error that the document says, and `name: key: problem` for anything that is no
/// such document.
[[nodiscard]] latency::Profile parse_operators(std::string_view text, const std::string& name);

}  // namespace foredraft::experiments
