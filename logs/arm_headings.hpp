// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "logs/headings.hpp"

/// Headings and keys that name an arm, and what of it is measured.
namespace foredraft::logs {

/// A heading split into its arm and its metric.
struct ArmHeading {
  std::string arm = {}, measure = {};
};

/// True for the heading of an arm: without speculation, with a draft length, with a known drafter, "on" or "with flag".
[[nodiscard]] bool is_arm(std::string_view heading);

/// "tok/s (plain)", "plain (tok/s)", "MTP K=3 tok/s", "tok/s K=3", "plain_tps"; nullopt for a heading of another kind.
[[nodiscard]] std::optional<ArmHeading> arm_heading_of(std::string heading);

/// Whether a heading is that of speeds, times or acceptance.
[[nodiscard]] bool is_measure(std::string_view heading);

}  // namespace foredraft::logs
