// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "answers/prediction.hpp"
#include "app/scenario_options.hpp"
#include "core/command_line.hpp"

/// The options of `foredraft predict` for the acceptance, which can be stated in several ways, and for the draft
/// length.
namespace foredraft::app {

[[nodiscard]] OptionGroup acceptance_options();

/// Whether the line states an acceptance.
[[nodiscard]] bool states_acceptance(const CommandLine& line);

/// The question in these families of options. Problems go to the line. Does not read a log (see read_acceptance).
[[nodiscard]] answers::Question read_question(CommandLine& line, const OptionFamilies& read);

/// A line for each combination of the values of --alpha and --c, the last one fastest.
[[nodiscard]] std::vector<CommandLine> combinations(CommandLine& line);

}  // namespace foredraft::app
