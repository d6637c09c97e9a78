// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "answers/advice.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

constexpr std::size_t max_loads = 6;

std::string count_text(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// ", 61 % of drafts accepted" of the runs that counted both, of several drafters each; empty: none did.
std::string accepted_text(const answers::Advice& advice) {
  std::vector<std::pair<std::string, std::pair<double, double>>> drafters;  // accepted and drafted tokens of each
  for (const answers::RunEstimates& one : advice.runs) {
    if (!(one.run.drafted_tokens > 0.0)) continue;
    const std::string name = readable(one.run.setting.drafter, 24);
    auto known = std::ranges::find(drafters, name, [](const auto& drafter) { return drafter.first; });
    if (known == drafters.end()) known = drafters.insert(drafters.end(), {name, {0.0, 0.0}});
    known->second.first += one.run.accepted_tokens;
    known->second.second += one.run.drafted_tokens;
  }
  std::string text;
  for (const auto& [name, tokens] : drafters) {
    const double percent = 100.0 * tokens.first / tokens.second;
    text += text.empty() ? fmt::format(", {:.2g} % of drafts accepted", percent) : fmt::format(", {:.2g} %", percent);
    if (drafters.size() > 1) text += fmt::format(" ({})", name.empty() ? "others" : name);
  }
  return text;
}

std::string what_was_read(const answers::Advice& advice) {
  std::string text = advice.engine.empty() ? "format " + advice.format : advice.engine;
  if (!advice.version.empty()) text += " " + readable(advice.version, 24);
  if (advice.settings.method) text += ", " + readable(*advice.settings.method, 24);
  std::set<std::int64_t> gammas;
  double plain = 0.0;
  for (const answers::RunEstimates& one : advice.runs) {
    if (one.run.setting.gamma && !one.run.setting.adaptive) gammas.insert(*one.run.setting.gamma);
    if (one.run.is_plain()) plain += static_cast<double>(one.run.observations);
  }
  text += ": " + (advice.verification_steps ? count_text(*advice.verification_steps) + " verification steps"
                  : advice.tokens_observed  ? std::string("acceptance lengths without counts")
                                            : std::string("no acceptance"));
  if (gammas.size() > 4) {
    text += fmt::format(" at K = {} to {}", *gammas.begin(), *gammas.rbegin());
  } else if (!gammas.empty()) {
    text += fmt::format(" at K = {}", fmt::join(gammas, ", "));
  }
  if (gammas.size() < 2) text += accepted_text(advice);
  if (plain > 0.0) text += fmt::format(", {:.0f} plain {}", plain, plain == 1.0 ? "observation" : "observations");
  return text;
}

// ---- loads

/// All loads, or the smallest and largest ones.
std::vector<const answers::LoadAdvice*> shown_loads(const answers::Advice& advice) {
  std::vector<const answers::LoadAdvice*> loads;
  const std::size_t all = advice.loads.size();
  for (std::size_t i = 0; i < all; ++i) {
    if (all <= max_loads || i < max_loads / 2 || i + max_loads / 2 >= all) loads.push_back(&advice.loads[i]);
  }
  return loads;
}

/// The table without the columns that have only a title.
Table without_empty_columns(const Table& table) {
  Table kept;
  kept.rows.resize(table.rows.size());
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto empty = [&](const std::vector<std::string>& row) { return row[column].empty(); };
    if (std::ranges::all_of(table.rows, empty)) continue;
    kept.columns.push_back(table.columns[column]);
    for (std::size_t row = 0; row < table.rows.size(); ++row) kept.rows[row].push_back(table.rows[row][column]);
  }
  return kept;
}

std::string estimate_text(const analytic::ClusteredEstimate* estimate) {
  constexpr double whole = 100.0;
  if (estimate == nullptr) return "";
  return estimate->value < whole ? fmt::format("{:.3g}", estimate->value) : fmt::format("{:.0f}", estimate->value);
}

/// The fastest setting that was logged only at smaller or only at larger loads; nullptr: none.
const answers::SpeedupRow* fastest_outside(const answers::LoadAdvice& load) {
  const answers::SpeedupRow* fastest = nullptr;
  for (const answers::SpeedupRow& row : load.by_gamma) {
    if (row.time != answers::SpeedupRow::Time::extrapolated) continue;
    if (fastest == nullptr || row.value > fastest->value) fastest = &row;
  }
  return fastest;
}

