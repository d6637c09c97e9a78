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

/// A value computed from printed ones, with the range that their rounding leaves.
namespace foredraft::experiments {

struct RoundedValue {
  double value;       ///< at the printed inputs
  Interval rounding;  ///< over everything that rounds to them
};

/// `f` at the printed values, and its range over the box of their roundings, for an f that is monotone in each input
/// there, so that its extremes lie at corners. 1 to 10 inputs.
[[nodiscard]] RoundedValue propagate_rounding(const std::vector<RoundedValue>& inputs,
                                              const std::function<double(std::span<const double>)>& f);

/// A printed number times `scale`: 0.01 turns a percentage into a fraction.
[[nodiscard]] RoundedValue rounded(const PrintedNumber& printed, double scale = 1.0);

// ---- The account of a reproduction: one row for every printed numeric cell.

/// The claim of our number about a printed one.
enum class Kind {
  input,         ///< a printed parameter we start from; not scored
  exact,         ///< follows from a formula and printed inputs
  predicted,     ///< from a model whose parameters were fitted on other printed cells
  simulated,     ///< Monte-Carlo with a stated synthetic model
  measured,      ///< our measurement of the same thing on another device, as a ratio
  fitted,        ///< the cell was used to fit; never counted as agreement
  out_of_reach,  ///< needs trained weights or data; listed, not imitated
};

enum class Verdict {
  pass,     ///< our interval meets the printed one
  fail,     ///< it does not
  finding,  ///< the printed value contradicts itself or another printed value
  shown,    ///< agreement is not claimed
};

[[nodiscard]] std::string_view to_string(Kind kind);
/// Throws std::logic_error on any other text.
[[nodiscard]] Kind kind_named(std::string_view name);
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct ScorecardRow {
  std::string experiment = {};
  std::string row = {};                         ///< which line of the printed table, in words
  std::string column = {};                      ///< its column, by its name in the published CSV
  std::optional<PrintedNumber> published = {};  ///< empty: lost in the source, or never printed
  std::optional<double> ours = {};              ///< empty: we have no number
  std::optional<Interval> ours_interval = {};   ///< input rounding propagated, or a 95 % interval of a simulation
  Kind kind = Kind::predicted;
  Verdict verdict = Verdict::shown;
  std::string note = {};  ///< for readers: the formula, what was fitted, the arithmetic of a finding
};

/// The row with its verdict: a finding where there is one, which becomes the note; else pass where the interval of an
/// exact answer meets the rounding of the printed value, and fail where it does not; agreement is not claimed for any
/// other kind. Throws std::logic_error for an exact answer without an interval.
[[nodiscard]] ScorecardRow scored(ScorecardRow row, const std::string& finding = {});

/// "24 results: 12 pass, 0 fail, 9 shown, 3 findings; 48 printed inputs not scored"
[[nodiscard]] std::string summary_line(const std::vector<ScorecardRow>& rows);

/// scorecard.csv, columns as in docs/metrics.md.
[[nodiscard]] std::string to_csv(const std::vector<ScorecardRow>& rows);

[[nodiscard]] bool any_failed(const std::vector<ScorecardRow>& rows);

}  // namespace foredraft::experiments
