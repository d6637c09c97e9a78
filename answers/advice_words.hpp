// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "answers/advice.hpp"

/// Functions shared by the causes and the sentences of an advice; internal to the folder.
namespace foredraft::answers {

/// "K = 3" or "adaptive drafting up to K = 3"; "eagle3 at K = 3" if several drafters were logged.
[[nodiscard]] std::string setting_name(const LoggedRun& logged, const Advice& advice);

/// Number of pairs of curve and draft length that were logged, at all loads together.
[[nodiscard]] std::size_t logged_settings(const Advice& advice);

/// Whether an iteration takes longer than decoding its gamma + 1 tokens one by one, at up to 16 requests and with at
/// least 1.5 tokens per iteration.
[[nodiscard]] bool is_engine_fault(const LoadAdvice& load);

/// Whether an iteration takes less than 0.95 decode steps, which is impossible.
[[nodiscard]] bool is_cheaper_than_a_step(const LoadAdvice& load);

/// The first position at which acceptance is below 5 % (position 1) or collapses; nullopt: none.
[[nodiscard]] std::optional<std::size_t> failing_position(const Advice& advice);

/// Whether a speculative run had steps without CUDA graphs, or verifies more tokens at once than they hold.
[[nodiscard]] bool lacks_graphs(const Advice& advice);

/// What to change in an engine that captured graphs for too few tokens, in words.
[[nodiscard]] std::string_view graph_setting(std::string_view engine);

/// Whether acceptance is too uncertain because fewer than five windows or requests do not show how much they vary.
[[nodiscard]] bool has_few_windows(const Advice& advice);

/// Whether acceptance is too uncertain because windows or requests differ by far more than their steps explain.
[[nodiscard]] bool runs_scatter(const Advice& advice);

/// Warnings of faults (W09, W12 to W15, W18), causes and the cause as a sentence.
void add_causes(Advice& advice);

}  // namespace foredraft::answers
