// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "experiments/devices/operators_file.hpp"
#include "experiments/text/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/profile/profile_json.hpp"

namespace foredraft::experiments {
namespace {

/// All that finds a shipped device, for suggestions.
std::vector<std::string> device_words() {
  std::vector<std::string> words;
  for (const latency::DeviceSheet& sheet : latency::device_registry()) {
    words.push_back(sheet.name);
    words.insert(words.end(), sheet.aliases.begin(), sheet.aliases.end());
  }
  for (const OperatorsText& document : operators_texts()) words.emplace_back(document.name);
  return words;
}

/// What is near among all names and aliases, which are too many to list.
std::string device_suggestion(const std::string& name) {
  const std::vector<std::string> words = device_words();
  return nearest(name, words).empty() ? "foredraft list devices shows those that ship" : suggestion_for(name, words);
}

latency::Profile one_device(std::string_view text, const std::string& name) {
  std::vector<latency::DeviceSheet> sheets = latency::parse_devices(text, name);
  if (sheets.size() == 1) return std::move(sheets.front().profile);
  std::vector<std::string> names;
  for (const latency::DeviceSheet& sheet : sheets) names.push_back(sheet.name);
  throw DomainError(fmt::format("{}: {} devices ({}) - a file that is named here holds one", name, sheets.size(),
                                fmt::join(names, ", ")));
}

bool is_toml(const std::string& name) { return name.ends_with(".toml"); }

/// The shipped device of this name; else there is a file, or InputError.
std::optional<ReadProfile> shipped_or_file(const std::string& name, std::string_view kind) {
  if (const latency::DeviceSheet* sheet = latency::find_device(name)) {
    return ReadProfile{sheet->profile, digest_text(sheet->name, latency::to_json(sheet->profile)), true};
  }
  std::error_code unreadable;
  if (std::filesystem::status(name, unreadable).type() == std::filesystem::file_type::not_found) {
    throw InputError(
        fmt::format("{}: neither a {} nor a shipped device - {}", readable(name), kind, device_suggestion(name)));
  }
  return std::nullopt;
}

ReadProfile profile_of_file(const std::string& name, bool toml) {
  const std::string text = read_file(name);
  try {
    return {toml ? one_device(text, name) : latency::from_json(text, name), digest_text(name, text), false};
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

}  // namespace

ReadProfile read_device(const std::string& name) {
  if (auto shipped = shipped_or_file(name, "TOML file")) return std::move(*shipped);
  if (!is_toml(name)) {
    throw InputError(fmt::format("{}: no data sheet (its name does not end in .toml) - use --profile for a profile",
                                 readable(name)));
  }
  return profile_of_file(name, true);
}

ReadProfile read_profile(const std::string& name) {
  const auto operators = std::ranges::find(operators_texts(), name, &OperatorsText::name);
  if (operators != operators_texts().end()) {
    return {parse_operators(operators->text, name), digest_text(name, operators->text), true};
  }
  if (auto shipped = shipped_or_file(name, "file")) return std::move(*shipped);
  return profile_of_file(name, is_toml(name));
}

}  // namespace foredraft::experiments

namespace foredraft {

std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const latency::DeviceSheet& sheet : latency::device_registry()) names.push_back(sheet.name);
  return names;
}

}  // namespace foredraft
