// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

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
/// Rejects the options of a load, except --request-rate, where none is asked.
void reject_load(CommandLine& line, std::string_view problem, std::string_view why, std::string_view suggestion);

}  // namespace foredraft::app
