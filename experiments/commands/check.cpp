// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/results/build_info.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/run_points.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/text/csv.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

/// Compares a growing text with a file, line by line.
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
      if (found_ != wanted) refuse(wanted);
    }
  }

  void expect_end() {
    if (file_.next_line(found_)) throw RunError(fmt::format("{}:{}: row too many", path_, line_number_ + 1));
  }

 private:
  [[noreturn]] void refuse(std::string_view wanted) const {
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

void check_inputs(const Manifest& manifest, const Inputs& inputs) {
  const std::vector<FileDigest> now = inputs.files();
  for (const FileDigest& before : manifest.inputs) {
    if (std::find(now.begin(), now.end(), before) == now.end()) {
      throw RunError(fmt::format("{}: is not the input file of the run (another SHA-256)", readable(before.path)));
    }
  }
}

void check_digests(const std::string& folder, const Manifest& manifest) {
  for (const FileDigest& file : manifest.outputs) {
    const std::string path = (std::filesystem::path(folder) / file.path).string();
    if (ResultReader(path).size() != file.bytes) {
      throw RunError(fmt::format("{}: has not the size of the manifest, {} bytes", path, file.bytes));
    }
    if (digest_file(path).sha256 != file.sha256) {
      throw RunError(fmt::format("{}: has not the SHA-256 of the manifest", path));
    }
  }
}

}  // namespace

CommandSpec check_spec() {
  return {.name = "check",
          .arguments = "DIR [--threads N]",
          .summary = "Repeats the run of a results folder and compares every row and digest. Writes nothing.",
          .options = {threads_option},
          .min_positional = 1,
          .max_positional = 1,
          .examples = {"foredraft check results/quickstart"}};
}

int run_check(const std::vector<std::string>& arguments) {
  CommandLine line(check_spec(), arguments);
  const unsigned threads = line.threads();
  line.done();
  const std::string& folder = line.positional().front();
  const Manifest manifest = read_manifest(folder);
  if (manifest.state != "complete") {
    throw InputError(fmt::format("{}: the run is not complete - run the sweep again, it resumes", readable(folder)));
  }
  if (manifest.version != build_info().version) {
    say("note: made by version {}, repeated by {}", manifest.version, build_info().version);
  }
  Inputs inputs(manifest.config.folder);
  {
    const Progress progress{"reading inputs"};
    read_inputs(manifest.config, inputs);
  }
  check_inputs(manifest, inputs);
  const std::uint64_t total = point_count(manifest.config);
  const PointRange range =
      manifest.shard ? shard_range(total, manifest.shard->index, manifest.shard->count) : PointRange{0, total};
  LineComparison comparison(points_path(folder));
  comparison.expect(points_header(manifest.config));
  {
    Progress progress("points", static_cast<double>(range.last - range.first));
    run_points(manifest.config, range, threads, inputs,
               {.write = [&](std::string_view rows, std::uint64_t /*points*/) { comparison.expect(rows); },
                .progress = [&](double points) { progress.show(points); },
                .stop = {}});
  }
  comparison.expect_end();
  check_digests(folder, manifest);
  print_result(fmt::format("{}: {} points repeated, every byte and every digest agrees; config {}\n", folder,
                           range.last - range.first, manifest.hash.substr(0, 8)));
  return exit_done;
}

}  // namespace foredraft::experiments
