// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"
#include "answers/run_cost.hpp"
#include "answers/run_estimates.hpp"
#include "answers/runs.hpp"
#include "core/problems.hpp"

/// Comparison of two logs, or of the runs of one log: which accepts more, which is faster, by how much, and the minimum
/// detectable difference.
namespace foredraft::answers {

// ---- Numbers with as many digits as their intervals justify.

/// Number of decimals, 0 to 6, that show `half_width` with two digits if they are at most 35, else with one. 3 if it is
/// 0 or unknown.
[[nodiscard]] int digits_for(double half_width);

/// With this many decimals; never "-0".
[[nodiscard]] std::string rounded(double value, int digits);
/// With a sign: "+0.05".
[[nodiscard]] std::string signed_rounded(double value, int digits);

/// With this many decimals, rounded away from zero.
[[nodiscard]] std::string rounded_up(double value, int digits);

/// "2.418 (2.406 to 2.431)", 95 %; only the value if the interval is unknown.
[[nodiscard]] std::string with_interval(const analytic::ClusteredEstimate& estimate);
[[nodiscard]] std::string with_interval(double value, const Interval& interval);

/// "2.418 +- 0.013", 95 %; likewise.
[[nodiscard]] std::string with_half_interval(const analytic::ClusteredEstimate& estimate);

// ---- Requirements on a run, for CI: `acceptance_length>=2.3`, or relative to A: `tpot<=1.02x`.

struct Requirement {
  enum class Relation { at_least, above, at_most, below };
  std::string text;    ///< as given, without blanks
  std::string metric;  ///< as MeasuredMetric::metric
  Relation relation;
  double threshold;
  bool relative;  ///< threshold of the ratio to the compared run of A
};

/// Parses `metric (>=|>|<=|<) number`, with or without blanks; the number is as in parse_quantity and ends with "x" if
/// relative. Returns a problem otherwise. A metric in ms may be named without its unit. `key`: the option, for the
/// problem.
[[nodiscard]] std::variant<Requirement, Problem> parse_requirement(std::string_view text, std::string_view key);

struct RequirementVerdict {
  enum class Outcome {
    met,        ///< the whole 95 % interval meets it
    not_shown,  ///< the interval contains the threshold, or the metric is unknown
    not_met,    ///< no part of the interval meets it
  };
  Requirement requirement;
  std::string run;  ///< its name
  Outcome outcome;
  std::optional<double> value = {};  ///< the ratio if the requirement is relative
  std::optional<Interval> ci95 = {};
  std::string reference = {};  ///< name of the run of A, for a ratio
  std::string why = {};        ///< why the value is unknown; else empty
};

/// "met", "not shown", "not met".
[[nodiscard]] std::string_view outcome_word(RequirementVerdict::Outcome outcome);

// ---- The comparison

/// Stored measurements of an earlier log (answers/baseline.hpp).
struct Baseline {
  logs::ObservedLog source;        ///< without its observations
  std::vector<RunEstimates> runs;  ///< speculative runs, without their parts
};

struct ComparisonQuestion {
  std::variant<logs::ObservedLog, Baseline> reference;  ///< A; a baseline needs B
  std::optional<logs::ObservedLog> candidate = {};      ///< B; if empty, each run of A is compared with an earlier one
  std::vector<logs::ObservedLog> plain = {};
  std::vector<Requirement> requirements = {};  ///< on B if given, else on A; relative ones need B
  std::optional<GpuPrice> gpu_price = {};      ///< to state the cost of tokens
};

/// One metric of two runs, with 95 % intervals; NaN if the error of a run is unknown.
struct MetricDifference {
  std::string metric;  ///< as MeasuredMetric::metric
  double reference, candidate;
  double difference;  ///< candidate - reference
  Interval difference_ci95;
  double ratio;  ///< candidate / reference; NaN unless both are > 0
  Interval ratio_ci95;
  double smallest_detectable;  ///< minimum detectable difference, at a power of 80 %; NaN: unknown
  bool shown;                  ///< both intervals are known, and a zero difference lies outside both
  bool paired;                 ///< both runs have the same requests, compared one by one
};

/// Indices of runs are those of Comparison::runs.
struct RunComparison {
  std::size_t reference, candidate;
  std::vector<MetricDifference> metrics;
};

struct NotCompared {
  std::size_t candidate;
  std::optional<std::size_t> reference;  ///< empty: the other log has no run
  std::string why;                       ///< "temperature 0 against 0.7"
};

/// Rank of a run among comparable ones.
struct Ranked {
  std::size_t run;
  std::size_t group;   ///< runs of a group are comparable; counted from 1
  std::string metric;  ///< metric of the ranking: speedup, else TPOT, else acceptance length
  std::size_t place;   ///< from 1
  bool tied;           ///< not distinguishable from the first of its group
};

/// Cost of a million output tokens at the logged throughput, in the currency of the price.
struct ComparedCost {
  std::optional<double> own;    ///< empty: the throughput was not logged, or is the arrival rate
  std::optional<double> plain;  ///< of the run without speculation in the speedup
};

struct ComparedLog {
  std::string name;  ///< "A", "B"
  std::string file, format, engine, version;
  bool is_baseline;  ///< stored measurements of this file
};

struct Comparison {
  std::vector<ComparedLog> logs;
  /// Speculative runs, those of A first. Of two logs, one without speculative runs has its plain runs here.
  std::vector<RunEstimates> runs;
  std::vector<RunComparison> compared;
  std::vector<NotCompared> not_compared;
  std::vector<Ranked> ranking;  ///< by group and place
  std::optional<GpuPrice> gpu_price;
  std::vector<ComparedCost> costs;  ///< [i]: of runs[i]; empty: no price was given
  std::vector<RequirementVerdict> verdicts;
  std::string answer;  ///< the first sentences
  std::vector<logs::LogWarning> warnings;

  [[nodiscard]] bool meets_requirements() const;
  /// Whether runs of two logs could be compared, or a run of a single log could be estimated.
  [[nodiscard]] bool concludes() const;
};

/// The verdict on a run, an index in Comparison::runs.
[[nodiscard]] RequirementVerdict verdict_of(const Requirement& requirement, std::size_t run,
                                            const Comparison& comparison);

/// An idle run (less than 0.5 requests in flight) without the metric of a requirement gets no verdict if another run of
/// its log has the metric. Throws InputError if a single log has no run of speculative decoding, or one of two logs has
/// no run.
[[nodiscard]] Comparison compare(const ComparisonQuestion& question);

/// The result of the comparison in one or two sentences.
[[nodiscard]] std::string answer_of(const Comparison& comparison);

/// Schema foredraft.compare/1: docs/schemas/compare.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace foredraft::answers
