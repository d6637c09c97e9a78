// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_bench/run/profile_folder.hpp"
#include "latency/profile/profile_fields.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Display unit of a figure, by the unit at the end of its name.
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

/// "memory bandwidth" for memory_bandwidth_bytes_per_s: the unit is shown with the value.
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

std::string text_line(std::string_view name, std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text.empty() ? "" : fmt::format("| {} | {} |\n", spaced(name), cell_safe(std::move(text)));
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
      } else if (!latency::since_schema_2(name)) {  // figures that are never measured are not missing
        unknown += (unknown.empty() ? "" : ", ") + figure_name(name);
      }
    }
  };
  visit_fields(profile.device, add);
  visit_fields(profile.limits, add);
  return unknown.empty() ? known : fmt::format("{}\nNot known: {}.\n", known, unknown);
}

/// The cell without its tokens: rows with the same text form one curve.
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
      "Each curve as `tokens: median in us (share of the ceiling)`; `*`: not known to the required precision. "
      "Intervals and percentiles: steps.csv.\n\n"
      "| model | pass | dtype | batch | context | source | L2, launch | curve |\n"
      "|---|---|---|---:|---:|---:|---|---|\n";
  std::vector<std::string> order;
  std::map<std::string, std::map<std::int64_t, std::string>> curves;  // points by tokens
  for (const latency::StepRow& row : profile.steps) {
    const std::string key = curve_of(row.cell);
    const auto [curve, is_new] = curves.try_emplace(key);
    if (is_new) order.push_back(key);
    curve->second.emplace(row.cell.tokens, point_text(profile, row));
  }
  for (const std::string& key : order) {
    std::string separator;
    section += key;
    for (const auto& [tokens, point] : curves.at(key)) {
      section += separator + point;
      separator = ", ";
    }
    section += " |\n";
  }
  return section;
}

std::string repeat_section(const latency::Profile& profile) {
  if (!profile.aa_test) return "Not made: the run-to-run variation is unknown.\n";
  const latency::AgainstItself& repeat = *profile.aa_test;
  return fmt::format(
      "{} of the rows, measured a second time, differ by {:.2f} % (median) and {:.2f} % (95th percentile): "
      "{}.\n",
      repeat.pairs, 100.0 * repeat.median_difference, 100.0 * repeat.p95_difference,
      repeat.valid() ? "valid" : "NOT valid (the limits are 2 % and 5 %)");
}

/// Each reason with the number of its parts and the first of them, the most frequent reason first.
std::string missing_section(const latency::Profile& profile) {
  if (profile.complete()) return "Nothing.\n";
  constexpr std::size_t named_at_most = 3;
  std::map<std::string_view, std::vector<std::string_view>> parts_of;
  for (const latency::Missing& missing : profile.missing) parts_of[missing.why].push_back(missing.what);
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> reasons(parts_of.begin(), parts_of.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string section =
      fmt::format("Planned parts that are missing, {} in all; profile.json names each:\n\n", profile.missing.size());
  for (const auto& [why, parts] : reasons) {
    const std::size_t named = std::min(parts.size(), named_at_most);
    section += fmt::format("- {}: {} ({}{})\n", why, parts.size(),
                           fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                           named < parts.size() ? ", ..." : "");
  }
  return section;
}

struct BrokenStep {
  std::int64_t operations = 0;
  double alone_us = 0.0;                 ///< sum over the operations
  std::optional<double> floor_us = 0.0;  ///< likewise; empty if a limit is not known
  std::optional<double> whole_us = {};
};

BrokenStep broken_step(const latency::Profile& profile, const latency::Breakdown& breakdown) {
  BrokenStep step;
  for (const latency::Part& part : breakdown.parts) {
    const latency::Timing& timing = latency::find_part(profile, breakdown.cell.dtype, part)->timing;
    const auto count = static_cast<double>(part.count);
    step.operations += part.count;
    step.alone_us += count * timing.summary.median_us;
    const std::optional<double> floor = latency::floor_us(profile.limits, breakdown.cell.dtype, timing);
    step.floor_us = floor && step.floor_us ? std::optional(*step.floor_us + count * *floor) : std::nullopt;
  }
  const latency::StepRow* whole = latency::find_step(profile, breakdown.cell);
  if (whole != nullptr && whole->timing.summary.samples > 0) step.whole_us = whole->timing.summary.median_us;
  return step;
}

std::string number_or_blank(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; }

std::string percent_or_blank(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.0f} %", 100.0 * *fraction) : "";
}

