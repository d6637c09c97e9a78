// SPDX-License-Identifier: Apache-2.0
#include "inputs/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/names.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::inputs {
namespace {

using latency::DeviceSheet;

/// All names of shipped devices and operators, for suggestions.
std::vector<std::string> device_words() {
  std::vector<std::string> words;
  for (const DeviceSheet& sheet : latency::device_registry()) {
    words.push_back(sheet.name);
    words.insert(words.end(), sheet.aliases.begin(), sheet.aliases.end());
  }
  for (const OperatorsText& document : operators_texts()) words.emplace_back(document.name);
  return words;
}

/// The suggestion for a number of devices: "8xH100", "2x RTX 3090", "H100 x8"; empty for other names.
std::string several_devices(const std::string& name) {
  constexpr std::string_view digits = "0123456789", between = " x";
  std::string_view count(name), device(name);
  const std::size_t first = name.find_first_not_of(digits);
  const std::size_t last = name.find_last_not_of(digits);
  if (first == std::string::npos || last == std::string::npos) return {};
  if (first > 0 && name.find('x') == name.find_first_not_of(' ', first)) {
    count = count.substr(0, first);
    device.remove_prefix(std::min(name.find_first_not_of(between, first), name.size()));
  } else if (last + 1 < name.size() && last > 0 && name[last] == 'x' && name[last - 1] == ' ') {
    count = count.substr(last + 1);
    device = device.substr(0, name.find_last_not_of(between, last) + 1);
  } else {
    return {};
  }
  if (latency::find_device(device) == nullptr) return {};
  return fmt::format("name one, {}, and share the target with --target-tp {}", readable(device), count);
}

/// For a number of devices suggests naming one; else devices with the same words, or the nearest name or alias.
std::string device_suggestion(const std::string& name) {
  if (std::string one = several_devices(name); !one.empty()) return one;
  const bool path = name.find_first_of("./") != std::string::npos;
  const std::vector<const DeviceSheet*> alike = path ? std::vector<const DeviceSheet*>() : latency::devices_like(name);
  if (alike.empty()) {
    const std::vector<std::string> known = device_words();
    const char* own = nearest(name, known).empty() ? "; or write its data sheet as a TOML file (docs/devices.md)" : "";
    return suggestion_for(name, known, "devices") + own;
  }
  std::vector<std::string_view> names;
  for (const DeviceSheet* sheet : alike) names.emplace_back(sheet->name);
  return fmt::format("did you mean {}{}?", names.size() > 1 ? "one of " : "", fmt::join(names, ", "));
}

latency::Profile one_device(std::string_view text, const std::string& name) {
  std::vector<DeviceSheet> sheets = latency::parse_devices(text, name);
  if (sheets.size() == 1) return std::move(sheets.front().profile);
  throw DomainError(fmt::format("{}: {} devices ({}) - name a file with one", name, sheets.size(),
                                fmt::join(texts_of(sheets, &DeviceSheet::name), ", ")));
}

bool is_toml(const std::string& name) { return name.ends_with(".toml"); }

/// The shipped device of this name, or nullopt if there is a file; throws InputError otherwise.
std::optional<ReadProfile> shipped_or_file(const std::string& name, std::string_view kind) {
  if (const DeviceSheet* sheet = latency::find_device(name)) {
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

// ---- tables

constexpr double listed_giga = 1e9;
constexpr double listed_tera = 1e12;

/// Text with four significant digits; from 1000 on a whole number.
std::string in_units_of(double unit, const std::optional<double>& value) {
  if (!value) return "";
  const double count = *value / unit;
  return count < 1000.0 ? fmt::format("{:.4g}", count) : fmt::format("{:.0f}", count);
}

/// The figures by source, one line per source.
std::string sources_text(const latency::Profile& profile) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sources;
  for (const latency::SheetFigure& figure : latency::sheet_figures(profile)) {
    auto found = std::ranges::find(sources, figure.origin, [](const auto& source) { return source.first; });
    if (found == sources.end()) found = sources.insert(sources.end(), {figure.origin, {}});
    found->second.push_back(fmt::format("`{}` {:.10g}", figure.key, figure.value));
  }
  std::string text;
  for (const auto& [origin, figures] : sources) text += fmt::format("- {}: {}\n", fmt::join(figures, ", "), origin);
  return text;
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

Table device_table() {
  Table table;
  table.columns = {{"device", Table::Align::left}};
  for (const char* title : {"memory GB", "GB/s", "16-bit TFLOP/s", "fp8", "int8", "fp4", "link GB/s"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  for (const DeviceSheet& sheet : latency::device_registry()) {
    const latency::Limits& limits = sheet.profile.limits;
    const latency::Figure& fp16 = limits.matrix_peak_fp16_flop_per_s;
    const latency::Figure& sixteen_bits = fp16.value ? fp16 : limits.matrix_peak_bf16_flop_per_s;
    table.rows.push_back({sheet.name, in_units_of(listed_giga, latency::capacity_bytes(sheet.profile.device)),
                          in_units_of(listed_giga, limits.memory_bandwidth_bytes_per_s.value),
                          in_units_of(listed_tera, sixteen_bits.value),
                          in_units_of(listed_tera, limits.matrix_peak_fp8_flop_per_s.value),
                          in_units_of(listed_tera, limits.matrix_peak_int8_flop_per_s.value),
                          in_units_of(listed_tera, limits.matrix_peak_fp4_flop_per_s.value),
                          in_units_of(listed_giga, limits.link_bandwidth_bytes_per_s.value)});
  }
  return table;
}

std::string devices_markdown() {
  std::string text = to_markdown(device_table());
  for (const DeviceSheet& sheet : latency::device_registry()) {
    const std::string also = sheet.aliases.empty() ? "" : fmt::format(" Also: {}.", fmt::join(sheet.aliases, ", "));
    text += fmt::format("\n### {}\n\n{}.{}\n\n{}", sheet.name, sheet.profile.device.name, also,
                        sources_text(sheet.profile));
  }
  return text;
}

}  // namespace foredraft::inputs

namespace foredraft {

std::vector<std::string> shipped_devices() { return texts_of(latency::device_registry(), &latency::DeviceSheet::name); }

}  // namespace foredraft
