// SPDX-License-Identifier: Apache-2.0
// Every family of a scenario: one entry for each alternative, and parameters that store into it.
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>

#include "scenario/metrics.hpp"

namespace foredraft::scenario {
namespace {

/// Sorted by name, with sources, one entry per alternative; every parameter returns what was stored, and only in its
/// own alternative.
template <class Entry>
void check_family(const std::vector<Entry>& registry, bool sorted = true) {
  using Family = decltype(Entry::value);
  CHECK(registry.size() == std::variant_size_v<Family>);
  CHECK((!sorted || std::is_sorted(registry.begin(), registry.end(),
                                   [](const auto& one, const auto& other) { return one.name < other.name; })));
  for (const Entry& entry : registry) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.source.empty());
    CHECK(entry_of(registry, entry.value).name == entry.name);
    CHECK(find_entry(registry, entry.name) == &entry);
    for (const auto& parameter : entry.parameters) {
      CAPTURE(parameter.name);
      CHECK_FALSE(parameter.summary.empty());
      const bool by_default = parameter.given == Given::by_default || parameter.given == Given::implied;
      CHECK(parameter.default_value().has_value() == by_default);
      if (by_default) CHECK(parameter.get(entry.value) == parameter.default_value());
      const bool whole = parameter.type == ValueType::integer;
      if (!whole && parameter.type != ValueType::real) continue;
      // The largest legal number; for an unbounded range one that is no default.
      const double number = parameter.range.excludes_maximum ? 0.75 : std::min(parameter.range.maximum, 4096.0);
      const Value stored = whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
      for (const Entry& other : registry) {
        Family value = other.value;
        parameter.set(value, stored);
        const bool own = other.name == entry.name;
        CHECK((parameter.get(value) == (own ? std::optional(stored) : std::nullopt)));
      }
    }
  }
  CHECK(find_entry(registry, "nothing of this name") == nullptr);
}

}  // namespace

TEST_CASE("every family has one valid entry for each of its alternatives") {
  check_family(processes());
  check_family(drafters());
  check_family(policies());
  check_family(rules());
  check_family(costs(), false);
}

TEST_CASE("every drafter works in some fidelity") {
  for (const DrafterMember& entry : drafters()) CHECK((entry.process || entry.token));
}

TEST_CASE("mean_gamma names the drafters whose draft length varies") {
  const std::string_view meaning = find_metric("mean_gamma")->meaning;
  for (const DrafterMember& entry : drafters()) {
    CAPTURE(entry.name);
    CHECK((meaning.find(entry.name) != std::string_view::npos) == draft_length_varies(entry.value));
  }
}

TEST_CASE("a member is made from the names of its parameters, the others at their defaults") {
  CHECK(std::get<Lenient>(make_rule("lenient", {{"residual", 0.0}})).lenience == 0.5);
  CHECK_FALSE(std::get<Lenient>(make_rule("lenient", {{"residual", 0.0}})).residual);
  CHECK(std::get<TopBeta>(make_rule("top_beta", {{"top_beta", 7.0}})).top_beta == 7);
}

}  // namespace foredraft::scenario
