// SPDX-License-Identifier: Apache-2.0
#include "logs/findings.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "logs/log_reader.hpp"

namespace foredraft::logs {
namespace {

/// Maximum number of observations of which no two may be pooled.
constexpr std::size_t max_kinds = 8 * max_observations;

/// Maximum number of kinds of observations that may alternate in a log, such as those of several engines.
constexpr std::size_t kinds_at_once = 64;

/// Pools observations in pairs, in place: each with the next of its kind.
void pool_neighbors(std::vector<Observation>& observations) {
  std::size_t kept = 0;
  std::vector<std::size_t> alone;  // the one of each kind that has no partner yet
  for (std::size_t i = 0; i < observations.size(); ++i) {
    Observation& observation = observations[i];
    const auto match = std::find_if(alone.begin(), alone.end(),
                                    [&](std::size_t at) { return may_be_pooled(observations[at], observation); });
    if (match != alone.end()) {
      observations[*match] = pooled(observations[*match], std::move(observation));
      alone.erase(match);
      continue;
    }
    if (alone.size() == kinds_at_once) alone.erase(alone.begin());
    alone.push_back(kept);
    if (kept != i) observations[kept] = std::move(observation);
    ++kept;
  }
  observations.resize(kept);
}

}  // namespace

Findings::Findings(std::string source) : problems(std::move(source)), pool_beyond_(max_observations) {}

void Findings::fail(Problem problem) {
  problems.add(std::move(problem));
  problems.raise();
  throw std::logic_error("a problem was not raised");
}

void Findings::restore(LogContents before) {
  contents = std::move(before);
  noted_ = nullptr;
}

void Findings::note_format(const LogFormat& format) {
  if (noted_ == &format) return;
  noted_ = &format;
  const std::string padded = fmt::format(" {} ", contents.format);
  if (padded.find(fmt::format(" {} ", format.name)) != std::string::npos) return;
  contents.format += contents.format.empty() ? "" : " ";
  contents.format += format.name;
}

void Findings::note_claim(const LogFormat& format, const std::string& engine_before) {
  took_something_ = true;
  if (!format.engine.empty()) contents.engine = format.engine;
  if (!engine_before.empty() && contents.engine != engine_before) {
    fail({.line = line,
          .text = fmt::format("a line of {} after lines of {}", contents.engine, engine_before),
          .why = "observations of two engines are not comparable",
          .suggestion = "split the log by engine"});
  }
  note_format(format);
  if (contents.observations.size() <= pool_beyond_) return;
  pool_neighbors(contents.observations);
  pool_beyond_ = std::max(max_observations, 2 * contents.observations.size());
  if (contents.observations.size() > max_kinds)
    fail({.line = line,
          .text = fmt::format("more than {} runs or requests that all differ in their conditions", max_kinds),
          .why = "they cannot be counted together",
          .suggestion = "give a part of the log"});
}

void Findings::collect(const RejectedRecord& rejected) {
  for (Problem problem : rejected.problems()) {
    if (problem.line == 0) problem.line = line;
    problems.add(std::move(problem));
  }
  if (problems.problems().size() >= max_problems) problems.raise();
}

}  // namespace foredraft::logs
