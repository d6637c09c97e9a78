// SPDX-License-Identifier: Apache-2.0
#include "logs/llama_requests.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace foredraft::logs {

void complete_draft_lengths(std::vector<Observation>& observations) {
  std::optional<std::int64_t> common;
  for (const Observation& one : observations) {
    if (!one.gamma) continue;
    if (common && common != one.gamma) return;
    common = one.gamma;
  }
  for (Observation& one : observations) {
    if (!common || one.gamma || one.span != Span::request || !one.acceptance) continue;
    constexpr double steady = 0.95;
    const double whole = static_cast<double>(*common) * static_cast<double>(one.acceptance->steps);
    const auto drafted = static_cast<double>(one.acceptance->drafted_tokens.value_or(0));
    if (drafted >= steady * whole && drafted <= whole) one.gamma = common;
  }
}

void mark_varying(LogContents& contents) {
  struct Sums {
    double drafted = 0.0, positions = 0.0;
  };
  constexpr double steady = 0.95;
  std::map<std::string, Sums> by_drafter;
  for (const Observation& one : contents.observations) {
    if (one.span != Span::request || !one.acceptance || !one.gamma) continue;
    Sums& sums = by_drafter[one.drafter.value_or("")];
    sums.drafted += static_cast<double>(one.acceptance->drafted_tokens.value_or(0));
    sums.positions += static_cast<double>(*one.gamma) * static_cast<double>(one.acceptance->steps);
  }
  for (Observation& one : contents.observations) {
    if (one.span != Span::request || !one.acceptance || !one.gamma) continue;
    const std::string drafter = one.drafter.value_or("");
    const Sums& sums = by_drafter[drafter];
    if (drafter.find("ngram") == std::string::npos && sums.drafted < steady * sums.positions) one.adaptive = true;
  }
}

void note_most(std::optional<std::int64_t> most, Observation& request) {
  if (!most || request.gamma || !request.acceptance || !request.acceptance->drafted_tokens) return;
  constexpr double steady = 0.95;  // drafts are cut short at the ends of answers
  const double whole = static_cast<double>(*most) * static_cast<double>(request.acceptance->steps);
  const auto drafted = static_cast<double>(*request.acceptance->drafted_tokens);
  if (drafted > whole) return;
  request.gamma = most;
  if (drafted < steady * whole) request.adaptive = true;
}

void share_setting_with_undrafted(std::vector<Observation>& observations) {
  const Observation* setting = nullptr;
  std::vector<Observation*> open;
  const auto set = [&](Observation& undrafted) {
    undrafted.gamma = setting->gamma;
    undrafted.adaptive = setting->adaptive;
    undrafted.drafter = setting->drafter;
  };
  for (Observation& one : observations) {
    if (one.span != Span::request || !one.acceptance) continue;
    if (one.acceptance->steps > 0) {
      setting = &one;
      for (Observation* before : open) set(*before);
      open.clear();
    } else if (setting == nullptr) {
      open.push_back(&one);
    } else {
      set(one);
    }
  }
}

}  // namespace foredraft::logs
