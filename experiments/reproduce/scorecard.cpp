// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/scorecard.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/csv.hpp"

namespace foredraft::experiments {

RoundedValue propagate_rounding(const std::vector<RoundedValue>& inputs,
                                const std::function<double(std::span<const double>)>& f) {
  constexpr std::size_t max_inputs = 10;
  if (inputs.empty() || inputs.size() > max_inputs) throw std::logic_error("rounding box: 1 to 10 inputs");
  std::vector<double> place;
  std::transform(inputs.begin(), inputs.end(), std::back_inserter(place),
                 [](const RoundedValue& input) { return input.value; });
  const double value = f(place);
  RoundedValue result{.value = value, .rounding = {value, value}};
  for (std::size_t corner = 0; corner < (std::size_t{1} << inputs.size()); ++corner) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      place[i] = ((corner >> i) & 1U) == 0 ? inputs[i].rounding.low : inputs[i].rounding.high;
    }
    const double there = f(place);
    result.rounding = {std::min(result.rounding.low, there), std::max(result.rounding.high, there)};
  }
  return result;
}

RoundedValue rounded(const PrintedNumber& printed, double scale) {
  return {.value = scale * printed.value, .rounding = {scale * printed.rounding.low, scale * printed.rounding.high}};
}

namespace {

constexpr std::array<std::string_view, 7> kind_names{"input",    "exact",  "predicted",   "simulated",
                                                     "measured", "fitted", "out_of_reach"};

}  // namespace

std::string_view to_string(Kind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

Kind kind_named(std::string_view name) {
  const auto* const found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) throw std::logic_error(fmt::format("no kind of answer is called {}", name));
  return static_cast<Kind>(found - kind_names.begin());
}

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"pass", "fail", "finding", "shown"};
  return names.at(static_cast<std::size_t>(verdict));
}

ScorecardRow scored(ScorecardRow row, const std::string& finding) {
  if (row.kind == Kind::exact) {
    if (!row.ours || !row.ours_interval) {
      throw std::logic_error(fmt::format("{}: {}, {}: exact without an interval", row.experiment, row.row, row.column));
    }
    const bool met = intersects(*row.ours_interval, row.published.value().rounding);
    row.verdict = met ? Verdict::pass : Verdict::fail;
  }
  if (finding.empty()) return row;
  row.verdict = Verdict::finding;
  row.note = finding;
  return row;
}

std::string summary_line(const std::vector<ScorecardRow>& rows) {
  // A contradicted input counts as a result (a finding).
  const auto is_input = [](const ScorecardRow& row) {
    return row.kind == Kind::input && row.verdict != Verdict::finding;
  };
  const auto count = [&](Verdict verdict) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const ScorecardRow& row) { return !is_input(row) && row.verdict == verdict; });
  };
  const auto inputs = std::count_if(rows.begin(), rows.end(), is_input);
  return fmt::format("{} results: {} pass, {} fail, {} shown, {} findings; {} printed inputs not scored",
                     static_cast<std::ptrdiff_t>(rows.size()) - inputs, count(Verdict::pass), count(Verdict::fail),
                     count(Verdict::shown), count(Verdict::finding), inputs);
}

std::string to_csv(const std::vector<ScorecardRow>& rows) {
  DataText data({"experiment", "row", "column", "published", "published_low", "published_high", "ours", "ours_low",
                 "ours_high", "kind", "verdict", "note"});
  const auto add_bounds = [&data](const std::optional<Interval>& interval) {
    data.cell(interval ? std::optional(interval->low) : std::nullopt);
    data.cell(interval ? std::optional(interval->high) : std::nullopt);
  };
  for (const ScorecardRow& row : rows) {
    data.row().cell(row.experiment).cell(row.row).cell(row.column).cell(row.published ? row.published->text : "");
    add_bounds(row.published ? std::optional(row.published->rounding) : std::nullopt);
    data.cell(row.ours);
    add_bounds(row.ours_interval);
    data.cell(to_string(row.kind)).cell(to_string(row.verdict)).cell(row.note);
  }
  return data.csv();
}

bool any_failed(const std::vector<ScorecardRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const ScorecardRow& row) { return row.verdict == Verdict::fail; });
}

}  // namespace foredraft::experiments
