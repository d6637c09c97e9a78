// SPDX-License-Identifier: Apache-2.0
#include "answers/profile_prediction.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analytic/cost/iteration_cost.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "inputs/devices.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::answers {
namespace {

/// A decode step takes 10 ms, a draft 1 ms; at batch 1 verification costs no more, at batch 4 5 ms per further token.
const std::string steps_of_two =
    "# my engine\nmodel,role,batch,tokens,context,ms\n"
    "big,decoder_pass,1,1,100,10\nbig,decoder_pass,1,2,100,10\nbig,decoder_pass,1,3,100,10\n"
    "big,decoder_pass,4,1,100,20\nbig,decoder_pass,4,2,100,40\nbig,decoder_pass,4,3,100,60\n"
    "small,decoder_pass,1,1,100,1\nsmall,decoder_pass,4,1,100,2\n";

ProfileQuestion question_of_two() {
  ProfileQuestion question{.target = "big", .draft = "small"};
  question.acceptance = Positional{.marginal = {0.8, 0.5}};
  question.batches = {1, 4};
  question.contexts = {100};
  return question;
}

std::string problem(auto&& run) {
  return rejection<std::exception>([&] { run(); });
}

latency::Profile sheet(double bandwidth, double peak) {
  latency::Profile profile{.source = latency::Source::datasheet, .identity = {}, .device = {}, .limits = {}};
  profile.device.name = "made up";
  profile.limits.memory_bandwidth_bytes_per_s = {.value = bandwidth, .ci95 = {}, .origin = "made up"};
  profile.limits.matrix_peak_fp16_flop_per_s = {.value = peak, .ci95 = {}, .origin = "made up"};
  return profile;
}

ProfileQuestion llama_pair() {
  ProfileQuestion question{.target = "llama-2-7b", .draft = "sheared-llama-1.3b"};
  question.acceptance = Iid{0.8};
  question.batches = {1, 8};
  question.contexts = {0};
  question.floor = true;
  return question;
}

}  // namespace

TEST_CASE("predict prints the advice first, then every batch, then the basis of its times") {
  ProfileQuestion question = question_of_two();
  question.overhead_us = 500.0;
  // Batch 1: 1.8 tokens for 11.5 ms and 2.3 for 12.5, against 10 ms each. Batch 4: 1.8 for 42.5 ms, 2.3 for 64.5,
  // against
  // 20. At batch 2, halfway on the logarithmic scale, both gain 16 and 17 %: a tie; at 3 one draft loses 3 %.
  CHECK(app::to_text(predict(question, inputs::parse_steps(steps_of_two, "steps.csv"))) ==
        "Use gamma 2 up to batch 1, gamma 1 at 2, autoregressive decoding from 3 to 4. Speculation stops\n"
        "paying at batch 3.\n"
        "Decoding only: prompts are not in it (with them: --concurrency N --prompt P --output O).\n"
        "\n"
        "batch  plain ms  draft ms  verify ms: 2, 3 tokens  speedup: gamma 1, 2    use\n"
        "    1     10.00      1.00   10.00  10.00           1.57  1.84               2\n"
        "    4     20.00      2.00   40.00  60.00           0.85  0.71           plain\n"
        "\n"
        "schedule    [[1,1,2],[2,2,1],[3,4,0]]        ties within 1 % go to the smaller gamma\n"
        "step        batch 1, gamma 2: draft 2.00 + verify 10.00 + overhead 0.5 = 12.50 ms for 2.30 tokens;\n"
        "            2.30 tokens of autoregressive decoding take 23.00 ms\n"
        "rate        184 tokens/s against 100 plain; verification takes 1.00 decode steps\n"
        "break even  alpha above 0.207 (i.i.d.), or a draft below 0.625 decode steps\n"
        "times       steps measured by a user, source user: measured\n"
        "intervals   none: the error of these times is not known\n"
        "not in it   accepting and sampling tokens, prompts and encoders, whether it fits into memory\n");
}

