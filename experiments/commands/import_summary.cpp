// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/import_summary.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "core/intervals.hpp"
#include "core/readable.hpp"
#include "logs/acceptance_length.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::size_t most_columns = 100;
constexpr std::size_t most_groups = 5;
constexpr std::size_t most_lines = 9;
constexpr std::size_t most_of_a_name = 34;
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
  return readable(fmt::format("{:<{}}{}", label, label_width, text), most_columns - 1) + "\n";
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
  if (settings.target) add("target " + readable(*settings.target, most_of_a_name));
  if (settings.draft) add("draft " + readable(*settings.draft, most_of_a_name));
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
  const std::size_t shown = groups.size() > most_groups ? most_groups - 1 : groups.size();
  std::size_t number = 0;
  for (const auto& [key, group] : groups) {
    if (number++ < shown) text += group_line(key, group);
  }
  if (shown < groups.size()) text += one_line("", fmt::format("and {}", plural(groups.size() - shown, "more group")));
  return text;
}

/// Words of `text` in lines of at most 100 columns under each other.
std::vector<std::string> wrapped(std::string_view label, const std::string& text) {
  std::vector<std::string> lines;
  std::string line = fmt::format("{:<{}}", label, label_width);
  std::istringstream words(readable(text));
  bool empty = true;
  for (std::string word; words >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() >= most_columns) {
      lines.push_back(line + "\n");
      line = std::string(label_width, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  lines.push_back(line + "\n");
  return lines;
}

/// As many as fit into `room` lines.
std::string warning_lines(std::span<const logs::ObservedLog> logs, std::size_t room) {
  std::string text;
  std::size_t left = 0;
  for (const logs::ObservedLog& log : logs) {
    for (const logs::LogWarning& warning : log.contents.warnings) {
      const std::string file = logs.size() > 1 ? log.file + ", " : "";
      const std::string where = warning.line > 0 ? fmt::format(" ({}line {})", file, warning.line) : "";
      const auto lines =
          wrapped(text.empty() ? "warnings" : "", fmt::format("{} {}{}", warning.code, warning.message, where));
      if (left > 0 || lines.size() + 1 > room) {
        ++left;
        continue;
      }
      room -= lines.size();
      for (const std::string& line : lines) text += line;
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
  return text + warning_lines(logs, most_lines - std::min(most_lines, lines));
}

}  // namespace foredraft::experiments
