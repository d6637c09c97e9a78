// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/command_line.hpp"

/// The four questions of `foredraft predict`. Each reads its options, asks and prints, and returns an exit code; throws
/// InputError with every problem of its options.
namespace foredraft::app {

/// A closed form from a cost ratio or measured times, for each of the listed alphas and cs.
[[nodiscard]] int predict_ratio(CommandLine& line);

/// Which alpha, c or overhead explains a measured speedup, or which alpha a measured acceptance length.
[[nodiscard]] int predict_inverse(CommandLine& line);
[[nodiscard]] bool asks_inverse(const CommandLine& line);

/// A table by batch, context and draft length from the times of a device.
[[nodiscard]] int predict_times(CommandLine& line);
[[nodiscard]] OptionGroup times_options();

/// A server at a request rate, with the times of a device.
[[nodiscard]] int predict_load(CommandLine& line);
[[nodiscard]] OptionGroup load_options();
/// Its options but --request-rate, which asks it.
[[nodiscard]] const std::vector<std::string_view>& options_of_load();

}  // namespace foredraft::app
