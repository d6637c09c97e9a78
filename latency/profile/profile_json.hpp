// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "latency/profile/profile.hpp"

/// profile.json: the one file that programs read.
namespace foredraft::latency {

/// Indented, with a line end. Besides the fields: what follows from them (complete, valid, relative_spread, floor_us,
/// fraction_of_ceiling), for readers in other languages. Throws DomainError where check_profile does.
[[nodiscard]] std::string to_json(const Profile& profile);

/// Throws DomainError `name: path: problem` for anything that to_json would not write: another schema, a missing or
/// unknown key, a value of the wrong kind, a derived value that does not follow. `name` stands in messages.
[[nodiscard]] Profile from_json(std::string_view text, const std::string& name);

/// The same of a file that the user named. Throws InputError where it cannot be read.
[[nodiscard]] Profile read_profile(const std::string& path);

}  // namespace foredraft::latency
