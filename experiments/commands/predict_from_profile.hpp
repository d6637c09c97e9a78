// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "experiments/cli/scenario_options.hpp"
#include "experiments/predict/prediction.hpp"

/// `foredraft predict` with the times of a device instead of a cost ratio.
namespace foredraft::experiments {

[[nodiscard]] OptionGroup profile_options();

/// Whether the command line names times: a profile or steps of its own. Refuses options that need them where it does
/// not.
[[nodiscard]] bool takes_profile(CommandLine& line);

/// What a profile says, or has no use for, in place of the options of a scenario.
[[nodiscard]] std::vector<StatedValue> parameters_of_profiles(CommandLine& line);

/// Prints the prediction for the acceptance of each question, at least one; several differ in the alpha of Iid. With
/// --out writes the only one into a folder too, and draws it. Returns an exit code. Throws InputError.
[[nodiscard]] int predict_from_profile(CommandLine& line, const std::vector<Question>& questions);

}  // namespace foredraft::experiments
