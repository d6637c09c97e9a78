// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace foredraft {

/// Throws InputError for a file that is there, and for a folder that is not; `option` names it.
void require_new_file(const std::string& path, std::string_view option);

/// Writes the file, never over another; throws likewise.
void write_new_file(const std::string& path, std::string_view option, std::string_view text);

}  // namespace foredraft
