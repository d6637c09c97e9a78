// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "experiments/cli/options.hpp"
#include "experiments/predict/prediction.hpp"

/// `foredraft predict` with the times of a device instead of a cost ratio.
namespace foredraft::experiments {

[[nodiscard]] std::vector<OptionSpec> profile_options();

/// Whether the command line names times: a profile or steps of its own. Refuses options that need them where it does
/// not.
[[nodiscard]] bool takes_profile(CommandLine& line);

/// Prints the prediction for the acceptance of `question`; with --out writes it into a folder too, and draws it.
/// Returns an exit code. Throws InputError.
[[nodiscard]] int predict_from_profile(CommandLine& line, const Question& question);

}  // namespace foredraft::experiments
