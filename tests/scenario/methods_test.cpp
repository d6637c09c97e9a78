// SPDX-License-Identifier: Apache-2.0
// The methods of the field: common names are found, and everything that is modeled belongs to a method.
#include "scenario/methods.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/names.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {
namespace {

std::set<std::string> modeled_names() {
  std::set<std::string> names;
  for (const auto& family : {names_of(rules()), names_of(policies()), names_of(drafters())}) {
    for (const std::string& name : family) CHECK(names.insert(name).second);
  }
  return names;
}

}  // namespace

TEST_CASE("every method has a description, when it gains, its source, and how to ask for it or why not") {
  std::set<std::string> plain;
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    CHECK_FALSE(method.summary.empty());
    CHECK_FALSE(method.wins.empty());
    CHECK_FALSE(method.source.empty());
    CHECK(method.request.empty() != method.reason.empty());
    const bool compared = !std::holds_alternative<std::monostate>(method.compared);
    if (compared) CHECK_FALSE(method.request.empty());
    // A modeled method is compared, or gives a reason why not.
    CHECK(method.not_compared.empty() == (compared || method.request.empty()));
    if (!method.if_named.empty()) CHECK(compared);
    CHECK(plain.insert(plain_name(method.name)).second);
    CHECK(find_method(method.name) == &method);
    for (const std::string_view alias : method.aliases) {
      CAPTURE(alias);
      CHECK(plain.insert(plain_name(alias)).second);  // no word means two methods
      CHECK(find_method(alias) == &method);
    }
  }
  CHECK(find_method("nothing of this name") == nullptr);
  CHECK(find_method("") == nullptr);
}

TEST_CASE("every rule, policy and drafter belongs to a method or is a building block") {
  const std::set<std::string> modeled = modeled_names();
  std::set<std::string> reached;
  for (const Method& method : methods()) {
    for (const std::string_view member : method.members) {
      CAPTURE(method.name, member);
      CHECK(modeled.contains(std::string(member)));
      reached.emplace(member);
    }
  }
  // Controls, bounds and defaults are no published method by themselves.
  constexpr std::array building_blocks{
      "accept_all",              // a control
      "constant",                // the default
      "optimal_stopping",        // an oracle
      "optimal_token_stopping",  // another, the bound of policies that see a confidence
  };
  for (const char* block : building_blocks) {
    CHECK(reached.emplace(block).second);
  }
  CHECK(reached == modeled);
}

TEST_CASE("a compared rule or policy is one of the method's members, and as exact as the registry of rules says") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    if (const auto* rule = std::get_if<Rule>(&method.compared)) {
      CHECK(std::ranges::find(method.members, name_of(*rule)) != method.members.end());
      CHECK(entry_of(rules(), *rule).lossless == method.exact);
    } else if (const auto* policy = std::get_if<Policy>(&method.compared)) {
      CHECK(std::ranges::find(method.members, name_of(*policy)) != method.members.end());
      CHECK(method.exact);
    } else if (const auto* drafter = std::get_if<Drafter>(&method.compared)) {
      CHECK(std::ranges::find(method.members, name_of(*drafter)) != method.members.end());
      CHECK(method.exact);
      CHECK(needs_text(method) == entry_of(drafters(), *drafter).text);
    }
  }
}

TEST_CASE("the name of a published method returns how to ask for it, or why it is not modeled") {
  CHECK(method_suggestion("PEARL").ends_with("predict --overlap (docs/methods.md)"));
  CHECK(method_suggestion("EAGLE-2").ends_with("foredraft tree --expand (docs/methods.md)"));
  CHECK(method_suggestion("SpecDec++").ends_with("--policy rejection_probability (docs/methods.md)"));
  CHECK(method_suggestion("LayerSkip").starts_with("skipped_layers is not modeled: "));
  CHECK(method_suggestion("blok").empty());
  const std::vector<std::string> known{"block", "heads"};
  CHECK(method_or_suggestion("blok", known) == "did you mean block?");
  CHECK(method_or_suggestion("PEARL", known) == method_suggestion("pearl"));
}

}  // namespace foredraft::scenario