TEST_CASE("a note says if a device computes a format in another one") {
  ProfileQuestion question = llama_pair();
  CHECK(predict(question, sheet(1e12, 1e14)).notes.empty());
  const double fp16_us = predict(question, sheet(1e12, 1e14)).cells.front().plain.time_us;
  question.target_deployment = question.draft_deployment = {.weights = latency::NumberFormat::fp8};
  const ProfilePrediction prediction = predict(question, sheet(1e12, 1e14));
  const std::string fp8 = "fp8 products are computed in fp16 (no matrix peak of fp8 is known of made up)";
  CHECK(
      prediction.notes ==
      std::vector<std::string>{"bf16 products are computed in fp16 (no matrix peak of bf16 is known of made up)", fp8});
  CHECK(prediction.cells.front().plain.time_us < 0.6 * fp16_us);  // half of the bytes
  CHECK(to_json({&prediction, 1})["notes"][1] == fp8);
  CHECK_THAT(app::to_text(prediction), Catch::Contains("\nnote        " + fp8 + "\n"));
}

TEST_CASE("the JSON of a prediction from times has the fields of every prediction and the same facts") {
  const ProfilePrediction prediction = predict(question_of_two(), inputs::parse_steps(steps_of_two, "steps.csv"));
  const auto json = to_json({&prediction, 1});
  for (const char* key :
       {"schema", "convention", "drafter", "gamma", "tokens_per_iteration", "tokens_variance", "speedup",
        "operations_factor", "memory_access_factor", "best_gamma", "best_speedup", "real_gamma", "oracle_speedup"}) {
    CAPTURE(key);
    CHECK(json.contains(key));
  }
  CHECK(json["schema"] == "foredraft.predict/1");
  CHECK(json["gamma"] == 2);
  CHECK(json["tokens_per_iteration"].get<double>() == Approx(2.3).epsilon(tests::few_ulp));
  CHECK(json["speedup"].get<double>() == Approx(2.3 * 10.0 / 12.0).epsilon(tests::few_ulp));
  CHECK(json["profile"]["source"] == "user");
  CHECK(json["schedules"][0]["schedule"] == nlohmann::ordered_json::parse("[[1,1,2],[2,2,1],[3,4,0]]"));
  REQUIRE(json["cells"].size() == 2);
  const auto& cell = json["cells"][1];
  CHECK(cell["batch"] == 4);
  CHECK(cell["best_gamma"] == 0);
  CHECK(cell["best_speedup"] == 1.0);
  CHECK(cell["plain"]["ms"].get<double>() == Approx(20.0).epsilon(tests::few_ulp));
  CHECK(cell["plain"]["ci95_ms"].is_null());
  CHECK(cell["plain_sampling"].is_null());
  CHECK(cell["plain_tokens_per_s"].get<double>() == Approx(200.0).epsilon(tests::few_ulp));
  const auto& two = cell["gammas"][1];
  CHECK(two["verification_growth"].get<double>() == Approx(3.0).epsilon(tests::few_ulp));
  CHECK(two["tokens_per_s"].get<double>() == Approx(4.0 * 2.3 / 0.064).epsilon(tests::few_ulp));
  CHECK(two["break_even_c"].is_null());  // 2.3 tokens for a verification of three steps
  CHECK(cell["gammas"][0]["break_even_alpha"].is_null());
}

TEST_CASE("intervals include the spread of a measured profile, and those of unmeasured models that of the fit") {
  const latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "qwen1.5-0.5b", "t5-small"}, 0.0);
  ProfileQuestion question{.target = "llama-2-7b", .draft = "qwen1.5-0.5b"};
  question.acceptance = Iid{0.7};
  question.gamma = 1;
  question.batches = {8};
  question.contexts = {128};
  const AtBatch measured = predict(question, profile).cells.front();
  const double spread = 0.005;  // half of the difference between halves of the samples
  // One draft of batch 8 is a plain pass of the drafter: all three are points of the table.
  const AtDraftLength& one = measured.lengths.front();
  const double whole = one.times.drafting.time_us + one.times.verify.time_us;
  CHECK(one.times.verify.origin == latency::Origin::measured);
  CHECK(one.spread.value() == Approx(std::hypot(spread, spread * one.times.verify.time_us / whole,
                                                spread * one.times.drafting.time_us / whole))
                                  .epsilon(1e-9));
  CHECK_THAT(app::to_text(predict(question, profile)), Catch::Contains(" +- 0.01") && !Catch::Contains("OUTSIDE"));
  question.draft = "gemma-2b";
  const ProfilePrediction other = predict(question, profile);
  CHECK(other.cells.front().one_draft.origin == latency::Origin::fitted);
  CHECK_FALSE(other.cells.front().one_draft.inside);  // a vocabulary of 256,000
  CHECK_THAT(app::to_text(other), Catch::Contains("OUTSIDE     the domain of the fit: batch 8 context 128; the profile "
                                                  "has times of batch ") &&
                                      Catch::Contains(other.covered.substr(0, other.covered.find(';'))));
  latency::Profile noisy = profile;
  noisy.aa_test->median_difference = 0.05;
  CHECK_THAT(app::to_text(predict(question, noisy)), Catch::Contains("NOT VALID"));
}

