// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/sweep_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <filesystem>

#include "experiments/sweep/run_points.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// "points.csv  manifest.json  summary.{md,tex}  speedup.{pdf,svg,png,csv}"
std::string files_line(const std::string& folder, const Manifest& manifest) {
  std::string line = "points.csv  manifest.json";
  const auto add = [&](const std::string& stem, const std::vector<std::string>& endings) {
    std::vector<std::string> there;
    for (const std::string& ending : endings) {
      if (fs::exists(fs::path(folder) / fmt::format("{}.{}", stem, ending))) there.push_back(ending);
    }
    if (!there.empty()) line += fmt::format("  {}.{{{}}}", stem, fmt::join(there, ","));
  };
  add("summary", {"md", "tex"});
  for (const Figure& figure : manifest.config.figures) add(figure.id, {"pdf", "svg", "png", "csv"});
  return line;
}

std::string shard_report(const Manifest& manifest) {
  const Shard& shard = manifest.shard.value();
  const PointRange range = shard_range(point_count(manifest.config), shard.index, shard.count);
  return fmt::format(
      "shard {}/{}: points {} to {} of {}; config {}\n"
      "wrote       points.csv  manifest.json\n"
      "next        foredraft merge DIR... --out DIR        (the folders of all {} shards)\n",
      shard.index, shard.count, range.first, range.last - 1, point_count(manifest.config), manifest.hash.substr(0, 8),
      shard.count);
}

}  // namespace

std::string sweep_report(const std::string& folder) {
  const Manifest manifest = read_manifest(folder);
  if (manifest.shard) return shard_report(manifest);
  const SweepSummary summary = summarize(manifest.config, points_path(folder));
  std::string text = headline(manifest.config) + "\n\n" + summary.table.caption + "\n" + to_text(summary.table);
  for (const std::string& note : summary.notes) text += " * " + note + "\n";
  text += "\n";
  if (manifest.config.simulation) text += fmt::format("agreement   {}\n", to_text(summary.agreement));
  text += fmt::format("wrote       {}\n", files_line(folder, manifest));
  text += fmt::format("rerun       foredraft check {}        (repeats the run, compares every digest)\n", folder);
  return text;
}

}  // namespace foredraft::experiments
