// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/commands/import_summary.hpp"
#include "experiments/inputs/log_file.hpp"
#include "logs/interchange.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_logs = 1000;

/// Throws InputError where something is there, or no folder to write into.
void require_new_file(const std::string& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    throw InputError(fmt::format("{}: exists and is not overwritten - use another --out", readable(path)));
  }
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: no such folder - create it, or use another --out", readable(folder.string())));
  }
}

std::vector<logs::ObservedLog> read_with_progress(const std::vector<std::string>& paths, std::string_view format) {
  double total_mb = 0.0;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (!error) total_mb += static_cast<double>(bytes) / 1e6;
  }
  std::uint64_t bytes_read = 0;
  Progress progress("MB", total_mb);
  return read_logs(paths, format, StopToken(&catch_interrupts(usual_patience)), [&](std::uint64_t bytes) {
    bytes_read += bytes;
    progress.show(static_cast<double>(bytes_read) / 1e6);
  });
}

void require_observations(const std::vector<logs::ObservedLog>& logs) {
  for (const logs::ObservedLog& log : logs) {
    if (!log.contents.observations.empty()) continue;
    const std::string why =
        log.contents.warnings.empty() ? "nothing in it was measured" : log.contents.warnings.front().message;
    throw RunError(fmt::format("{}: holds no observation ({})", readable(log.file), why));
  }
}

/// What --as names; observations without it.
const logs::Interchange& written_format(CommandLine& line) {
  std::vector<std::string> names;
  for (const logs::Interchange& one : logs::interchanges()) names.emplace_back(one.name);
  const auto name = line.word("as", names);
  if (name) line.require("out", "the file to write", "e.g. --out FILE");
  const auto found = std::find_if(logs::interchanges().begin(), logs::interchanges().end(),
                                  [&](const logs::Interchange& one) { return one.name == name; });
  return found == logs::interchanges().end() ? logs::interchanges().front() : *found;
}

}  // namespace

CommandSpec import_spec() {
  return {.name = "import",
          .arguments = "LOG... [--format F] [--out OBSERVATIONS.json]",
          .summary = "Reads what engines log of speculative decoding: counts, load and times, as one file.",
          .options = {{"format", "F", "read this format alone; without it each is told by the content"},
                      {"out", "FILE", "write the observations; a file that exists is left alone"},
                      {"as", "F", "write FILE as aiperf-records or speculation-profile instead of observations"},
                      {"json", "", "print the observations, schema foredraft.observations/1"}},
          .fewest_positional = 1,
          .most_positional = most_logs,
          .examples = {"foredraft import vllm.log --out observations.json",
                       "foredraft import speculative.json plain.json --json",
                       "foredraft import vllm.log --as speculation-profile --out speculation_profile.json",
                       "foredraft import - --format vllm < server.log"}};
}

int run_import(const std::vector<std::string>& arguments) {
  CommandLine line(import_spec(), arguments);
  if (line.wants_help()) {
    print_result(help_text(import_spec()));
    return exit_done;
  }
  if (std::count(line.positional().begin(), line.positional().end(), "-") > 1) {
    line.problems().add({.key = "-", .text = "given twice", .why = "standard input is read once"});
  }
  const auto out = line.text("out");
  const logs::Interchange& format = written_format(line);
  line.done();
  if (out) require_new_file(*out);
  const std::vector<logs::ObservedLog> logs = read_with_progress(line.positional(), line.text("format").value_or(""));
  require_observations(logs);
  if (out) {
    const std::string document = format.text(logs);
    const WriteLock lock = WriteLock::of_file(*out);
    require_new_file(*out);
    replace_file(*out, document);
  }
  if (line.has("json")) {
    print_result(logs::observations_text(logs));
    return exit_done;
  }
  print_result(import_summary(logs) + (out ? fmt::format("{:<12}{}\n", "written to", readable(*out))
                                           : "not saved: add --out OBSERVATIONS.json\n"));
  return exit_done;
}

}  // namespace foredraft::experiments
