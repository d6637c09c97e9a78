// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/files.hpp"
#include "core/intervals.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/cli/scenario_options.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/inputs/observed_acceptance.hpp"
#include "logs/acceptance.hpp"
#include "logs/interchange.hpp"
#include "logs/observations_file.hpp"

namespace foredraft::experiments {

/// What was read, in at most nine lines of at most 100 columns: files and engines, settings, observations by draft
/// length and requests at once, warnings.
[[nodiscard]] std::string import_summary(std::span<const logs::ObservedLog> logs);

namespace {

constexpr std::size_t max_columns = 100;
constexpr std::size_t max_groups = 5;
constexpr std::size_t max_lines = 9;
constexpr std::size_t max_of_a_name = 34;
constexpr std::size_t label_width = 12;

/// Observations that are summed up in one line: equal in decoding and gamma, in the same power of two of requests.
struct GroupKey {
  logs::Decoding decoding;
  std::int64_t gamma;  ///< -1: unknown
  int requests;        ///< power of two; -1: unknown
  auto operator<=>(const GroupKey&) const = default;
};

GroupKey key_of(const logs::Observation& observation) {
  const double requests = observation.requests.value_or(0.0);
  return {.decoding = observation.decoding,
          .gamma = observation.gamma.value_or(-1),
          .requests = requests >= 1.0 && std::isfinite(requests) ? std::ilogb(requests) : -1};
}

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string plural(std::size_t number, std::string_view word) {
  return fmt::format("{} {}{}", with_commas(static_cast<std::int64_t>(number)), word, number == 1 ? "" : "s");
}

std::string one_line(std::string_view label, const std::string& text) {
  return readable(fmt::format("{:<{}}{}", label, label_width, text), max_columns - 1) + "\n";
}

std::string read_line(std::span<const logs::ObservedLog> logs) {
  std::string names;
  std::int64_t lines = 0;
  std::int64_t skipped = 0;
  for (const logs::ObservedLog& log : logs) {
    const logs::LogContents& contents = log.contents;
    const std::string version = contents.version.empty() ? "" : " " + contents.version;
    const std::string engine = contents.engine.empty() ? "" : fmt::format("{}{}, ", contents.engine, version);
    names += fmt::format("{}{} ({}format {})", names.empty() ? "" : ", ", log.file, engine, contents.format);
    lines += contents.lines;
    skipped += contents.skipped_lines;
  }
  const std::string dropped = skipped > 0 ? fmt::format(", {} too long to read", with_commas(skipped)) : "";
  return one_line("read", fmt::format("{} lines{} of {}", with_commas(lines), dropped, names));
}

std::string settings_line(const logs::EngineSettings& settings) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (settings.method) add(*settings.method);
  if (settings.gamma) add(fmt::format("gamma {}", *settings.gamma));
  if (settings.target) add("target " + readable(*settings.target, max_of_a_name));
  if (settings.draft) add("draft " + readable(*settings.draft, max_of_a_name));
  return text.empty() ? "" : one_line("settings", text);
}

std::string requests_text(std::span<const logs::Observation> group) {
  double least = INFINITY;
  double most = 0.0;
  for (const logs::Observation& observation : group) {
    if (!observation.requests) return "requests unknown";
    least = std::min(least, *observation.requests);
    most = std::max(most, *observation.requests);
  }
  if (most - least < 0.05) return fmt::format("{:.3g} request{} at once", most, most == 1.0 ? "" : "s");
  return fmt::format("{:.3g} to {:.3g} requests at once", least, most);
}

std::string label_of(const GroupKey& key) {
  if (key.decoding == logs::Decoding::plain) return "plain";
  if (key.gamma >= 0) return fmt::format("gamma {}", key.gamma);
  return key.decoding == logs::Decoding::speculative ? "speculative" : "unknown";
}

/// The mean where every observation has it, weighted by steps where all have some.
std::optional<double> mean_time(std::span<const logs::Observation> group,
                                std::optional<double> logs::ObservedTimes::*time) {
  double sum = 0.0;
  double weights = 0.0;
  for (const logs::Observation& observation : group) {
    const std::optional<double>& value = observation.times.*time;
    if (!value) return std::nullopt;
    const double weight = observation.acceptance ? static_cast<double>(observation.acceptance->steps) : 1.0;
    sum += weight * *value;
    weights += weight;
  }
  return weights > 0.0 ? std::optional(sum / weights) : std::nullopt;
}

std::string length_text(std::span<const logs::Observation> group) {
  const std::optional<Estimate> length = logs::acceptance_length(group);
  if (length && std::isfinite(length->standard_error)) {
    return fmt::format(", acceptance length {:.3f} +- {:.3f}", length->mean,
                       normal_quantile(0.95) * length->standard_error);
  }
  if (length) return fmt::format(", acceptance length {:.3f} (no interval)", length->mean);
  double least = INFINITY;
  double most = 0.0;
  for (const logs::Observation& observation : group) {
    if (!observation.acceptance_length) return "";
    least = std::min(least, *observation.acceptance_length);
    most = std::max(most, *observation.acceptance_length);
  }
  const std::string range = least < most ? fmt::format("{:.3f} to {:.3f}", least, most) : fmt::format("{:.3f}", most);
  return fmt::format(", acceptance length {} (as printed)", range);
}

std::string group_line(const GroupKey& key, std::span<const logs::Observation> group) {
  std::int64_t steps = 0;
  std::size_t positions = 0;
  for (const logs::Observation& observation : group) {
    if (observation.acceptance) steps += observation.acceptance->steps;
    positions += observation.trace.by_position.size();
  }
  std::string text = requests_text(group) + ", ";
  text += steps > 0       ? with_commas(steps) + " steps"
          : positions > 0 ? plural(group.size(), "request") + " by text position, " + plural(positions, "position")
                          : plural(group.size(), "observation");
  text += length_text(group);
  if (const auto ms = mean_time(group, &logs::ObservedTimes::iteration_ms)) {
    text += fmt::format(", {:.4g} ms a step", *ms);
  } else if (const auto tpot = mean_time(group, &logs::ObservedTimes::tpot_ms)) {
    text += fmt::format(", TPOT {:.4g} ms", *tpot);
  }
  return one_line(label_of(key), text);
}

std::string group_lines(std::span<const logs::ObservedLog> logs) {
  std::map<GroupKey, std::vector<logs::Observation>> groups;
  for (const logs::ObservedLog& log : logs) {
    for (const logs::Observation& observation : log.contents.observations) {
      groups[key_of(observation)].push_back(observation);
    }
  }
  std::string text;
  const std::size_t shown = groups.size() > max_groups ? max_groups - 1 : groups.size();
  std::size_t number = 0;
  for (const auto& [key, group] : groups) {
    if (number++ < shown) text += group_line(key, group);
  }
  if (shown < groups.size()) text += one_line("", fmt::format("and {}", plural(groups.size() - shown, "more group")));
  return text;
}

/// As many as fit into `room` lines.
std::string warning_lines(std::span<const logs::ObservedLog> logs, std::size_t room) {
  std::string text;
  std::size_t left = 0;
  for (const logs::ObservedLog& log : logs) {
    for (const logs::LogWarning& warning : log.contents.warnings) {
      const std::string file = logs.size() > 1 ? log.file + ", " : "";
      const std::string where = warning.line > 0 ? fmt::format(" ({}line {})", file, warning.line) : "";
      const std::string shown = readable(fmt::format("{} {}{}", warning.code, warning.message, where));
      const std::string lines =
          wrapped(fmt::format("{:<{}}{}\n", text.empty() ? "warnings" : "", label_width, shown), label_width);
      const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
      if (left > 0 || count + 1 > room) {
        ++left;
        continue;
      }
      room -= count;
      text += lines;
    }
  }
  if (left > 0)
    text += one_line(text.empty() ? "warnings" : "",
                     fmt::format("{}: --json has all", plural(left, text.empty() ? "warning" : "more warning")));
  return text;
}

}  // namespace

