// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/pair_surface.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoding_cost.hpp"
#include "foredraft/cost.hpp"
#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

double modelled(const std::string& model, Role role, std::int64_t batch, std::int64_t tokens, std::int64_t context) {
  return tests::modelled_us(
      tests::known_model,
      {.model = model, .role = role, .dtype = "fp16", .batch = batch, .tokens = tokens, .context = context});
}

/// One sequence without context.
void add_step(Profile& profile, const std::string& model, Role role, std::int64_t tokens, double us) {
  profile.steps.push_back(
      {{.model = model, .role = role, .dtype = "fp16", .tokens = tokens, .context = 0},
       timing_of(
           {.name = "given", .summary = {.samples = 1, .median_us = us, .median_ci95_us = {us, us}}, .samples_us = {}},
           0.0, 0.0, 0.0)});
}

Profile made_up_sheet() {
  Profile sheet{.source = Source::datasheet, .identity = {}, .device = {}, .limits = {}};
  sheet.device.name = "sheet";
  sheet.limits.memory_bandwidth_bytes_per_s = {.value = 1e12, .ci95 = {}, .origin = "made up"};
  sheet.limits.matrix_peak_fp16_flop_per_s = {.value = 100e12, .ci95 = {}, .origin = "made up"};
  return sheet;
}

}  // namespace

TEST_CASE("sequential drafts use their measurement, else as many passes of the drafter") {
  const Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "qwen1.5-0.5b"}, 0.0);
  const PairSurface pair(profile, model_registry(), "llama-2-7b", "qwen1.5-0.5b", Role::autoregressive_drafting);
  CHECK(pair.target_pass(4, 8, 128).time_us ==
        Approx(modelled("llama-2-7b", Role::decoder_pass, 8, 4, 128)).epsilon(foredraft::tests::second_route));
  // Drafting was measured at batch 1 and context 128.
  CHECK(pair.drafting(2, 1, 128).time_us == Approx(modelled("qwen1.5-0.5b", Role::autoregressive_drafting, 1, 2, 128))
                                                .epsilon(foredraft::tests::second_route));
  const Latency many = pair.drafting(3, 8, 1024);
  CHECK(many.time_us ==
        Approx(3.0 * modelled("qwen1.5-0.5b", Role::decoder_pass, 8, 1, 1024)).epsilon(foredraft::tests::second_route));
  CHECK(many.origin == Origin::measured);
  CHECK_THROWS_AS(pair.drafting(0, 1, 128), DomainError);
}

TEST_CASE("sequential drafts are sampled one by one, those of a block or of heads from all rows at once") {
  constexpr std::int64_t vocabulary = 32'000;
  Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  const auto pair_of = [&](const std::string& drafter, Role drafting) {
    return PairSurface(profile, model_registry(), "llama-2-7b", drafter, drafting);
  };
  const auto us = [&](std::int64_t batch, std::int64_t gamma) {
    return tests::modelled_sampling_us(batch, gamma, vocabulary);
  };
  CHECK_FALSE(pair_of("sheared-llama-1.3b", Role::autoregressive_drafting).sampling(3, 2));
  tests::add_sampling(profile, vocabulary);
  const PairSurface one_by_one = pair_of("sheared-llama-1.3b", Role::autoregressive_drafting);
  const Latency sampling = one_by_one.sampling(3, 2).value();
  CHECK(sampling.time_us == Approx(3.0 * us(2, 0) + us(2, 3)).epsilon(foredraft::tests::second_route));
  CHECK(sampling.spread.value() == Approx(0.01 / std::sqrt(2.0)).epsilon(foredraft::tests::second_route));
  CHECK(one_by_one.plain_sampling(2)->time_us == Approx(us(2, 0)).epsilon(foredraft::tests::second_route));
  const PairSurface heads = pair_of("llama-2-7b", Role::head_drafting);
  CHECK(heads.sampling(3, 2)->time_us == Approx(us(6, 0) + us(2, 3)).epsilon(foredraft::tests::second_route));
  CHECK_THROWS_AS(heads.sampling(0, 2), DomainError);
}

