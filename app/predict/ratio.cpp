// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytic/answer/answer.hpp"
#include "answers/overlap.hpp"
#include "answers/prediction.hpp"
#include "app/predict/acceptance_options.hpp"
#include "app/predict/predict.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/observed_acceptance.hpp"
#include "scenario/cost.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::app {
namespace {

/// Replaces the name of a log by the acceptance fitted to it.
void read_acceptance(const CommandLine& line, answers::Question& question) {
  const auto log = line.text("acceptance");
  if (!log) return;
  question.observed = std::make_shared<const answers::FittedAcceptance>(inputs::read_fitted_acceptance(*log));
  std::get<ProcessFidelity>(question.scenario.fidelity).acceptance = question.observed->fit.model.value();
}

answers::Answered answer(CommandLine& line) {
  answers::Question question = read_question(line, all_option_families);
  // With this policy, the check of the scenario reports it.
  if (!states_times(line) && line.text("policy") != scenario::name_of(Policy(OptimalStopping{}))) {
    line.require("c", "draft/target time of one step; or --step-ms, --draft-ms and --verify-ms", "e.g. --c 0.05");
  }
  line.done();
  read_acceptance(line, question);
  const bool varies = scenario::gamma_varies(question.scenario);
  if (varies && line.has("process") && std::isnan(analytic::answer(question.scenario).tokens_per_iteration)) {
    line.reject("process", "no closed form under this policy", "only constant drafts have one",
                "use foredraft simulate with a configuration");
    line.done();
  }
  return {question, varies ? analytic::Prediction{} : analytic::predict(question.scenario, question.gamma)};
}

int predict_several(std::vector<CommandLine>& lines) {
  std::vector<answers::Answered> all;
  for (CommandLine& line : lines) {
    all.push_back(answer(line));
    if (scenario::gamma_varies(all.back().question.scenario)) {
      line.reject_any({"alpha", "c"}, "a list", "a policy is answered for one value", "give one value");
      line.done();
    }
  }
  print_result(lines.front().has("json") ? experiments::document_text(answers::to_json(all)) : to_text(all));
  return exit_done;
}

/// The rows of --overlap for an answered line; empty without that option.
std::vector<answers::OverlapRow> read_overlap(CommandLine& line, const answers::Answered& answered) {
  if (!line.has("overlap")) return {};
  const Scenario& scenario = answered.question.scenario;
  const Iid* iid = answers::iid_of(scenario);
  const auto* ratio = std::get_if<ConstantRatio>(&scenario.cost);
  const bool plain = iid != nullptr && ratio != nullptr && ratio->verify_growth == 0.0 &&
                     std::holds_alternative<AutoregressiveDrafter>(scenario.drafter) &&
                     scenario.convention == Convention::bonus && !scenario::gamma_varies(scenario);
  if (!plain) {
    line.reject("overlap", "not modeled for this question",
                "it takes a draft model, drafts of one length with a bonus token, and verifications that take one "
                "decode step",
                "give only --alpha, --gamma and --c");
  } else if (*ratio->c > 1.0) {
    line.reject("overlap", fmt::format("invalid c={}", *ratio->c), "the drafter would be slower than the target");
  } else if (answered.prediction.asked.gamma.value_or(0) < 1) {
    line.reject("overlap", "there is no draft length", "every stage has one draft or more", "e.g. --gamma 5");
  }
  line.done();
  return in_phase("simulating overlapped drafting",
                  [&] { return answers::overlap_rows(iid->alpha, *answered.prediction.asked.gamma, *ratio->c); });
}

}  // namespace

int predict_ratio(CommandLine& line) {
  std::vector<CommandLine> lines = combinations(line);
  if (lines.size() > 1) {
    line.reject_any({"overlap"}, "mutually exclusive with lists of values", "its table is of one answer",
                    "give one value of --alpha and --c");
    line.done();
    return predict_several(lines);
  }
  const answers::Answered answered = answer(line);
  const Scenario& scenario = answered.question.scenario;
  const bool varies = scenario::gamma_varies(scenario);
  const std::vector<answers::OverlapRow> overlap = read_overlap(line, answered);
  if (line.has("json")) {
    nlohmann::ordered_json json = varies ? answers::varying_prediction_json(scenario) : to_json(answered);
    if (!overlap.empty()) json["overlap"] = answers::to_json(overlap);
    print_result(experiments::document_text(json));
  } else {
    const std::string text = varies ? varying_prediction_text(scenario) : to_text(answered);
    print_result(overlap.empty() ? text : text + overlap_text(overlap));
  }
  return exit_done;
}

}  // namespace foredraft::app