/// The row of the recommended draft length at a load where it was not logged; nullptr: none.
const answers::SpeedupRow* recommended_between(const answers::Advice& advice, const answers::LoadAdvice& load) {
  if (!advice.recommendation) return nullptr;
  const auto found = std::ranges::find_if(load.by_gamma, [&](const answers::SpeedupRow& row) {
    using Time = answers::SpeedupRow::Time;
    return row.curve == advice.main_curve && row.gamma == advice.recommendation->gamma &&
           (row.time == Time::interpolated || row.time == Time::predicted);
  });
  return found == load.by_gamma.end() ? nullptr : &*found;
}

/// "0.99 to 1.39", or the value if its interval is unknown.
std::string range_text(const answers::SpeedupRow& row) {
  return std::isfinite(row.low) ? fmt::format("{:.2f} to {:.2f}", row.low, row.high)
                                : fmt::format("about {:.2f}", row.value);
}

std::string outside_name(const answers::SpeedupRow& row, const answers::Advice& advice) {
  constexpr std::size_t longest_drafter = 24;
  const std::string& drafter = advice.curves[row.curve].name;
  if (advice.curves[row.curve].setting.tree) return drafter;
  const std::string length = advice.curves[row.curve].setting.adaptive ? "adaptive"
                             : row.gamma > 0                           ? fmt::format("K = {}", row.gamma)
                                                                       : "K unknown";
  return advice.curves.size() > 1 && !drafter.empty() ? readable(drafter, longest_drafter) + ", " + length : length;
}

/// Whether some iterations draft nothing: then tokens per iteration are no acceptance length.
bool skips_drafts(const answers::Advice& advice) {
  return std::ranges::any_of(advice.runs,
                             [](const answers::RunEstimates& one) { return one.run.has_undrafted_steps(); });
}

/// A row for each logged setting of each load, below the plain run that it is compared with. Then, marked as such, a
/// row for the recommended setting if it was not logged, and one for the fastest setting that was logged only at other
/// loads.
std::string loads_table(const answers::Advice& advice) {
  using Align = Table::Align;
  constexpr std::size_t longest_name = 30;
  Table table;
  table.columns = {{"", Align::left},
                   {"", Align::left},
                   {skips_drafts(advice) ? "tokens/iteration" : "acceptance length", Align::right},
                   {"iteration ms", Align::right},
                   {"decode steps", Align::right},
                   {advice.times_answers() ? "answer ms" : "TPOT ms", Align::right},
                   {"tokens/s", Align::right},
                   {"speedup", Align::right},
                   {"per 1M", Align::right}};
  std::vector<answers::Run> runs;
  for (const answers::RunEstimates& one : advice.runs) runs.push_back(one.run);
  const bool timed = std::ranges::all_of(advice.loads, [&](const answers::LoadAdvice& load) {
    return !load.by_capacity && advice.runs[load.logged.front().run].estimate("tpot_ms") != nullptr;
  });
  const auto per_s = [&](const answers::RunEstimates& run) {
    return timed || !run.throughput ? std::string() : estimate_text(&*run.throughput);
  };
  const auto cost = [&](const answers::RunEstimates& run) {
    const auto found = advice.gpu_price ? answers::cost_of(*advice.gpu_price, &run) : std::nullopt;
    return found ? fmt::format("{:.2f}", *found) : std::string();
  };
  const auto shown = shown_loads(advice);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const answers::LoadAdvice* load = shown[i];
    if (shown.size() < advice.loads.size() && i == shown.size() / 2)  // else a reader takes these for all
      table.rows.push_back(
          {fmt::format("{} more: --json", advice.loads.size() - shown.size()), "", "", "", "", "", "", "", ""});
    std::string name = readable(load->name, longest_name);
    const analytic::ClusteredEstimate* step = nullptr;
    if (load->plain) {
      const answers::RunEstimates& plain = advice.runs[*load->plain];
      step = plain.estimate("tpot_ms");
      table.rows.push_back({name, "plain", "", "", "", estimate_text(step), per_s(plain), "", cost(plain)});
      name.clear();
    }
    for (const answers::LoggedRun& logged : load->logged) {
      const answers::RunEstimates& run = advice.runs[logged.run];
      const analytic::ClusteredEstimate* iteration = run.estimate("iteration_ms");
      const bool in_steps = iteration != nullptr && step != nullptr && !load->by_capacity;
      table.rows.push_back({name, answers::setting_text(run.run, runs),
                            run.run.tokens ? fmt::format("{:.3f}", run.run.tokens->mean) : "", estimate_text(iteration),
                            in_steps ? fmt::format("{:.2f}", iteration->value / step->value) : "",
                            estimate_text(run.estimate("tpot_ms")), per_s(run),
                            logged.speedup ? answers::with_half_width(*logged.speedup) : "", cost(run)});
      name.clear();
    }
    if (const answers::SpeedupRow* between = recommended_between(advice, *load)) {
      const analytic::TokensAtGamma* at = advice.curve()->at(between->gamma);
      table.rows.push_back({"not logged", outside_name(*between, advice),
                            at == nullptr ? "" : fmt::format("{:.3f}", at->value), "", "", "", "", range_text(*between),
                            ""});
    }
    if (const answers::SpeedupRow* outside = fastest_outside(*load)) {
      table.rows.push_back({"outside of its logged loads", outside_name(*outside, advice), "", "", "", "", "",
                            range_text(*outside), ""});
    }
  }
  table = without_empty_columns(table);
  std::string text = to_text(table);
  // Left out of a narrower table: an iteration in decode steps states the same.
  const auto iteration = std::ranges::find(table.columns, "iteration ms", &Table::Column::title);
  if (text.find('\n') <= text_columns || iteration == table.columns.end()) return text;
  const auto place = static_cast<std::size_t>(iteration - table.columns.begin());
  for (std::vector<std::string>& row : table.rows) row[place].clear();
  return to_text(without_empty_columns(table));
}

