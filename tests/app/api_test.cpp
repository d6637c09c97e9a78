// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/inputs.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/profile.hpp"
#include "foredraft/simulate.hpp"
#include "foredraft/sweep.hpp"
#include "foredraft/tree.hpp"
#include "inputs/devices.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

/// The handling of arguments by the public functions; their results are tested in the folders that compute them.
namespace foredraft {
namespace {

using tests::TemporaryFolder;
using tests::write_text;

Scenario iid_scenario(double alpha, std::int64_t gamma, double c) {
  return {
      .fidelity = ProcessFidelity{.acceptance = Iid{.alpha = alpha}}, .gamma = gamma, .cost = ConstantRatio{.c = c}};
}

ProcessFidelity& process_of(Scenario& scenario) { return std::get<ProcessFidelity>(scenario.fidelity); }

constexpr SimulationPlan short_plan{.iterations = 1000, .seed = 1};

/// Both reject it with the reason.
void check_rejected(const Scenario& scenario, const std::string& why) {
  CHECK_THROWS_AS(predict(scenario), DomainError);
  CHECK_THROWS_WITH(predict(scenario), Catch::Contains(why));
  CHECK_THROWS_AS(simulate(scenario, short_plan), DomainError);
  CHECK_THROWS_WITH(simulate(scenario, short_plan), Catch::Contains(why));
}

}  // namespace

TEST_CASE("the best draft length is that of the closed forms, and its neighbors are within a percent") {
  const Scenario scenario = iid_scenario(0.8, 5, 0.05);
  const BestDraftLength best = best_draft_length(scenario);
  const ClosedForm expected = predict(scenario);
  CHECK(static_cast<double>(best.gamma.value()) == expected.best_gamma);
  CHECK(best.speedup == Approx(expected.best_speedup).epsilon(tests::few_ulp));
  const auto speedup_at = [](std::int64_t gamma) { return predict(iid_scenario(0.8, gamma, 0.05)).speedup; };
  CHECK(speedup_at(best.first_near_best.value()) >= 0.99 * best.speedup);
  CHECK(speedup_at(best.last_near_best.value()) >= 0.99 * best.speedup);
  CHECK(speedup_at(best.first_near_best.value() - 1) < 0.99 * best.speedup);
  CHECK(speedup_at(best.last_near_best.value() + 1) < 0.99 * best.speedup);
  // Drafts that cost nothing gain at any length: 1 / (1 - alpha) tokens in the limit.
  const BestDraftLength unbounded = best_draft_length(iid_scenario(0.8, 5, 0.0));
  CHECK_FALSE(unbounded.gamma.has_value());
  CHECK(unbounded.speedup == Approx(5.0).epsilon(tests::second_route));
}

TEST_CASE("if draft lengths cannot be compared, asking for the best one is an error") {
  Scenario scenario = iid_scenario(0.8, 5, 0.05);
  scenario.cost = ConstantRatio{};
  CHECK_THROWS_WITH(best_draft_length(scenario), Catch::Contains("without a cost"));
  scenario = iid_scenario(0.8, 5, 0.05);
  process_of(scenario).policy = Plus2Minus1{};
  CHECK_THROWS_WITH(best_draft_length(scenario), Catch::Contains("varying length"));
  scenario = iid_scenario(0.8, 5, 0.05);
  process_of(scenario).sequence_length = SequenceLength{.tokens = 100.0};
  CHECK_THROWS_WITH(best_draft_length(scenario), Catch::Contains("finite sequences"));
  scenario = iid_scenario(0.8, 5, 0.05);
  process_of(scenario).acceptance =
      Trace{.recording = std::make_shared<const Recording>(Recording{.sequences = {{1, 0}}})};
  CHECK_THROWS_WITH(best_draft_length(scenario), Catch::Contains("acceptance trace"));
  scenario.fidelity = TokenFidelity{.models = SyntheticModels{.alpha = 0.8}};
  CHECK_THROWS_WITH(best_draft_length(scenario), Catch::Contains("fidelity"));
}

TEST_CASE("closed form and simulation reject the same values out of range") {
  for (const double alpha : {-0.1, 1.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    check_rejected(iid_scenario(alpha, 5, 0.05), "alpha");
  }
  check_rejected(iid_scenario(0.8, -1, 0.05), "gamma=-1");
  check_rejected(iid_scenario(0.8, 5, -0.05), "c=-0.05");
  check_rejected(iid_scenario(0.8, 5, std::nan("")), "c=nan");
  Scenario scenario = iid_scenario(0.8, 0, 0.05);
  scenario.convention = Convention::no_bonus;
  check_rejected(scenario, "gamma=0");
  scenario = iid_scenario(0.8, 5, 0.05);
  scenario.operations_ratio = -1.0;
  check_rejected(scenario, "operations_ratio=-1");
  scenario = iid_scenario(0.8, 5, 0.05);
  process_of(scenario).sequence_length = SequenceLength{.tokens = 2.5};
  check_rejected(scenario, "sequence_length=2.5");
  scenario = iid_scenario(0.8, 5, 0.05);
  scenario.cost = MeasuredTimes{.step_ms = 0.0, .verify_ms = 1.0};
  check_rejected(scenario, "cost.step_ms=0");
}

TEST_CASE("parts of a scenario that do not fit together are rejected") {
  Scenario scenario = iid_scenario(0.8, 3, 0.05);
  // Beyond its end nothing is known; policies used to read past it.
  process_of(scenario).acceptance = Positional{.conditional = {0.9, 0.8}};
  for (const Policy& policy : std::vector<Policy>{ConstantGamma{}, Plus2Minus1{}, OptimalStopping{}}) {
    process_of(scenario).policy = policy;
    check_rejected(scenario, "gamma=3 (process.conditional has 2 entries)");
  }
  scenario = iid_scenario(0.8, 3, 0.05);
  scenario.drafter = Heads{.accuracies = {0.9, 0.8}};
  check_rejected(scenario, "drafter.accuracies has 2 entries");
  scenario.drafter = PromptLookup{};
  check_rejected(scenario, "drafter: prompt_lookup");
  scenario.drafter = InputCopy{.edit_rate = 0.1};
  process_of(scenario).acceptance = Markov{.a = 0.8, .b = 0.5};
  check_rejected(scenario, "drafter: input_copy works only with process iid");
  scenario = iid_scenario(0.8, 3, 0.05);
  scenario.drafter = BlockDrafter{.decay = 0.9};
  process_of(scenario).policy = ConfidenceThreshold{.threshold = 0.5};
  check_rejected(scenario, "drafter: block");
  scenario = iid_scenario(0.8, 3, 0.05);
  process_of(scenario).policy = OptimalStopping{};
  scenario.cost = ConstantRatio{};
  check_rejected(scenario, "policy: optimal_stopping without c");
  scenario = iid_scenario(0.8, max_policy_gamma + 1, 0.05);
  process_of(scenario).policy = Plus2Minus1{};
  check_rejected(scenario, "gamma=10001");
  scenario.fidelity = TokenFidelity{.rule = Lenient{.lenience = 2.0}, .models = SyntheticModels{.alpha = 0.8}};
  scenario.gamma = 3;
  check_rejected(scenario, "lenience=2");
  scenario.fidelity = Server{.acceptance = Iid{0.8}, .max_batch = 0};
  check_rejected(scenario, "max_batch=0");
  scenario.fidelity = Server{.acceptance = Iid{0.8}, .gamma_schedule = {{2, 8, 3}}, .max_batch = 8};
  check_rejected(scenario, "gamma schedule");
}

TEST_CASE("files that a scenario names and that were not read are an error that says what to call") {
  Scenario scenario = iid_scenario(0.8, 3, 0.05);
  process_of(scenario).acceptance = Trace{.file = "none.csv"};
  check_rejected(scenario, "read_inputs");
  CHECK_THROWS_AS(read_inputs(scenario), InputError);
  scenario = iid_scenario(0.8, 3, 0.05);
  scenario.cost = Roofline{{.source = "h200", .target = "llama-2-7b", .draft = "sheared-llama-1.3b"}};
  check_rejected(scenario, "read_inputs");
  read_inputs(scenario);
  CHECK(predict(scenario).speedup > 1.0);
  scenario.cost = ConstantRatio{.c = 0.05};
  scenario.fidelity = TokenFidelity{.models = NgramModels{}};
  check_rejected(scenario, "read_inputs");
}

TEST_CASE("an empty plan is rejected") {
  CHECK_THROWS_AS(simulate(iid_scenario(0.8, 5, 0.05), {}), DomainError);
  Scenario scenario = iid_scenario(0.8, 5, 0.05);
  scenario.fidelity =
      Server{.acceptance = Iid{0.8}, .max_batch = 4, .arrivals = {.kind = ArrivalKind::closed, .clients = 4}};
  CHECK_THROWS_WITH(simulate(scenario, {.requests = 10}), Catch::Contains("replicas=0"));
  CHECK_THROWS_WITH(simulate(scenario, {.replicas = 2}), Catch::Contains("requests=0"));
}

TEST_CASE("a profile gives the times of its surfaces and the speedups that follow from them") {
  const Profile profile = Profile::read("h200");
  CHECK(profile.source() == ProfileSource::datasheet);
  CHECK(profile.sha256() == inputs::read_profile("h200").digest.sha256);
  const latency::PairSurface surface(
      inputs::read_profile("h200").profile, latency::model_registry(), "llama-2-7b", "sheared-llama-1.3b",
      latency::Role::autoregressive_drafting,
      latency::SheetPair{.attainable = latency::attainable_of(inputs::read_profile("h200").profile)});
  const PairTimes times = profile.times("llama-2-7b", "sheared-llama-1.3b");
  CHECK(times.plain(4, 1000).time_us == surface.target_pass(1, 4, 1000).time_us);
  CHECK(times.verify(5, 4, 1000).time_us == surface.target_pass(6, 4, 1000).time_us);
  CHECK(times.verify(5, 4, 1000, Convention::no_bonus).time_us == surface.target_pass(5, 4, 1000).time_us);
  CHECK(times.drafting(5, 4, 1000).time_us == surface.drafting(5, 4, 1000).time_us);
  CHECK_FALSE(times.sampling(5, 4).has_value());
  SpeedupQuestion question{.target = "llama-2-7b",
                           .draft = "sheared-llama-1.3b",
                           .acceptance = Positional{.conditional = {0.9, 0.8, 0.7}},
                           .batch = 4,
                           .context = 1000,
                           .max_gamma = 3};
  const SpeedupTable table = profile.speedups(question);
  REQUIRE(table.lengths.size() == 3);
  const latency::Profile sheet = inputs::read_profile("h200").profile;
  const double iteration_us = latency::attainable_of(latency::peaks_of(sheet.device, sheet.limits)).iteration_us.value;
  // By hand: 1 + .9 + .72 + .504 tokens for three drafts and a verification of four tokens.
  CHECK(table.lengths[2].tokens_per_iteration == Approx(3.124).epsilon(tests::second_route));
  CHECK(table.lengths[2].speedup ==
        Approx(3.124 * times.plain(4, 1000).time_us /
               (times.drafting(3, 4, 1000).time_us + times.verify(3, 4, 1000).time_us + iteration_us))
            .epsilon(tests::second_route));
  question.max_gamma = 4;
  CHECK_THROWS_WITH(profile.speedups(question), Catch::Contains("max_gamma=4"));
  question.acceptance = Trace{};
  CHECK_THROWS_WITH(profile.speedups(question), Catch::Contains("acceptance trace"));
  question.acceptance = Markov{.a = 0.8, .b = 0.5};
  // One draft: (1 - a + b) / (1 - a + b a / (1 + a)) tokens
  CHECK(profile.speedups(question).lengths[0].tokens_per_iteration == Approx(0.7 / (0.2 + 0.4 / 1.8)));
  question.acceptance = Iid{.alpha = 1.5};
  CHECK_THROWS_AS(profile.speedups(question), DomainError);
  question.acceptance = Iid{.alpha = 0.5};
  question.drafter = PromptLookup{};
  CHECK_THROWS_AS(profile.speedups(question), DomainError);
  CHECK_THROWS_WITH(times.plain(0, 0), Catch::Contains("batch"));
  CHECK_THROWS_WITH(times.drafting(0, 1, 0), Catch::Contains("gamma=0"));
  CHECK_THROWS_WITH(times.verify(0, 1, 0, Convention::no_bonus), Catch::Contains("gamma=0"));
  CHECK_THROWS_WITH(profile.times("llama-2-7b", "no-model"), Catch::Contains("no-model"));
  // Heads are part of the target: their own model argument is ignored.
  CHECK(profile.times("vicuna-33b", "", Heads{}).drafting(3, 1, 512).time_us > 0.0);
}

TEST_CASE("a sweep reports progress, stops when asked, and resumes") {
  const TemporaryFolder folder;
  const std::string config = folder / "s.toml";
  write_text(config, "schema = \"foredraft.sweep/1\"\n[axes]\ngamma = [1, 2, 3]\n[fixed]\nalpha = 0.8\nc = 0.1\n");
  const std::atomic<bool> stop = true;
  CHECK_THROWS_AS(run_sweep(config, folder / "a", {.stop = &stop}), Interrupted);
  double maximum = 0.0;
  std::uint64_t total = 0;
  const SweepResult result = run_sweep(config, folder / "a", {.threads = 1, .progress = [&](const SweepProgress& now) {
                                                                maximum = std::max(maximum, now.finished);
                                                                total = now.total;
                                                              }});
  CHECK(result.points == 3);
  CHECK_FALSE(result.already_complete);
  CHECK(maximum == 3.0);
  CHECK(total == 3);
  CHECK(run_sweep(config, folder / "a").already_complete);
  CHECK(run_sweep(config, folder / "b", {.shard = Shard{2, 2}}).points == 1);
  for (const Shard& shard : {Shard{0, 2}, Shard{3, 2}, Shard{1, 4}, Shard{1, 0}}) {
    CHECK_THROWS_AS(run_sweep(config, folder / "c", {.shard = shard}), InputError);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "c"));
}

TEST_CASE("a tree beyond its accuracies or its cost is rejected") {
  TreeQuestion question{.accuracies = {{0.5, 0.25}, {0.5, 0.125}}, .nodes = 5, .depth = 2};
  CHECK(best_tree(question).chosen.tokens == 2.125);
  question.depth = 3;
  CHECK_THROWS_AS(best_tree(question), DomainError);
  question = {.accuracies = {{0.75, 0.5}}, .nodes = 5, .depth = 1};
  CHECK_THROWS_AS(best_tree(question), DomainError);
  question = {.accuracies = {{0.5, 0.25}}, .nodes = 0, .depth = 1};
  CHECK_THROWS_AS(best_tree(question), DomainError);
  question.nodes = 2;
  question.price = TreePrice{.verification = {1.0}, .c = 0.1, .drafting = Drafting::autoregressive};
  CHECK_THROWS_AS(best_tree(question), DomainError);
  question.price.reset();
  question.given = tree_from_paths(std::vector<TreePath>{{0}, {0, 0}});
  CHECK_THROWS_WITH(best_tree(question), Catch::Contains("there are 1 heads"));
}

}  // namespace foredraft
