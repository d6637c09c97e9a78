// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/device_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "latency/devices/device_registry.hpp"

namespace foredraft::experiments {
namespace {

using latency::DeviceSheet;

constexpr double listed_giga = 1e9;
constexpr double listed_tera = 1e12;

/// Four digits; whole numbers have all of theirs.
std::string in_units_of(double unit, const std::optional<double>& value) {
  if (!value) return "";
  const double count = *value / unit;
  return count < 1000.0 ? fmt::format("{:.4g}", count) : fmt::format("{:.0f}", count);
}

/// One line a source: the figures that come from it.
std::string sources_text(const latency::Profile& profile) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sources;
  for (const latency::SheetFigure& figure : latency::sheet_figures(profile)) {
    const auto same = [&](const auto& source) { return source.first == figure.origin; };
    auto found = std::find_if(sources.begin(), sources.end(), same);
    if (found == sources.end()) found = sources.insert(sources.end(), {figure.origin, {}});
    found->second.push_back(fmt::format("`{}` {:.10g}", figure.key, figure.value));
  }
  std::string text;
  for (const auto& [origin, figures] : sources) text += fmt::format("- {}: {}\n", fmt::join(figures, ", "), origin);
  return text;
}

}  // namespace

Table device_table() {
  const auto right = Table::Align::right;
  Table table;
  table.columns = {{"device", Table::Align::left},
                   {"memory GB", right},
                   {"GB/s", right},
                   {"fp16 TFLOP/s", right},
                   {"fp8", right},
                   {"int8", right},
                   {"fp4", right},
                   {"link GB/s", right}};
  for (const DeviceSheet& sheet : latency::device_registry()) {
    const latency::Limits& limits = sheet.profile.limits;
    table.rows.push_back({sheet.name, in_units_of(listed_giga, latency::capacity_bytes(sheet.profile.device)),
                          in_units_of(listed_giga, limits.memory_bandwidth_bytes_per_s.value),
                          in_units_of(listed_tera, limits.matrix_peak_fp16_flop_per_s.value),
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
    text += fmt::format("\n### {}\n\n{}. Also: {}.\n\n{}", sheet.name, sheet.profile.device.name,
                        fmt::join(sheet.aliases, ", "), sources_text(sheet.profile));
  }
  return text;
}

}  // namespace foredraft::experiments
