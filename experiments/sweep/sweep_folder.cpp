// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/sweep_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <set>

#include "core/csv.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/summary.hpp"

namespace foredraft::experiments {

std::vector<std::string> output_names(const std::vector<Figure>& figures, const std::optional<Shard>& shard) {
  std::vector<std::string> names{"points.csv"};
  if (shard) return names;
  names.insert(names.end(), {"summary.md", "summary.tex"});
  for (const Figure& figure : figures) {
    names.push_back(figure.id + ".csv");
    names.push_back(figure.id + ".figure.json");
  }
  return names;
}

void complete_folder(const std::string& folder, const Sweep& sweep, Manifest& manifest) {
  if (!manifest.shard) {
    remove_drawings(sweep.figures, folder);
    write_summary(sweep, manifest.hash, folder);
    write_figure_data(sweep, folder);
  }
  manifest.outputs.clear();
  for (const std::string& name : output_names(sweep.figures, manifest.shard)) {
    manifest.outputs.push_back(digest_file((std::filesystem::path(folder) / name).string()));
    manifest.outputs.back().path = name;
  }
  manifest.state = "complete";
  manifest.run["ended"] = utc_now();
  replace_file(manifest_path(folder), to_text(manifest));
}

namespace {

namespace fs = std::filesystem;

std::string shard_text(const std::optional<Shard>& shard) {
  return shard ? fmt::format("shard {}/{}", shard->index, shard->count) : "the whole sweep";
}

/// The keys in which two configurations differ, with their tables: "axes.alpha, simulation.seed".
std::string differing_keys(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now) {
  const auto difference = nlohmann::ordered_json::diff(before, now);
  std::set<std::string> keys;
  for (const auto& change : difference) {
    std::string key = change.at("path").get<std::string>().substr(1);
    key.resize(std::min(key.find('/', key.find('/') + 1), key.size()));  // without the index in a list
    std::ranges::replace(key, '/', '.');
    keys.insert(std::move(key));
  }
  return keys.empty() ? "the order of its keys" : fmt::format("{}", fmt::join(keys, ", "));
}

void reject_other_results(const std::string& folder, const Manifest& before, const Manifest& now) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: holds results of {} - use another --out", readable(folder), why));
  };
  if (before.hash != now.hash) {
    refuse(fmt::format("another configuration ({} instead of {}): it differs in {}", before.hash.substr(0, 8),
                       now.hash.substr(0, 8), differing_keys(before.resolved, now.resolved)));
  }
  if (before.version != now.version)
    refuse(fmt::format("version {} of this program, not {}", before.version, now.version));
  if (before.shard != now.shard) refuse(fmt::format("{}, not {}", shard_text(before.shard), shard_text(now.shard)));
  if (before.inputs != now.inputs) refuse("input files of other content");
}

}  // namespace

std::string manifest_path(const std::string& folder) { return (fs::path(folder) / "manifest.json").string(); }
std::string points_path(const std::string& folder) { return (fs::path(folder) / "points.csv").string(); }

void require_results_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) throw InputError(fmt::format("{}: no such folder", readable(folder)));
  if (!fs::exists(fs::symlink_status(manifest_path(folder), ignored))) {
    throw InputError(fmt::format("{}: holds no manifest.json (it is not a results folder)", readable(folder)));
  }
}

StoredManifest read_manifest(const std::string& folder) {
  require_results_folder(folder);
  return parse_manifest(read_result_file(manifest_path(folder)), manifest_path(folder));
}

std::optional<StoredManifest> claim_folder(const std::string& folder, const Manifest& wanted) {
  const std::vector<std::string> names = names_in_folder(folder);
  if (names.empty()) return std::nullopt;
  if (!std::ranges::binary_search(names, "manifest.json")) {
    throw InputError(fmt::format("{}: holds {} and no manifest.json (it is not a results folder) - use another --out",
                                 readable(folder), readable(names.front())));
  }
  StoredManifest before = read_manifest(folder);
  reject_other_results(folder, before, wanted);
  if (before.state == "complete" && !holds_its_points(folder, before)) {
    throw InputError(
        fmt::format("{}: was changed or removed (its SHA-256 differs from the manifest) - restore it, or use another "
                    "--out",
                    points_path(folder)));
  }
  return before;
}

bool holds_its_points(const std::string& folder, const Manifest& manifest) {
  const std::string path = points_path(folder);
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored)) &&
         digest_file(path).sha256 == manifest.outputs.at(0).sha256;
}

FinishedPart finished_part(const std::string& path, const Sweep& sweep, const PointRange& range) {
  const std::string& header = sweep.header;
  ResultReader file(path);
  std::string line;
  const auto next_line = [&] { return file.next_line(line) && file.line_ended(); };
  const bool whole = next_line();
  if (!whole && header.starts_with(line)) return {0, 0};  // an incomplete header; restarting loses nothing
  if (line + "\n" != header) throw InputError(fmt::format("{}:1: has other columns - use another --out", path));
  FinishedPart part{header.size(), 0};
  const auto columns = static_cast<std::size_t>(std::ranges::count(header, ',')) + 1;
  const auto is_row_of = [&](std::uint64_t index) {
    if (index >= range.last) return false;
    std::string inputs = fmt::format("{},", index);
    sweep.points.append_cells(index, inputs);
    if (!line.starts_with(inputs)) return false;
    const auto cells = split_csv_line(line);
    return cells && cells->size() == columns;
  };
  while (next_line()) {
    const std::uint64_t index = range.first + part.points;
    if (!is_row_of(index)) {
      throw InputError(fmt::format("{}:{}: damaged row (point {} expected) - restore the file, or use another --out",
                                   path, part.points + 2, index));
    }
    part.bytes += line.size() + 1;
    ++part.points;
  }
  return part;
}

std::uint64_t extend_points(const std::string& folder, const Sweep& sweep, const PointRange& range, Manifest& manifest,
                            const std::function<void(AppendFile& points, std::uint64_t finished)>& append_rest) {
  const std::string path = points_path(folder);
  std::error_code ignored;
  std::optional<AppendFile> file;
  FinishedPart part{0, 0};
  if (fs::exists(fs::symlink_status(path, ignored))) {
    file.emplace(path);
    part = finished_part(path, sweep, range);
  }
  manifest.run["resumed_points"] = part.points;
  try {
    replace_file(manifest_path(folder), to_text(manifest));
  } catch (const RunError& error) {
    if (file) throw;
    throw InputError(error.what());  // nothing has been computed, so it is an input error
  }
  if (!file) file.emplace(path);
  file->truncate(part.bytes);
  if (part.bytes == 0) file->append(sweep.header);
  append_rest(*file, part.points);
  file->sync();
  return part.points;
}

}  // namespace foredraft::experiments
