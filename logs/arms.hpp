// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names of arms, the runs of a table or a text, as people write them.
namespace foredraft::logs {

/// An arm, parsed from its name: "baseline", "MTP K=3".
struct Arm {
  bool plain = false;
  std::optional<double> gamma = {};
  std::optional<std::string> drafter = {};
  bool speculative = false;  ///< states only that it drafts: "on", "spec"
};

[[nodiscard]] Arm arm_named(std::string_view name);

/// The arm that the words next to a speed name: "Without draft model:", "with MTP"; nullopt if they name none, or if
/// the speed is that of something else, such as a prompt.
[[nodiscard]] std::optional<Arm> arm_in_text(std::string_view text);

/// Whether words say that the speed next to them is none of output: "prompt processing", "peak".
[[nodiscard]] bool names_other_speed(std::string_view text);

/// The name without the words that name its arm, and without what tells repeated runs apart: "code" of "MTP K=3, code
/// (run 2)". In lower case, with blanks for all else than letters and digits.
[[nodiscard]] std::string without_arm(std::string_view name);

/// The name without what tells repeated runs apart, nor what stands in brackets: "MTP run 2" as "mtp".
[[nodiscard]] std::string without_repetition(std::string_view name);

/// The name without the words and the numbers of its arm: "code" of "MTP K=3, code" and of "code, no speculation".
[[nodiscard]] std::string kind_in(std::string_view name);

}  // namespace foredraft::logs