std::string import_summary(std::span<const logs::ObservedLog> logs) {
  const std::string text = read_line(logs) + settings_line(logs.front().contents.settings) + group_lines(logs);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return text + warning_lines(logs, max_lines - std::min(max_lines, lines));
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_logs = 1000;

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

void require_observations(const std::vector<logs::ObservedLog>& logs) {
  for (const logs::ObservedLog& log : logs) {
    if (!log.contents.observations.empty()) continue;
    const std::string why =
        log.contents.warnings.empty() ? "nothing in it was measured" : log.contents.warnings.front().message;
    throw RunError(fmt::format("{}: holds no observation ({})", readable(log.file), why));
  }
}

std::vector<std::string> interchange_names() {
  std::vector<std::string> names;
  for (const logs::Interchange& one : logs::interchanges()) names.emplace_back(one.name);
  return names;
}

/// What --as names; observations without it.
const logs::Interchange& written_format(CommandLine& line) {
  const auto name = line.word("as", interchange_names());
  if (name) line.require("out", "the file to write", "e.g. --out FILE");
  const auto found = std::find_if(logs::interchanges().begin(), logs::interchanges().end(),
                                  [&](const logs::Interchange& one) { return one.name == name; });
  return found == logs::interchanges().end() ? logs::interchanges().front() : *found;
}

}  // namespace

std::vector<logs::ObservedLog> read_logs_with_progress(const std::vector<std::string>& paths, std::string_view format) {
  double total_mb = 0.0;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (!error) total_mb += static_cast<double>(bytes) / 1e6;
  }
  std::uint64_t bytes_read = 0;
  Progress progress("MB", total_mb);
  return read_logs(paths, format, StopToken(&catch_interrupts(default_patience)), [&](std::uint64_t bytes) {
    bytes_read += bytes;
    progress.show(static_cast<double>(bytes_read) / 1e6);
  });
}

CommandSpec import_spec() {
  return {.name = "import",
          .arguments = "LOG... [--format F] [--out OBSERVATIONS.json]",
          .summary = "Converts engine logs of speculative decoding (counts, load, times) into one file.",
          .options = {log_format_option,
                      {"out", "FILE", "write the observations to a new file"},
                      {"as", "F", "write FILE as aiperf-records or speculation-profile instead of observations", false,
                       interchange_names},
                      {"json", "", "print the observations, schema foredraft.observations/1"}},
          .min_positional = 1,
          .max_positional = max_logs,
          .examples = {"foredraft import vllm.log --out observations.json",
                       "foredraft import speculative.json plain.json --json",
                       "foredraft import vllm.log --as speculation-profile --out speculation_profile.json",
                       "foredraft import - --format vllm < server.log"}};
}

int run_import(const std::vector<std::string>& arguments) {
  CommandLine line(import_spec(), arguments);
  if (std::count(line.positional().begin(), line.positional().end(), "-") > 1) {
    line.problems().add({.key = "-", .text = "given twice", .why = "standard input is read once"});
  }
  const auto out = line.text("out");
  const logs::Interchange& format = written_format(line);
  line.done();
  if (out) require_new_file(*out);
  const std::vector<logs::ObservedLog> logs =
      read_logs_with_progress(line.positional(), line.text("format").value_or(""));
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
