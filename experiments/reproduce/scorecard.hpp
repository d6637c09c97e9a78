// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "core/table.hpp"

/// A value computed from printed numbers, with the interval due to their rounding.
namespace foredraft::experiments {

struct RoundedValue {
  double value;       ///< at the printed inputs
  Interval rounding;  ///< over all inputs that round to the printed ones
};

/// `f` at the printed values, and its range over the rounding intervals of 1 to 10 inputs. `f` must be monotone in each
/// input, so that its extremes are at ends of the intervals.
[[nodiscard]] RoundedValue propagate_rounding(const std::vector<RoundedValue>& inputs,
                                              const std::function<double(std::span<const double>)>& f);

/// A printed number times `scale`: 0.01 turns a percentage into a fraction.
[[nodiscard]] RoundedValue rounded(const PrintedNumber& printed, double scale = 1.0);

// ---- The scorecard of a reproduction: one row for each printed number.

/// How our number relates to a printed one.
enum class Kind {
  input,         ///< a printed parameter that we use; not scored
  exact,         ///< computed by a formula from printed inputs
  predicted,     ///< from a model fitted to other printed cells
  simulated,     ///< Monte-Carlo with a stated synthetic model
  measured,      ///< our measurement of the same thing on another device, as a ratio
  fitted,        ///< the cell was used in a fit; never counted as agreement
  out_of_reach,  ///< needs trained weights or data; listed, not reproduced
};

enum class Verdict {
  pass,     ///< our interval intersects the printed one
  fail,     ///< the intervals do not intersect
  finding,  ///< the printed value contradicts itself or another printed value
  shown,    ///< shown without a claim of agreement
};

[[nodiscard]] std::string_view to_string(Kind kind);
/// Throws std::logic_error for an unknown name.
[[nodiscard]] Kind kind_named(std::string_view name);
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct ScorecardRow {
  std::string experiment = {};
  std::string row = {};                         ///< row of the printed table, as text
  std::string column = {};                      ///< column name in the published CSV
  std::optional<PrintedNumber> published = {};  ///< empty: lost in the source, or never printed
  std::optional<double> ours = {};              ///< empty: we have no number
  std::optional<Interval> ours_interval = {};   ///< propagated rounding of inputs, or a simulation's 95 % interval
  Kind kind = Kind::predicted;
  Verdict verdict = Verdict::shown;
  std::string note = {};  ///< the formula, the fit, or the arithmetic of a finding
};

/// The row with its verdict: a `finding`, if not empty, which becomes the note; for exact answers pass or fail; shown
/// for all other kinds. Throws std::logic_error for an exact answer without an interval.
[[nodiscard]] ScorecardRow scored(ScorecardRow row, const std::string& finding = {});

/// "24 results: 12 pass, 0 fail, 9 shown, 3 findings; 48 printed inputs not scored"
[[nodiscard]] std::string summary_line(const std::vector<ScorecardRow>& rows);

/// scorecard.csv, columns as in docs/metrics.md.
[[nodiscard]] std::string to_csv(const std::vector<ScorecardRow>& rows);

[[nodiscard]] bool any_failed(const std::vector<ScorecardRow>& rows);

}  // namespace foredraft::experiments
