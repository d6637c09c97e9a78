// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "logs/log_format.hpp"
#include "logs/observation.hpp"
#include "logs/stated_run.hpp"

/// Consoles described by a table of lines.
namespace foredraft::logs {

/// The meaning of a number of a line, and the factor to the meaning's unit. Null: not read.
struct StatedNumber {
  constexpr StatedNumber(std::optional<double> StatedRun::*field_of = nullptr, double unit_of = 1.0)
      : field(field_of), unit(unit_of) {}

  std::optional<double> StatedRun::*field;
  double unit;
};

/// A line and the meanings of its numbers.
struct StatedLine {
  enum class Of {
    run,
    all_runs,  ///< settings of the following runs
    mean,      ///< of the runs before it: read only if these are missing
    total,     ///< of the run of the line before it, whose speed it repeats with all of its time
    nearer,    ///< of the run whose lines are nearer: versions print it above or below these
    last,      ///< of the run of the lines before it, which it ends: its numbers replace theirs
  };

  std::string_view text;                      ///< # stands for a number: "eval count: # token(s)"
  std::array<StatedNumber, 10> numbers = {};  ///< in order
  Of of = Of::run;
};

/// The lines of a console, and how they become runs.
struct StatedConsole {
  Span span;
  std::span<const StatedLine> lines;  ///< the first match is used
  void (*complete)(StatedRun& run);   ///< sets values derived from the printed ones
  /// Reads what a list of numbers of a line cannot, from one of the run; null: nothing.
  void (*read_rest)(std::string_view line, StatedRun& run) = nullptr;
  std::string_view alone = {};  ///< name of this format, if its lines are ignored beside those of others
  /// Name of a format: in a log with its runs, those of this console are the runs without speculation.
  std::string_view plain_beside = {};
};

/// The format of a console: a repeated line begins the next run. `console` must live as long as the program.
[[nodiscard]] LineFormat stated_lines(std::string_view anchor, const StatedConsole& console);

}  // namespace foredraft::logs
