#pragma once

#include <string>
#include <string_view>

namespace foredraft {

/// Replaces `path` in one step: a temporary file `path`.tmp beside it, fsync, rename. A reader sees the old text or the
/// new one. Throws std::runtime_error `path: cannot be written (reason)`.
void replace_file(const std::string& path, std::string_view text);

}  // namespace foredraft