std::string overview_line(const latency::Profile& profile, const latency::Breakdown& breakdown) {
  const BrokenStep step = broken_step(profile, breakdown);
  const std::optional<double>& node_us = profile.limits.graph_node_us.value;
  std::optional<double> nodes_us;
  if (node_us) nodes_us = static_cast<double>(step.operations) * *node_us;
  std::string excess;
  if (step.whole_us) excess = fmt::format("{:+.1f} %", 100.0 * (*step.whole_us / step.alone_us - 1.0));
  return fmt::format("| {} | {} | {} | {:.4g} | {} | {} | {} |\n", to_text(breakdown.cell), step.operations,
                     number_or_blank(step.whole_us), step.alone_us, excess, number_or_blank(step.floor_us),
                     number_or_blank(nodes_us));
}

std::string parts_table(const latency::Profile& profile, const latency::Breakdown& breakdown) {
  const std::string& dtype = breakdown.cell.dtype;
  std::string table = fmt::format(
      "\n{}:\n\n| operation | shape | L2 | count | median us | count x median us | floor us | share of ceiling |\n"
      "|---|---|---|---:|---:|---:|---:|---:|\n",
      to_text(breakdown.cell));
  for (const latency::Part& part : breakdown.parts) {
    const latency::Timing& timing = latency::find_part(profile, dtype, part)->timing;
    table += fmt::format("| {} | {} | {} | {} | {:.4g} | {:.4g} | {} | {} |\n", part.operation, part.shape,
                         to_string(part.cache), part.count, timing.summary.median_us,
                         static_cast<double>(part.count) * timing.summary.median_us,
                         number_or_blank(latency::floor_us(profile.limits, dtype, timing)),
                         percent_or_blank(latency::fraction_of_ceiling(profile.limits, dtype, timing)));
  }
  return table;
}

/// How many of the steps at batch 1 take at most 10 % more time than the sum of their operations.
std::string steps_near_their_sum(const latency::Profile& profile) {
  constexpr double allowed_excess = 0.10;
  std::int64_t steps = 0;
  std::int64_t near = 0;
  for (const latency::Breakdown& breakdown : profile.breakdowns) {
    const BrokenStep step = broken_step(profile, breakdown);
    if (breakdown.cell.batch != 1 || !step.whole_us) continue;
    ++steps;
    if (*step.whole_us <= (1.0 + allowed_excess) * step.alone_us) ++near;
  }
  if (steps == 0) return "";
  return fmt::format("\nAt batch 1, {} of {} passes take at most 10 % more than their operations.\n", near, steps);
}

/// Products whose time is dominated by reading a large matrix.
std::string large_products(const latency::Profile& profile) {
  constexpr double large_bytes = 50e6;
  constexpr double wanted_share = 0.85;
  const std::optional<double>& bandwidth = profile.limits.read_bandwidth_bytes_per_s.value;
  if (!bandwidth) return "";
  std::int64_t products = 0;
  std::vector<std::string> slower;
  for (const latency::KernelRow& row : profile.kernels) {
    const double bytes = row.timing.read_bytes + row.timing.written_bytes;
    if (row.operation != "project" || row.cache != latency::Cache::cold || row.timing.read_bytes < large_bytes)
      continue;
    const std::optional<double> floor = latency::floor_us(profile.limits, row.dtype, row.timing);
    latency::Timing moving = row.timing;
    moving.flop = 0.0;
    if (row.timing.summary.samples == 0 || floor != latency::floor_us(profile.limits, row.dtype, moving)) continue;
    const double share = bytes / (1e-6 * row.timing.summary.median_us) / *bandwidth;
    ++products;
    if (share < wanted_share) slower.push_back(fmt::format("- {} {}: {:.0f} %\n", row.shape, row.dtype, 100.0 * share));
  }
  if (products == 0) return "";
  std::string text = fmt::format(
      "\nProducts over weights of more than 50 MB: {1} of {0} reach 85 % of the read bandwidth{2}\n", products,
      products - static_cast<std::int64_t>(slower.size()), slower.empty() ? "." : ". The others:\n");
  for (const std::string& line : slower) text += line;
  return text;
}

std::string breakdown_section(const latency::Profile& profile) {
  if (profile.breakdowns.empty()) return "None.\n";
  std::string section =
      "Each pass and the sum of its operations, each timed separately. Weights and keys that are large enough to be "
      "evicted from the L2 are cold (other ones each time); activations are in the L2. `excess`: how much longer the "
      "pass takes than the sum, because operations wait for each other and because small weights are timed hot; below "
      "0, operations overlap. The sum includes the launches: `nodes` is their cost as nodes of an empty graph.\n\n"
      "| pass | operations | whole us | sum of operations us | excess | sum of floors us | nodes us |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const latency::Breakdown& breakdown : profile.breakdowns) section += overview_line(profile, breakdown);
  section += steps_near_their_sum(profile) + large_products(profile);
  for (const latency::Breakdown& breakdown : profile.breakdowns) section += parts_table(profile, breakdown);
  return section;
}

