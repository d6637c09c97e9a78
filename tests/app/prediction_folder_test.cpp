// SPDX-License-Identifier: Apache-2.0
#include "app/prediction_folder.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "inputs/devices.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

/// The files of `predict --out`, and their verification curves.
namespace foredraft::app {
namespace {

/// Batch 1: verification costs no more than a decode step; batch 2: each further token costs half of one. A draft costs
/// a tenth of one.
constexpr std::string_view two_batches =
    "model,role,batch,tokens,context,ms\n"
    "t,decoder_pass,1,1,100,10\nt,decoder_pass,1,2,100,10\nt,decoder_pass,1,3,100,10\n"
    "t,decoder_pass,2,1,100,20\nt,decoder_pass,2,2,100,30\nt,decoder_pass,2,3,100,40\n"
    "d,decoder_pass,1,1,100,1\nd,decoder_pass,2,1,100,2\n";

answers::ProfileQuestion question_of_two_batches() {
  answers::ProfileQuestion question{.target = "t", .draft = "d"};
  question.acceptance = Positional{.marginal = {0.75, 0.5}};
  question.batches = {1, 2};
  question.contexts = {100};
  question.overhead_us = 500.0;
  return question;
}

/// One draft at each batch; the second outside the domain of its drafting.
answers::ProfilePrediction prediction_of_two_batches() {
  const latency::Latency plain{.time_us = 8.0, .spread = 0.25};
  const latency::Latency drafting{.time_us = 2.0, .spread = 0.125, .origin = latency::Origin::interpolated};
  const latency::Latency verify{.time_us = 16.0, .spread = 0.5, .origin = latency::Origin::fitted};
  answers::ProfilePrediction prediction{.question = question_of_two_batches(), .device = "made up"};
  answers::AtBatch one{.batch = 1, .context = 100, .plain = plain, .one_draft = drafting};
  one.plain_sampling = latency::Latency{.time_us = 0.5, .spread = 1.0};
  one.use = 1;
  answers::AtDraftLength length{
      .gamma = 1, .times = {.plain = plain, .verify = verify, .drafting = drafting}, .tokens = 1.75, .speedup = 1.5};
  length.spread = 0.375;
  length.times.plain_sampling = one.plain_sampling;
  length.times.sampling = latency::Latency{.time_us = 0.75, .spread = 0.0625, .origin = latency::Origin::interpolated};
  one.lengths = {length};
  answers::AtBatch two{.batch = 2, .context = 100, .plain = {.time_us = 16.0}, .one_draft = {}};
  two.plain_sampling = latency::Latency{};
  length = {.gamma = 1,
            .times = {.plain = two.plain, .verify = {.time_us = 32.0}, .drafting = {.time_us = 4.0}},
            .tokens = 1.75,
            .speedup = 0.5};
  length.times.plain_sampling = two.plain_sampling;
  length.times.sampling = latency::Latency{.inside = false};
  two.lengths = {length};
  prediction.cells = {one, two};
  return prediction;
}

std::vector<std::int64_t> tokens_of_points(const VerificationCurve& curve) {
  std::vector<std::int64_t> tokens;
  for (const VerificationCurve::Point& point : curve.points) tokens.push_back(point.tokens);
  return tokens;
}

VerificationCurve curve_through(const std::vector<std::pair<std::int64_t, double>>& points) {
  VerificationCurve curve;
  for (const auto& [tokens, growth] : points) curve.points.push_back({tokens, {}, growth, {}});
  return curve;
}

latency::Profile endless_sheet(double bandwidth, double peak) {
  latency::Profile profile{.source = latency::Source::datasheet, .identity = {}, .device = {}, .limits = {}};
  profile.limits.memory_bandwidth_bytes_per_s = {.value = bandwidth, .ci95 = {}, .origin = "made up"};
  profile.limits.matrix_peak_fp16_flop_per_s = {.value = peak, .ci95 = {}, .origin = "made up"};
  return profile;
}

}  // namespace

TEST_CASE("the knee lies where growth first exceeds 1.1, on a straight line in the logarithms") {
  // ln 1.1 is half of ln 1.21: halfway from 2 to 8 tokens in the logarithm.
  CHECK(knee_tokens(curve_through({{1, 1.0}, {2, 1.0}, {8, 1.21}, {16, 1.0}})).value() ==
        Approx(4.0).epsilon(tests::few_ulp));
  CHECK_FALSE(knee_tokens(curve_through({{1, 1.0}, {2, 1.1}})));
  CHECK_FALSE(knee_tokens(curve_through({{1, 1.0}})));
}

TEST_CASE("a verification curve ends where its growth is clear, where the device is unknown, or at 1,024 tokens") {
  answers::ProfileQuestion question{.target = "llama-2-7b", .draft = "sheared-llama-1.3b"};
  question.acceptance = Iid{0.8};
  question.floor = true;
  const VerificationCurve computing = verification_curves(question, endless_sheet(1e30, 1e14)).front();
  CHECK(tokens_of_points(computing) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});  // gamma up to 8
  CHECK(computing.points.back().growth == Approx(9.0).epsilon(0.01));                          // attention grows too
  const VerificationCurve reading = verification_curves(question, endless_sheet(1e12, 1e30)).front();
  CHECK(reading.points.size() == 9 + 14);
  CHECK(reading.points.at(9).tokens == 12);
  CHECK(reading.points.at(10).tokens == 16);
  CHECK(reading.points.back().tokens == 1024);
  const latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b"}, 0.0);
  question.draft = "qwen1.5-0.5b";
  question.contexts = {128};
  CHECK(verification_curves(question, profile).front().points.back().tokens == 32);
  const latency::Profile of_three =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b", "t5-small"}, 0.0);
  question.target = "sheared-llama-1.3b";  // fitted
  CHECK(verification_curves(question, of_three).front().points.size() > 9);
  question.contexts = {4096};  // longer than any that was measured
  const VerificationCurve outside = verification_curves(question, of_three).front();
  CHECK(outside.points.size() == 9);
  CHECK_FALSE(outside.points.front().pass.inside);
}

