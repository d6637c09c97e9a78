// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "foredraft/drafter.hpp"
#include "foredraft/overlap.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/verification_rule.hpp"

/// The registry of methods of the field: names that people search for, and how each is asked for here.
namespace foredraft::scenario {

/// How the nodes of a token tree are chosen.
enum class TreeShape {
  fixed,    ///< the best tree for the mean accuracies, the same in every iteration
  dynamic,  ///< by the drafter's probabilities while it drafts
};

/// What the comparison of methods simulates; monostate: nothing, it depends on more than a pair of models.
using ComparedMethod = std::variant<std::monostate, Rule, Policy, Overlap, TreeShape, Drafter>;

struct Method {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view summary;  ///< what it is, one sentence
  std::string_view wins;     ///< when it pays, one sentence
  std::string_view source;   ///< keys of docs/references.bib
  bool exact;                ///< the output has the target's distribution
  /// The option or parameter that asks for it, or what stands for it; empty: it is not modeled.
  std::string_view request;
  std::string_view reason = {};  ///< why it is not modeled
  /// The rules, policies and drafters that it is made of, by name.
  std::vector<std::string_view> members = {};
  ComparedMethod compared = {};
  std::string_view not_compared = {};  ///< why a modeled method is not
  std::string_view if_named = {};      ///< why it is compared only if it is named
};

/// Grouped by what they change: verification, trees, schedule, draft length, drafter; then those that are not modeled.
[[nodiscard]] const std::vector<Method>& methods();

/// Rules, policies and drafters that are no published method by themselves: controls, bounds and defaults.
[[nodiscard]] const std::vector<std::string_view>& building_blocks();

/// True for a compared drafter that copies or drafts text.
[[nodiscard]] bool needs_text(const Method& method);

/// The method of this name or alias, whatever its case and separators; null: none.
[[nodiscard]] const Method* find_method(std::string_view word);

/// What to do where `word` names no member of a family: how the method of that name is asked for; empty: it is none.
[[nodiscard]] std::string method_suggestion(std::string_view word);

/// The same, or suggestion_for() of `candidates` where it is no method.
[[nodiscard]] std::string method_or_suggestion(std::string_view word, std::span<const std::string> candidates,
                                               std::string_view list = {});

}  // namespace foredraft::scenario
