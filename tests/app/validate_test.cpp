// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "app/validation.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_registry.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_profile.hpp"

namespace foredraft::app {
namespace {

using tests::tiny_profile;

answers::GridRequest tiny_request() {
  return {.pairs = gpu_bench::pairs_of(latency::model_registry(), {"tiny-target", "tiny-drafter"})};
}

/// A loop that takes the predicted time, multiplied by `slower`.
gpu_bench::LoopRow row_as_predicted(const answers::CellPrediction& prediction, double slower) {
  const double iteration_us = slower * prediction.plain_us * prediction.tokens_per_iteration / prediction.speedup;
  return {.cell = prediction.cell,
          .plain = {.samples = 9,
                    .median_us = prediction.plain_us,
                    .median_ci95_us = {prediction.plain_us, prediction.plain_us}},
          .iteration = {.samples = 9, .median_us = iteration_us, .median_ci95_us = {iteration_us, iteration_us}},
          .tokens_per_iteration = prediction.tokens_per_iteration,
          .between_runs = 0.01};
}

}  // namespace

TEST_CASE("the grid of validate has 24 cells and none of the passes that the profile measured") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  const std::vector<gpu_bench::LoopCell> cells = answers::validation_cells(profile, tiny_request()).cells;
  CHECK(cells.size() == 24);
  CHECK(std::set(cells.begin(), cells.end()).size() == 24);
  std::set<std::int64_t> gammas, batches, contexts;
  for (const gpu_bench::LoopCell& cell : cells) {
    CHECK_FALSE(answers::is_calibrated(profile, cell));
    gammas.insert(cell.gamma);
    batches.insert(cell.batch);
    contexts.insert(cell.context);
  }
  CHECK(gammas == std::set<std::int64_t>{2, 3, 5, 7});
  CHECK(batches == std::set<std::int64_t>{2, 3});
  CHECK(contexts == std::set<std::int64_t>{256, 384});

  // One batch is enough if there are several contexts, and vice versa.
  for (const gpu_bench::LoopCell& cell :
       answers::validation_cells(tiny_profile({1}, {128, 512}), tiny_request()).cells) {
    CHECK(cell.batch == 1);
    CHECK((cell.context == 256 || cell.context == 384));
  }
  CHECK_THAT(
      whole_rejection([] { static_cast<void>(answers::validation_cells(tiny_profile({1}, {128}), tiny_request())); }),
      Catch::Contains("calibrate with e.g. --batch 1,4 --context 0,512"));
}

TEST_CASE("the grid of validate leaves out what a drafter measured at fewer batches or contexts cannot predict") {
  const auto without = [](auto&& unmeasured) {
    latency::Profile profile = tiny_profile({1, 4, 16}, {128, 512});
    std::erase_if(profile.steps, [&](const latency::StepRow& row) {
      return row.cell.model == "tiny-drafter" && unmeasured(row.cell);
    });
    return profile;
  };
  const latency::Profile few_batches = without([](const latency::Cell& cell) { return cell.batch > 4; });
  const answers::ValidationGrid grid = answers::validation_cells(few_batches, tiny_request());
  CHECK(grid.cells.size() == 24);
  for (const gpu_bench::LoopCell& cell : grid.cells) CHECK((cell.batch == 2 || cell.batch == 3));
  REQUIRE_FALSE(grid.left_out.empty());
  CHECK_THAT(grid.left_out.front(), Catch::Contains("tiny-drafter") && Catch::Contains("no time for batch"));
  CHECK(answers::predict_cells(grid.cells, few_batches, "gpu.json").size() == 24);

  const latency::Profile one_cell =
      without([](const latency::Cell& cell) { return cell.batch > 1 || cell.context > 128; });
  CHECK_THAT(whole_rejection([&] { static_cast<void>(answers::validation_cells(one_cell, tiny_request())); }),
             Catch::Contains("tiny-drafter"));
  CHECK(answers::validation_cells(tiny_profile({1, 4}, {128, 512}), tiny_request()).left_out.empty());
}

TEST_CASE("no loop is planned for a pair whose vocabularies differ") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  answers::GridRequest request{
      .pairs = gpu_bench::pairs_of(latency::model_registry(), {"bart-base", "specdec-drafter-12-2"})};
  const char* why = "no loop decodes with bart-base from specdec-drafter-12-2: vocabularies of 50265 and 37000 tokens";
  CHECK_THAT(whole_rejection([&] { static_cast<void>(answers::validation_cells(profile, request)); }),
             Catch::Contains(why));

  request.pairs.push_back(tiny_request().pairs.front());
  const answers::ValidationGrid grid = answers::validation_cells(profile, request);
  REQUIRE(grid.left_out.size() == 1);
  CHECK_THAT(grid.left_out.front(), Catch::Contains(why));
  REQUIRE_FALSE(grid.cells.empty());
  for (const gpu_bench::LoopCell& cell : grid.cells) CHECK(cell.target == "tiny-target");
}

TEST_CASE("requested cells are all combinations, and a calibrated one is rejected by name") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  answers::GridRequest request = tiny_request();
  request.gammas = {2, 5};
  request.batches = {2, 3};
  CHECK(answers::validation_cells(profile, request).cells.size() == 4);
  request.batches = {1};
  request.contexts = {128};
  CHECK_THAT(whole_rejection([&] { static_cast<void>(answers::validation_cells(profile, request)); }),
             Catch::Contains("gamma 5 alpha 0.7 batch 1 context 128: the profile has measured its passes"));
}

