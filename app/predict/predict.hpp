// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "answers/inverse.hpp"
#include "answers/load_prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "app/predict/timed_question.hpp"
#include "core/command_line.hpp"
#include "core/parallel.hpp"

/// The four questions of `foredraft predict`. Each reads its options, asks and prints, and returns an exit code; throws
/// InputError with every problem of its options.
namespace foredraft::app {

/// A closed form from a cost ratio or measured times, for each of the listed alphas and cs.
[[nodiscard]] int predict_ratio(CommandLine& line);

/// Which alpha, c or overhead explains a measured speedup, or which alpha a measured acceptance length.
[[nodiscard]] int predict_inverse(CommandLine& line);
[[nodiscard]] bool asks_inverse(const CommandLine& line);
/// The question of such a line.
[[nodiscard]] answers::InverseQuestion read_inverse(CommandLine& line);

/// A table by batch, context and draft length from the times of a device.
[[nodiscard]] int predict_times(CommandLine& line);
[[nodiscard]] OptionGroup times_options();
/// The question of such a line, with all the files that it names.
[[nodiscard]] TimedQuestion read_times(CommandLine& line);
/// A prediction for each of its acceptances. Throws InputError where the times cannot answer.
[[nodiscard]] std::vector<answers::ProfilePrediction> answer_times(const TimedQuestion& question);
/// All predictions, and what the log of the acceptance says: schema foredraft.predict/1, and text.
[[nodiscard]] nlohmann::ordered_json times_json(const TimedQuestion& question,
                                                const std::vector<answers::ProfilePrediction>& predictions);
[[nodiscard]] std::string times_text(const TimedQuestion& question,
                                     const std::vector<answers::ProfilePrediction>& predictions);

/// A server under a load, with the times of a device.
[[nodiscard]] int predict_load(CommandLine& line);
[[nodiscard]] OptionGroup load_options();
/// Whether the line has one of the options that state a load.
[[nodiscard]] bool asks_load(const CommandLine& line);
/// The other options of load_options().
[[nodiscard]] const std::vector<std::string_view>& options_of_load();

/// The question of a line about a server, with all the files that it names.
struct AskedLoad {
  TimedQuestion timed;
  answers::LoadQuestion question;
};
[[nodiscard]] AskedLoad read_load(CommandLine& line);
/// `progress` gets the finished share. Throws InputError where the times cannot answer, Interrupted.
[[nodiscard]] answers::LoadPrediction answer_load(const AskedLoad& asked, StopToken stop,
                                                  const std::function<void(double share)>& progress = {});

}  // namespace foredraft::app
