// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/breakdown_report.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace foredraft::gpu_bench {
namespace {

/// A step's operations beside the step.
struct BrokenStep {
  std::int64_t operations = 0;
  double alone_us = 0.0;                 ///< sum over the operations
  std::optional<double> floor_us = 0.0;  ///< likewise; nothing where a limit is not known
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

/// How many whole steps at batch 1 take what their operations take.
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
  return fmt::format("\nAt batch 1, {} of {} steps take at most 10 % more than their operations.\n", near, steps);
}

/// Products whose time is that of reading a large matrix.
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
      "\nProducts over weights of more than 50 MB: {1} of {0} reach 85 % of the bandwidth of reading{2}\n", products,
      products - static_cast<std::int64_t>(slower.size()), slower.empty() ? "." : ". The others:\n");
  for (const std::string& line : slower) text += line;
  return text;
}

}  // namespace

std::string breakdown_markdown(const latency::Profile& profile) {
  if (profile.breakdowns.empty()) return "None.\n";
  std::string section =
      "Each step beside the sum of its operations, each timed alone: over other weights and keys each time where these "
      "are large enough to be driven out of the L2 (cold), over activations that lie in it. `excess`: the step above "
      "the sum, which is waiting of one operation for another and the reading of weights too small to be timed cold; "
      "below 0, operations overlap. The sum holds the launches: `nodes` is what they cost as nodes of an empty "
      "graph.\n\n"
      "| step | operations | whole us | sum of operations us | excess | sum of floors us | nodes us |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const latency::Breakdown& breakdown : profile.breakdowns) section += overview_line(profile, breakdown);
  section += steps_near_their_sum(profile) + large_products(profile);
  for (const latency::Breakdown& breakdown : profile.breakdowns) section += parts_table(profile, breakdown);
  return section;
}

}  // namespace foredraft::gpu_bench