// ---- categories of requests and prompts

std::string spread_text(const answers::Advice& advice) {
  if (!advice.spread) return "";
  const answers::RequestSpread& spread = *advice.spread;
  return labeled("spread", fmt::format("of {} requests 10 % stay below {:.2f} tokens per iteration, half below {:.2f}, "
                                       "90 % below {:.2f}",
                                       spread.requests, spread.tenth, spread.half, spread.nine_tenths));
}

/// A line for each dimension, with at most six values: those at both ends.
std::string strata_text(const answers::Advice& advice) {
  constexpr std::size_t at_each_end = 3;
  std::string text;
  for (auto first = advice.strata.begin(); first != advice.strata.end();) {
    const auto last = std::find_if(first, advice.strata.end(), [&](const answers::StratumTokens& one) {
      return one.dimension != first->dimension;
    });
    const auto number = static_cast<std::size_t>(last - first);
    std::vector<std::string> values;
    for (std::size_t i = 0; i < number; ++i) {
      if (i >= at_each_end && i + at_each_end < number) {
        if (i == at_each_end) values.push_back(fmt::format("{} more", number - 2 * at_each_end));
        continue;
      }
      const answers::StratumTokens& one = *(first + static_cast<std::ptrdiff_t>(i));
      values.push_back(one.name + " " +
                       (std::isfinite(one.tokens.standard_error) ? answers::with_half_width(one.tokens)
                                                                 : fmt::format("{:.2f}", one.tokens.mean)));
    }
    text += labeled("by " + first->dimension, fmt::format("{}", fmt::join(values, ", ")));
    first = last;
  }
  return text;
}

/// The cost of prompts if windows determine it: their share of the time, not only of the tokens. `brief`: without the
/// time of a prompt token.
std::string prefill_text(const answers::Advice& advice, bool brief) {
  std::string text;
  for (const answers::LoadAdvice* load : shown_loads(advice)) {
    if (!load->prefill || !load->iteration_ms) continue;
    const double share = std::clamp(1.0 - load->prefill->decode_ms.mean / load->iteration_ms->mean, 0.0, 1.0);
    const std::string of_token =
        brief ? "" : fmt::format("{:.3g} ms per 1,000 tokens; ", 1000.0 * load->prefill->per_prompt_token_ms.mean);
    text += labeled(text.empty() ? "prefill" : " ",
                    fmt::format("at {} prompts take {:.0f} % of the time: {}an iteration without any {:.3g} ms",
                                load->name, 100.0 * share, of_token, load->prefill->decode_ms.mean));
  }
  return text;
}

// ---- draft lengths

bool is_shown(const answers::Advice& advice, std::int64_t gamma) {
  constexpr std::int64_t near = 5;
  const bool logged = gamma == advice.gamma_observed;
  return gamma <= near || gamma == 8 || logged;
}

/// Number of kinds of prompts of which runs at the loads belong to a curve.
std::size_t kinds_of(const answers::AcceptanceCurve& curve, const answers::Advice& advice) {
  std::set<std::optional<std::string>> kinds;
  for (const answers::LoadAdvice& load : advice.loads) {
    const auto is_of = [&](const answers::LoggedRun& run) { return &advice.curves.at(run.curve) == &curve; };
    if (std::ranges::any_of(load.logged, is_of)) kinds.insert(load.load.category);
  }
  return kinds.size();
}

