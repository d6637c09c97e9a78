// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "experiments/devices/devices.hpp"
#include "latency/profile/profile.hpp"

/// Times of passes that a user measured in an engine of their own: CSV with the header
/// `model,role,batch,tokens,context,ms`, columns in any order; roles as in profiles, tokens of drafting: gamma. Lines
/// that begin with # are skipped.
namespace foredraft::experiments {

/// A profile of source `user`; every row counts as measured, how well it is known is not said. Throws InputError
/// `file:line: ...`, all lines at once (the first twenty, and how many more).
[[nodiscard]] latency::Profile parse_steps(std::string_view text, const std::string& file);

/// The same of a file. Throws InputError where it cannot be read.
[[nodiscard]] ReadProfile read_steps(const std::string& path);

}  // namespace foredraft::experiments
