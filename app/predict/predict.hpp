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

/// The four questions of `foredraft predict`. Each function reads its options, prints the answer and returns an exit
/// code. Throws InputError with all problems of the options.
namespace foredraft::app {

/// Closed-form predictions from a cost ratio or measured times, for each listed alpha and c.
[[nodiscard]] int predict_ratio(CommandLine& line);

/// Which alpha, c or overhead explains a measured speedup, or which alpha a measured acceptance length.
[[nodiscard]] int predict_inverse(CommandLine& line);
[[nodiscard]] bool asks_inverse(const CommandLine& line);
/// The question of such a line.
[[nodiscard]] answers::InverseQuestion read_inverse(CommandLine& line);

/// A table by batch size, context length and draft length, from the times of a device.
[[nodiscard]] int predict_times(CommandLine& line);
[[nodiscard]] OptionGroup times_options();
/// The question of such a line. Reads all files that the line names.
[[nodiscard]] TimedQuestion read_times(CommandLine& line);
/// A prediction for each acceptance. Throws InputError if the times cannot answer the question.
[[nodiscard]] std::vector<answers::ProfilePrediction> answer_times(const TimedQuestion& question);
/// All predictions and the fit to a log, if the acceptance comes from one: schema foredraft.predict/1, and text.
[[nodiscard]] nlohmann::ordered_json times_json(const TimedQuestion& question,
                                                const std::vector<answers::ProfilePrediction>& predictions);
[[nodiscard]] std::string times_text(const TimedQuestion& question,
                                     const std::vector<answers::ProfilePrediction>& predictions);

/// A server under a load, with the times of a device.
[[nodiscard]] int predict_load(CommandLine& line);
[[nodiscard]] OptionGroup load_options();
/// Whether the line has one of the options that state a load.
[[nodiscard]] bool asks_load(const CommandLine& line);
/// The options of load_options() that do not state a load.
[[nodiscard]] const std::vector<std::string_view>& options_of_load();

/// The question of a line about a server.
struct AskedLoad {
  TimedQuestion timed;
  answers::LoadQuestion question;
};
[[nodiscard]] AskedLoad read_load(CommandLine& line);
/// `progress` gets the completed fraction. Throws InputError if the times cannot answer the question, and Interrupted.
[[nodiscard]] answers::LoadPrediction answer_load(const AskedLoad& asked, StopToken stop,
                                                  const std::function<void(double share)>& progress = {});

}  // namespace foredraft::app
