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

/// Consoles that are fully described by a table of lines.
namespace foredraft::logs {

/// What a number of a line means, and how many of the meaning's unit its own is. Null: not read.
struct StatedNumber {
  constexpr StatedNumber(std::optional<double> StatedRun::*field_of = nullptr, double unit_of = 1.0)
      : field(field_of), unit(unit_of) {}

  std::optional<double> StatedRun::*field;
  double unit;
};

/// A line, and what its numbers mean.
struct StatedLine {
  enum class Of {
    run,
    all_runs,  ///< settings of those that follow
    mean,      ///< of the runs before it: read only where these are not there
  };

  std::string_view text;                      ///< # stands for a number: "eval count: # token(s)"
  std::array<StatedNumber, 10> numbers = {};  ///< in order
  Of of = Of::run;
};

/// What a console prints of its runs.
struct StatedConsole {
  Span span;
  std::span<const StatedLine> lines;   ///< the first that matches counts
  void (*complete)(StatedRun& run);    ///< sets what follows from what was printed
  std::string_view alone = {};         ///< name of the format whose lines add nothing to those of another
  std::string_view plain_beside = {};  ///< name of the format beside whose runs these are those without speculation
};

/// The format of a console: a line that comes again begins the next run. `console` must live as long as the program.
[[nodiscard]] LineFormat stated_lines(std::string_view anchor, const StatedConsole& console);

}  // namespace foredraft::logs
