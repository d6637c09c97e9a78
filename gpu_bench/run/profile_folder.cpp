// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_folder.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <filesystem>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

void append_samples(std::string& table, std::string_view what, const std::vector<double>& samples_us) {
  if (table.empty()) table = "what,samples_us\n";
  table += what;
  char separator = ',';
  for (const double sample : samples_us) {
    table += separator;
    fmt::format_to(std::back_inserter(table), "{:.5g}", sample);
    separator = ' ';
  }
  table += '\n';
}

std::string to_text(const latency::KernelRow& row) {
  return fmt::format("{} {} {} {} {}", row.operation, row.shape, row.dtype, to_string(row.cache),
                     to_string(row.launch));
}

latency::RawSamples raw_samples_of(std::string_view table) {
  const auto crc = ::crc32_z(0, reinterpret_cast<const unsigned char*>(table.data()), table.size());
  return {.bytes = static_cast<std::int64_t>(table.size()), .crc32 = fmt::format("{:08x}", crc)};
}

namespace {

namespace fs = std::filesystem;

constexpr std::array own_files{"profile.json",      "steps.csv",   "kernels.csv",
                               "verifications.csv", "samples.csv", "report.md"};

std::string file_in(const std::string& folder, std::string_view name) { return (fs::path(folder) / name).string(); }

}  // namespace

std::optional<latency::Profile> claim_profile_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return std::nullopt;
  if (!fs::is_directory(folder)) throw DomainError(folder + ": is a file - use another --out");
  for (const std::string& name : names_in_folder(folder)) {
    if (std::find(own_files.begin(), own_files.end(), name) == own_files.end()) {
      throw DomainError(fmt::format("{}: holds {}, which is not part of a profile - use another --out", folder, name));
    }
  }
  const std::string path = file_in(folder, "profile.json");
  if (!fs::exists(path)) return std::nullopt;
  latency::Profile before = latency::from_json(read_result_file(path), path);
  if (before.complete() || before.source != latency::Source::measured) {
    throw DomainError(
        fmt::format("{}: holds a finished profile of {} - use another --out", folder, before.device.name));
  }
  return before;
}

void write_profile_folder(const std::string& folder, latency::Profile profile, const std::string& samples) {
  profile.raw_samples.reset();
  if (!samples.empty()) profile.raw_samples.emplace(raw_samples_of(samples));
  const std::string document = latency::to_json(profile);
  replace_file(file_in(folder, "steps.csv"), latency::steps_csv(profile));
  replace_file(file_in(folder, "kernels.csv"), latency::kernels_csv(profile));
  replace_file(file_in(folder, "verifications.csv"), latency::verifications_csv(profile));
  if (!samples.empty()) replace_file(file_in(folder, "samples.csv"), samples);
  replace_file(file_in(folder, "report.md"), report_markdown(profile));
  replace_file(file_in(folder, "profile.json"), document);
}

std::string read_samples(const std::string& folder, const latency::Profile& profile) {
  if (!profile.raw_samples) return {};
  const std::string path = file_in(folder, "samples.csv");
  std::string samples = read_result_file(path);
  const std::int64_t bytes = profile.raw_samples->bytes;
  const bool there = bytes >= 0 && static_cast<std::uint64_t>(bytes) <= samples.size();
  if (there) samples.resize(static_cast<std::size_t>(bytes));
  if (!there || raw_samples_of(samples).crc32 != profile.raw_samples->crc32) {
    throw DomainError(path + ": not the samples of profile.json - use another --out");
  }
  return samples;
}

}  // namespace foredraft::gpu_bench
