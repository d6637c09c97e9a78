// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/readable.hpp"
#include "experiments/compare/comparison.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {
namespace {

const MetricDifference* metric_of(const RunComparison& compared, std::string_view metric) {
  const auto found = std::ranges::find(compared.metrics, metric, &MetricDifference::metric);
  return found == compared.metrics.end() ? nullptr : &*found;
}

/// "more" with the size of the difference, whatever its sign.
struct Sizes {
  double size, low, high;
};

Sizes sizes_of(double difference, const Interval& interval) {
  if (difference >= 0.0) return {difference, interval.low, interval.high};
  return {-difference, -interval.high, -interval.low};
}

/// "B" where both logs hold one run, else the whole name.
std::string short_or_full(const RunEstimates& run, const Comparison& comparison) {
  const bool alone = comparison.logs.size() > 1 && comparison.runs.size() == comparison.logs.size();
  return alone ? run.log : run.name;
}

std::string acceptance_sentence(const MetricDifference& length, const std::string& candidate,
                                const std::string& reference) {
  const double half = (length.difference_ci95.high - length.difference_ci95.low) / 2.0;
  const int digits = digits_for(half);
  if (!length.shown) {
    return fmt::format(
        "No difference in acceptance length between {} and {} is shown: {} +- {}; a change of {} or more would have "
        "been seen.",
        candidate, reference, rounded(length.difference, digits), rounded_up(half, digits),
        rounded_up(length.smallest_detectable, digits));
  }
  const Sizes sizes = sizes_of(length.difference, length.difference_ci95);
  return fmt::format("{} accepts {} {} tokens per iteration than {} ({} to {}).", candidate,
                     rounded(sizes.size, digits), length.difference > 0.0 ? "more" : "fewer", reference,
                     rounded(sizes.low, digits), rounded(sizes.high, digits));
}

std::string tpot_sentence(const MetricDifference& tpot) {
  constexpr double percent = 100.0;
  const Interval change{percent * (tpot.ratio_ci95.low - 1.0), percent * (tpot.ratio_ci95.high - 1.0)};
  const double difference = percent * (tpot.ratio - 1.0);
  const int digits = digits_for((change.high - change.low) / 2.0);
  if (!tpot.shown) {
    return fmt::format(" No difference in TPOT is shown: {} % ({} to {} %).", signed_rounded(difference, digits),
                       rounded(change.low, digits), rounded(change.high, digits));
  }
  const Sizes sizes = sizes_of(difference, change);
  return fmt::format(" Its TPOT is {} % {} ({} to {} %).", rounded(sizes.size, digits),
                     difference > 0.0 ? "higher" : "lower", rounded(sizes.low, digits), rounded(sizes.high, digits));
}

std::string comparison_sentences(const RunComparison& compared, const Comparison& comparison) {
  const std::string candidate = short_or_full(comparison.runs[compared.candidate], comparison);
  const std::string reference = short_or_full(comparison.runs[compared.reference], comparison);
  std::string text;
  const MetricDifference* length = metric_of(compared, "acceptance_length");
  if (length != nullptr) text = acceptance_sentence(*length, candidate, reference);
  const MetricDifference* tpot = metric_of(compared, "tpot_ms");
  if (tpot != nullptr) text += tpot_sentence(*tpot);
  return !text.empty()
             ? text
             : fmt::format("Neither acceptance length nor TPOT is known of both {} and {}.", candidate, reference);
}

/// Of several comparisons, how many show which sign.
std::string count_sentence(const Comparison& comparison) {
  std::size_t more = 0;
  std::size_t fewer = 0;
  for (const RunComparison& compared : comparison.compared) {
    const MetricDifference* length = metric_of(compared, "acceptance_length");
    if (length == nullptr || !length->shown) continue;
    (length->difference > 0.0 ? more : fewer) += 1;
  }
  return fmt::format(" Of {} comparisons {} show{} a larger acceptance length, {} a smaller one.",
                     comparison.compared.size(), more, more == 1 ? "s" : "", fewer);
}

double steps_of_run(const RunEstimates& run) { return run.run.steps; }

/// The one of most verification steps.
const RunComparison& main_comparison(const Comparison& comparison) {
  return *std::ranges::max_element(comparison.compared, {},
                                   [&](const RunComparison& one) { return comparison.runs[one.candidate].run.steps; });
}

std::string estimate_sentence(const RunEstimates& run) {
  const MeasuredMetric* length = run.find("acceptance_length");
  const MeasuredMetric* speedup = run.find("speedup");
  std::string text =
      length == nullptr
          ? fmt::format("The acceptance length of {} is not known: {}.", run.name, run.unknown.at("acceptance_length"))
          : fmt::format("{} yields {} tokens per iteration.", run.name, with_interval(length->estimate));
  return text + (speedup == nullptr ? fmt::format(" Its speedup is not known: {}.", run.unknown.at("speedup"))
                                    : fmt::format(" Its speedup is {}.", with_interval(speedup->estimate)));
}

std::string requirements_sentence(const Comparison& comparison) {
  using Outcome = RequirementVerdict::Outcome;
  std::vector<std::string> counts;
  for (const Outcome outcome : {Outcome::not_met, Outcome::not_shown, Outcome::met}) {
    const auto count = std::ranges::count(comparison.verdicts, outcome, &RequirementVerdict::outcome);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, outcome_word(outcome)));
  }
  return fmt::format("Requirements: {}. ", fmt::join(counts, ", "));
}

