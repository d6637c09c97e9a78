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

/// Groups the observations of logs by run; internal to the folder.
namespace foredraft::answers {

/// Differences between context or output lengths below this many tokens do not matter.
inline constexpr double short_context = 256.0;

/// True for lengths or loads that differ by at most a quarter: they count as equal.
[[nodiscard]] bool are_alike(double first, double second);

/// "llama-3.1-8b" for the path or repository of a model.
[[nodiscard]] std::string short_name(std::string_view model);

/// An observation with what identifies it in its file.
struct Member {
  Placed placed;
  std::string file;
  std::string unit;       ///< its file; for a whole run also the line
  bool of_bench = false;  ///< timed by llama-bench or the like
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

/// The draft length of a log that does not state it, if it is the only one of which no step of any answer drafted more,
/// and none but the last of each fewer.
[[nodiscard]] std::optional<std::int64_t> drafted_per_step(std::span<const logs::Observation> observations);

/// `plain`: as in runs_of(). The result does not depend on the order of the logs.
[[nodiscard]] GroupedLogs grouped(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain);

/// Loads at which some run has windows of mostly prompts, but none that only decodes. There, all runs keep their
/// windows of mostly prompts, so that logs with and without speculation are treated the same way.
[[nodiscard]] std::set<RunLoad> loads_of_prompts(const Groups& groups);

}  // namespace foredraft::answers
