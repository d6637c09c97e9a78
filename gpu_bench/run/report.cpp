// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>

#include "gpu_bench/run/breakdown_report.hpp"
#include "gpu_bench/run/verification_report.hpp"
#include "latency/profile/profile_fields.hpp"

namespace foredraft::gpu_bench {
namespace {

/// How a figure is shown, by the unit at the end of its name.
struct ShownUnit {
  std::string_view suffix;
  std::string_view unit;
  double size;
};
constexpr std::array shown_units{ShownUnit{"_bytes_per_s", " GB/s", 1e9},
                                 ShownUnit{"_flop_per_s", " Tflop/s", 1e12},
                                 ShownUnit{"_bytes", " MiB", 1048576.0},
                                 ShownUnit{"_us", " us", 1.0},
                                 ShownUnit{"_mhz", " MHz", 1.0},
                                 ShownUnit{"_bits", " bit", 1.0},
                                 ShownUnit{"_w", " W", 1.0},
                                 ShownUnit{"", "", 1.0}};

/// A text in a cell of a table.
std::string cell_safe(std::string text) {
  for (char& letter : text) {
    if (letter == '|' || letter == '\n') letter = '/';
  }
  return text;
}

std::string spaced(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    if (letter == '_') letter = ' ';
  }
  return text;
}

const ShownUnit& unit_of(std::string_view name) {
  return *std::find_if(shown_units.begin(), shown_units.end(),
                       [&](const ShownUnit& shown) { return name.ends_with(shown.suffix); });
}

/// "memory bandwidth" of memory_bandwidth_bytes_per_s: the unit stands with the value.
std::string figure_name(std::string_view name) {
  name.remove_suffix(unit_of(name).suffix.size());
  return spaced(name);
}

std::string figure_line(std::string_view name, const latency::Figure& figure) {
  const ShownUnit& shown = unit_of(name);
  std::string value = fmt::format("{:.5g}{}", *figure.value / shown.size, shown.unit);
  if (figure.ci95) {
    value += fmt::format(" ({:.5g} to {:.5g})", figure.ci95->low / shown.size, figure.ci95->high / shown.size);
  }
  return fmt::format("| {} | {} | {} |\n", figure_name(name), value, cell_safe(figure.origin));
}

std::string text_line(std::string_view name, const std::string& text) {
  return text.empty() ? "" : fmt::format("| {} | {} |\n", spaced(name), cell_safe(text));
}

std::string identity_section(const latency::Profile& profile) {
  std::string section = "| | |\n|---|---|\n";
  section += text_line("device", profile.device.name) +
             text_line("compute capability", profile.device.compute_capability) +
             text_line("source", std::string(to_string(profile.source)));
  visit_fields(profile.identity, [&](const char* name, const std::string& text) { section += text_line(name, text); });
  for (const latency::Note& note : profile.notes) section += text_line(note.name, note.text);
  if (const auto& protocol = profile.protocol) {
    section += text_line("stopping rule",
                         fmt::format("median known to {:.2g} %, {} to {} samples, {} warm-up calls, at most {:.4g} s",
                                     100.0 * protocol->relative_spread, protocol->fewest_samples,
                                     protocol->most_samples, protocol->warm_up, protocol->budget_s));
    section += text_line("throttling", fmt::format("samples below {:.0f} % of the fastest clock are dropped",
                                                   100.0 * protocol->throttled_below));
  }
  return section;
}

std::string limits_section(const latency::Profile& profile) {
  std::string known = "| | value (95 % interval) | origin |\n|---|---|---|\n";
  std::string unknown;
  const auto add = [&](const char* name, const auto& field) {
    if constexpr (std::same_as<decltype(field), const latency::Figure&>) {
      if (field.value) {
        known += figure_line(name, field);
      } else if (!latency::since_schema_2(name)) {  // what no measurement looks for is not missing
        unknown += (unknown.empty() ? "" : ", ") + figure_name(name);
      }
    }
  };
  visit_fields(profile.device, add);
  visit_fields(profile.limits, add);
  return unknown.empty() ? known : fmt::format("{}\nNot known: {}.\n", known, unknown);
}

/// The cell without its tokens: all rows with the same text are one curve.
std::string curve_of(const latency::Cell& cell) {
  std::string columns = fmt::format("| {} | {} | {} | {} | {} | ", cell.model, spaced(to_string(cell.role)), cell.dtype,
                                    cell.batch, cell.context);
  if (cell.source_length > 0) columns += fmt::format("{}", cell.source_length);
  return columns + fmt::format(" | {}, {} | ", to_string(cell.cache), to_string(cell.launch));
}

std::string point_text(const latency::Profile& profile, const latency::StepRow& row) {
  if (row.timing.summary.samples == 0) return fmt::format("{}: no sample", row.cell.tokens);
  std::string text = fmt::format("{}: {:.4g}", row.cell.tokens, row.timing.summary.median_us);
  if (const auto fraction = latency::fraction_of_ceiling(profile.limits, row.cell.dtype, row.timing)) {
    text += fmt::format(" ({:.0f} %)", 100.0 * *fraction);
  }
  return text + (row.timing.stopped == latency::Stopped::stable ? "" : "*");
}

std::string steps_section(const latency::Profile& profile) {
  if (profile.steps.empty()) return "None.\n";
  std::string section =
      "Each curve as `tokens: median in us (share of the ceiling)`; `*`: not known to the wanted spread. Intervals and "
      "percentiles: steps.csv.\n\n| model | pass | dtype | batch | context | source | L2, launch | curve |\n"
      "|---|---|---|---:|---:|---:|---|---|\n";
  std::vector<std::string> order;
  std::map<std::string, std::string> curves;
  for (const latency::StepRow& row : profile.steps) {
    const std::string key = curve_of(row.cell);
    const auto [curve, is_new] = curves.try_emplace(key);
    if (is_new) order.push_back(key);
    curve->second += (curve->second.empty() ? "" : ", ") + point_text(profile, row);
  }
  for (const std::string& key : order) section += key + curves.at(key) + " |\n";
  return section;
}

std::string repeat_section(const latency::Profile& profile) {
  if (!profile.against_itself) return "Not made: nothing says how well a second run would agree.\n";
  const latency::AgainstItself& repeat = *profile.against_itself;
  return fmt::format(
      "{} of the rows, measured a second time, differ by {:.2f} % (median) and {:.2f} % (95th percentile): "
      "{}.\n",
      repeat.pairs, 100.0 * repeat.median_difference, 100.0 * repeat.p95_difference,
      repeat.valid() ? "valid" : "NOT valid (the limits are 2 % and 5 %)");
}

std::string missing_section(const latency::Profile& profile) {
  if (profile.complete()) return "Nothing.\n";
  constexpr std::size_t shown_at_most = 20;
  std::string section = fmt::format("{} planned parts, all of them in profile.json:\n\n", profile.missing.size());
  for (std::size_t i = 0; i < profile.missing.size() && i < shown_at_most; ++i) {
    section += fmt::format("- {}: {}\n", profile.missing[i].what, profile.missing[i].why);
  }
  if (profile.missing.size() > shown_at_most) {
    section += fmt::format("- and {} more\n", profile.missing.size() - shown_at_most);
  }
  return section;
}

}  // namespace

std::string report_markdown(const latency::Profile& profile) {
  return fmt::format(
      "# {}{}\n\n{}\n## Limits\n\n{}\n## Passes\n\n{}\n## Passes by operation\n\n{}\n## Verification\n\n{}\n## "
      "Measured twice\n\n{}\n## "
      "Missing\n\n{}",
      profile.device.name, profile.complete() ? "" : " (incomplete)", identity_section(profile),
      limits_section(profile), steps_section(profile), breakdown_markdown(profile), verification_markdown(profile),
      repeat_section(profile), missing_section(profile));
}

}  // namespace foredraft::gpu_bench
