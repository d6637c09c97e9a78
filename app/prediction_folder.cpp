// SPDX-License-Identifier: Apache-2.0
#include "app/prediction_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "answers/prediction.hpp"
#include "core/csv.hpp"
#include "core/digest.hpp"
#include "core/json_values.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::app {
namespace {

using latency::Latency;

/// A curve ends where a forward pass takes this many times as long as with one token.
constexpr double clear_growth = 4.0;
constexpr std::int64_t max_pass_tokens = 1024;

/// The next number of tokens: every integer up to `dense`, then powers of two and the values halfway between them.
std::int64_t next_tokens(std::int64_t tokens, std::int64_t dense) {
  if (tokens < dense) return tokens + 1;
  for (std::int64_t power = 1;; power *= 2) {
    if (power > tokens) return power;
    if (power + power / 2 > tokens) return power + power / 2;
  }
}

VerificationCurve curve_of(const answers::ProfileQuestion& question, const latency::PairSurface& pair,
                           std::int64_t batch, std::int64_t context) {
  VerificationCurve curve{.batch = batch, .context = context};
  const std::int64_t needed = max_tokens(answers::max_drafts(question), question.convention);
  const latency::Latency plain = pair.target_pass(1, batch, context);
  for (std::int64_t tokens = 1; tokens <= std::max(needed, max_pass_tokens); tokens = next_tokens(tokens, needed)) {
    const bool further = tokens > needed;
    if (further && curve.points.back().growth > clear_growth) break;
    std::optional<latency::Latency> pass;
    try {
      pass = pair.target_pass(tokens, batch, context);
    } catch (const DomainError&) {
      if (!further) throw;
    }
    if (!pass || (further && !pass->inside)) break;
    std::optional<double> spread;
    if (plain.spread && pass->spread) spread = tokens == 1 ? 0.0 : std::hypot(*plain.spread, *pass->spread);
    curve.points.push_back({tokens, *pass, pass->time_us / plain.time_us, spread});
  }
  return curve;
}

void count_cells(DataText& data, auto... counts) { (data.cell(static_cast<double>(counts)), ...); }

std::string_view inside_text(bool inside) { return inside ? "yes" : "no"; }

/// All times in a speedup.
std::vector<Latency> times_of(const latency::IterationTimes& times) {
  std::vector<Latency> all{times.plain, times.drafting, times.verify};
  for (const auto& charged : {times.plain_sampling, times.sampling}) {
    if (charged) all.push_back(*charged);
  }
  return all;
}

bool all_inside(const answers::AtDraftLength& length) {
  return std::ranges::all_of(times_of(length.times), &Latency::inside);
}

/// The least reliable origin of the times in a speedup.
latency::Origin origin_of(const answers::AtDraftLength& length) {
  const std::vector<Latency> times = times_of(length.times);
  return std::ranges::max_element(times, {}, &Latency::origin)->origin;
}

/// A row for each draft length at each batch size and context length for which `shows` is true: these three values, the
/// cells that `add` appends, and the coverage of the intervals.
template <typename Add, typename Shows>
std::string csv_by_length(const answers::ProfilePrediction& prediction, std::vector<std::string> columns,
                          const Add& add, const Shows& shows) {
  columns.insert(columns.begin(), {"context", "batch", "gamma"});
  columns.emplace_back("interval_level");
  const std::optional<double> level = answers::evidence_of(prediction).interval_level;
  DataText data(std::move(columns));
  for (const answers::AtBatch& at : prediction.cells) {
    if (!shows(at)) continue;
    for (const answers::AtDraftLength& length : at.lengths) {
      count_cells(data.row(), at.context, at.batch, length.gamma);
      add(data, at, length);
      data.cell(level);
    }
  }
  return data.csv();
}

bool every_cell(const answers::AtBatch& /*at*/) { return true; }

/// All numbers of the prediction.
std::string lengths_csv(const answers::ProfilePrediction& prediction) {
  std::vector<std::string> columns;
  for (const char* time : {"plain", "plain_sampling", "drafting", "verify", "sampling"}) {
    for (const char* what : {"us", "spread", "origin"}) columns.push_back(fmt::format("{}_{}", time, what));
  }
  columns.insert(columns.end(),
                 {"overhead_us", "inside_domain", "tokens_per_iteration", "speedup", "speedup_spread", "use"});
  return csv_by_length(
      prediction, columns,
      [&](DataText& data, const answers::AtBatch& at, const answers::AtDraftLength& length) {
        const auto add = [&data](const std::optional<Latency>& time) {
          data.cell(latency::charged_us(time)).cell(time ? time->spread : std::nullopt);
          data.cell(time ? to_string(time->origin) : "");
        };
        const latency::IterationTimes& times = length.times;
        for (const auto& time : {std::optional(times.plain), times.plain_sampling, std::optional(times.drafting),
                                 std::optional(times.verify), times.sampling}) {
          add(time);
        }
        data.cell(prediction.question.overhead_us).cell(inside_text(all_inside(length)));
        data.cell(length.tokens).cell(length.speedup).cell(length.spread).cell(static_cast<double>(at.use));
      },
      every_cell);
}

std::string step_time_csv(const answers::ProfilePrediction& prediction) {
  return csv_by_length(
      prediction,
      {"plain_us", "plain_sampling_us", "drafting_us", "verify_us", "sampling_us", "overhead_us",
       "tokens_per_iteration", "speedup_spread", "origin", "inside_domain"},
      [&](DataText& data, const answers::AtBatch& /*at*/, const answers::AtDraftLength& length) {
        const latency::IterationTimes& times = length.times;
        data.cell(times.plain.time_us).cell(latency::charged_us(times.plain_sampling));
        data.cell(times.drafting.time_us).cell(times.verify.time_us).cell(latency::charged_us(times.sampling));
        data.cell(prediction.question.overhead_us).cell(length.tokens).cell(length.spread);
        data.cell(to_string(origin_of(length))).cell(inside_text(all_inside(length)));
      },
      every_cell);
}

std::string batch_speedup_csv(const answers::ProfilePrediction& prediction) {
  return csv_by_length(
      prediction, {"speedup", "speedup_spread", "origin", "inside_domain"},
      [](DataText& data, const answers::AtBatch& /*at*/, const answers::AtDraftLength& length) {
        data.cell(length.speedup).cell(length.spread).cell(to_string(origin_of(length)));
        data.cell(inside_text(all_inside(length)));
      },
      [&](const answers::AtBatch& at) { return prediction.advises(at); });
}

std::string verification_cost_csv(const std::vector<VerificationCurve>& curves, std::optional<double> level) {
  DataText data({"context", "batch", "tokens", "pass_us", "pass_spread", "origin", "inside_domain", "growth",
                 "growth_spread", "knee_growth", "knee_tokens", "interval_level"});
  for (const VerificationCurve& curve : curves) {
    const std::optional<double> knee = knee_tokens(curve);
    for (const VerificationCurve::Point& point : curve.points) {
      count_cells(data.row(), curve.context, curve.batch, point.tokens);
      data.cell(point.pass.time_us).cell(point.pass.spread);
      data.cell(to_string(point.pass.origin)).cell(inside_text(point.pass.inside));
      data.cell(point.growth).cell(point.growth_spread).cell(knee_growth).cell(knee).cell(level);
    }
  }
  return data.csv();
}

std::string decision_map_csv(const answers::ProfilePrediction& prediction) {
  DataText data({"context", "first_batch", "last_batch", "gamma"});
  for (std::size_t i = 0; i < prediction.schedules.size(); ++i) {
    for (const auto& [first, last, gamma] : prediction.schedules[i])
      count_cells(data.row(), prediction.question.contexts[i], first, last, gamma);
  }
  return data.csv();
}

nlohmann::ordered_json deployment_json(const latency::Deployment& deployment) {
  nlohmann::ordered_json json{{"weights", to_text(deployment.weights)},
                              {"kv_cache", to_string(deployment.kv_cache)},
                              {"tensor_parallel", deployment.tensor_parallel},
                              {"expert_skew", value_or_null(deployment.expert_skew)}};
  if (deployment.pipeline_parallel > 1) json["pipeline_parallel"] = deployment.pipeline_parallel;
  return json;
}

nlohmann::ordered_json overrides_json(const latency::AttainableOverrides& overrides) {
  return {{"bandwidth_efficiency", value_or_null(overrides.bandwidth_efficiency)},
          {"compute_efficiency", value_or_null(overrides.compute_efficiency)},
          {"step_us", value_or_null(overrides.step_us)},
          {"iteration_us", value_or_null(overrides.iteration_us)}};
}

}  // namespace

