// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "foredraft/tree.hpp"

/// The price of trees from the step times of a device: --device or --profile, --target, --draft, --batch, --context.
namespace foredraft::app {

/// The options of read_asked_price() except those of deployment_options().
[[nodiscard]] OptionGroup device_price_options();

/// The models, batch size and context length for the step times that replace --c and the cost of verification; nullopt
/// if the line names no device. `drafter`: a word of latency::role_of_drafter. Problems go to the line.
[[nodiscard]] std::optional<answers::ProfileQuestion> read_asked_price(CommandLine& line, const std::string& drafter);

/// Reads the device and the models, prints its assumptions, and returns answers::price_from_profile(). Adds the
/// digests of the files that it reads to `files`. Throws InputError.
[[nodiscard]] TreePrice read_device_price(CommandLine& line, answers::ProfileQuestion asked, std::int64_t nodes,
                                          std::int64_t depth, std::vector<FileDigest>& files);

}  // namespace foredraft::app
