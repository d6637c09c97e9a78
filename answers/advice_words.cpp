// SPDX-License-Identifier: Apache-2.0
#include "answers/advice_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "answers/advice_action.hpp"
#include "answers/advice_steps.hpp"
#include "answers/logging_plan.hpp"

namespace foredraft::answers {
namespace {

using Reason = analytic::FitProblem::Reason;

/// The command that prints a plan of the missing runs.
std::string plan_text(const Advice& advice) {
  std::optional<double> concurrency;
  for (const LoadAdvice& load : advice.loads) concurrency = std::max(concurrency, load.requests);
  return next_runs(advice.engine, advice.gamma_observed, concurrency);
}

std::string why_no_acceptance(Reason reason) {
  switch (reason) {
    case Reason::too_few_steps:
      return "too few steps to estimate the acceptance at other draft lengths: log more steps";
    case Reason::all_accepted:
      return "acceptance could not be estimated: log a counter of all drafted tokens, or the TPOT of both arms";
    case Reason::rising:
      break;
  }
  return "acceptance could not be estimated: log the counts of another version or counter";
}

/// True if the logs have no run that is known to speculate or not to.
bool names_no_arm(const AdviceQuestion& question) {
  const auto is_unknown = [](const logs::Observation& one) { return one.decoding == logs::Decoding::unknown; };
  return question.plain.empty() && !question.logs.empty() &&
         std::ranges::all_of(question.logs, [&](const logs::ObservedLog& log) {
           return !log.contents.observations.empty() && std::ranges::all_of(log.contents.observations, is_unknown);
         });
}

/// The time of a plain step at each load but the smallest, over that at the smallest: what it takes to check as many
/// tokens more. Empty: they are not all plain.
std::string steps_by_load(const std::map<double, const logs::Observation*>& loads) {
  std::vector<std::string> texts;
  double first_ms = 0.0;
  for (const auto& [requests, one] : loads) {
    if (one->decoding != logs::Decoding::plain || !one->times.iteration_ms) return "";
    if (first_ms > 0.0) texts.push_back(fmt::format("{:.2f}", *one->times.iteration_ms / first_ms));
    if (!(first_ms > 0.0)) first_ms = *one->times.iteration_ms;
  }
  return fmt::format("; a step takes {} times as long as at {:.3g}", fmt::join(texts, ", "), loads.begin()->first);
}

/// " Read but not compared: 30.6, 28.6 tokens/s of a request at 1, 2 requests." of measurements at a load each; empty:
/// they are not.
std::string speeds_by_load(std::span<const logs::Observation* const> measured) {
  constexpr std::size_t most = 8;  // a line or two
  std::map<double, const logs::Observation*> loads;
  for (const logs::Observation* one : measured) {
    if (one->requests) loads.emplace(*one->requests, one);
  }
  if (loads.size() < 2 || loads.size() > most || loads.size() < measured.size()) return "";
  std::vector<std::string> speeds, requests;
  for (const auto& [load, one] : loads) {
    speeds.push_back(fmt::format("{:.4g}", 1000.0 / *one->times.tpot_ms));
    requests.push_back(fmt::format("{:.3g}", load));
  }
  return fmt::format(" Read but not compared: {} tokens/s of a request at {} requests{}.", fmt::join(speeds, ", "),
                     fmt::join(requests, ", "), steps_by_load(loads));
}

/// " Read but not compared: 30.57, 30.62 tokens/s of a request."
std::string speeds_alone_text(const AdviceQuestion& question) {
  constexpr std::size_t few = 3;
  std::vector<double> of_request, of_all;
  std::vector<const logs::Observation*> timed;
  for (const auto* logs : {&question.logs, &question.plain}) {
    for (const logs::ObservedLog& log : *logs) {
      for (const logs::Observation& one : log.contents.observations) {
        const auto& times = one.times;
        if (times.tpot_ms && *times.tpot_ms > 0.0) {
          of_request.push_back(1000.0 / *times.tpot_ms);
          timed.push_back(&one);
        } else if (times.output_tokens_per_s && *times.output_tokens_per_s > 0.0) {
          of_all.push_back(*times.output_tokens_per_s);
        }
      }
    }
  }
  if (std::string by_load = speeds_by_load(timed); !by_load.empty()) return by_load;
  const bool all = of_request.empty();
  const std::vector<double>& speeds = all ? of_all : of_request;
  if (speeds.empty()) return "";
  const auto [least, most] = std::minmax_element(speeds.begin(), speeds.end());
  std::vector<std::string> texts;
  for (const double speed : speeds) {
    if (texts.size() < few) texts.push_back(fmt::format("{:.4g}", speed));
  }
  const std::string values = speeds.size() <= few
                                 ? fmt::format("{}", fmt::join(texts, ", "))
                                 : fmt::format("{} from {:.4g} to {:.4g}", speeds.size(), *least, *most);
  return fmt::format(" Read but not compared: {} tokens/s {}.", values,
                     all ? "of all requests together" : "of a request");
}

std::string why_not_of(const AdviceQuestion& question, const Advice& advice) {
  if (advice.problem() != nullptr) return why_no_acceptance(advice.problem()->reason);
  if (names_no_arm(question)) {
    return "which runs speculate is not known: call those that do not \"baseline\", or give them with --plain";
  }
  if (!advice.tokens_observed && advice.verification_steps.value_or(0.0) > 0.0)
    return "log the counts of accepted and of drafted tokens too";
  if (!advice.tokens_observed && has_rate_alone(advice))
    return "the acceptance rate needs the draft length for tokens per iteration: add a column K";
  for (const LoadAdvice& load : advice.loads) {
    if (load.arms_differ.empty() || (!advice.tokens_observed && !advice.compared().empty())) continue;
    return fmt::format("the plain run differs ({}): log it under equal conditions", load.arms_differ);
  }
  const auto is_plain = [](const RunEstimates& one) { return one.run.is_plain(); };
  if (!advice.tokens_observed && !advice.runs.empty() && std::ranges::none_of(advice.runs, is_plain))
    return "no acceptance was read: give the log of the server of these runs";
  if (!advice.tokens_observed) return "no acceptance was read: give the log of a server that speculates";
  if (has_few_windows(advice) && advice.loads.size() < 2) {
    return "fewer than five windows or requests do not show how much they differ: log more of them";
  }
  if (runs_scatter(advice) && advice.loads.size() < 2) {
    return "windows or requests differ by more than their steps explain: log more of one workload and setting";
  }
  if (too_uncertain(advice) && advice.loads.size() < 2) {
    const double half = normal_quantile(0.95) * advice.tokens_observed->standard_error / advice.tokens_observed->mean;
    const double needed = advice.verification_steps.value_or(analytic::min_steps) * half * half / (0.01 * 0.01);
    return fmt::format("too few verification steps: about {:.0f} give +-1 % of the acceptance length", needed);
  }
  if (advice.compared().empty()) {
    return "no plain run: log the same load without speculation, and give it with --plain";
  }
  const auto is_tree = [](const AcceptanceCurve& one) { return one.setting.tree.has_value(); };
  if (std::ranges::any_of(advice.curves, is_tree)) return "drafts are a tree, which has no K: log what may be faster";
  return "the draft length is not logged: another one cannot be compared with it";
}

std::string next_of(const Advice& advice) {
  if (std::ranges::any_of(advice.loads, is_cheaper_than_a_step)) {
    return "log both arms again on one server, in turn, with the same prompts and settings: " + plan_text(advice);
  }
  if (std::ranges::any_of(advice.loads, is_engine_fault)) {
    return "iterations this long are a fault: find it (--enforce-eager, graphs, a wrong kernel), then log again";
  }
  if (const auto position = failing_position(advice)) {
    const std::string until = *position > 1 ? fmt::format(", or set K = {}", *position - 1) : std::string();
    return "check the drafter: its checkpoint, its tokenizer and how it is attached" + until;
  }
  if (lacks_graphs(advice)) return fmt::format("{}, then log again", graph_setting(advice.engine));
  if (!advice.recommendation) return fmt::format("{}: {}", advice.why_not, plan_text(advice));
  if (!advice.recommendation->over_plain) return "log the same load without speculation: " + plan_text(advice);
  if (!is_logged(advice)) return fmt::format("log K = {}: {}", advice.recommendation->gamma, plan_text(advice));
  const auto assumed = [](const LoadAdvice* load) { return is_assumed(*load->speedup()); };
  if (std::ranges::any_of(advice.compared(), assumed)) {
    return "repeat both arms: " + plan_text(advice);
  }
  if (logged_settings(advice) == 1 && advice.gamma_observed && advice.recommendation->gamma > 0) {
    return fmt::format("log K = {} too: {}", *advice.gamma_observed > 1 ? 1 : 3, plan_text(advice));
  }
  return "";
}

std::string evidence_of(const AdviceQuestion& question, const Advice& advice) {
  const auto compared = advice.compared();
  if (compared.empty() && !advice.recommendation) return "your engine's counters; no speedup was measured";
  if (compared.empty() && !question.predicted) return "your engine's counters; no speedup was measured";
  if (compared.empty() && advice.recommendation->over_plain) {
    return fmt::format("no plain run: autoregressive decoding and other K are predicted from {}",
                       question.predicted->evidence);
  }
  const auto assumed = [](const RunEstimates& run) {
    const auto* tpot = run.estimate("tpot_ms");
    return tpot != nullptr && is_assumed(*tpot);
  };
  std::string text = "your engine's times, 95 % from the scatter of windows or requests";
  const auto compares_singles = [](const LoadAdvice* load) { return is_assumed(*load->speedup()); };
  if (std::ranges::any_of(advice.runs, assumed) || std::ranges::any_of(compared, compares_singles)) {
    text = fmt::format("single runs, error not known ({:.0f} % a run is assumed to choose)", 100.0 * single_run_error);
  }
  if (question.predicted) {
    text += fmt::format("; other K: {}, +- {:.0f} % each time the tokens double", question.predicted->evidence,
                        100.0 * normal_quantile(0.95) * question.predicted->error);
  }
  return text;
}

}  // namespace

void add_words(const AdviceQuestion& question, Advice& advice) {
  add_causes(advice);
  const bool guessed = advice.recommendation && !is_logged(advice) && !(advice.recommendation->low > 1.0);
  advice.sign_certain = !guessed && is_sign_certain(advice);
  const std::string opposed = opposed_text(advice);
  advice.sign_certain = advice.sign_certain && opposed.empty();
  advice.action = action_of(advice) + opposed;
  const auto differs = [](const LoadAdvice& load) { return !load.arms_differ.empty(); };
  const auto has_load = [](const RunEstimates& one) { return !one.run.load.is_unknown(); };
  const bool uneven = advice.compared().empty() && !advice.tokens_observed &&
                      std::ranges::any_of(advice.loads, differs) && std::ranges::all_of(advice.runs, has_load);
  if ((advice.loads.empty() || uneven) && !advice.times_answers())
    advice.action += speeds_alone_text(question);  // no table has them
  if (!advice.recommendation) advice.why_not = why_not_of(question, advice);
  advice.next = next_of(advice);
  advice.evidence = evidence_of(question, advice);
  for (LoadAdvice& load : advice.loads) {
    if (is_cheaper_than_a_step(load)) load.chain.reset();  // the measured time is impossible
  }
}

std::string sign_text(const Advice& advice) {
  const auto compared = advice.compared();
  if (compared.empty()) return "";
  if (advice.sign_certain) return "sign certain";
  const bool guessed = advice.recommendation && !is_logged(advice);
  if (guessed || advice.warns("W18") || !opposed_text(advice).empty()) return "sign uncertain";
  std::size_t open = 0;
  bool single = false;
  for (const LoadAdvice* load : compared) {
    single = single || is_assumed(*load->speedup());
    const Interval interval = analytic::interval_of(*load->speedup());
    if (interval.low <= 1.0 && interval.high >= 1.0) ++open;
  }
  if (open == compared.size()) return "sign uncertain";
  if (open == 0) return single ? "sign clear if so" : "sign clear at 95 %";
  return fmt::format("sign uncertain at {} load{}", open, open == 1 ? "" : "s");
}

std::string with_half_width(const Estimate& estimate, std::string_view unit) {
  if (!std::isfinite(estimate.standard_error)) return fmt::format("{:.2f}{}", estimate.mean, unit);
  const double half = std::ceil(100.0 * normal_quantile(0.95) * estimate.standard_error) / 100.0;  // rounded up
  return fmt::format("{:.2f}{} +- {:.2f}", estimate.mean, unit, half);
}

std::string with_half_width(const analytic::ClusteredEstimate& estimate, std::string_view unit) {
  if (is_assumed(estimate)) return fmt::format("{:.2f}{}", estimate.value, unit);
  const Interval interval = analytic::interval_of(estimate);
  return fmt::format("{:.2f}{} +- {:.2f}", estimate.value, unit,
                     std::ceil(50.0 * (interval.high - interval.low)) / 100.0);  // rounded up
}

}  // namespace foredraft::answers
