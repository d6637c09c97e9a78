// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/merge_shards.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "core/problems.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "foredraft/sweep.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::uint64_t every_byte = std::numeric_limits<std::uint64_t>::max();

/// What is kept of a folder: there may be tens of thousands.
struct Part {
  std::string folder;
  Shard shard;
};

/// Whether points.csv has the rows of the shard, each with its inputs, and nothing else.
bool holds_the_rows(const std::string& folder, const Manifest& manifest) {
  const Shard& shard = *manifest.shard;
  const PointRange range = shard_range(point_count(manifest.config), shard.index, shard.count);
  try {
    const FinishedPart rows = finished_part(points_path(folder), manifest.config, range);
    return rows.points == range.last - range.first && rows.bytes == ResultReader(points_path(folder)).size();
  } catch (const InputError&) {
    return false;
  }
}

void check_part(const std::string& folder, const Manifest& manifest, const Manifest& first, ProblemList& problems) {
  const auto refuse = [&](std::string text, std::string why, std::string suggestion = {}) {
    problems.add({.key = folder, .text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)});
  };
  if (manifest.state != "complete")
    refuse("not complete", "its run was interrupted", "run its shard again, it resumes");
  if (!manifest.shard) refuse("no shard", "it holds the whole sweep");
  if (manifest.hash != first.hash) refuse("another configuration", "its hash differs from that of the first folder");
  if (manifest.version != first.version) refuse("another version", "made by version " + manifest.version);
  if (manifest.inputs != first.inputs)
    refuse("other input files", "their digests differ from those of the first folder");
  if (manifest.state != "complete" || !manifest.shard) return;
  if (!holds_its_points(folder, manifest)) {
    refuse("points.csv was changed or removed", "it has not the SHA-256 of its manifest");
  } else if (!holds_the_rows(folder, manifest)) {
    refuse("points.csv has other rows than its configuration", "a point is missing, damaged or too many",
           "run its shard again, into another folder");
  }
}

/// What is said of the shards that were seen no time: the first twenty runs of neighbours, and how many shards more.
std::optional<Problem> missing_shards(const std::vector<int>& seen) {
  constexpr int max_ranges = 20;
  const auto missing = static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), 0));
  if (missing == 0) return std::nullopt;
  std::string list;
  std::uint64_t named = 0;
  auto first = std::find(seen.begin(), seen.end(), 0);
  for (int range = 0; range < max_ranges && first != seen.end(); ++range) {
    const auto end = std::find_if(first, seen.end(), [](int times) { return times != 0; });
    const auto from = static_cast<std::uint64_t>(first - seen.begin()) + 1;
    const auto to = static_cast<std::uint64_t>(end - seen.begin());
    list += fmt::format("{}{}", list.empty() ? "" : ", ", from);
    if (to > from) list += fmt::format("{}{}", to == from + 1 ? ", " : " to ", to);
    named += to - from + 1;
    first = std::find(end, seen.end(), 0);
  }
  if (missing == 1) {
    return Problem{.text = fmt::format("shard {}/{} is missing", list, seen.size()),
                   .suggestion = "run it, then merge"};
  }
  if (named < missing) list += fmt::format(" and {} more", missing - named);
  return Problem{.text = fmt::format("{} of {} shards are missing: {}", missing, seen.size(), list),
                 .suggestion = "run them, then merge"};
}

/// All shards of one sweep, in order. Throws InputError with everything that is wrong.
std::vector<Part> read_parts(const std::vector<std::string>& folders, const Manifest& first) {
  std::vector<Part> parts;
  ProblemList problems("foredraft merge");
  for (const std::string& folder : folders) {
    const Manifest manifest = read_manifest(folder);
    check_part(folder, manifest, first, problems);
    if (manifest.shard) parts.push_back({folder, *manifest.shard});
  }
  problems.raise();
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.shard.index < b.shard.index; });
  const std::uint64_t count = parts.front().shard.count;
  std::vector<int> seen(count, 0);
  for (const Part& part : parts) {
    if (part.shard.count != count) {
      problems.add({.key = part.folder,
                    .text = fmt::format("one of {} shards", part.shard.count),
                    .why = fmt::format("the others are of {}", count)});
    } else if (++seen[part.shard.index - 1] == 2) {
      problems.add({.key = part.folder, .text = fmt::format("shard {}/{} given twice", part.shard.index, count)});
    }
  }
  if (auto missing = missing_shards(seen)) problems.add(std::move(*missing));
  problems.raise();
  return parts;
}

/// The rows of all shards, one after the other, without their headers.
class ShardRows {
 public:
  ShardRows(const std::vector<Part>& parts, std::size_t header_bytes) : parts_(parts), header_bytes_(header_bytes) {}

  /// The next bytes, at most `max_bytes` of them; none after the last row.
  std::string_view next(std::uint64_t max_bytes) {
    while (true) {
      const std::string_view piece = file_ ? file_->read(max_bytes) : std::string_view{};
      if (!piece.empty() || max_bytes == 0 || opened_ == parts_.size()) return piece;
      file_.emplace(points_path(parts_[opened_++].folder));
      file_->skip(header_bytes_);
    }
  }

 private:
  const std::vector<Part>& parts_;
  std::size_t header_bytes_;
  std::size_t opened_ = 0;  ///< parts
  std::optional<ResultReader> file_;
};

/// Appends what an unfinished folder lacks of the rows, which have to begin with those that it holds.
void append_missing_rows(const std::string& folder, const std::string& header, ShardRows rows, AppendFile& merged,
                         StopToken stop) {
  ResultReader there(points_path(folder));
  there.skip(header.size());
  for (std::string_view held = there.read(); !held.empty(); held = there.read()) {
    while (!held.empty()) {
      const std::string_view wanted = rows.next(held.size());
      if (wanted.empty() || !held.starts_with(wanted)) {
        throw InputError(fmt::format("{}: holds other rows than the shards - use another --out", points_path(folder)));
      }
      held.remove_prefix(wanted.size());
    }
  }
  for (std::string_view more = rows.next(every_byte); !more.empty(); more = rows.next(every_byte)) {
    stop.check();
    merged.append(more);
  }
}

}  // namespace

MergedSweep merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const std::vector<std::string>& command_line, StopToken stop) {
  const Manifest first = read_manifest(shards.front());
  const std::vector<Part> parts = read_parts(shards, first);
  const SweepConfig& config = first.config;
  Manifest manifest = new_manifest(config, std::nullopt, first.inputs, command_line, 1);
  WriteLock lock = WriteLock::of_folder(folder);
  const auto before = claim_folder(folder, manifest);
  const bool complete = before && before->state == "complete";
  if (!complete) {
    if (!before) replace_file(manifest_path(folder), to_text(manifest));
    const std::string header = points_header(config);
    extend_points(folder, {0, point_count(config)}, manifest, [&](AppendFile& merged, std::uint64_t /*finished*/) {
      append_missing_rows(folder, header, {parts, header.size()}, merged, stop);
    });
    complete_folder(folder, std::move(manifest));
  }
  return {config, complete, std::move(lock)};
}

}  // namespace foredraft::experiments

namespace foredraft {

SweepResult merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const SweepOptions& options) {
  if (shards.empty()) throw InputError("merge_shards: no shards");
  const experiments::MergedSweep merged = experiments::merge_shards(shards, folder, options.command_line, options.stop);
  const std::uint64_t points = experiments::point_count(merged.config);
  return {points, merged.already_complete ? points : 0, merged.already_complete};
}

}  // namespace foredraft