std::vector<VerificationCurve> verification_curves(const answers::ProfileQuestion& question,
                                                   const latency::Profile& profile) {
  const latency::PairSurface pair(profile, answers::timed_pair_of(question, profile), question.drafting);
  std::vector<VerificationCurve> curves;
  for (const std::int64_t context : question.contexts) {
    for (const std::int64_t batch : question.batches) curves.push_back(curve_of(question, pair, batch, context));
  }
  return curves;
}

std::optional<double> knee_tokens(const VerificationCurve& curve) {
  const auto above = std::ranges::find_if(
      curve.points, [](double growth) { return growth > knee_growth; }, &VerificationCurve::Point::growth);
  if (above == curve.points.end()) return std::nullopt;
  const VerificationCurve::Point& below = *(above - 1);  // the growth of the first point is 1
  const double share = std::log(knee_growth / below.growth) / std::log(above->growth / below.growth);
  const auto low = static_cast<double>(below.tokens);
  return low * std::pow(static_cast<double>(above->tokens) / low, share);
}

experiments::ResultFolder::Kind folder_kind(const answers::ProfileQuestion& question, const FileDigest& times,
                                            bool valid) {
  const auto* iid = std::get_if<Iid>(&question.acceptance);
  const auto* positional = std::get_if<Positional>(&question.acceptance);
  nlohmann::ordered_json content{{"valid", valid},
                                 {"times_sha256", times.sha256},
                                 {"target", question.target},
                                 {"draft", question.draft},
                                 {"drafting", to_string(question.drafting)},
                                 {"alpha", iid == nullptr ? 0.0 : iid->alpha},
                                 {"marginal", positional == nullptr ? std::vector<double>{} : positional->marginal},
                                 {"convention", to_string(question.convention)},
                                 {"gamma", value_or_null(question.gamma)},
                                 {"batch", question.batches},
                                 {"context", question.contexts},
                                 {"overhead_us", question.overhead_us},
                                 {"target_deployment", deployment_json(question.target_deployment)},
                                 {"draft_deployment", deployment_json(question.draft_deployment)},
                                 {"attained", overrides_json(question.attained)},
                                 {"memory_utilization", question.memory_utilization},
                                 {"ignore_memory", question.ignore_memory}};
  if (iid == nullptr && positional == nullptr) answers::add_acceptance(question.acceptance, content);
  return {.schema = prediction_schema, .content = std::move(content)};
}

