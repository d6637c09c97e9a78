// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "answers/advice.hpp"

/// What causes and sentences of an advice share; internal to the folder.
namespace foredraft::answers {

/// "eagle3 at K = 3" where several drafters were logged.
[[nodiscard]] std::string setting_name(const LoggedRun& logged, const Advice& advice);

/// Draft lengths or settings that were logged, all loads together.
[[nodiscard]] std::size_t logged_settings(const Advice& advice);

/// An iteration that takes longer than decoding all of its tokens one by one, with acceptance as it should be.
[[nodiscard]] bool is_engine_fault(const LoadAdvice& load);

/// An iteration that takes clearly less than the decode step that is a part of it.
[[nodiscard]] bool is_cheaper_than_a_step(const LoadAdvice& load);

/// The first position where drafts fail; nullopt: none.
[[nodiscard]] std::optional<std::size_t> failing_position(const Advice& advice);

/// More tokens are verified at once than CUDA graphs were captured for.
[[nodiscard]] bool lacks_graphs(const Advice& advice);

/// What to raise in an engine that captured graphs for too few tokens.
[[nodiscard]] std::string_view graph_setting(std::string_view engine);

/// Whether there are several windows or requests, but too few to show how much they differ.
[[nodiscard]] bool has_few_windows(const Advice& advice);

/// Whether the steps would be enough, and it is windows or runs that differ by more than their steps explain.
[[nodiscard]] bool runs_scatter(const Advice& advice);

/// Warnings of faults (W09, W12 to W15, W18), causes and the cause as a sentence.
void add_causes(Advice& advice);

}  // namespace foredraft::answers