TEST_CASE("an iteration has the times of its passes, and nothing for unknown ones") {
  Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  const TimedPair models{.target = "llama-2-7b", .draft = "sheared-llama-1.3b", .models = model_registry()};
  const auto iteration = [&](Convention convention) {
    return PairSurface(profile, models, Role::autoregressive_drafting).iteration(3, 8, 128, convention);
  };
  const IterationTimes without = iteration(Convention::no_bonus);
  CHECK_FALSE(without.sampling);
  CHECK_FALSE(without.plain_sampling);
  CHECK_FALSE(without.catch_up);
  CHECK(charged_us(without.sampling) == 0.0);
  CHECK(without.overhead_us == 0.0);
  tests::add_sampling(profile, 32'000);
  profile.engine_loop = EngineLoop{.draft_catch_up = CatchUp::verified};
  const PairSurface pair(profile, models, Role::autoregressive_drafting);
  const IterationTimes times = iteration(Convention::bonus);
  CHECK(times.plain.time_us == pair.target_pass(1, 8, 128).time_us);
  CHECK(times.verify.time_us == pair.target_pass(4, 8, 128).time_us);
  CHECK(without.verify.time_us == pair.target_pass(3, 8, 128).time_us);
  CHECK(times.drafting.time_us == pair.drafting(3, 8, 128).time_us);
  CHECK(charged_us(times.catch_up) == pair.catch_up(3, 8, 128)->time_us);
  CHECK(charged_us(times.sampling) == pair.sampling(3, 8)->time_us);
  CHECK(charged_us(times.plain_sampling) == pair.plain_sampling(8)->time_us);
  TimedPair engine = models;
  engine.sheet.attainable = attainable_of(DevicePeaks{});
  engine.sheet.attainable->iteration_us = {100.0, 200.0, 300.0};
  CHECK(
      PairSurface(profile, engine, Role::autoregressive_drafting).iteration(3, 8, 128, Convention::bonus).overhead_us ==
      200.0);
}

TEST_CASE("unstated routing and vector units widen the growth of a data sheet's verification") {
  const Profile& sheet = find_device("rtx4090")->profile;
  const auto range = [&](const std::string& target, const Deployment& deployment, std::int64_t tokens) {
    const SheetPair pair{.target = deployment, .attainable = attainable_of(sheet)};
    return PairSurface(sheet, model_registry(), target, target, Role::head_drafting, pair)
        .verification_range(tokens, 1, 512);
  };
  const Interval routing = range("gpt-oss-20b", {.weights = NumberFormat::mxfp4}, 5);
  CHECK(routing.low < 1.0);
  CHECK(routing.high > 1.1);
  CHECK(range("gpt-oss-20b", {.weights = NumberFormat::mxfp4}, 1).high == 1.0);
  CHECK(range("gpt-oss-20b", {.weights = NumberFormat::mxfp4, .expert_skew = 0.4}, 5).high == 1.0);
  CHECK(range("llama-3.1-8b", {.weights = NumberFormat::int4}, 5).high == 1.0);
  const Interval vector_units = range("llama-3.1-8b", {.weights = weight_formats("q4_k_m").value()}, 5);
  CHECK(vector_units.low < 0.98);
  CHECK(vector_units.high > 1.02);
  // As measured, unless stated.
  const auto verify = [&](std::optional<double> skew) {
    const SheetPair pair{.target = {.weights = NumberFormat::mxfp4, .expert_skew = skew},
                         .attainable = attainable_of(sheet)};
    return PairSurface(sheet, model_registry(), "gpt-oss-20b", "gpt-oss-20b", Role::head_drafting, pair)
        .target_pass(5, 1, 512)
        .time_us;
  };
  CHECK(verify({}) == verify(attainable_of(sheet)->expert_skew.value));
  CHECK(verify({}) < verify(0.0));
}

TEST_CASE("memory holds the models in the formats of their passes") {
  Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  profile.device.memory_bytes.value = 80e9;
  const TimedPair models{.target = "llama-2-7b",
                         .draft = "sheared-llama-1.3b",
                         .models = model_registry(),
                         .sheet = {.target = {.weights = NumberFormat::int4}, .draft = {.tensor_parallel = 4}}};
  const auto limit = [&](Role drafting) { return memory_limit(profile, models, drafting, 0.5); };
  const Deployment fp16{.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  CHECK(limit(Role::autoregressive_drafting)->capacity_bytes == 40e9);
  CHECK(limit(Role::autoregressive_drafting)->models.draft->name == "sheared-llama-1.3b");
  CHECK(limit(Role::autoregressive_drafting)->models.target_deployment == fp16);
  CHECK_FALSE(limit(Role::head_drafting)->models.draft);  // heads with unknown weights
  profile.source = Source::datasheet;
  CHECK(limit(Role::autoregressive_drafting)->models.target_deployment == models.sheet.target);
  CHECK(limit(Role::autoregressive_drafting)->models.draft_deployment == models.sheet.draft);
  profile.source = Source::engine;  // which does not state how its models ran
  CHECK_FALSE(limit(Role::autoregressive_drafting));
  profile.deployments = {{.model = "llama-2-7b", .weights = "fp8", .kv_cache = "bf16", .tensor_parallel = 2},
                         {.model = "sheared-llama-1.3b", .weights = "bf16", .kv_cache = "bf16", .tensor_parallel = 1}};
  CHECK(limit(Role::autoregressive_drafting)->models.target_deployment ==
        Deployment{.weights = NumberFormat::fp8, .kv_cache = NumberFormat::bf16, .tensor_parallel = 2});
  profile.device.memory_bytes.value.reset();
  CHECK_FALSE(limit(Role::autoregressive_drafting));
  CHECK(deployed_models(profile, models, Role::autoregressive_drafting));
}

TEST_CASE("the provenance of sampling is the weaker one of its draws and its verification") {
  constexpr std::int64_t vocabulary = 32'000;
  Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  tests::add_sampling(profile, vocabulary);  // batches of 1 and 8; draws, and verifications of 1, 4 and 8 drafts
  const PairSurface one_by_one(profile, model_registry(), "llama-2-7b", "sheared-llama-1.3b",
                               Role::autoregressive_drafting);
  const PairSurface heads(profile, model_registry(), "llama-2-7b", "llama-2-7b", Role::head_drafting);
  CHECK(one_by_one.sampling(4, 1)->origin == Origin::measured);
  CHECK(one_by_one.sampling(3, 1)->origin == Origin::interpolated);  // its verification is
  CHECK(heads.sampling(4, 1)->origin == Origin::interpolated);       // its draw of four rows is
  CHECK_FALSE(one_by_one.sampling(9, 8)->inside);                    // its verification is not
  CHECK_FALSE(heads.sampling(4, 8)->inside);                         // its draw of 32 rows is not
}

TEST_CASE("blocks and heads draft by their own passes") {
  const Profile sheet = made_up_sheet();
  const PairSurface block(sheet, model_registry(), "transformer-base", "specdec-drafter-12-2", Role::block_drafting);
  const PairSurface one_by_one(sheet, model_registry(), "transformer-base", "transformer-base-12-2",
                               Role::autoregressive_drafting);
  const PairSurface heads(sheet, model_registry(), "llama-2-7b", "llama-2-7b", Role::head_drafting);
  // Memory-bound: a block of drafts costs about one pass, one by one and by heads each draft reads its weights.
  const auto growth = [](const PairSurface& pair) {
    return pair.drafting(4, 1, 60).time_us / pair.drafting(1, 1, 60).time_us;
  };
  CHECK(growth(block) < 1.1);
  CHECK(growth(one_by_one) > 3.9);
  CHECK(growth(heads) == Approx(4.0).epsilon(foredraft::tests::second_route));
  CHECK(block.drafting(4, 1, 60).origin == Origin::roofline);
}

TEST_CASE("a head that fills a block takes one pass a draft, and prompts as keys and values only") {
  const Profile sheet = made_up_sheet();
  ModelShape block = find_model(model_registry(), "eagle-llama-3.1-8b");
  block.name = "block";
  block.layers = 3;
  block.head = {.hidden_states = 3, .block_size = 8};
  const TimedPair models{
      .target = "llama-3.1-8b", .draft = "block", .models = {find_model(model_registry(), "llama-3.1-8b"), block}};
  const PairSurface pair(sheet, models, Role::block_drafting);
  CHECK(pair.drafting(7, 1, 500).time_us < 1.05 * pair.drafting(1, 1, 500).time_us);
  CHECK(pair.drafter_pass(7, 1, 500).time_us < 0.3 * pair.drafting(7, 1, 500).time_us);
  const PassParts parts = pair.drafting_parts(7, 1, 500).value();
  CHECK(parts.passes == 1);
  CHECK(parts.inputs_us + parts.layers_us + parts.vocabulary_us + parts.overhead_us ==
        Approx(pair.drafting(7, 1, 500).time_us).epsilon(foredraft::tests::second_route));
  CHECK_THROWS_AS(pair.drafting(8, 1, 500), DomainError);
  CHECK_THROWS_WITH(PairSurface(sheet, models, Role::autoregressive_drafting),
                    Catch::Contains("set the drafter to block"));

  // A scenario without a drafter is charged the same pass, but a server must state that drafts take one.
  LookedUpTimes asked;
  const auto times = [&](const Drafter& drafter) { return surface_times(sheet, "sheet", models, drafter); };
  const DecodingCost charged = times(AutoregressiveDrafter{})->cost(asked, 4, Convention::bonus).value();
  CHECK(4.0 * charged.draft_pass == Approx(times(BlockDrafter{})->cost(asked, 4, Convention::bonus)->draft_pass)
                                        .epsilon(foredraft::tests::second_route));
  CHECK_THROWS_AS(times(AutoregressiveDrafter{})->drafter_us({.batch = 1, .tokens = 1, .context = 500}), DomainError);
  CHECK_NOTHROW(times(AutoregressiveDrafter{})->drafter_us({.batch = 1, .tokens = 500, .context = 0, .prompt = true}));
}

TEST_CASE("drafts looked up on the host take its time at any length, and no memory") {
  const TimedPair models{.target = "llama-3.1-8b",
                         .draft = "ngram",
                         .models = model_registry(),
                         .host = HostDrafter{.request_us = 3.0, .context_token_us = 0.01}};
  Profile sheet = made_up_sheet();
  sheet.device.memory_bytes.value = 80e9;
  const PairSurface pair(sheet, models, Role::block_drafting);
  CHECK(pair.drafting(1, 2, 100).time_us == 8.0);
  CHECK(pair.drafting(9, 2, 100).time_us == 8.0);
  CHECK(pair.drafting_parts(9, 2, 100)->passes == 0);
  CHECK(pair.drafting_parts(9, 2, 100)->host_us == 8.0);
  CHECK_FALSE(memory_limit(sheet, models, Role::block_drafting, 0.9)->models.draft);
}

TEST_CASE("an engine's loop samples every verified position, and its catch-up pass may read weights from memory") {
  Profile profile{.source = Source::engine, .identity = {}, .device = {}, .limits = {}};
  profile.engine_loop = EngineLoop{.draft_catch_up = CatchUp::verified, .draw_us = {.value = 50.0}};
  add_step(profile, "big", Role::decoder_pass, 1, 20.0);
  add_step(profile, "small", Role::decoder_pass, 1, 4.0);
  add_step(profile, "small", Role::decoder_pass, 3, 6.0);
  add_step(profile, "small", Role::autoregressive_drafting, 1, 8.0);
  const PairSurface pair(profile, model_registry(), "big", "small", Role::autoregressive_drafting);
  CHECK(pair.sampling(3, 2)->time_us == 4 * 2 * 50.0);
  CHECK(pair.plain_sampling(2)->time_us == 2 * 50.0);
  // One draft takes 8 in the loop and 4 alone, and the three tokens of the catch-up 6 alone.
  CHECK(pair.catch_up(2, 1, 0)->time_us ==
        Approx(std::cbrt(216.0 + 512.0 - 64.0)).epsilon(foredraft::tests::second_route));
}

TEST_CASE("a user's pair needs only its passes") {
  Profile profile{.source = Source::user, .identity = {}, .device = {}, .limits = {}};
  profile.device.name = "steps.csv";
  add_step(profile, "big", Role::decoder_pass, 1, 20.0);
  add_step(profile, "big", Role::decoder_pass, 3, 21.0);
  add_step(profile, "small", Role::decoder_pass, 1, 2.0);
  const PairSurface pair(profile, model_registry(), "big", "small", Role::autoregressive_drafting);
  CHECK(pair.drafting(5, 1, 0).time_us == Approx(10.0).epsilon(foredraft::tests::few_ulp));
  CHECK(pair.target_pass(3, 1, 0).time_us == Approx(21.0).epsilon(foredraft::tests::few_ulp));
  CHECK_THROWS_WITH(PairSurface(profile, model_registry(), "big", "small", Role::block_drafting),
                    Catch::Contains("no times for small block_drafting"));
  CHECK_THROWS_WITH(PairSurface(profile, model_registry(), "big", "none", Role::autoregressive_drafting),
                    Catch::Contains("unknown model \"none\""));
}

namespace {

/// The times of a model on a shipped data sheet, whose prompts cost the drafter nothing.
std::shared_ptr<const ForwardPassTimes> sheet_times(const std::string& target, const Deployment& deployment = {}) {
  const Profile& sheet = find_device("h100")->profile;
  const TimedPair pair{.target = target,
                       .draft = target,
                       .models = model_registry(),
                       .sheet = {.target = deployment, .attainable = attainable_of(sheet)}};
  return surface_times(sheet, "h100", pair, Heads{});
}

}  // namespace

TEST_CASE("a pass that also reads prompts is never shorter than either part, nor longer than both") {
  for (const std::string target : {"llama-3.1-8b", "qwen3-30b-a3b", "qwen3.5-27b", "deepseek-v3"}) {
    INFO(target);
    const auto times = sheet_times(target, {.tensor_parallel = target == "deepseek-v3" ? 8 : 1});
    const auto us = [&](const StepShape& shape) { return times->target_us(shape, Convention::bonus); };
    for (const std::int64_t batch : {1, 16, 128}) {
      for (const std::int64_t tokens : {1, 4}) {
        const StepShape decoding{.batch = batch, .tokens = tokens, .context = 1500.0};
        double shorter = us(decoding);
        for (const std::int64_t chunk : {1, 8, 64, 512, 2048, 8000}) {
          StepShape mixed = decoding;
          mixed.chunk = chunk;
          mixed.chunk_context = 700.0;
          const double time = us(mixed);
          INFO(batch << " " << tokens << " " << chunk);
          CHECK(time >= shorter);
          const double alone = us({.batch = 1, .tokens = chunk, .context = 700.0, .prompt = true});
          CHECK(time >= alone);
          CHECK(time <= us(decoding) + alone);
          shorter = time;
        }
      }
    }
  }
}

TEST_CASE("a pass over only prompts is prefill, and a chunk of one token is almost another decoding sequence") {
  const auto times = sheet_times("llama-3.1-8b");
  const auto us = [&](const StepShape& shape) { return times->target_us(shape, Convention::bonus); };
  CHECK(us({.batch = 0, .tokens = 1, .context = 0.0, .chunk = 2000, .chunk_context = 300.0}) ==
        us({.batch = 1, .tokens = 2000, .context = 300.0, .prompt = true}));
  const double mixed = us({.batch = 31, .tokens = 1, .context = 900.0, .chunk = 1, .chunk_context = 900.0});
  CHECK(mixed == Approx(us({.batch = 32, .tokens = 1, .context = 900.0})).epsilon(2e-3));
  // Members that a chunk does not use are ignored.
  CHECK(us({.batch = 8, .tokens = 1, .context = 100.0, .chunk = 0, .chunk_context = 5000.0}) ==
        us({.batch = 8, .tokens = 1, .context = 100.0}));
}

TEST_CASE("if compute bound, a chunk adds only the time of its tokens") {
  const auto times = sheet_times("llama-3.1-8b");
  const auto us = [&](std::int64_t chunk) {
    return times->target_us({.batch = 64, .tokens = 1, .context = 1000.0, .chunk = chunk}, Convention::bonus);
  };
  const auto alone = [&](std::int64_t tokens) {
    return times->target_us({.batch = 1, .tokens = tokens, .context = 0.0, .prompt = true}, Convention::bonus);
  };
  CHECK(us(4000) - us(3000) == Approx(alone(4000) - alone(3000)).epsilon(0.01));
}

TEST_CASE("prefill has the logits and the last state of one token of each sequence") {
  const auto operators_of = [](const std::string& model, bool prompt) {
    return ForwardPassOperations(find_model(model_registry(), model), Role::decoder_pass, {})
        .operators({.batch = 2, .tokens = 1000, .context = 0, .prompt = prompt});
  };
  const auto named = [](const std::vector<StepOperator>& operators, std::string_view name) {
    return *std::ranges::find(operators, name, &StepOperator::name);
  };
  CHECK(1000.0 * named(operators_of("llama-3.1-8b", true), "vocabulary").flop ==
        named(operators_of("llama-3.1-8b", false), "vocabulary").flop);
  CHECK(named(operators_of("llama-3.1-8b", true), "qkv").flop ==
        named(operators_of("llama-3.1-8b", false), "qkv").flop);
  // Read and written for each sequence, instead of read once and written a thousand times.
  CHECK(500.5 * named(operators_of("qwen3.5-27b", true), "linear attention").bytes ==
        named(operators_of("qwen3.5-27b", false), "linear attention").bytes);
}

TEST_CASE("steps of a profile take the growth by a chunk from the prompts' data sheet") {
  Profile steps{.source = Source::engine, .identity = {}, .device = {}, .limits = {}};
  steps.steps.push_back(
      {{.model = "llama-3.1-8b", .role = Role::decoder_pass, .dtype = "fp16", .tokens = 1, .context = 500},
       timing_of({.name = "given",
                  .summary = {.samples = 1, .median_us = 9000.0, .median_ci95_us = {9000.0, 9000.0}},
                  .samples_us = {}},
                 0.0, 0.0, 0.0)});
  const Profile& sheet = find_device("h100")->profile;
  const SheetPair settings{.attainable = attainable_of(sheet)};
  const TimedPair pair{.target = "llama-3.1-8b",
                       .draft = "ngram",
                       .models = model_registry(),
                       .prompts = PromptSheet{.profile = sheet, .sheet = settings},
                       .host = HostDrafter{}};
  const auto times = surface_times(steps, "steps", pair, BlockDrafter{});
  const auto of_sheet = sheet_times("llama-3.1-8b");
  const StepShape decoding{.batch = 1, .tokens = 1, .context = 500.0};
  StepShape mixed = decoding;
  mixed.chunk = 1000;
  const double longer =
      of_sheet->target_us(mixed, Convention::bonus) - of_sheet->target_us(decoding, Convention::bonus);
  CHECK(times->target_us(decoding, Convention::bonus) == Approx(9000.0).epsilon(foredraft::tests::few_ulp));
  CHECK(times->target_us(mixed, Convention::bonus) == Approx(9000.0 + longer).epsilon(foredraft::tests::second_route));
}

TEST_CASE("prompts of an iteration need memory in addition to the sequences that it decodes") {
  Profile sheet = find_device("h100")->profile;
  const TimedPair pair{.target = "llama-3.1-8b",
                       .draft = "llama-3.1-8b",
                       .models = model_registry(),
                       .sheet = {.attainable = attainable_of(sheet)},
                       .memory_utilization = 0.9};
  const auto times = surface_times(sheet, "h100", pair, Heads{});
  StepShape shape{.batch = 1, .tokens = 1, .context = 400'000.0};
  CHECK_NOTHROW(times->check_memory(shape));
  shape.chunk = 8000;
  CHECK_NOTHROW(times->check_memory(shape));
  shape.chunk_context = 200'000.0;
  CHECK_THROWS_AS(times->check_memory(shape), DomainError);
}

}  // namespace foredraft::latency
