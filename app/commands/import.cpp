// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "answers/comparison.hpp"
#include "app/commands/commands.hpp"
#include "app/request_options.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/intervals.hpp"
#include "core/new_file.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/comparison_request.hpp"
#include "inputs/observed_acceptance.hpp"
#include "logs/acceptance.hpp"
#include "logs/interchange.hpp"
#include "logs/observations_file.hpp"
#include "logs/scrapes.hpp"

/// The commands that read logs and convert or compare them: import, compare.
namespace foredraft::app {

namespace {

namespace fs = std::filesystem;

// ---- The summary, in at most nine lines of at most 100 columns: files and engines, settings, observations by draft
// length and concurrency, warnings.

constexpr std::size_t max_logs = 1000;
constexpr std::size_t max_columns = 100;
constexpr std::size_t max_groups = 5;
constexpr std::size_t max_lines = 9;
constexpr std::size_t max_of_a_name = 34;
constexpr std::size_t import_label_width = 12;

/// Identifies a line of the summary: decoding, gamma, and requests rounded to a power of two.
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
  return readable(fmt::format("{:<{}} {}", label, import_label_width - 1, text), max_columns - 1) + "\n";
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

/// The range of a value; nullopt if an observation lacks it.
std::optional<Interval> extremes_of(std::span<const logs::Observation> group,
                                    std::optional<double> logs::Observation::*member) {
  Interval range{std::numeric_limits<double>::infinity(), 0.0};
  for (const logs::Observation& observation : group) {
    const std::optional<double>& value = observation.*member;
    if (!value) return std::nullopt;
    range = {std::min(range.low, *value), std::max(range.high, *value)};
  }
  return range;
}

std::string requests_text(std::span<const logs::Observation> group) {
  const auto range = extremes_of(group, &logs::Observation::requests);
  if (!range) return "requests unknown";
  const auto [least, maximum] = *range;
  if (maximum - least < 0.05) return fmt::format("{:.3g} concurrent request{}", maximum, maximum == 1.0 ? "" : "s");
  return fmt::format("{:.3g} to {:.3g} concurrent requests", least, maximum);
}

std::string label_of(const GroupKey& key) {
  if (key.decoding == logs::Decoding::plain) return "plain";
  if (key.gamma >= 0) return fmt::format("gamma {}", key.gamma);
  return key.decoding == logs::Decoding::speculative ? "speculative" : "unknown";
}

/// The mean of a value, weighted by steps if all observations have steps; nullopt if an observation lacks the value.
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
  const auto range = extremes_of(group, &logs::Observation::acceptance_length);
  if (!range) return "";
  const auto [least, maximum] = *range;
  const std::string to =
      least < maximum ? fmt::format("{:.3f} to {:.3f}", least, maximum) : fmt::format("{:.3f}", maximum);
  return fmt::format(", acceptance length {} (as printed)", to);
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

/// The warnings that fit into `room` lines, and the number of the others.
std::string warning_lines(std::span<const logs::ObservedLog> logs, std::size_t room) {
  std::string text;
  std::size_t left = 0;
  for (const logs::ObservedLog& log : logs) {
    for (const logs::LogWarning& warning : log.contents.warnings) {
      const std::string file = logs.size() > 1 ? log.file + ", " : "";
      const std::string where = warning.line > 0 ? fmt::format(" ({}line {})", file, warning.line) : "";
      const std::string shown = readable(fmt::format("{} {}{}", warning.code, warning.message, where));
      const std::string lines = wrapped(
          fmt::format("{:<{}}{}\n", text.empty() ? "warnings" : "", import_label_width, shown), import_label_width);
      const auto count = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
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

std::string import_summary(std::span<const logs::ObservedLog> logs) {
  const std::string text = read_line(logs) + settings_line(logs.front().contents.settings) + group_lines(logs);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return text + warning_lines(logs, max_lines - std::min(max_lines, lines));
}

void require_observations(const std::vector<logs::ObservedLog>& logs) {
  for (const logs::ObservedLog& log : logs) {
    if (!log.contents.observations.empty()) continue;
    const std::string why =
        log.contents.warnings.empty() ? "it holds no measurement" : log.contents.warnings.front().message;
    throw RunError(fmt::format("{}: holds no observation ({})", readable(log.file), why));
  }
}

std::vector<std::string> interchange_names() { return texts_of(logs::interchanges(), &logs::Interchange::name); }

/// The format of --as; observations without that option.
const logs::Interchange& written_format(CommandLine& line) {
  const auto name = line.word("as", interchange_names());
  if (name) line.require("out", "the file to write", "e.g. --out FILE");
  const auto found =
      std::ranges::find_if(logs::interchanges(), [&](const logs::Interchange& one) { return one.name == name; });
  return found == logs::interchanges().end() ? logs::interchanges().front() : *found;
}

int run_import(CommandLine& line) {
  if (std::ranges::count(line.positional(), "-") > 1) {
    line.problems().add({.key = "-", .text = "given twice", .why = "standard input is read once"});
  }
  const auto out = line.text("out");
  const logs::Interchange& format = written_format(line);
  line.done();
  if (out) require_new_file(*out, "out");
  std::vector<logs::ObservedLog> logs =
      read_logs_with_progress(line.positional(), line.text("format").value_or(""), inputs::OtherFiles::rejected);
  logs::combine_scrapes(logs);
  require_observations(logs);
  if (out) write_new_file(*out, "out", format.text(logs));
  if (line.has("json")) {
    print_result(logs::observations_text(logs));
    return exit_done;
  }
  print_result(import_summary(logs) + (out ? fmt::format("{:<12}{}\n", "written to", readable(*out))
                                           : "not saved: add --out OBSERVATIONS.json\n"));
  return exit_done;
}

// ---- compare.

inputs::ComparisonRequest read_comparison_request(CommandLine& line) {
  inputs::ComparisonRequest request{.logs = line.positional(),
                                    .plain = line.texts("plain").value_or(std::vector<std::string>{}),
                                    .require = line.all("require"),
                                    .baseline = line.text("baseline"),
                                    .save_baseline = line.text("save-baseline")};
  read_fields(line, inputs::comparison_fields(), request);
  inputs::check(request, line.problems());
  line.done();
  return request;
}

int run_compare(CommandLine& line) {
  const inputs::ComparisonRequest request = read_comparison_request(line);
  const answers::ComparisonQuestion question = inputs::read_comparison(request, read_logs_with_progress);
  const answers::Comparison comparison = answers::compare(question);
  if (!inputs::save_baseline(request, question, comparison) && request.save_baseline) {
    say("{}: not written: a baseline must meet all requirements", *request.save_baseline);
  }
  print_result(line.has("json") ? experiments::document_text(to_json(comparison)) : to_text(comparison));
  return comparison.concludes() && comparison.meets_requirements() ? exit_done : exit_failed;
}

}  // namespace

std::vector<logs::ObservedLog> read_logs_with_progress(const std::vector<std::string>& paths, std::string_view format,
                                                       inputs::OtherFiles others) {
  double total_mb = 0.0;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (!error) total_mb += static_cast<double>(bytes) / 1e6;
  }
  std::uint64_t bytes_read = 0;
  Progress progress("MB", total_mb);
  return inputs::read_logs(paths, format, others, StopToken(&catch_interrupts(default_patience)),
                           [&](std::uint64_t bytes) {
                             bytes_read += bytes;
                             progress.show(static_cast<double>(bytes_read) / 1e6);
                           });
}

Command import_command() {
  return {{.name = "import",
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
                        "foredraft import - --format vllm < server.log"}},
          run_import};
}

Command compare_command() {
  return {
      {.name = "compare",
       .arguments = "A [B] [--plain LOG,...] [--require 'METRIC>=X']... [--json]",
       .summary = "Compares two engine logs, or the runs of one: acceptance, times and speedup.",
       .options = {plain_option,
                   {.name = "require",
                    .value = "R",
                    .summary =
                        "METRIC>=X (or >, <=, <) of every run of B, without B of A; 0.95x: relative to A; may be "
                        "repeated",
                    .repeatable = true},
                   {"save-baseline", "FILE", "write the runs of A to a new file, for --baseline"},
                   {"baseline", "FILE", "compare the log, as B, with the stored runs of an earlier one, as A"},
                   gpu_hour_price_option,
                   gpus_option,
                   {"json", "", "one JSON document, schema foredraft.compare/1"}},
       .min_positional = 1,
       .max_positional = 2,
       .examples = {"foredraft compare old.log new.log", "foredraft compare eagle.json ngram.json --plain plain.json",
                    "foredraft compare new.log --require 'acceptance_length>=2.3'",
                    "foredraft compare old.log new.log --require 'acceptance_length>=0.95x' --require 'tpot<=1.02x'",
                    "foredraft compare old.log --save-baseline baseline.json",
                    "foredraft compare new.log --baseline baseline.json --require 'acceptance_length>=0.95x'"},
       .notes = "METRIC: acceptance_length, iteration_ms, tpot_ms, speedup, output_tokens_per_s, marginal[1] (of the\n"
                "first draft), marginal[2], ... A requirement is met where all of the 95 % interval meets it:\n"
                "of the value, or, where X ends in x, of the ratio to the run of A.\n"
                "exit code 1: one is not met or not shown, or nothing can be compared\n"},
      run_compare};
}

}  // namespace foredraft::app