bool has_decision_map(const answers::ProfileQuestion& question) {
  return question.contexts.size() > 1 && question.batches.size() > 1;
}

std::vector<std::pair<std::string, std::string>> prediction_tables(const answers::ProfilePrediction& prediction,
                                                                   const std::vector<VerificationCurve>& curves) {
  std::vector<std::pair<std::string, std::string>> tables{{"prediction.csv", lengths_csv(prediction)},
                                                          {"step-time.csv", step_time_csv(prediction)}};
  // No decision if nothing fits into memory.
  const bool decides =
      std::ranges::any_of(prediction.cells, [&](const answers::AtBatch& at) { return prediction.advises(at); });
  if (decides) tables.emplace_back("batch-speedup.csv", batch_speedup_csv(prediction));
  tables.emplace_back("verification-cost.csv",
                      verification_cost_csv(curves, answers::evidence_of(prediction).interval_level));
  if (decides && has_decision_map(prediction.question))
    tables.emplace_back("decision-map.csv", decision_map_csv(prediction));
  return tables;
}

void write_prediction(experiments::ResultFolder& folder, const answers::ProfilePrediction& prediction,
                      const std::vector<VerificationCurve>& curves, const std::string& printed) {
  folder.write("prediction.txt", printed);
  for (const auto& [name, table] : prediction_tables(prediction, curves)) folder.write(name, table);
}

}  // namespace foredraft::app
