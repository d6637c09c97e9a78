// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "answers/comparison.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

// ---- tables and lines

using Align = Table::Align;

constexpr std::size_t max_shown_comparisons = 6;
constexpr std::size_t max_shown_lines = 8;
constexpr std::size_t max_name_characters = 44;

std::string differences_table(const answers::RunComparison& compared, const answers::Comparison& comparison) {
  const answers::RunEstimates& reference = comparison.runs[compared.reference];
  const answers::RunEstimates& candidate = comparison.runs[compared.candidate];
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
  for (const answers::MetricDifference& one : compared.metrics) {
    if (one.metric.starts_with("marginal[")) continue;  // only in the document
    paired = paired || one.paired;
    const double half = (one.difference_ci95.high - one.difference_ci95.low) / 2.0;
    const int digits = answers::digits_for(half);
    table.rows.push_back(
        {std::string(answers::metric_entry(one.metric).title), answers::rounded(one.reference, digits),
         answers::rounded(one.candidate, digits),
         answers::signed_rounded(one.difference, digits) +
             (std::isnan(half) ? std::string() : " +- " + answers::rounded_up(half, digits)),
         std::isfinite(one.ratio) ? answers::with_interval(one.ratio, one.ratio_ci95) : "",
         std::isnan(one.smallest_detectable) ? std::string() : answers::rounded_up(one.smallest_detectable, digits)});
  }
  return labeled("",
                 fmt::format("{} against {}{}", candidate.name, reference.name, paired ? ", request by request" : "")) +
         to_text(table);
}

std::string comparisons_text(const answers::Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < std::min(max_shown_comparisons, comparison.compared.size()); ++i) {
    text += "\n" + differences_table(comparison.compared[i], comparison);
  }
  if (comparison.compared.size() > max_shown_comparisons) {
    text += fmt::format("\n{} more comparisons: --json\n", comparison.compared.size() - max_shown_comparisons);
  }
  return text;
}

std::string cell(const answers::RunEstimates& run, std::string_view metric) {
  const answers::MeasuredMetric* measured = run.find(metric);
  return measured == nullptr ? "" : answers::with_half_interval(measured->estimate);
}

std::string_view ranked_by(std::string_view metric) {
  return metric == "tpot_ms" ? "TPOT" : answers::metric_entry(metric).title;
}

std::string cost_text(double cost) { return decimal_text(cost, cost < 1.0 ? 3 : 2); }

/// "0.55 -> 0.42": without and with speculation.
std::string cost_cell(const answers::ComparedCost& cost) {
  if (!cost.own) return "";
  return (cost.plain ? cost_text(*cost.plain) + " -> " : "") + cost_text(*cost.own);
}

std::string price_text(const answers::Comparison& comparison) {
  if (!comparison.gpu_price) return "";
  const std::int64_t gpus = comparison.gpu_price->gpus;
  return labeled("per 1M", fmt::format("cost of 1M output tokens at the logged output tokens/s (without speculation -> "
                                       "with it), at {} per GPU hour{}",
                                       short_number_text(comparison.gpu_price->per_hour),
                                       gpus == 1 ? "" : fmt::format(", {} GPUs", gpus)));
}

/// All runs; comparable ones best first.
std::string ranking_text(const answers::Comparison& comparison) {
  if (comparison.ranking.empty()) return "";
  Table table;
  for (const char* title : {"rank", "run"}) table.columns.push_back({title, Align::left});
  for (const char* title : {"acceptance length", "TPOT ms", "speedup"}) table.columns.push_back({title, Align::right});
  if (comparison.gpu_price) table.columns.push_back({"per 1M", Align::right});
  std::set<std::string> by;
  std::size_t group = 1;
  for (const answers::Ranked& one : comparison.ranking) {
    if (one.group != group) table.rows.emplace_back(table.columns.size());
    group = one.group;
    const answers::RunEstimates& run = comparison.runs[one.run];
    by.insert(std::string(ranked_by(one.metric)));
    table.rows.push_back({fmt::format("{}{}", one.place, one.tied ? " tie" : ""),
                          readable(run.name, max_name_characters), cell(run, "acceptance_length"), cell(run, "tpot_ms"),
                          cell(run, "speedup")});
    if (comparison.gpu_price) table.rows.back().push_back(cost_cell(comparison.costs[one.run]));
  }
  return "\n" + to_text(table) +
         fmt::format("\nranked by {} within a load; tie: within noise of the first\n", fmt::join(by, ", "));
}

