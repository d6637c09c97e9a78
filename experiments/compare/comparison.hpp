// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/requirement.hpp"
#include "experiments/compare/run_estimates.hpp"
#include "experiments/runs/runs.hpp"

/// Comparison of two logs, or of the runs of one: which accepts more and is faster, by how much, and the minimum
/// detectable difference.
namespace foredraft::experiments {

struct ComparisonQuestion {
  logs::ObservedLog reference;                      ///< A
  std::optional<logs::ObservedLog> candidate = {};  ///< B; without it the runs of A are compared with its first one
  std::vector<logs::ObservedLog> plain = {};
  std::vector<Requirement> requirements = {};  ///< of B if it is given, else of A
};

/// One metric of two runs, 95 % intervals.
struct MetricDifference {
  std::string metric;  ///< as MeasuredMetric::metric
  double reference, candidate;
  double difference;  ///< candidate - reference
  Interval difference_ci95;
  double ratio;  ///< candidate / reference; NaN unless both are > 0
  Interval ratio_ci95;
  double smallest_detectable;  ///< minimum detectable difference: seen in 4 of 5 such comparisons
  bool shown;                  ///< both intervals exclude no difference
  bool paired;                 ///< both have the same requests, compared one by one
};

/// Indices of runs are those of Comparison::runs.
struct RunComparison {
  std::size_t reference, candidate;
  std::vector<MetricDifference> metrics;
};

struct NotCompared {
  std::size_t candidate;
  std::optional<std::size_t> reference;  ///< empty: the other log has no run at all
  std::string why;                       ///< "temperature 0 against 0.7"
};

/// Rank of a run among comparable ones.
struct Ranked {
  std::size_t run;
  std::size_t group;   ///< runs of one group are comparable; counted from 1
  std::string metric;  ///< metric of the ranking: speedup, else TPOT, else acceptance length
  std::size_t place;   ///< from 1
  bool tied;           ///< noise does not distinguish it from the first of its group
};

struct ComparedLog {
  std::string name;  ///< "A", "B"
  std::string file, format, engine, version;
};

struct Comparison {
  std::vector<ComparedLog> logs;
  std::vector<RunEstimates> runs;  ///< speculative ones, those of A first
  std::vector<RunComparison> compared;
  std::vector<NotCompared> not_compared;
  std::vector<Ranked> ranking;  ///< by group and place
  std::vector<RequirementVerdict> verdicts;
  std::string answer;  ///< the first sentences
  std::vector<logs::LogWarning> warnings;

  [[nodiscard]] bool meets_requirements() const;
  /// Whether runs of two logs could be compared, or one of a single log could be estimated.
  [[nodiscard]] bool concludes() const;
};

/// Throws InputError if a log has no run of speculative decoding.
[[nodiscard]] Comparison compare(const ComparisonQuestion& question);

/// The result of the comparison in one or two sentences.
[[nodiscard]] std::string answer_of(const Comparison& comparison);

/// Lines of at most 100 columns; the first sentence is the answer.
[[nodiscard]] std::string to_text(const Comparison& comparison);

/// Schema foredraft.compare/1: docs/schemas/compare.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace foredraft::experiments
