#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/results/files.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/run_points.hpp"

/// A results folder: manifest.json and a points.csv that grows by whole rows.
namespace foredraft::experiments {

[[nodiscard]] std::string manifest_path(const std::string& folder);
[[nodiscard]] std::string points_path(const std::string& folder);

/// The manifest of a folder. Throws InputError where there is none.
[[nodiscard]] Manifest read_manifest(const std::string& folder);

/// The manifest of a folder to write into; nothing for a new or empty one. Throws InputError where the folder holds
/// other files, or results that differ in schema, program version, configuration, shard or input files: nothing is
/// overwritten.
[[nodiscard]] std::optional<Manifest> claim_folder(const std::string& folder, const Manifest& wanted);

/// The part of a points.csv that holds: whole rows in index order, from the header on.
struct FinishedPart {
  std::uint64_t bytes;  ///< 0: not even the header
  std::uint64_t points;
};
/// A torn last line, and it alone, is left out. Throws InputError on a row that is damaged or not of `range`.
[[nodiscard]] FinishedPart finished_part(const std::string& path, const std::string& header, const PointRange& range);

}  // namespace foredraft::experiments
