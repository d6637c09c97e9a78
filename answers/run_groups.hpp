// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/run_parts.hpp"
#include "answers/runs.hpp"
#include "logs/observations_file.hpp"

/// Which observations of logs make one run; internal to the folder.
namespace foredraft::answers {

/// Tokens; differences of contexts or outputs below cost no time.
inline constexpr double short_context = 256.0;

/// Lengths and loads that differ by at most a quarter are taken as equal.
[[nodiscard]] bool are_alike(double first, double second);

/// "llama-3.1-8b" of a path or a repository.
[[nodiscard]] std::string short_name(std::string_view model);

/// An observation with what identifies it in its file.
struct Member {
  Placed placed;
  std::string file;
  std::string unit;  ///< its file; of a whole run its file and line
};
using Members = std::vector<Member>;
using RunKey = std::pair<RunSetting, RunLoad>;
using Groups = std::map<RunKey, Members>;

[[nodiscard]] std::vector<Placed> placed_of(const Members& members);

struct GroupedLogs {
  Groups groups;                                                 ///< one for each run
  std::map<std::string, std::vector<logs::Observation>> traces;  ///< by drafter
  std::vector<logs::LogWarning> warnings;
};

/// As runs_of(): the order of the logs changes nothing.
[[nodiscard]] GroupedLogs grouped(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain);

/// Loads of which some run has no window that only decodes: there all runs keep their windows of prompts, so that both
/// arms hold alike.
[[nodiscard]] std::set<RunLoad> loads_of_prompts(const Groups& groups);

}  // namespace foredraft::answers
