// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/profile_file.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/profile_fields.hpp"
#include "latency/profile/profile_json.hpp"

namespace foredraft::latency {
namespace {

/// One line for a row; `text` gives a cell from a field's name and value.
template <typename Row>
std::string table_line(const Row& row, const Derived& derived_values, const std::string& source, auto&& text) {
  std::string line;
  const auto add = [&](const char* name, const auto& field) { line += text(name, field) + ","; };
  visit_fields(row, add);
  visit_fields(derived_values, add);
  return line + source + "\n";
}

template <typename Row>
std::string table_text(const Profile& profile, const std::vector<Row>& rows, auto&& dtype_of) {
  std::string table =
      table_line(Row{}, Derived{}, "source", [](const char* name, const auto& /*value*/) { return std::string(name); });
  for (const Row& row : rows) {
    table += table_line(row, derived(profile.limits, dtype_of(row), row.timing), std::string(to_string(profile.source)),
                        [](const char* /*name*/, const auto& value) { return cell_text(value); });
  }
  return table;
}

}  // namespace

std::string steps_csv(const Profile& profile) {
  return table_text(profile, profile.steps, [](const StepRow& row) { return row.cell.dtype; });
}

std::string kernels_csv(const Profile& profile) {
  return table_text(profile, profile.kernels, [](const KernelRow& row) { return row.dtype; });
}

std::string verifications_csv(const Profile& profile) {
  return table_text(profile, profile.verifications, [](const VerificationRow& row) { return row.cell.dtype; });
}

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
