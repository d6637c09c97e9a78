#include "gpu_bench/profile/profile_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/check.hpp"
#include "core/replace_file.hpp"
#include "gpu_bench/profile/profile_json.hpp"
#include "gpu_bench/profile/profile_tables.hpp"
#include "gpu_bench/profile/report.hpp"
#include "gpu_bench/profile/samples_table.hpp"

namespace foredraft::gpu_bench {
namespace {

namespace fs = std::filesystem;

constexpr std::array own_files{"profile.json",      "steps.csv",   "kernels.csv",
                               "verifications.csv", "samples.csv", "report.md"};

/// A run that was killed while it wrote leaves a temporary file behind.
bool is_own_file(std::string name) {
  if (name.ends_with(".tmp")) name.resize(name.size() - 4);
  return std::find(own_files.begin(), own_files.end(), name) != own_files.end();
}

std::string file_in(const std::string& folder, std::string_view name) { return (fs::path(folder) / name).string(); }

}  // namespace

std::optional<Profile> claim_profile_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return std::nullopt;
  if (!fs::is_directory(folder)) throw DomainError(folder + ": is a file - use another --out");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!is_own_file(name)) {
      throw DomainError(fmt::format("{}: holds {}, which is no part of a profile - use another --out", folder, name));
    }
  }
  const std::string path = file_in(folder, "profile.json");
  if (!fs::exists(path)) return std::nullopt;
  Profile before = read_profile(path);
  if (before.complete() || before.source != Source::measured) {
    throw DomainError(
        fmt::format("{}: holds a finished profile of {} - use another --out", folder, before.device.name));
  }
  return before;
}

void write_profile_folder(const std::string& folder, Profile profile, const std::string& samples) {
  profile.raw_samples.reset();
  if (!samples.empty()) profile.raw_samples.emplace(raw_samples_of(samples));
  const std::string document = to_json(profile);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error(fmt::format("{}: cannot be created ({})", folder, error.message()));
  replace_file(file_in(folder, "steps.csv"), steps_csv(profile));
  replace_file(file_in(folder, "kernels.csv"), kernels_csv(profile));
  replace_file(file_in(folder, "verifications.csv"), verifications_csv(profile));
  if (!samples.empty()) replace_file(file_in(folder, "samples.csv"), samples);
  replace_file(file_in(folder, "report.md"), report_markdown(profile));
  replace_file(file_in(folder, "profile.json"), document);
}

std::string read_samples(const std::string& folder, const Profile& profile) {
  if (!profile.raw_samples) return {};
  const std::string path = file_in(folder, "samples.csv");
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const bool is_long_enough = std::cmp_less_equal(profile.raw_samples->bytes, fs::file_size(path, error)) && !error;
  std::string samples(is_long_enough ? static_cast<std::size_t>(profile.raw_samples->bytes) : 0, ' ');
  file.read(samples.data(), static_cast<std::streamsize>(samples.size()));
  if (!file || !is_long_enough || raw_samples_of(samples).crc32 != profile.raw_samples->crc32) {
    throw DomainError(path + ": not the samples that profile.json was made of - use another --out");
  }
  return samples;
}

}  // namespace foredraft::gpu_bench
