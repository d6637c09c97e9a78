// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/drafter_words.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "foredraft/errors.hpp"
#include "scenario/registries.hpp"

namespace foredraft::latency {
namespace {

/// The drafters of which one pass can be timed.
struct TimedDrafter {
  Drafter drafter;
  Role role;
};

const std::array<TimedDrafter, 3>& timed_drafters() {
  static const std::array<TimedDrafter, 3> all{{{AutoregressiveDrafter{}, Role::autoregressive_drafting},
                                                {BlockDrafter{}, Role::block_drafting},
                                                {Heads{}, Role::head_drafting}}};
  return all;
}

}  // namespace

const std::vector<std::string>& drafter_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> names;
    for (const TimedDrafter& timed : timed_drafters()) names.emplace_back(scenario::name_of(timed.drafter));
    return names;
  }();
  return words;
}

std::optional<Role> role_of_drafter(std::string_view word) {
  for (const TimedDrafter& timed : timed_drafters()) {
    if (scenario::name_of(timed.drafter) == word) return timed.role;
  }
  return std::nullopt;
}

Role drafting_role(const Drafter& drafter) {
  if (const std::optional<Role> role = role_of_drafter(scenario::name_of(drafter))) return *role;
  throw DomainError(
      fmt::format("no times of drafter {} (known: {})", scenario::name_of(drafter), fmt::join(drafter_words(), ", ")));
}

std::string_view drafter_word(Role drafting) {
  for (const TimedDrafter& timed : timed_drafters()) {
    if (timed.role == drafting) return scenario::name_of(timed.drafter);
  }
  return "";
}

}  // namespace foredraft::latency
