// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/prediction_folder.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "experiments/predict/evidence.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

using latency::Latency;

std::string_view inside_text(bool inside) { return inside ? "yes" : "no"; }

bool all_inside(const AtBatch& at, const AtDraftLength& length) {
  return at.plain.inside && at.plain_sampling.inside && length.drafting.inside && length.verify.inside &&
         length.sampling.inside;
}

/// The least certain of the origins that a speedup rests on.
latency::Origin origin_of(const AtBatch& at, const AtDraftLength& length) {
  return std::max({at.plain.origin, at.plain_sampling.origin, length.drafting.origin, length.verify.origin,
                   length.sampling.origin});
}

/// A row for each draft length at each batch and context that `shows` says: those three, what `add` appends, and what
/// the intervals hold.
template <typename Add, typename Shows>
std::string csv_by_length(const ProfilePrediction& prediction, std::vector<std::string> columns, const Add& add,
                          const Shows& shows) {
  columns.insert(columns.begin(), {"context", "batch", "gamma"});
  columns.emplace_back("interval_level");
  const std::optional<double> level = evidence_of(prediction).interval_level;
  DataText data(std::move(columns));
  for (const AtBatch& at : prediction.cells) {
    if (!shows(at)) continue;
    for (const AtDraftLength& length : at.lengths) {
      data.row().cell(static_cast<double>(at.context)).cell(static_cast<double>(at.batch));
      data.cell(static_cast<double>(length.gamma));
      add(data, at, length);
      data.cell(level);
    }
  }
  return data.csv();
}

bool every_cell(const AtBatch& /*at*/) { return true; }

std::string step_time_csv(const ProfilePrediction& prediction) {
  return csv_by_length(
      prediction,
      {"plain_us", "plain_sampling_us", "drafting_us", "verify_us", "sampling_us", "overhead_us",
       "tokens_per_iteration", "speedup_spread", "origin", "inside_domain"},
      [&](DataText& data, const AtBatch& at, const AtDraftLength& length) {
        data.cell(at.plain.time_us).cell(at.plain_sampling.time_us);
        data.cell(length.drafting.time_us).cell(length.verify.time_us).cell(length.sampling.time_us);
        data.cell(prediction.question.overhead_us).cell(length.tokens).cell(length.spread);
        data.cell(to_string(origin_of(at, length))).cell(inside_text(all_inside(at, length)));
      },
      every_cell);
}

std::string batch_speedup_csv(const ProfilePrediction& prediction) {
  return csv_by_length(
      prediction, {"speedup", "speedup_spread", "origin", "inside_domain"},
      [](DataText& data, const AtBatch& at, const AtDraftLength& length) {
        data.cell(length.speedup).cell(length.spread).cell(to_string(origin_of(at, length)));
        data.cell(inside_text(all_inside(at, length)));
      },
      [&](const AtBatch& at) { return prediction.advises(at); });
}

std::string verification_cost_csv(const std::vector<VerificationCurve>& curves, std::optional<double> level) {
  DataText data({"context", "batch", "tokens", "pass_us", "pass_spread", "origin", "inside_domain", "growth",
                 "growth_spread", "knee_growth", "knee_tokens", "interval_level"});
  for (const VerificationCurve& curve : curves) {
    const std::optional<double> knee = knee_tokens(curve);
    for (const VerificationCurve::Point& point : curve.points) {
      data.row().cell(static_cast<double>(curve.context)).cell(static_cast<double>(curve.batch));
      data.cell(static_cast<double>(point.tokens)).cell(point.pass.time_us).cell(point.pass.spread);
      data.cell(to_string(point.pass.origin))
          .cell(inside_text(point.pass.inside))
          .cell(point.growth)
          .cell(point.growth_spread)
          .cell(knee_growth)
          .cell(knee)
          .cell(level);
    }
  }
  return data.csv();
}

std::string decision_map_csv(const ProfilePrediction& prediction) {
  DataText data({"context", "first_batch", "last_batch", "gamma"});
  for (std::size_t i = 0; i < prediction.schedules.size(); ++i) {
    for (const ScheduleRange& range : prediction.schedules[i]) {
      data.row().cell(static_cast<double>(prediction.question.contexts[i])).cell(static_cast<double>(range.first));
      data.cell(static_cast<double>(range.last)).cell(static_cast<double>(range.gamma));
    }
  }
  return data.csv();
}

