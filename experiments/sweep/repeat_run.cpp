// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/repeat_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "foredraft/errors.hpp"
#include "inputs/inputs.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// Compares text, as it is produced, with a file, line by line.
class LineComparison {
 public:
  explicit LineComparison(const std::string& path) : path_(path), file_(path) {}

  /// Throws RunError that names the first differing row and column.
  void expect(std::string_view lines) {
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      const std::string_view wanted = lines.substr(0, end);
      lines.remove_prefix(end + 1);
      ++line_number_;
      if (!file_.next_line(found_)) {
        throw RunError(fmt::format("{}:{}: row missing", path_, line_number_));
      }
      if (line_number_ == 1) header_ = split_csv_line(wanted).value_or(std::vector<std::string>{});
      if (found_ != wanted) reject(wanted);
    }
  }

  void expect_end() {
    if (file_.next_line(found_)) throw RunError(fmt::format("{}:{}: extra row", path_, line_number_ + 1));
  }

 private:
  [[noreturn]] void reject(std::string_view wanted) const {
    const auto here = split_csv_line(found_).value_or(std::vector<std::string>{});
    const auto there = split_csv_line(wanted).value_or(std::vector<std::string>{});
    for (std::size_t i = 0; i < std::min({here.size(), there.size(), header_.size()}); ++i) {
      if (here[i] == there[i]) continue;
      throw RunError(fmt::format("{}:{}: {}: the file says {}, the repeated run {} (point {})", path_, line_number_,
                                 header_[i], here[i], there[i], there[0]));
    }
    throw RunError(fmt::format("{}:{}: the row differs from the repeated run", path_, line_number_));
  }

  std::string path_;
  ResultReader file_;
  std::vector<std::string> header_;
  std::string found_;
  std::size_t line_number_ = 0;
};

void check_inputs(const Manifest& manifest, const inputs::Inputs& inputs) {
  const std::vector<FileDigest> now = inputs.files();
  for (const FileDigest& before : manifest.inputs) {
    if (std::ranges::find(now, before) == now.end()) {
      throw RunError(fmt::format("{}: is not the input file of the run (another SHA-256)", readable(before.path)));
    }
  }
}

/// Checks that the manifest lists all files; others would not be compared.
void check_output_names(const std::string& folder, const StoredManifest& manifest) {
  std::vector<std::string> unlisted = output_names(manifest.config.figures, manifest.shard);
  std::erase_if(unlisted, [&](const std::string& name) {
    return std::ranges::find(manifest.outputs, name, &FileDigest::path) != manifest.outputs.end();
  });
  if (unlisted.empty()) return;
  throw RunError(
      fmt::format("{}: its outputs lack {} (a complete run lists each of its files) - restore it, or run the "
                  "sweep into another folder",
                  readable(manifest_path(folder)), fmt::join(unlisted, ", ")));
}

void check_digests(const std::string& folder, const Manifest& manifest) {
  for (const FileDigest& file : manifest.outputs) {
    const std::string path = (fs::path(folder) / file.path).string();
    if (ResultReader(path).size() != file.bytes) {
      throw RunError(fmt::format("{}: size differs from the manifest, {} bytes", path, file.bytes));
    }
    if (digest_file(path).sha256 != file.sha256) {
      throw RunError(fmt::format("{}: SHA-256 differs from the manifest", path));
    }
  }
}

}  // namespace

RepeatedRun repeat_run(const std::string& folder, const RepeatOptions& options) {
  const StoredManifest manifest = read_manifest(folder);
  if (manifest.state != "complete") {
    throw InputError(fmt::format("{}: the run is not complete - run the sweep again, it resumes", readable(folder)));
  }
  if (options.talk && manifest.version != build_info().version) {
    say("note: made by version {}, repeated by {}", manifest.version, build_info().version);
  }
  check_output_names(folder, manifest);
  const Sweep sweep = sweep_of(manifest.config);
  inputs::Inputs inputs(manifest.config.folder);
  const auto read = [&] { read_inputs(sweep, inputs); };
  if (options.talk) {
    in_phase("reading inputs", read);
  } else {
    read();
  }
  check_inputs(manifest, inputs);
  const PointRange range = range_of(manifest.points, manifest.shard);
  const std::uint64_t total = range.last - range.first;
  LineComparison comparison(points_path(folder));
  comparison.expect(sweep.header);
  {
    std::optional<Progress> bar;
    if (options.talk) bar.emplace("points", static_cast<double>(total));
    run_points(sweep, range, options.threads, inputs,
               {.write = [&](std::string_view rows, std::uint64_t /*points*/) { comparison.expect(rows); },
                .progress =
                    [&](double points) {
                      if (bar) bar->show(points);
                      if (options.progress) options.progress(points, total);
                    },
                .stop = options.stop});
  }
  comparison.expect_end();
  check_digests(folder, manifest);
  return {.points = total, .hash = manifest.hash, .version = manifest.version};
}

}  // namespace foredraft::experiments
