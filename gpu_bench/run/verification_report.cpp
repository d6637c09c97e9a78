// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/verification_report.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <vector>

namespace foredraft::gpu_bench {
namespace {

constexpr std::string_view ours = "fused_exact";
constexpr double wanted_share = 0.85;    // of the measured read bandwidth
constexpr double wanted_fixed_us = 4.0;  // a launch, first bytes and two meetings of blocks

bool has_time(const latency::VerificationRow& row) { return row.timing.summary.samples > 0; }

/// The time that ours is held to: its bytes at a share of the bandwidth, and what is not bytes.
std::optional<double> goal_us(const latency::Profile& profile, const latency::VerificationRow& row) {
  const std::optional<double>& bandwidth = profile.limits.read_bandwidth_bytes_per_s.value;
  if (!bandwidth) return std::nullopt;
  return 1e6 * row.timing.read_bytes / (wanted_share * *bandwidth) + wanted_fixed_us;
}

/// What is timed side by side has the same logits.
std::string group_of(const latency::VerificationCell& cell) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |", cell.dtype, cell.batch, cell.gamma, cell.vocabulary,
                     cell.logits, to_string(cell.cache));
}

bool does_the_same(const latency::VerificationCell& cell) {
  return cell.verifier == "hf_reference" || cell.verifier == "wagner_exact" || cell.verifier == "wagner_sigmoid";
}

struct Group {
  const latency::VerificationRow* ours = nullptr;
  const latency::VerificationRow* rival = nullptr;  ///< the fastest of those that do the same, exactly or not
  std::string others;
};

std::string group_line(const latency::Profile& profile, const std::string& key, const Group& group) {
  std::string line = key;
  if (group.ours != nullptr) {
    const double us = group.ours->timing.summary.median_us;
    const std::optional<double> goal = goal_us(profile, *group.ours);
    line += fmt::format(" {:.4g} | {} | {} |", us, goal ? fmt::format("{:.4g}", *goal) : "",
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

}  // namespace

std::string verification_markdown(const latency::Profile& profile) {
  std::vector<std::string> order;
  std::map<std::string, Group> groups;
  for (const latency::VerificationRow& row : profile.verifications) {
    if (!has_time(row)) continue;
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
      "Microseconds a call, all of a line timed side by side. `goal`: the bytes of 2 gamma + 1 rows at {:.0f} % of the "
      "bandwidth of reading, and {:.0f} us. `rival`: the fastest of the published verifiers, their kernels as a graph "
      "or launch by launch (eager). Intervals, launches, bytes and memory: verifications.csv.\n\n"
      "| dtype | batch | gamma | vocabulary | logits | L2 | {} | goal | | rival | others |\n"
      "|---|---:|---:|---:|---|---|---:|---:|---|---|---|\n",
      100.0 * wanted_share, wanted_fixed_us, ours);
  for (const std::string& key : order) section += group_line(profile, key, groups.at(key));
  return section;
}

}  // namespace foredraft::gpu_bench