nlohmann::ordered_json deployment_json(const latency::Deployment& deployment) {
  return {{"weights", to_string(deployment.weights)},
          {"kv_cache", to_string(deployment.kv_cache)},
          {"tensor_parallel", deployment.tensor_parallel},
          {"expert_skew", deployment.expert_skew}};
}

nlohmann::ordered_json overrides_json(const latency::AttainableOverrides& overrides) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"bandwidth_efficiency", or_null(overrides.bandwidth_efficiency)},
          {"compute_efficiency", or_null(overrides.compute_efficiency)},
          {"step_us", or_null(overrides.step_us)},
          {"iteration_us", or_null(overrides.iteration_us)}};
}

}  // namespace

ResultFolder::Kind folder_kind(const ProfileQuestion& question, const FileDigest& times) {
  nlohmann::ordered_json content{{"times_sha256", times.sha256},
                                 {"target", question.target},
                                 {"draft", question.draft},
                                 {"drafting", to_string(question.drafting)},
                                 {"alpha", question.alpha},
                                 {"marginal", question.marginal},
                                 {"convention", to_string(question.convention)},
                                 {"gamma", nullptr},
                                 {"batch", question.batches},
                                 {"context", question.contexts},
                                 {"overhead_us", question.overhead_us},
                                 {"target_deployment", deployment_json(question.target_deployment)},
                                 {"draft_deployment", deployment_json(question.draft_deployment)},
                                 {"attained", overrides_json(question.attained)},
                                 {"memory_utilization", question.memory_utilization},
                                 {"ignore_memory", question.ignore_memory}};
  if (question.gamma) content["gamma"] = *question.gamma;
  if (question.process) add_acceptance(*question.process, content);
  return {.schema = prediction_schema, .content = std::move(content)};
}

std::string prediction_csv(const ProfilePrediction& prediction) {
  std::vector<std::string> columns;
  for (const char* time : {"plain", "plain_sampling", "drafting", "verify", "sampling"}) {
    for (const char* what : {"us", "spread", "origin"}) columns.push_back(fmt::format("{}_{}", time, what));
  }
  columns.insert(columns.end(),
                 {"overhead_us", "inside_domain", "tokens_per_iteration", "speedup", "speedup_spread", "use"});
  return csv_by_length(
      prediction, columns,
      [&](DataText& data, const AtBatch& at, const AtDraftLength& length) {
        const auto add = [&data](const Latency& time, bool known) {
          data.cell(time.time_us).cell(time.spread).cell(known ? to_string(time.origin) : "");
        };
        add(at.plain, true);
        add(at.plain_sampling, prediction.sampling_known);
        add(length.drafting, true);
        add(length.verify, true);
        add(length.sampling, prediction.sampling_known);
        data.cell(prediction.question.overhead_us).cell(inside_text(all_inside(at, length)));
        data.cell(length.tokens).cell(length.speedup).cell(length.spread).cell(static_cast<double>(at.use));
      },
      every_cell);
}

bool has_decision_map(const ProfileQuestion& question) {
  return question.contexts.size() > 1 && question.batches.size() > 1;
}

void write_prediction(ResultFolder& folder, const ProfilePrediction& prediction,
                      const std::vector<VerificationCurve>& curves) {
  folder.write("prediction.csv", prediction_csv(prediction));
  folder.write("step-time.csv", step_time_csv(prediction));
  // Where nothing fits into memory there is nothing to decide.
  const bool decides = std::any_of(prediction.cells.begin(), prediction.cells.end(),
                                   [&](const AtBatch& at) { return prediction.advises(at); });
  if (decides) folder.write("batch-speedup.csv", batch_speedup_csv(prediction));
  folder.write("verification-cost.csv", verification_cost_csv(curves, evidence_of(prediction).interval_level));
  if (decides && has_decision_map(prediction.question)) folder.write("decision-map.csv", decision_map_csv(prediction));
}

}  // namespace foredraft::experiments
