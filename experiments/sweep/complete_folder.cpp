// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/complete_folder.hpp"

#include <filesystem>

#include "core/files.hpp"
#include "experiments/sweep/figure_data.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {

void complete_folder(const std::string& folder, Manifest manifest) {
  std::vector<std::string> names{"points.csv"};
  if (!manifest.shard) {
    for (std::string& name : write_summary(manifest.config, folder)) names.push_back(std::move(name));
    for (std::string& name : write_figure_data(manifest.config, folder)) names.push_back(std::move(name));
  }
  manifest.outputs.clear();
  for (const std::string& name : names) {
    manifest.outputs.push_back(digest_file((std::filesystem::path(folder) / name).string()));
    manifest.outputs.back().path = name;
  }
  manifest.state = "complete";
  manifest.run["ended"] = utc_now();
  replace_file(manifest_path(folder), to_text(manifest));
}

}  // namespace foredraft::experiments