TEST_CASE("the growth of verification is as uncertain as its two passes, and exact for one token") {
  answers::ProfileQuestion question{.target = "llama-2-7b", .draft = "qwen1.5-0.5b"};
  question.contexts = {128};
  const auto profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b"}, 0.0);
  const VerificationCurve curve = verification_curves(question, profile).front();
  CHECK(curve.points[0].growth == 1.0);
  CHECK(curve.points[0].growth_spread == 0.0);
  CHECK(curve.points[1].growth == curve.points[1].pass.time_us / curve.points[0].pass.time_us);
  CHECK(curve.points[1].growth_spread.value() ==
        Approx(std::hypot(curve.points[0].pass.spread.value(), curve.points[1].pass.spread.value()))
            .epsilon(tests::few_ulp));
  const auto unknown =
      verification_curves(question_of_two_batches(), inputs::parse_steps(two_batches, "steps.csv")).front().points;
  CHECK_FALSE(unknown[0].growth_spread);
  CHECK_FALSE(unknown[1].growth_spread);
}

TEST_CASE("a prediction writes every number, the data of each figure, and a manifest with their digests") {
  const tests::TemporaryFolder folder;
  answers::ProfileQuestion question = question_of_two_batches();
  const FileDigest times = digest_text("steps.csv", two_batches);
  bool valid = true;
  const auto write = [&](const std::string& name) {
    experiments::ResultFolder result(folder / name, folder_kind(question, times, valid), {"predict"});
    result.add_input(times);
    write_prediction(
        result, prediction_of_two_batches(),
        {{.batch = 2,
          .context = 100,
          .points = {{1, {.time_us = 8.0, .spread = 0.25}, 1.0, 0.0},
                     {2, {.time_us = 10.0, .origin = latency::Origin::fitted, .inside = false}, 1.21, {}}}}},
        "Use gamma 1.\n");
    result.complete();
  };
  write("out");
  CHECK(tests::content_of(folder / "out/prediction.csv") ==
        "context,batch,gamma,plain_us,plain_spread,plain_origin,plain_sampling_us,plain_sampling_spread,"
        "plain_sampling_origin,drafting_us,drafting_spread,drafting_origin,verify_us,verify_spread,verify_origin,"
        "sampling_us,sampling_spread,sampling_origin,overhead_us,inside_domain,tokens_per_iteration,speedup,"
        "speedup_spread,use,interval_level\n"
        "100,1,1,8,0.25,measured,0.5,1,measured,2,0.125,interpolated,16,0.5,fitted,0.75,0.0625,interpolated,500,yes,"
        "1.75,1.5,0.375,1,0.95\n"
        "100,2,1,16,,measured,0,,measured,4,,measured,32,,measured,0,,measured,500,no,1.75,0.5,,0,0.95\n");
  CHECK(tests::content_of(folder / "out/step-time.csv") ==
        "context,batch,gamma,plain_us,plain_sampling_us,drafting_us,verify_us,sampling_us,overhead_us,"
        "tokens_per_iteration,speedup_spread,origin,inside_domain,interval_level\n"
        "100,1,1,8,0.5,2,16,0.75,500,1.75,0.375,fitted,yes,0.95\n"
        "100,2,1,16,0,4,32,0,500,1.75,,measured,no,0.95\n");
  CHECK(tests::content_of(folder / "out/batch-speedup.csv") ==
        "context,batch,gamma,speedup,speedup_spread,origin,inside_domain,interval_level\n"
        "100,1,1,1.5,0.375,fitted,yes,0.95\n"
        "100,2,1,0.5,,measured,no,0.95\n");
  const std::string knee = number_text(std::pow(2.0, std::log(1.1) / std::log(1.21)));
  CHECK(tests::content_of(folder / "out/verification-cost.csv") ==
        "context,batch,tokens,pass_us,pass_spread,origin,inside_domain,growth,growth_spread,knee_growth,knee_tokens,"
        "interval_level\n"
        "100,2,1,8,0.25,measured,yes,1,0,1.1," +
            knee + ",0.95\n100,2,2,10,,fitted,no,1.21,,1.1," + knee + ",0.95\n");
  CHECK(tests::content_of(folder / "out/prediction.txt") == "Use gamma 1.\n");
  CHECK_FALSE(std::filesystem::exists(folder / "out/decision-map.csv"));

  const auto manifest = nlohmann::json::parse(tests::content_of(folder / "out/manifest.json"));
  CHECK(manifest["schema"] == "foredraft.prediction/1");
  CHECK(manifest["state"] == "complete");
  CHECK(manifest["inputs"].at(0)["sha256"] == sha256(two_batches));
  CHECK(manifest["batch"] == nlohmann::json::parse("[1, 2]"));
  CHECK(manifest["valid"] == true);
  REQUIRE(manifest["outputs"].size() == 5);
  for (const auto& output : manifest["outputs"]) {
    CHECK(output["sha256"] == sha256(tests::content_of(folder / ("out/" + output["path"].get<std::string>()))));
  }

  write("out");  // the same again
  const std::string before = tests::content_of(folder / "out/manifest.json");
  question.batches = {1};
  CHECK_THAT(whole_rejection([&] { write("out"); }), Catch::Contains("not written to"));
  CHECK(tests::content_of(folder / "out/manifest.json") == before);
  question = question_of_two_batches();
  valid = false;  // by the A/A test of the times: the manifest says so
  write("invalid");
  CHECK(nlohmann::json::parse(tests::content_of(folder / "invalid/manifest.json"))["valid"] == false);
  valid = true;
  tests::write_text(folder / "notes.txt", "mine");
  CHECK_THAT(whole_rejection([&] { write("."); }), Catch::Contains("it has files but no manifest.json"));
  CHECK_THAT(whole_rejection([&] { write("notes.txt"); }), Catch::Contains("is a file"));
  tests::write_text(folder / "out/manifest.json", "[");
  CHECK_THAT(whole_rejection([&] { write("out"); }), Catch::Contains("its manifest.json cannot be read"));
}

TEST_CASE("a decision map has the ranges of the schedule of each context") {
  const latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b"}, 0.0);
  answers::ProfileQuestion question{.target = "llama-2-7b", .draft = "qwen1.5-0.5b"};
  question.acceptance = Iid{0.7};
  question.batches = {1, 8, 64};
  question.contexts = {128, 1024};
  const tests::TemporaryFolder folder;
  const answers::ProfilePrediction prediction = answers::predict(question, profile);
  experiments::ResultFolder result(folder / "out", folder_kind(question, digest_text("p", ""), true), {});
  write_prediction(result, prediction, {}, "");
  std::string wanted = "context,first_batch,last_batch,gamma\n";
  for (std::size_t i = 0; i < 2; ++i) {
    for (const GammaRange& range : prediction.schedules[i]) {
      wanted += std::to_string(question.contexts[i]) + "," + std::to_string(range.from_batch) + "," +
                std::to_string(range.to_batch) + "," + std::to_string(range.gamma) + "\n";
    }
  }
  CHECK(tests::content_of(folder / "out/decision-map.csv") == wanted);
  CHECK(prediction.schedules[0].size() > 1);
}

}  // namespace foredraft::app
