#pragma once

#include <string>
#include <string_view>

namespace foredraft {

/// Replaces `path` in one step: a temporary file `path`.tmp beside it, fsync, rename. A reader sees the old text or the
/// new one. Throws std::runtime_error `path: cannot be written (reason)`.
void replace_file(const std::string& path, std::string_view text);

/// Writes all bytes to an open file; false with errno on failure, when some may have been written.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);

}  // namespace foredraft