constexpr std::string_view ours = "fused_exact";
constexpr double wanted_share = 0.85;    // fraction of the measured read bandwidth
constexpr double wanted_fixed_us = 4.0;  // a launch, first bytes and two barriers over blocks

/// Target time of our verifier: its bytes at a fraction of the bandwidth, plus a constant.
std::optional<double> goal_us(const latency::Profile& profile, const latency::VerificationRow& row) {
  const std::optional<double>& bandwidth = profile.limits.read_bandwidth_bytes_per_s.value;
  if (!bandwidth) return std::nullopt;
  return 1e6 * row.timing.read_bytes / (wanted_share * *bandwidth) + wanted_fixed_us;
}

/// Verifiers that are timed interleaved have the same logits.
std::string group_of(const latency::VerificationCell& cell) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |", cell.dtype, cell.batch, cell.gamma, cell.vocabulary,
                     cell.logits, to_string(cell.cache));
}

bool does_the_same(const latency::VerificationCell& cell) {
  return cell.verifier == "hf_reference" || cell.verifier == "wagner_exact" || cell.verifier == "wagner_sigmoid";
}

struct Group {
  const latency::VerificationRow* ours = nullptr;
  const latency::VerificationRow* rival = nullptr;  ///< the fastest of those with the same task, exact or not
  std::string others;
};

std::string group_line(const latency::Profile& profile, const std::string& key, const Group& group) {
  std::string line = key;
  if (group.ours != nullptr) {
    const double us = group.ours->timing.summary.median_us;
    const std::optional<double> goal = goal_us(profile, *group.ours);
    line += fmt::format(" {:.4g} | {} | {} |", us, number_or_blank(goal),
                        !goal         ? ""
                        : us <= *goal ? "reached"
                                      : fmt::format("{:.2f}x", us / *goal));
    line += group.rival == nullptr
                ? " |"
                : fmt::format(" {:.2f}x {} |", group.rival->timing.summary.median_us / us, group.rival->cell.verifier);
  } else {
    line += " | | | |";
  }
  return fmt::format("{} {} |\n", line, group.others);
}

std::string verification_section(const latency::Profile& profile) {
  std::vector<std::string> order;
  std::map<std::string, Group> groups;
  for (const latency::VerificationRow& row : profile.verifications) {
    if (row.timing.summary.samples == 0) continue;
    const std::string key = group_of(row.cell);
    const auto [found, is_new] = groups.try_emplace(key);
    if (is_new) order.push_back(key);
    Group& group = found->second;
    if (row.cell.verifier == ours) {
      group.ours = &row;
      continue;
    }
    const double us = row.timing.summary.median_us;
    if (does_the_same(row.cell) && (group.rival == nullptr || us < group.rival->timing.summary.median_us)) {
      group.rival = &row;
    }
    if (!group.others.empty()) group.others += ", ";
    group.others +=
        fmt::format("{}{} {:.4g}", row.cell.verifier, row.cell.launch == latency::Launch::eager ? " (eager)" : "", us);
  }
  if (order.empty()) return "None.\n";
  std::string section = fmt::format(
      "Microseconds per call; the verifiers of a line were timed interleaved. `goal`: reading 2 gamma + 1 rows at "
      "{:.0f} % of the read bandwidth, plus {:.0f} us. `rival`: the fastest published verifier, with its kernels as a "
      "graph or as individual launches (eager). Intervals, launches, bytes and memory: verifications.csv.\n\n"
      "| dtype | batch | gamma | vocabulary | logits | L2 | {} | goal | | rival | others |\n"
      "|---|---:|---:|---:|---|---|---:|---:|---|---|---|\n",
      100.0 * wanted_share, wanted_fixed_us, ours);
  for (const std::string& key : order) section += group_line(profile, key, groups.at(key));
  return section;
}

}  // namespace

std::string report_markdown(const latency::Profile& profile) {
  const bool is_valid = profile.valid();
  return fmt::format(
      "# {}{}{}\n\n{}\n## Limits\n\n{}\n## Passes\n\n{}\n## Passes by operation\n\n{}\n## Verification\n\n{}\n## "
      "Measured twice\n\n{}\n## "
      "Missing\n\n{}",
      profile.device.name, is_valid ? "" : ", NOT VALID", profile.complete() ? "" : " (incomplete)",
      identity_section(profile), limits_section(profile), steps_section(profile), breakdown_section(profile),
      verification_section(profile), repeat_section(profile), missing_section(profile));
}

}  // namespace foredraft::gpu_bench