// ---- tables and lines

using Align = Table::Align;

constexpr std::size_t max_shown_comparisons = 6;
constexpr std::size_t max_shown_lines = 8;
constexpr std::size_t max_name_characters = 44;

std::string differences_table(const RunComparison& compared, const Comparison& comparison) {
  const RunEstimates& reference = comparison.runs[compared.reference];
  const RunEstimates& candidate = comparison.runs[compared.candidate];
  const bool two_logs = reference.log != candidate.log;
  Table table{.caption = {},
              .columns = {{"", Align::left},
                          {two_logs ? reference.log : "first", Align::right},
                          {two_logs ? candidate.log : "this", Align::right},
                          {"difference, 95 %", Align::right},
                          {"ratio, 95 %", Align::right},
                          {"seen from", Align::right}},
              .rows = {}};
  bool paired = false;
  for (const MetricDifference& one : compared.metrics) {
    if (one.metric.starts_with("marginal[")) continue;  // in the document only
    paired = paired || one.paired;
    const double half = (one.difference_ci95.high - one.difference_ci95.low) / 2.0;
    const int digits = digits_for(half);
    table.rows.push_back({std::string(metric_entry(one.metric).title), rounded(one.reference, digits),
                          rounded(one.candidate, digits),
                          signed_rounded(one.difference, digits) + " +- " + rounded_up(half, digits),
                          std::isfinite(one.ratio) ? with_interval(one.ratio, one.ratio_ci95) : "",
                          rounded_up(one.smallest_detectable, digits)});
  }
  return labeled("",
                 fmt::format("{} against {}{}", candidate.name, reference.name, paired ? ", request by request" : "")) +
         to_text(table);
}

std::string comparisons_text(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < std::min(max_shown_comparisons, comparison.compared.size()); ++i) {
    text += "\n" + differences_table(comparison.compared[i], comparison);
  }
  if (comparison.compared.size() > max_shown_comparisons) {
    text += fmt::format("\n{} more comparisons: --json\n", comparison.compared.size() - max_shown_comparisons);
  }
  return text;
}

std::string cell(const RunEstimates& run, std::string_view metric) {
  const MeasuredMetric* measured = run.find(metric);
  return measured == nullptr ? "" : with_half_interval(measured->estimate);
}

std::string_view ranked_by(std::string_view metric) {
  return metric == "tpot_ms" ? "TPOT" : metric_entry(metric).title;
}

/// All runs, best first among those that may be compared.
std::string ranking_text(const Comparison& comparison) {
  if (comparison.ranking.empty()) return "";
  Table table;
  for (const char* title : {"rank", "run"}) table.columns.push_back({title, Align::left});
  for (const char* title : {"acceptance length", "TPOT ms", "speedup"}) table.columns.push_back({title, Align::right});
  std::set<std::string> by;
  std::size_t group = 1;
  for (const Ranked& one : comparison.ranking) {
    if (one.group != group) table.rows.push_back({"", "", "", "", ""});
    group = one.group;
    const RunEstimates& run = comparison.runs[one.run];
    by.insert(std::string(ranked_by(one.metric)));
    table.rows.push_back({fmt::format("{}{}", one.place, one.tied ? " tie" : ""),
                          readable(run.name, max_name_characters), cell(run, "acceptance_length"), cell(run, "tpot_ms"),
                          cell(run, "speedup")});
  }
  return "\n" + to_text(table) +
         fmt::format("\nranked by {} within a load; tie: within noise of the first\n", fmt::join(by, ", "));
}