std::string_view cluster_word(logs::Span span) {
  if (span == logs::Span::request) return "requests";
  return span == logs::Span::window ? "windows" : "runs";
}

/// Whether the error comes from counting or rounding instead of scatter.
bool is_stated(const analytic::ClusteredEstimate& estimate) {
  return std::ranges::all_of(estimate.sources, [](const analytic::ErrorSource& source) {
    return source.origin == analytic::ErrorOrigin::stated;
  });
}

/// The clusters behind the intervals; runs with the same clusters together.
std::string evidence_text(const answers::Comparison& comparison) {
  std::map<std::string, std::size_t> kinds;
  bool assumed = false;
  bool counted = false;
  for (const answers::RunEstimates& run : comparison.runs) {
    for (const answers::MeasuredMetric& one : run.measured) {
      if (is_assumed(one.estimate)) {
        assumed = true;
      } else if (is_stated(one.estimate)) {
        counted = true;
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
  if (counted) {
    text += text.empty() ? "95 %, from the counted steps of each run" : " and from counted steps";
  }
  if (assumed) {
    text += fmt::format("{}a single run has no known error", text.empty() ? "" : "; ");
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

std::string not_compared_text(const answers::Comparison& comparison) {
  std::vector<std::string> lines;
  for (const answers::NotCompared& one : comparison.not_compared) {
    const std::string beside = one.reference ? " and " + comparison.runs[*one.reference].name : "";
    lines.push_back(fmt::format("{}{}: {}", comparison.runs[one.candidate].name, beside, one.why));
  }
  return lines_text("differ", lines);
}

/// " times A" if the run of A has the same name as the judged one except for the log.
std::string times_reference(const answers::RequirementVerdict& verdict) {
  if (verdict.reference.empty()) return "";
  const bool same = verdict.reference.substr(1) == verdict.run.substr(1);
  return " times " + (same ? verdict.reference.substr(0, 1) : verdict.reference);
}

std::string verdicts_text(const answers::Comparison& comparison) {
  std::string text;
  for (const answers::RequirementVerdict& verdict : comparison.verdicts) {
    const std::string what =
        verdict.ci95    ? answers::with_interval(*verdict.value, *verdict.ci95) + times_reference(verdict)
        : verdict.value ? fmt::format("{:.3f}{}, {}", *verdict.value, times_reference(verdict), verdict.why)
                        : "not known, " + verdict.why;
    text += labeled(text.empty() ? "required" : " ",
                    fmt::format("{}: {} by {}: {}", verdict.requirement.text, answers::outcome_word(verdict.outcome),
                                verdict.run, what));
  }
  return text;
}

std::string no_speedup_text(const answers::Comparison& comparison) {
  std::set<std::string> whys;
  for (const answers::RunEstimates& run : comparison.runs) {
    const auto why = run.unknown.find("speedup");
    if (why != run.unknown.end() && !run.run.is_plain()) whys.insert(why->second);
  }
  return lines_text("no speedup", {whys.begin(), whys.end()});
}

std::string sources_text(const answers::Comparison& comparison) {
  std::string text;
  for (const answers::ComparedLog& log : comparison.logs) {
    text += labeled(log.name, fmt::format("{}: {}{}{}", readable(log.file), log.is_baseline ? "baseline, " : "",
                                          log.engine.empty() ? log.format : log.engine,
                                          log.version.empty() ? "" : " " + readable(log.version, 24)));
  }
  return text;
}

}  // namespace

std::string to_text(const answers::Comparison& comparison) {
  std::string text = labeled("", comparison.answer) + sources_text(comparison);
  text += verdicts_text(comparison) + comparisons_text(comparison) + ranking_text(comparison);
  return text + "\n" + evidence_text(comparison) + price_text(comparison) + not_compared_text(comparison) +
         no_speedup_text(comparison) + lines_text("warnings", answers::warning_lines(comparison.warnings));
}

}  // namespace foredraft::app
