// SPDX-License-Identifier: Apache-2.0
#include "core/new_file.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <system_error>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"

namespace foredraft {

void require_new_file(const std::string& path, std::string_view option) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
    throw InputError(fmt::format("{}: exists and is not overwritten - use another --{}", readable(path), option));
  }
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    throw InputError(
        fmt::format("{}: no such folder - create it, or use another --{}", readable(folder.string()), option));
  }
}

void write_new_file(const std::string& path, std::string_view option, std::string_view text) {
  const WriteLock lock = WriteLock::of_file(path);
  require_new_file(path, option);
  replace_file(path, text);
}

}  // namespace foredraft
