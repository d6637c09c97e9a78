// SPDX-License-Identifier: Apache-2.0
// Every scenario that passes the check has a closed form or a simulation.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "foredraft/predict.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/every_scenario.hpp"

namespace foredraft {
namespace {

/// A device whose forward passes all take the same time.
class ConstantTimes final : public ForwardPassTimes {
 public:
  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& /*asked*/, std::int64_t /*gamma*/,
                                                 Convention /*convention*/) const override {
    return constant_ratio(0.1);
  }
  [[nodiscard]] double target_us(const StepShape& /*shape*/, Convention /*convention*/) const override {
    return 1000.0;
  }
  void check_memory(const StepShape& /*shape*/) const override {}
  [[nodiscard]] double drafter_us(const StepShape& /*shape*/) const override { return 100.0; }
};

/// n-gram models for each drafter of text.
std::shared_ptr<const TrainedModels> trained_for(const Drafter& drafter) {
  const auto documents = tests::generated_documents(tests::generated_vocabulary, 200, 7);
  const auto model = [&](const ngram::Window& window) {
    return ngram::Model::train(documents, tests::generated_vocabulary, window);
  };
  const bool heads = std::holds_alternative<Heads>(drafter);
  std::vector<std::shared_ptr<const ngram::Model>> by_position;
  for (int position = 1; position <= tests::tried_gamma; ++position) {
    by_position.push_back(model(heads ? ngram::head_window(2, position) : ngram::stage_window(2, position)));
  }
  TrainedModels trained{.target = model(ngram::adjacent_window(3)), .drafter = {}};
  if (heads) {
    trained.drafter = ngram::heads(by_position);
  } else if (std::holds_alternative<MlpSpeculator>(drafter)) {
    trained.drafter = ngram::stages(by_position);
  } else if (!std::holds_alternative<PromptLookup>(drafter)) {
    trained.drafter = ngram::ngram_drafter(model(ngram::adjacent_window(2)));
  }
  return std::make_shared<const TrainedModels>(trained);
}

/// Replaces reading of its files.
void read(Scenario& scenario) {
  const auto times = std::make_shared<const ConstantTimes>();
  if (auto* roofline = std::get_if<Roofline>(&scenario.cost)) roofline->times = times;
  if (auto* measured = std::get_if<Measured>(&scenario.cost)) measured->times = times;
  if (auto* token = std::get_if<TokenFidelity>(&scenario.fidelity)) {
    if (auto* models = std::get_if<NgramModels>(&token->models)) models->trained = trained_for(scenario.drafter);
  }
  auto* process = scenario::acceptance_of(scenario);
  if (process != nullptr && std::holds_alternative<Observed>(*process)) *process = Runs{0.8, 0.6};
}

/// Every choice of each family, the first family outermost.
void for_each(const std::vector<std::vector<tests::Choice>>& families, const Scenario& scenario, std::string name,
              const auto& visit) {
  if (families.empty()) return visit(scenario, name);
  const std::vector<std::vector<tests::Choice>> rest(families.begin() + 1, families.end());
  for (const tests::Choice& choice : families.front()) {
    Scenario chosen = scenario;
    choice.choose(chosen);
    for_each(rest, chosen, name + " " + choice.word, visit);
  }
}

std::vector<std::vector<tests::Choice>> families_of(const Fidelity& fidelity) {
  std::vector<std::vector<tests::Choice>> families{tests::drafters_to_try(), tests::costs_to_try(),
                                                   tests::conventions_to_try()};
  if (std::holds_alternative<TokenFidelity>(fidelity)) {
    families.push_back(tests::rules_to_try());
  } else {
    families.push_back(tests::processes_to_try());
    families.push_back(std::holds_alternative<Server>(fidelity) ? tests::batchings_to_try() : tests::policies_to_try());
  }
  return families;
}

}  // namespace

TEST_CASE("every scenario that passes the check can be predicted and simulated") {
  const SimulationPlan plan{.iterations = 64, .seed = 1, .requests = 4, .replicas = 2};
  std::size_t legal = 0;
  for (const Scenario& sound : tests::scenarios_to_vary()) {
    for_each(families_of(sound.fidelity), sound, "", [&](Scenario scenario, const std::string& name) {
      if (!scenario::problems_of(scenario).empty()) return;
      ++legal;
      read(scenario);
      CAPTURE(sound.fidelity.index(), name);
      CHECK_NOTHROW(predict(scenario));
      CHECK_NOTHROW(simulate(scenario, plan));
    });
  }
  CHECK(legal > 500);
}

}  // namespace foredraft
