// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace foredraft {

/// Throws InputError if the file exists or its folder does not. `option`: option that gave the path.
void require_new_file(const std::string& path, std::string_view option);

/// Writes the file; never overwrites. Throws like require_new_file, and RunError if it cannot be written.
void write_new_file(const std::string& path, std::string_view option, std::string_view text);

}  // namespace foredraft
