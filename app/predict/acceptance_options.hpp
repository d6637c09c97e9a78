// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "answers/prediction.hpp"
#include "app/scenario_options.hpp"
#include "core/command_line.hpp"

/// The options of `foredraft predict` that state how often drafts are accepted, in one of several ways, and the draft
/// length.
namespace foredraft::app {

[[nodiscard]] OptionGroup acceptance_options();

/// Whether acceptance is stated in some way.
[[nodiscard]] bool states_acceptance(const CommandLine& line);

/// What these families of options ask. Problems go to the line. A log is not read yet (read_acceptance).
[[nodiscard]] answers::Question read_question(CommandLine& line, const OptionFamilies& read);

/// A line for each combination of the values of --alpha and --c, the last one fastest.
[[nodiscard]] std::vector<CommandLine> combinations(CommandLine& line);

}  // namespace foredraft::app
