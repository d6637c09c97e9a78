// SPDX-License-Identifier: Apache-2.0
#include "scenario/metrics.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace foredraft::scenario {

const std::vector<Metric>& metrics() {
  static constexpr std::string_view served = "ratio of totals; delta method over replicas, below 8 also batch means";
  static constexpr std::string_view served_quantile =
      "of all measured requests, to 1/256; standard error of the mean of the replicas' own";
  static const std::vector<Metric> table{
      {"tokens_per_iteration", "tokens", "tokens per iteration", &ClosedForm::tokens_per_iteration,
       &Estimates::tokens_per_iteration, Needs::nothing,
       "emitted tokens over draft-and-verify rounds, the corrected or bonus token included",
       "ratio of totals; delta method over independent units"},
      {"tokens_variance", "tokens^2", "variance of the tokens of one iteration", &ClosedForm::tokens_variance,
       &Estimates::tokens_variance, Needs::nothing,
       "variance of the tokens that one iteration emits; closed form for endless text and independent iterations",
       "sample variance of the histogram; sqrt((m4 - m2^2) / n), given only where iterations are independent"},
      {"speedup", "", "speedup over autoregressive decoding", &ClosedForm::speedup, &Estimates::speedup, Needs::cost,
       "time of autoregressive decoding over that of speculation; without costs per sequence tokens over target decode "
       "steps, an iteration costing 1 + draft passes * c under constant_ratio, (t_v + overhead + draft passes * t_d) / "
       "step under block, the times of the forward passes over that of a decode step under roofline and measured",
       "ratio of totals; delta method over independent units"},
      {"operations_factor", "", "relative operations", &ClosedForm::operations_factor, &Estimates::operations_factor,
       Needs::operations_ratio, "(drafted * operations_ratio + verified positions) over tokens",
       "ratio of totals; delta method over independent units"},
      {"memory_access_factor", "", "relative target memory accesses", &ClosedForm::memory_access_factor,
       &Estimates::memory_access_factor, Needs::nothing,
       "reads of the target's weights and KV cache relative to autoregressive decoding: iterations over tokens; the "
       "drafter's are not counted",
       "ratio of totals; delta method over independent units"},
      {"per_token", "", "acceptance per tested draft", &ClosedForm::per_token, &Estimates::per_token, Needs::nothing,
       "accepted drafts over tested ones (those up to the first rejection, that one included)",
       "ratio of totals; delta method over independent units"},
      {"accepted_over_drafted", "", "accepted over drafted tokens", &ClosedForm::accepted_over_drafted,
       &Estimates::accepted_over_drafted, Needs::nothing,
       "accepted drafts divided by drafted tokens, those after the first rejection included",
       "ratio of totals; delta method over independent units"},
      {"optimal_acceptance", "", "optimal acceptance of k candidates", &ClosedForm::optimal_acceptance, nullptr,
       Needs::several_candidates,
       "the largest per_token of any lossless rule with as many independent candidates, mean over the pool: the "
       "optimum of optimal transport; not known for candidates without replacement",
       ""},
      {"mean_gamma", "drafted tokens", "drafted tokens per iteration", &ClosedForm::mean_gamma, &Estimates::mean_gamma,
       Needs::varying_gamma,
       "drafted tokens over draft-and-verify rounds; only where the draft length varies: a policy other than constant, "
       "a "
       "gamma_schedule, or drafter input_copy, lookup_first, prompt_lookup or staged",
       "ratio of totals; delta method over independent units"},
      {"best_gamma", "drafted tokens", "optimal draft length", &ClosedForm::best_gamma, nullptr, Needs::cost,
       "the gamma of largest speedup for these inputs, whatever the point's own gamma; `inf` where longer is "
       "always better",
       ""},
      {"best_speedup", "", "speedup at the optimal draft length", &ClosedForm::best_speedup, nullptr, Needs::cost,
       "the speedup there, or its limit; `inf` where infinite", ""},
      {"optimal_speedup", "", "speedup of optimal stopping", &ClosedForm::optimal_speedup, nullptr,
       Needs::token_confidence,
       "policies that see a confidence: the largest speedup of drafts of at most gamma tokens, where the acceptance of "
       "each token is known before it is drafted (policy optimal_token_stopping); no policy exceeds it, in texts of "
       "any length",
       ""},
      {"oracle_speedup", "", "speedup of the oracle", &ClosedForm::oracle_speedup, nullptr, Needs::token_confidence,
       "the same policies: the speedup of drafting exactly what will be accepted, however long", ""},
      {"loss", "", "loss against optimal stopping", &ClosedForm::loss, &Estimates::loss, Needs::token_confidence,
       "1 - speedup / optimal_speedup", "of simulated_speedup; its standard error over analytic_optimal_speedup"},
      {"tokens_per_s", "1/s", "tokens per second", &ClosedForm::tokens_per_s, &Estimates::tokens_per_s, Needs::serving,
       "fidelity system: tokens emitted over time, from the admission of the first measured request to the end of the "
       "last",
       served},
      {"goodput_tokens_per_s", "1/s", "tokens per second in time", nullptr, &Estimates::goodput_tokens_per_s,
       Needs::latency_goal, "the share of tokens_per_s that belongs to requests answered within latency_goal_ms",
       served},
      {"mean_batch", "sequences", "batch size", nullptr, &Estimates::mean_batch, Needs::serving,
       "sequences that an iteration computes, finished ones of a static batch included", served},
      {"mean_in_system", "requests", "requests waiting or served", nullptr, &Estimates::mean_in_system, Needs::serving,
       "requests that wait or are served, over time", served},
      {"wait_ms", "ms", "wait before service", &ClosedForm::wait_ms, &Estimates::wait_ms, Needs::serving,
       "from arrival to admission to the batch", served},
      {"latency_ms", "ms", "latency", &ClosedForm::latency_ms, &Estimates::latency_ms, Needs::serving,
       "from arrival to the last token", served},
      {"latency_p50_ms", "ms", "latency, 50 %", nullptr, &Estimates::latency_p50_ms, Needs::serving,
       "50th percentile of latency_ms over the measured requests", served_quantile},
      {"latency_p95_ms", "ms", "latency, 95 %", nullptr, &Estimates::latency_p95_ms, Needs::serving,
       "95th percentile of latency_ms over the measured requests", served_quantile},
      {"latency_p99_ms", "ms", "latency, 99 %", nullptr, &Estimates::latency_p99_ms, Needs::serving,
       "99th percentile of latency_ms over the measured requests", served_quantile},
      {"first_token_ms", "ms", "time to first token", nullptr, &Estimates::first_token_ms, Needs::serving,
       "from arrival to the first token", served},
      {"first_token_p50_ms", "ms", "time to first token, 50 %", nullptr, &Estimates::first_token_p50_ms, Needs::serving,
       "50th percentile of first_token_ms over the measured requests", served_quantile},
      {"first_token_p95_ms", "ms", "time to first token, 95 %", nullptr, &Estimates::first_token_p95_ms, Needs::serving,
       "95th percentile of first_token_ms over the measured requests", served_quantile},
      {"first_token_p99_ms", "ms", "time to first token, 99 %", nullptr, &Estimates::first_token_p99_ms, Needs::serving,
       "99th percentile of first_token_ms over the measured requests", served_quantile},
      {"per_token_latency_ms", "ms", "latency per token", nullptr, &Estimates::per_token_latency_ms, Needs::serving,
       "a request's latency over its output tokens", served},
      {"per_token_latency_p50_ms", "ms", "latency per token, 50 %", nullptr, &Estimates::per_token_latency_p50_ms,
       Needs::serving, "50th percentile of per_token_latency_ms over the measured requests", served_quantile},
      {"per_token_latency_p95_ms", "ms", "latency per token, 95 %", nullptr, &Estimates::per_token_latency_p95_ms,
       Needs::serving, "95th percentile of per_token_latency_ms over the measured requests", served_quantile},
      {"per_token_latency_p99_ms", "ms", "latency per token, 99 %", nullptr, &Estimates::per_token_latency_p99_ms,
       Needs::serving, "99th percentile of per_token_latency_ms over the measured requests", served_quantile},
      {"tpot_ms", "ms", "time per output token", nullptr, &Estimates::tpot_ms, Needs::serving,
       "TPOT: from the first to the last token over the tokens after the first; requests of one token have none",
       served},
      {"tpot_p50_ms", "ms", "time per output token, 50 %", nullptr, &Estimates::tpot_p50_ms, Needs::serving,
       "50th percentile of tpot_ms over the measured requests", served_quantile},
      {"tpot_p95_ms", "ms", "time per output token, 95 %", nullptr, &Estimates::tpot_p95_ms, Needs::serving,
       "95th percentile of tpot_ms over the measured requests", served_quantile},
      {"tpot_p99_ms", "ms", "time per output token, 99 %", nullptr, &Estimates::tpot_p99_ms, Needs::serving,
       "99th percentile of tpot_ms over the measured requests", served_quantile},
  };
  return table;
}