/// " (logged)"; " (mean)" if loads of that draft length have clearly other acceptance lengths, or are of several kinds.
std::string_view source_of_logged(double length, const answers::Advice& advice) {
  constexpr double clearly = 0.05;
  const auto differs = [&](const answers::LoadAdvice& load) {
    return load.tokens && load.logged[load.main].curve == advice.main_curve &&
           load.gamma.value_or(*advice.gamma_observed) == *advice.gamma_observed &&
           std::abs(load.tokens->mean - length) > clearly * length;
  };
  const bool pooled = std::ranges::any_of(advice.loads, differs) || kinds_of(*advice.curve(), advice) > 1;
  return pooled ? " (mean)" : " (logged)";
}

/// `brief`: one of several drafters, or the mean of several kinds of prompts: without the longest draft.
std::string lengths_text(const answers::AcceptanceCurve& curve, const answers::Advice& advice, bool brief) {
  constexpr std::int64_t longest_of_brief = 5;
  std::vector<std::string> lengths;
  const bool is_main = &curve == advice.curve();
  for (const analytic::TokensAtGamma& at : curve.by_gamma) {
    if (!is_shown(advice, at.gamma) || (brief && at.gamma > longest_of_brief && at.gamma != advice.gamma_observed))
      continue;
    const bool open = at.source == analytic::TokensAtGamma::Source::left_open;
    const std::string value = open ? fmt::format("{:.2f}..{:.2f}", at.low, at.high) : fmt::format("{:.2f}", at.value);
    lengths.push_back(fmt::format("{}: {}{}", at.gamma, value,
                                  is_main && at.gamma == advice.gamma_observed
                                      ? std::string(source_of_logged(at.value, advice))
                                  : open || !at.extrapolated ? std::string()
                                  : at.low < 1.0             ? fmt::format(" (1 to {:.2f})", at.high)
                                                             : fmt::format(" +- {:.2f}", (at.high - at.low) / 2.0)));
  }
  return fmt::format("{}", fmt::join(lengths, ", "));
}

/// Speedups at draft lengths that were not logged. The table has the logged ones.
std::string speedup_by_k_text(const answers::LoadAdvice& load) {
  std::vector<std::string> speedups;
  for (const answers::SpeedupRow& at : load.by_gamma) {
    using Time = answers::SpeedupRow::Time;
    if (at.time != Time::interpolated && at.time != Time::predicted) continue;
    speedups.push_back(fmt::format("{}: {:.2f}", at.gamma, at.value));
  }
  return fmt::format("{}", fmt::join(speedups, ", "));
}

/// Of too few steps for a fit.
std::string few_steps_text(const answers::Advice& advice) {
  const auto counts = answers::counts_of_few_steps(advice);
  if (!counts || counts->gamma < 2) return "";
  std::vector<std::string> lengths;
  double length = 1.0;
  for (std::int64_t gamma = 1; gamma <= counts->gamma; ++gamma) {
    length += counts->marginal[static_cast<std::size_t>(gamma - 1)];
    if (is_shown(advice, gamma)) lengths.push_back(fmt::format("{}: {:.2f}", gamma, length));
  }
  return fmt::format("acceptance length {} in {:.0f} steps", fmt::join(lengths, ", "), counts->steps);
}

std::string by_gamma_text(const answers::Advice& advice) {
  if (advice.curve() == nullptr) return "";
  if (const std::string few = few_steps_text(advice); !few.empty()) return labeled("by K", few);
  if (advice.curve()->by_gamma.empty()) return "";
  const bool undrafted = skips_drafts(advice);
  // Without a speedup no drafter is chosen: each has its lengths.
  constexpr std::size_t most = 3;
  const bool all = advice.compared().empty() && advice.curves.size() > 1 && advice.curves.size() <= most;
  std::string text;
  for (const answers::AcceptanceCurve& curve : advice.curves) {
    const bool shown = &curve == advice.curve() || (all && !curve.by_gamma.empty());
    if (!shown) continue;
    const std::size_t kinds = kinds_of(curve, advice);
    const std::string of =
        all ? fmt::format("{}{}", curve.name.empty() ? "others" : readable(curve.name, 24),
                          undrafted ? " (steps that draft)" : "")
            : fmt::format("acceptance length{}{}", kinds > 1 ? fmt::format(" over {} kinds", kinds) : "",
                          undrafted ? " of the steps that draft" : "");
    // The sum of logged rates by position is not the length of shorter drafts (docs/adr/0018).
    const bool modeled = std::ranges::find(curve.by_gamma, analytic::TokensAtGamma::Source::fitted,
                                           &analytic::TokensAtGamma::source) != curve.by_gamma.end();
    const std::string_view label = !text.empty() ? " " : modeled ? "by K, model" : "by K";
    text += labeled(label, fmt::format("{} {}", of, lengths_text(curve, advice, all || kinds > 1)));
  }
  for (const answers::LoadAdvice* load : shown_loads(advice)) {
    const std::string speedups = speedup_by_k_text(*load);
    if (!speedups.empty()) text += labeled(" ", fmt::format("speedup at {} {}", load->name, speedups));
  }
  return text;
}

