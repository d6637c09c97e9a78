// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

/// Terms that the closed forms, the simulator and the command line share.
namespace foredraft {

/// How many tokens one iteration can yield. `gamma` always counts drafted tokens.
enum class Convention {
  bonus,     ///< if all gamma drafts are accepted, the target adds a token: 1 to gamma + 1 [Leviathan2023, Alg. 1]
  no_bonus,  ///< no extra token: 1 to gamma, gamma >= 1 [Xia2023, Eq. 1-3; Stern2018]
};

/// Cost of drafting in one iteration, in decode steps of the target.
enum class Drafting {
  autoregressive,  ///< gamma draft passes: gamma * c
  block,           ///< one draft pass for any gamma >= 1: c
  free,            ///< no draft pass: drafts are copied, not computed
};

[[nodiscard]] std::string_view to_string(Convention convention);
[[nodiscard]] std::string_view to_string(Drafting drafting);
[[nodiscard]] std::optional<Convention> parse_convention(std::string_view text);
[[nodiscard]] std::optional<Drafting> parse_drafting(std::string_view text);

/// Minimum gamma: 0 with a bonus token (autoregressive decoding), 1 without.
[[nodiscard]] constexpr std::int64_t min_gamma(Convention convention) {
  return convention == Convention::bonus ? 0 : 1;
}

/// Maximum number of tokens that one iteration of `gamma` drafts can yield.
[[nodiscard]] constexpr std::int64_t max_tokens(std::int64_t gamma, Convention convention) {
  return convention == Convention::bonus ? gamma + 1 : gamma;
}

/// Forward passes of the drafter for `gamma` drafted tokens.
[[nodiscard]] constexpr std::int64_t draft_passes(std::int64_t gamma, Drafting drafting) {
  if (drafting == Drafting::free) return 0;
  return drafting == Drafting::autoregressive || gamma == 0 ? gamma : 1;
}

}  // namespace foredraft

#pragma GCC visibility pop