std::string_view cluster_word(logs::Span span) {
  if (span == logs::Span::request) return "requests";
  return span == logs::Span::window ? "windows" : "runs";
}

/// What the intervals rest on, runs of the same clusters together.
std::string evidence_text(const Comparison& comparison) {
  std::map<std::string, std::size_t> kinds;
  bool assumed = false;
  for (const RunEstimates& run : comparison.runs) {
    for (const MeasuredMetric& one : run.measured) {
      if (is_assumed(one.estimate)) {
        assumed = true;
      } else {
        std::size_t& minimum = kinds.try_emplace(std::string(cluster_word(one.span)), one.clusters).first->second;
        minimum = std::min(minimum, one.clusters);
      }
    }
  }
  std::string text;
  for (const auto& [kind, minimum] : kinds) {
    text += fmt::format("{}{} ({} at least)", text.empty() ? "95 %, from the scatter of " : " and ", kind, minimum);
  }
  if (assumed) {
    text +=
        fmt::format("{}where a run is a single observation, or all agree, {:.0f} % is assumed as its standard error",
                    text.empty() ? "" : "; ", 100.0 * single_run_error);
  }
  return text.empty() ? "" : labeled("intervals", text);
}

/// At most max_shown_lines of `lines`, the first one after `label`.
std::string lines_text(std::string_view label, const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < std::min(max_shown_lines, lines.size()); ++i) {
    text += labeled(i == 0 ? label : " ", lines[i]);
  }
  if (lines.size() > max_shown_lines) text += labeled(" ", fmt::format("{} more", lines.size() - max_shown_lines));
  return text;
}

std::string not_compared_text(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const NotCompared& one : comparison.not_compared) {
    const std::string beside = one.reference ? " and " + comparison.runs[*one.reference].name : "";
    lines.push_back(fmt::format("{}{}: {}", comparison.runs[one.candidate].name, beside, one.why));
  }
  return lines_text("differ", lines);
}

std::string verdicts_text(const Comparison& comparison) {
  std::string text;
  for (const RequirementVerdict& verdict : comparison.verdicts) {
    const std::string what = verdict.value ? with_interval(*verdict.value, *verdict.ci95) : "not known, " + verdict.why;
    text += labeled(text.empty() ? "required" : " ", fmt::format("{}: {} by {}: {}", verdict.requirement.text,
                                                                 outcome_word(verdict.outcome), verdict.run, what));
  }
  return text;
}

std::string no_speedup_text(const Comparison& comparison) {
  std::set<std::string> whys;
  for (const RunEstimates& run : comparison.runs) {
    const auto why = run.unknown.find("speedup");
    if (why != run.unknown.end()) whys.insert(why->second);
  }
  return lines_text("no speedup", {whys.begin(), whys.end()});
}

std::string sources_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedLog& log : comparison.logs) {
    text += labeled(log.name, fmt::format("{}: {}{}", readable(log.file), log.engine.empty() ? log.format : log.engine,
                                          log.version.empty() ? "" : " " + readable(log.version, 24)));
  }
  return text;
}

}  // namespace

std::string answer_of(const Comparison& comparison) {
  std::string text = comparison.verdicts.empty() ? "" : requirements_sentence(comparison);
  if (!comparison.compared.empty()) {
    text += comparison_sentences(main_comparison(comparison), comparison);
    return comparison.compared.size() == 1 ? text : text + count_sentence(comparison);
  }
  if (comparison.logs.size() == 1)
    return text + estimate_sentence(*std::ranges::max_element(comparison.runs, {}, steps_of_run));
  const NotCompared& first = comparison.not_compared.front();
  return text + fmt::format("Nothing is compared: {}{}.", first.why,
                            comparison.not_compared.size() == 1
                                ? ""
                                : fmt::format(", and {} more", comparison.not_compared.size() - 1));
}

std::string to_text(const Comparison& comparison) {
  std::string text = labeled("", comparison.answer) + sources_text(comparison);
  text += verdicts_text(comparison) + comparisons_text(comparison) + ranking_text(comparison);
  return text + "\n" + evidence_text(comparison) + not_compared_text(comparison) + no_speedup_text(comparison) +
         lines_text("warnings", warning_lines(comparison.warnings));
}

}  // namespace foredraft::experiments