TEST_CASE("a cell outside of the profile's range is rejected by name") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  answers::GridRequest request = tiny_request();
  request.batches = {64};
  const std::vector<gpu_bench::LoopCell> cells = answers::validation_cells(profile, request).cells;
  CHECK_THAT(whole_rejection([&] { static_cast<void>(answers::predict_cells(cells, profile, "cpu.json")); }),
             Catch::Contains("cpu.json: ") && Catch::Contains("batch 64") && Catch::Contains("batch 1, 4; tokens "));
  const auto fitted =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b", "t5-small"}, 0.0);
  const gpu_bench::LoopCell vocabulary_beyond{.target = "llama-2-7b",
                                              .drafter = "gemma-2b",
                                              .dtype = "fp16",
                                              .gamma = 2,
                                              .alpha = 0.7,
                                              .batch = 8,
                                              .context = 128};
  CHECK_THAT(whole_rejection([&] { static_cast<void>(answers::predict_cells({vocabulary_beyond}, fitted, "p.json")); }),
             Catch::Contains("outside of the domain") && Catch::Contains("(it has times of batch "));
}

TEST_CASE("a measured speedup outside of the profile's range is rejected by its line, one inside has its prediction") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  const std::string header = "target,draft,gamma,alpha,batch,context,speedup\n";
  const std::string inside = "tiny-target,tiny-drafter,3,0.7,2,256,1.5\n";
  CHECK_THAT(whole_rejection([&] {
               static_cast<void>(predict_speedups(header + inside + "tiny-target,tiny-drafter,3,0.7,64,256,1.5\n",
                                                  "engine.csv", profile));
             }),
             Catch::Contains("engine.csv:3: ") && Catch::Contains("batch 64") && !Catch::Contains("engine.csv:2"));
  const PredictedSpeedups found = predict_speedups(header + inside, "engine.csv", profile);
  REQUIRE(found.measured.size() == 1);
  CHECK(found.measured[0].speedup == 1.5);
  CHECK(found.measured[0].cell == found.predictions.at(0).cell);
  CHECK(found.measured[0].cell.dtype == "fp32");
  CHECK_FALSE(found.measured[0].speedup_ci95);
  CHECK(found.predictions[0].speedup == answers::predict_cell(found.measured[0].cell, profile).speedup);
}

TEST_CASE("a loop as fast as predicted has no error, and the prediction for one a tenth slower is a tenth too high") {
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  const std::vector<answers::CellPrediction> predictions =
      answers::predict_cells(answers::validation_cells(profile, tiny_request()).cells, profile, "cpu.json");
  REQUIRE(predictions.size() == 24);
  for (const answers::CellPrediction& one : predictions) {
    CHECK(answers::signed_error(one, speedup(row_as_predicted(one, 1.0))) == Approx(0.0).margin(1e-12));
    CHECK(answers::signed_error(one, speedup(row_as_predicted(one, 1.1))) == Approx(0.1));
  }
}

TEST_CASE("the prediction and its digest are on the disk before a loop runs, and rows of an interrupted run are kept") {
  const tests::TemporaryFolder folder;
  const std::string out = folder / "validation";
  const latency::Profile profile = tiny_profile({1, 4}, {128, 512});
  const std::vector<answers::CellPrediction> predictions =
      answers::predict_cells(answers::validation_cells(profile, tiny_request()).cells, profile, "cpu.json");
  const ValidationInputs inputs{
      .files = {digest_text("cpu.json", "{}")}, .valid = false, .command_line = {"foredraft", "validate"}};
  std::string before;
  const MeasuredCells measured = run_validation(out, inputs, predictions, [&](const auto& keep) {
    before = tests::content_of(out + "/prediction.csv");
    CHECK(before == prediction_csv(predictions));
    CHECK_THAT(tests::content_of(out + "/manifest.json"),
               Catch::Contains(digest_text("prediction.csv", before).sha256) && Catch::Contains("\"running\"") &&
                   Catch::Contains("\"valid\": false"));
    const std::vector<answers::MeasuredCell> cells =
        answers::measured_cells({row_as_predicted(predictions.front(), 1.0)});
    keep(cells);
    CHECK(tests::content_of(out + "/validation.csv") == validation_csv(predictions, cells));
    return MeasuredCells{.end = gpu_bench::MeasureEnd::interrupted, .cells = cells};
  });
  CHECK(measured.cells.size() == 1);
  CHECK(tests::content_of(out + "/prediction.csv") == before);
  CHECK_THAT(tests::content_of(out + "/manifest.json"), Catch::Contains("\"interrupted\""));
  CHECK_THAT(tests::content_of(out + "/validation.csv"),
             Catch::Contains("tiny-target,tiny-drafter,autoregressive,fp32,2,0.5,2,256"));
  const std::string kept = tests::content_of(out + "/validation.csv");
  CHECK_THAT(whole_rejection([&] {
               static_cast<void>(
                   run_validation(out, inputs, predictions, [](const auto& /*keep*/) { return MeasuredCells{}; }));
             }),
             Catch::Contains("is there and not empty"));
  CHECK(tests::content_of(out + "/validation.csv") == kept);
}

}  // namespace foredraft::app
