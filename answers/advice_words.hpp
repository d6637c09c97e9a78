// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "answers/advice.hpp"

/// Functions shared by the causes and the sentences of an advice; internal to the folder.
namespace foredraft::answers {

/// "K = 3", or "eagle3 at K = 3" if several drafters were logged.
[[nodiscard]] std::string setting_name(const LoggedRun& logged, const Advice& advice);

/// Number of draft lengths or settings that were logged, at all loads together.
[[nodiscard]] std::size_t logged_settings(const Advice& advice);

/// Whether an iteration takes longer than decoding all of its tokens one by one although acceptance is normal.
[[nodiscard]] bool is_engine_fault(const LoadAdvice& load);

/// Whether an iteration takes clearly less time than a decode step, which is impossible.
[[nodiscard]] bool is_cheaper_than_a_step(const LoadAdvice& load);

/// The first position at which acceptance collapses; nullopt: none.
[[nodiscard]] std::optional<std::size_t> failing_position(const Advice& advice);

/// Whether more tokens are verified at once than CUDA graphs were captured for.
[[nodiscard]] bool lacks_graphs(const Advice& advice);

/// The setting to raise in an engine that captured graphs for too few tokens.
[[nodiscard]] std::string_view graph_setting(std::string_view engine);

/// Whether there are several windows or requests, but too few to estimate their variation.
[[nodiscard]] bool has_few_windows(const Advice& advice);

/// Whether there are enough steps, but windows or runs differ by more than the steps explain.
[[nodiscard]] bool runs_scatter(const Advice& advice);

/// Warnings of faults (W09, W12 to W15, W18), causes and the cause as a sentence.
void add_causes(Advice& advice);

}  // namespace foredraft::answers
