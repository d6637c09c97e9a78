// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "foredraft/tree.hpp"
#include "inputs/read_model.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// Times of forward passes by --device or --profile, --target, --draft, --batch and --context, as a price of trees.
namespace foredraft::app {

/// Times of a device that the line asks for.
struct AskedPrice {
  inputs::AskedPair pair;
  latency::Role drafting;
  std::int64_t batch, context;
};

/// The options that read_asked_price() reads, but those of the deployment.
[[nodiscard]] OptionGroup device_price_options();

/// With --device or --profile the times of passes take the place of --c and of the cost of verification. `drafter`: a
/// word of latency::role_of_drafter. Problems go to the line; nullopt if it names no device.
[[nodiscard]] std::optional<AskedPrice> read_asked_price(CommandLine& line, const std::string& drafter);

/// answers::price_from_profile of it. The digests of what it read go into `files`; what was assumed is said. Throws
/// InputError.
[[nodiscard]] TreePrice read_device_price(CommandLine& line, const AskedPrice& asked, std::int64_t nodes,
                                          std::int64_t depth, std::vector<FileDigest>& files);

}  // namespace foredraft::app
