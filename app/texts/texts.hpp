// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"
#include "answers/comparison.hpp"
#include "answers/inverse.hpp"
#include "answers/load_prediction.hpp"
#include "answers/logging_plan.hpp"
#include "answers/overlap.hpp"
#include "answers/prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/methods.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/tree.hpp"

/// Every answer as text for a terminal, in lines of at most 100 columns: first the answer, then its numbers, then its
/// assumptions and evidence.
namespace foredraft::app {

// ---- predict

[[nodiscard]] std::string to_text(const answers::Answered& answered);
/// A row for each of several predictions that differ in alpha or c.
[[nodiscard]] std::string to_text(std::span<const answers::Answered> all);

/// Acceptance in words: "i.i.d. acceptance".
[[nodiscard]] std::string acceptance_words(const AcceptanceProcess& acceptance);

[[nodiscard]] std::string to_text(const answers::InverseQuestion& question);

/// As answers::varying_prediction_json.
[[nodiscard]] std::string varying_prediction_text(const Scenario& scenario);

/// Tokens per iteration with their intervals, at gamma = 1 to 12 and at `asked`.
[[nodiscard]] std::string observed_text(const answers::FittedAcceptance& observed, std::optional<std::int64_t> asked);

/// A table of schedules that draft while the target verifies, to append to an answer.
[[nodiscard]] std::string overlap_text(std::span<const answers::OverlapRow> rows);

/// A table for each context length.
[[nodiscard]] std::string to_text(const answers::ProfilePrediction& prediction);

/// A line for each model with the facts that identify it. Empty if only times are known.
[[nodiscard]] std::string model_lines(const answers::ProfilePrediction& prediction);

/// A table by draft length.
[[nodiscard]] std::string to_text(const answers::LoadPrediction& prediction);

// ---- advise and compare

/// About ten lines. `settings`: engine settings to append, or empty.
[[nodiscard]] std::string to_text(const answers::Advice& advice, std::string_view settings);

/// The commands of the plan.
[[nodiscard]] std::string to_text(const answers::LoggingPlan& plan);

[[nodiscard]] std::string to_text(const answers::Comparison& comparison);

// ---- methods

/// A table for each temperature.
[[nodiscard]] std::string to_text(const MethodsAnswer& answer);

// ---- tree

/// A comparison of trees, then the tree itself.
[[nodiscard]] std::string to_text(const TreeAnswer& answer);

/// Graphviz: a node for each token, labeled with its rank and its acceptance probability.
[[nodiscard]] std::string to_dot(const TreeAnswer& answer);

/// One row per node: node, parent, depth, rank, path, probability. The data of the figure.
[[nodiscard]] std::string to_csv(const TokenTree& tree, const std::vector<double>& probabilities);

/// "[[0], [0, 0], [1]]": the list of paths in the format of Medusa, valid in Python and JSON.
[[nodiscard]] std::string path_list(const TokenTree& tree);

}  // namespace foredraft::app