const Metric* find_metric(std::string_view name) {
  const auto& table = metrics();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Metric& metric) { return metric.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::vector<ResultColumn> result_columns() {
  std::vector<ResultColumn> columns{
      {"index", "", "number of the point in the whole sweep, from 0; the last axis varies fastest", ""},
      {"simulated_iterations", "iterations", "draft-and-verify rounds that were simulated", "counted"},
      {"simulated_units", "units",
       "independent units of the standard errors: iterations, batches, sequences or replicas", "counted"}};
  for (const Metric& metric : metrics()) {
    if (metric.closed_form != nullptr) {
      columns.push_back({fmt::format("analytic_{}", metric.name), metric.unit, metric.meaning, "closed form"});
    }
    if (metric.estimate == nullptr) continue;
    columns.push_back({fmt::format("simulated_{}", metric.name), metric.unit, metric.meaning, metric.estimated});
    columns.push_back({fmt::format("simulated_{}_standard_error", metric.name), metric.unit,
                       "standard error of the column before it", ""});
    if (metric.closed_form != nullptr) {
      columns.push_back({fmt::format("{}_deviation_in_se", metric.name), "standard errors",
                         "(simulated - analytic) / standard error", ""});
    }
  }
  return columns;
}

}  // namespace foredraft::scenario
