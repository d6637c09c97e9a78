// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/profile_file.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/profile_json.hpp"

namespace foredraft::latency {

namespace fs = std::filesystem;

std::optional<Profile> claim_profile_file(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error)) throw DomainError(fmt::format("{}: no such folder", folder.string()));
  if (!fs::exists(path, error)) return std::nullopt;
  if (!fs::is_regular_file(path, error)) throw DomainError(path + ": is no file - use another --out");
  std::optional<Profile> before;
  try {
    before = from_json(read_result_file(path), path);
  } catch (const DomainError& problem) {
    throw DomainError(
        fmt::format("{} (the file is no profile, and is not overwritten) - use another --out", problem.what()));
  }
  if (before->complete() || before->source != Source::measured) {
    throw DomainError(fmt::format("{}: holds a finished profile of {} - use another --out", path, before->device.name));
  }
  return before;
}

void write_profile_file(const std::string& path, const Profile& profile) { replace_file(path, to_json(profile)); }

}  // namespace foredraft::latency
