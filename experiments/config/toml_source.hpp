// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "scenario/document.hpp"

namespace foredraft::experiments {

/// The tables of a TOML text, keys in the order of the file. `file` is for messages.
/// Throws InputError `file:line: syntax: ...` on a text that is not TOML, and `file:line: ...` on one beyond the limits
/// of core/documents.hpp.
[[nodiscard]] scenario::Mapping parse_toml(std::string_view text, const std::string& file);

/// The same from JSON, for the resolved configuration inside a manifest. Lines are not known; a number beyond 64 bits
/// is a real one.
[[nodiscard]] scenario::Mapping parse_json_document(std::string_view text, const std::string& file);

}  // namespace foredraft::experiments
