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

/// The registry of published methods: the names that people search for, and how to ask for each one here.
namespace foredraft::scenario {

/// How a token tree gets its nodes.
enum class TreeShape {
  fixed,    ///< the same tree in every iteration: the best one for the mean accuracies
  dynamic,  ///< grows by the drafter's probabilities while it drafts
};

/// What the comparison of methods simulates. monostate: nothing, because it depends on more than a pair of models.
using ComparedMethod = std::variant<std::monostate, Rule, Policy, Overlap, TreeShape, Drafter>;

struct Method {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  std::string_view summary;  ///< what it is, one sentence
  std::string_view wins;     ///< when it pays, one sentence
  std::string_view source;   ///< keys of docs/references.bib
  bool exact = true;         ///< the output has the target's distribution
  /// The option or parameter that asks for it, or the nearest one; empty if it is not modeled.
  std::string_view request = {};
  std::string_view reason = {};  ///< why it is not modeled
  /// Names of the rules, policies and drafters that it combines; at least the one that is compared.
  std::vector<std::string_view> members = {};
  ComparedMethod compared = {};
  std::string_view not_compared = {};  ///< why a modeled method is not compared
  std::string_view if_named = {};      ///< why it is compared only if the user names it
};

/// Grouped by what they change (verification, trees, schedule, draft length, drafter); methods that are not modeled
/// come last.
[[nodiscard]] const std::vector<Method>& methods();

/// True for a compared drafter that copies or drafts text.
[[nodiscard]] bool needs_text(const Method& method);

/// The method with this name or alias, ignoring case and separators; null if there is none.
[[nodiscard]] const Method* find_method(std::string_view word);

/// How to ask for the method of this name: a suggestion for a word that is not a member of a family. Empty if there is
/// no such method.
[[nodiscard]] std::string method_suggestion(std::string_view word);

/// The same; for a word that is not a method, suggestion_for() of `candidates`.
[[nodiscard]] std::string method_or_suggestion(std::string_view word, std::span<const std::string> candidates,
                                               std::string_view list = {});

}  // namespace foredraft::scenario
