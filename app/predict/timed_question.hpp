// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "answers/prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"

/// A question for the times of a device: its options, and the files that they name.
namespace foredraft::app {

struct TimedQuestion {
  CommandLine line;                            ///< with the first alpha, if several are listed
  std::vector<answers::Question> acceptances;  ///< at least one; several differ in the alpha of Iid
  answers::ProfileQuestion pair;               ///< of the first acceptance
  std::string source = {};                     ///< where the times come from, for messages
  inputs::ReadProfile read = {};
  std::optional<answers::FittedAcceptance> observed = {};  ///< the log, if the acceptance comes from one
  std::vector<FileDigest> files = {};                      ///< files that were read, the times first
  std::vector<std::string> notes = {};                     ///< assumptions about the models
};

/// Whether the line names the times of a device.
[[nodiscard]] bool names_times(const CommandLine& line);

/// Reads only the options. Problems stay in the returned line.
[[nodiscard]] TimedQuestion read_timed_question(CommandLine& line);

/// Reports the problems of the line, then reads the times, models and log that it names. Throws InputError.
void read_timed_files(TimedQuestion& question);

/// Calls `work`. Turns a DomainError into an InputError that names the source of the times.
auto with_source(const TimedQuestion& question, const auto& work) {
  try {
    return work();
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", question.source, error.what()));
  }
}

}  // namespace foredraft::app