std::size_t line_count(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

std::string warnings_text(const answers::Advice& advice) {
  const std::vector<std::string> texts = answers::warning_lines(advice.warnings);
  return texts.empty() ? "" : labeled("warnings", fmt::format("{}", fmt::join(texts, "; ")));
}

/// Text to paste, in lines of at most 100 columns: a command breaks with a backslash, JSON after a comma.
std::string continued(std::string line) {
  constexpr std::string_view indent = "  ";
  std::string text;
  while (line.size() > text_columns) {
    const std::size_t option = line.rfind(" --", text_columns - 2);
    const std::size_t comma = line.rfind(',', text_columns - 1);
    if (option != std::string::npos && option > indent.size()) {
      text += line.substr(0, option) + " \\\n";
      line = fmt::format("{}{}", indent, line.substr(option + 1));
    } else if (comma != std::string::npos) {
      text += line.substr(0, comma + 1) + "\n";
      line = fmt::format("{}{}", indent, line.substr(comma + 1));
    } else {
      break;
    }
  }
  return text + line + "\n";
}

std::string settings_text(std::string_view settings) {
  if (settings.empty()) return "";
  if (settings.find('\n') == std::string_view::npos && settings.size() + columns_of_label <= text_columns) {
    return fmt::format("{:<{}}{}\n", "suggested", columns_of_label, settings);
  }
  std::string text = "suggested\n";
  std::istringstream lines{std::string(settings)};
  for (std::string line; std::getline(lines, line);) text += continued(line);
  return text;
}

}  // namespace

/// At most twelve lines, not counting rows of the table after the fourth and lines of settings and warnings after the
/// first. Without room, leaves out what is not needed to act; the document has everything.
std::string to_text(const answers::Advice& advice, std::string_view settings) {
  constexpr std::size_t most_lines = 12;
  constexpr std::size_t short_rows = 4;
  const std::string sign = answers::sign_text(advice);
  const std::string action = labeled("", advice.action);
  const std::string evidence = labeled("evidence", advice.evidence + (sign.empty() ? "" : "; " + sign));
  const std::string table = advice.loads.empty() ? "" : loads_table(advice);
  const std::string cause = advice.cause.empty() ? "" : labeled("cause", advice.cause);
  const std::string next = advice.next.empty() ? "" : labeled("next", advice.next);
  const std::string use = settings_text(settings);
  const std::size_t rows = table.empty() ? 0 : line_count(table) - 1;
  const std::size_t room = most_lines + (rows > short_rows ? rows - short_rows : 0);
  std::size_t lines = line_count(action) + line_count(evidence) + line_count(table) + line_count(cause) +
                      line_count(next) + (use.empty() ? 0 : 1);
  // It may be the cause, so it takes precedence over the lines below.
  std::string prefill = prefill_text(advice, false);
  if (lines + line_count(prefill) + 1 > room) prefill = prefill_text(advice, true);
  if (lines + line_count(prefill) + 1 > room) prefill.clear();
  lines += line_count(prefill);
  const std::string warnings = warnings_text(advice);
  if (!warnings.empty()) ++lines;
  const auto if_it_fits = [&](const std::string& text) {
    if (lines + line_count(text) > room) return std::string();
    lines += line_count(text);
    return text;
  };
  const std::string read = if_it_fits(labeled("read", what_was_read(advice)));
  const std::string strata = if_it_fits(strata_text(advice));
  const std::string lengths = if_it_fits(by_gamma_text(advice));
  const std::string spread = if_it_fits(spread_text(advice));
  return action + evidence + read + spread + table + cause + prefill + strata + lengths + next + use + warnings;
}

}  // namespace foredraft::app
