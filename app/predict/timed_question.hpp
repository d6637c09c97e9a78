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

/// A prediction that rests on the times of a device: the options that state it, and the files that they name.
namespace foredraft::app {

struct TimedQuestion {
  CommandLine line;                            ///< with the first alpha, where several are listed
  std::vector<answers::Question> acceptances;  ///< at least one; several differ in the alpha of Iid
  answers::ProfileQuestion pair;               ///< of the first acceptance
  std::string source = {};                     ///< of the times, for messages
  inputs::ReadProfile read = {};
  std::optional<answers::FittedAcceptance> observed = {};  ///< the log that the acceptance is of
  std::vector<FileDigest> files = {};                      ///< that were read, the times first
  std::vector<std::string> notes = {};                     ///< what was assumed of the models
};

/// Whether the line names the times of a device.
[[nodiscard]] bool names_times(const CommandLine& line);

/// Options only; problems stay in the returned line.
[[nodiscard]] TimedQuestion read_timed_question(CommandLine& line);

/// Reports the problems of the line, then reads the times, the models and the log that it names. Throws InputError.
void read_timed_files(TimedQuestion& question);

/// Does the work; names the source of the times in a DomainError, as an InputError.
auto with_source(const TimedQuestion& question, const auto& work) {
  try {
    return work();
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", question.source, error.what()));
  }
}

}  // namespace foredraft::app
