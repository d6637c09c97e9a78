// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/drafter_words.hpp"

#include <fmt/ranges.h>
#include <array>

#include "core/check.hpp"

namespace foredraft::experiments {
namespace {

using latency::Role;

constexpr std::array drafting_roles{Role::autoregressive_drafting, Role::block_drafting, Role::head_drafting};

}  // namespace

const std::vector<std::string>& drafter_words() {
  static const std::vector<std::string> words{"autoregressive", "block", "heads"};
  return words;
}

std::optional<Role> role_of_drafter(std::string_view word) {
  for (std::size_t i = 0; i < drafting_roles.size(); ++i) {
    if (drafter_words()[i] == word) return drafting_roles[i];
  }
  return std::nullopt;
}

Role drafting_role(std::string_view word) {
  if (const std::optional<Role> role = role_of_drafter(word)) return *role;
  throw DomainError(fmt::format("no times of drafter {} (known: {})", word, fmt::join(drafter_words(), ", ")));
}

std::string_view drafter_word(Role drafting) {
  for (std::size_t i = 0; i < drafting_roles.size(); ++i) {
    if (drafting_roles[i] == drafting) return drafter_words()[i];
  }
  return "";
}

}  // namespace foredraft::experiments