TEST_CASE(
    "a profile with verifications charges sampling to autoregressive decoding and to each iteration, and shows it") {
  latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  ProfileQuestion question{.target = "llama-2-7b", .draft = "sheared-llama-1.3b"};
  question.acceptance = Iid{0.7};
  question.gamma = 2;
  question.batches = {1};
  question.contexts = {128};
  const AtDraftLength free = predict(question, profile).cells.front().lengths[1];
  CHECK_FALSE(free.times.sampling);
  CHECK_THAT(app::to_text(predict(question, profile)), Catch::Contains("accepting and sampling tokens"));

  latency::tests::add_sampling(profile, 32'000);
  const ProfilePrediction prediction = predict(question, profile);
  const AtBatch& at = prediction.cells.front();
  const AtDraftLength& two = at.lengths[1];
  const double draw = latency::tests::modelled_sampling_us(1, 0, 32'000);
  const double sampling = 2.0 * draw + latency::tests::modelled_sampling_us(1, 2, 32'000);
  CHECK(two.times.sampling->time_us == Approx(sampling).epsilon(tests::second_route));
  const double whole = two.times.drafting.time_us + two.times.verify.time_us + sampling;
  CHECK(two.speedup == Approx(two.tokens * (at.plain.time_us + draw) / whole).epsilon(tests::second_route));
  CHECK(two.spread.value() < free.spread.value());  // more errors, independent, of the same time
  CHECK_THAT(app::to_text(prediction), Catch::Contains(" + sampling 0.00824 = ") &&
                                           !Catch::Contains("accepting and sampling tokens") &&
                                           !Catch::Contains("larger or smaller"));
  const auto json = to_json({&prediction, 1});
  const auto& cell = json["cells"][0];
  CHECK(cell["plain_sampling"]["ms"].get<double>() == Approx(1e-3 * draw).epsilon(tests::second_route));
  CHECK(cell["plain_tokens_per_s"].get<double>() ==
        Approx(1e6 / (at.plain.time_us + draw)).epsilon(tests::second_route));
  CHECK(cell["gammas"][1]["sampling"]["ms"].get<double>() == Approx(1e-3 * sampling).epsilon(tests::second_route));
  CHECK(cell["gammas"][1]["iteration_ms"].get<double>() == Approx(1e-3 * whole).epsilon(tests::second_route));
  question.batches = {64};
  CHECK_THAT(app::to_text(predict(question, profile)),
             Catch::Contains("some sampling is of larger or smaller batches than"));
}

TEST_CASE("if memory bound, a verification costs one step, and the speedup is that of constant c") {
  // Computing is free: what remains is reading the weights once for any number of tokens, and a few activations.
  const AtBatch at = predict(llama_pair(), sheet(1e12, 1e30)).cells.front();
  const AtDraftLength& four = at.lengths[3];
  // Activations of four tokens more: 44 MB against 13 GB of weights.
  constexpr double activations = 0.005;
  CHECK(analytic::verification_growth(four.iteration) == Approx(1.0).epsilon(activations));
  const double c = four.times.drafting.time_us / 4.0 / at.plain.time_us;
  CHECK(four.speedup == Approx(analytic::speedup(four.tokens, 4, c, Drafting::autoregressive)).epsilon(activations));
  CHECK(at.use >= 4);
}

TEST_CASE("if compute bound, the speedup is the inverse of the operations factor, and no draft length gains") {
  // Memory is free: a pass takes the time of its operations, which are counted from the programs.
  const ProfileQuestion question = llama_pair();
  const auto flop = [](const std::string& model, std::int64_t tokens, std::int64_t context) {
    const auto& shape = latency::find_model(latency::model_registry(), model);
    return latency::work_of(latency::decoder_pass(shape, {.tokens = tokens, .batch = 8, .context = context}),
                            latency::DataType::fp16)
        .flop;
  };
  const ProfilePrediction prediction = predict(question, sheet(1e30, 1e14));
  const AtBatch& at = prediction.cells[1];
  for (const AtDraftLength& length : at.lengths) {
    double operations = flop("llama-2-7b", length.gamma + 1, 0);
    for (std::int64_t draft = 0; draft < length.gamma; ++draft) operations += flop("sheared-llama-1.3b", 1, draft);
    const double factor = operations / (length.tokens * flop("llama-2-7b", 1, 0));
    CHECK(length.speedup * factor == Approx(1.0).epsilon(tests::solved_root));
    // The same with one operations ratio for all drafts: only attention over a few keys differs.
    const double ratio = flop("sheared-llama-1.3b", 1, 0) / flop("llama-2-7b", 1, 0);
    CHECK(length.speedup *
              analytic::operations_factor(length.tokens, static_cast<double>(length.gamma), ratio, Convention::bonus) ==
          Approx(1.0).epsilon(1e-3));
    CHECK(length.speedup < 1.0);
  }
  CHECK(at.use == 0);
  CHECK(answers::schedule_json(prediction.schedules.front()).dump() == "[[1,8,0]]");
}

TEST_CASE("a table of steps is searched within its range, and the answer says so") {
  ProfileQuestion question = question_of_two();
  question.acceptance = Iid{0.8};
  const latency::Profile steps = inputs::parse_steps(steps_of_two, "steps.csv");  // up to three tokens: two drafts
  const ProfilePrediction prediction = predict(question, steps);
  CHECK(prediction.cells.front().lengths.size() == 2);
  CHECK_THAT(app::to_text(prediction), Catch::Contains("searched    gamma 1 to 2: as far as the steps reach"));
  question.gamma = 3;
  CHECK_THAT(problem([&] { static_cast<void>(predict(question, steps)); }),
             Catch::Contains("no time for batch 1, 4 tokens"));
}

TEST_CASE("an impossible step of a user's file is rejected by line") {
  const auto rejected = [](const std::string& rows) {
    return problem(
        [&] { static_cast<void>(inputs::parse_steps("model,role,batch,tokens,context,ms\n" + rows, "s.csv")); });
  };
  CHECK(rejected("a,decoder_pass,1,1,0,-2\n") == "s.csv:2: ms: invalid ms=\"-2\"");
  CHECK(rejected("a,decoder_pass,1,1,0,nan\n") == "s.csv:2: ms: invalid ms=\"nan\"");
  CHECK(rejected("a,decoder_pas,1,1,0,2\n") == "s.csv:2: role: unknown role \"decoder_pas\"");
  CHECK(rejected("a,decoder_pass,0,1,0,2\n") == "s.csv:2: batch: invalid batch=\"0\"");
  CHECK(rejected("a,decoder_pass,1,1,9223372036854775807,2\n") ==
        "s.csv:2: context: invalid context=\"9223372036854775807\"");
  CHECK(rejected("a,decoder_pass,1,1,2\n") == "s.csv:2: 5 cells");
  CHECK(rejected(",decoder_pass,1,1,0,2\n") == "s.csv:2: model: invalid model=\"\"");
  for (const char* formula : {"=1+1", "@a", "+a", "-2+3"}) {
    CHECK(rejected(formula + std::string(",decoder_pass,1,1,1,1\n")) ==
          "s.csv:2: model: invalid model=\"" + std::string(formula) + "\"");
  }
  CHECK(rejected("a,decoder_pass,1,1,0,2\na,decoder_pass,1,1,0,3\n")
            .starts_with("s.csv:3: a decoder_pass user batch 1 tokens 1 context 0"));
  CHECK(rejected("").find("holds no step") != std::string::npos);
  CHECK(problem([] { static_cast<void>(inputs::parse_steps("model,ms\n", "s.csv")); }).find("column role missing") !=
        std::string::npos);
  CHECK(problem([] {
          static_cast<void>(inputs::parse_steps("model,role,batch,tokens,context,ms,gpu\n", "s.csv"));
        }).find("gpu: unknown column") != std::string::npos);
  // Columns in any order, Windows line ends.
  const auto profile =
      inputs::parse_steps("ms,context,tokens,batch,role,model\r\n2.5,7,3,2,block_drafting,a\r\n", "s.csv");
  REQUIRE(profile.steps.size() == 1);
  CHECK(profile.steps[0].cell.role == latency::Role::block_drafting);
  CHECK(profile.steps[0].cell.tokens == 3);
  CHECK(profile.steps[0].timing.summary.median_us == 2500.0);
}

}  // namespace foredraft::answers
