// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/memory_fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

namespace foredraft::latency {
namespace {

DeployedModel no_drafter() { return {}; }

ModelShape shipped(std::string_view name) { return find_model(model_registry(), name); }

}  // namespace

TEST_CASE("weights of 141 GB do not fit into 80 GB, and fit on two devices") {
  const ModelShape shape = shipped("llama-3.1-70b");
  CHECK(weight_bytes(shape, {}) > 141e9);
  CHECK(max_batch({&shape, {}}, no_drafter(), 1, 1000, 80e9) == 0);
  CHECK(max_batch({&shape, {.tensor_parallel = 2}}, no_drafter(), 1, 1000, 80e9) > 0);
  CHECK(max_batch({&shape, {.weights = NumberFormat::int4}}, no_drafter(), 1, 1000, 80e9) > 0);
}

TEST_CASE("real deployments fit and others do not: weights per device against nine tenths of its memory") {
  struct Deployed {
    const char* model;
    std::optional<WeightFormats> weights;  ///< empty: as published
    std::int64_t devices;
    double memory_gb;  ///< of one device, as its maker prints it
    bool fits;
  };
  constexpr double rtx_4090 = 24, h100 = 80, h200 = 141, b200 = 180, b300 = 288;
  for (const Deployed& one : {
           Deployed{"gpt-oss-120b", {}, 1, h100, true},                    // 65.2 of 72 GB
           Deployed{"gpt-oss-20b", {}, 1, rtx_4090, true},                 // 13.8 of 21.6
           Deployed{"deepseek-v3", {}, 8, h100, false},                    // 84.1 of 72
           Deployed{"deepseek-v3", {}, 8, h200, true},                     // 84.1 of 126.9
           Deployed{"qwen3-235b-a22b", NumberFormat::fp8, 4, h100, true},  // 59.1 of 72
           Deployed{"qwen3-235b-a22b", {}, 4, h100, false},                // 117.5 of 72
           Deployed{"llama-3.3-70b", {}, 1, h200, false},                  // 141.1 of 126.9
           Deployed{"llama-3.3-70b", {}, 4, h100, true},                   // 35.3 of 72
           Deployed{"deepseek-v4-flash", {}, 4, h100, true},               // 38.9 of 72
           Deployed{"deepseek-v4-pro", {}, 8, h100, false},                // 106.2 of 72
           Deployed{"deepseek-v4-pro", {}, 8, h200, true},                 // 106.2 of 126.9
           Deployed{"kimi-k2.5", {}, 8, h200, true},                       // 74.3 of 126.9
           Deployed{"kimi-k3", {}, 8, b200, false},                        // 195 of 162
           Deployed{"kimi-k3", {}, 8, b300, true},                         // 195 of 259.2
           Deployed{"glm-5", {}, 8, h200, false},                          // 186 of 126.9
           Deployed{"glm-5", NumberFormat::fp8, 8, h200, true},            // 93.2 of 126.9
           Deployed{"llama-4-scout", NumberFormat::int4, 1, h100, true},   // 57.7 of 72
           Deployed{"qwen3-8b", {}, 1, 16, false},                         // 16.4 of 14.4
       }) {
    const ModelShape shape = shipped(one.model);
    const WeightFormats published = shape.native_formats.value_or(NumberFormat::bf16);
    const Deployment split{.weights = one.weights.value_or(published), .tensor_parallel = one.devices};
    INFO(one.model << ": " << weight_bytes_per_device(shape, split) / 1e9 << " GB on each of " << one.devices);
    const std::int64_t batch = max_batch({&shape, split}, no_drafter(), 1, 4096, 0.9e9 * one.memory_gb);
    CHECK((batch > 0) == one.fits);
  }
}

TEST_CASE("the largest batch fits and one more does not") {
  const ModelShape target = shipped("llama-3.1-8b"), drafter = shipped("tiny-drafter");
  for (const std::int64_t context : {0, 1000, 32000}) {
    for (const double capacity : {16e9, 24e9, 80e9, 141e9}) {
      for (const DeployedModel& draft : {no_drafter(), DeployedModel{&drafter, {}}}) {
        const DeployedModel model{&target, {}};
        const std::int64_t batch = max_batch(model, draft, 5, context, capacity);
        INFO(context << " tokens in " << capacity << " bytes: " << batch);
        CHECK((capacity > 16e9) == (batch > 0));
        CHECK((batch == 0 || memory_need(model, draft, batch, 5, context).total(batch) <= capacity));
        CHECK(memory_need(model, draft, batch + 1, 5, context).total(batch + 1) > capacity);
      }
    }
  }
}

TEST_CASE("a batch that fills its devices to the last byte fits") {
  ModelShape target = shipped("tiny-target");
  target.further_parameters = 1;
  // Thirds of bytes: sums and quotients round.
  const DeployedModel model{&target, {.tensor_parallel = 3}};
  for (std::int64_t batch = 1; batch <= 3000; batch += 7) {
    const double needed = memory_need(model, no_drafter(), batch, 3, 777).total(batch);
    CHECK(max_batch(model, no_drafter(), 3, 777, needed) == batch);
    CHECK(max_batch(model, no_drafter(), 3, 777, std::nextafter(needed, 0.0)) == batch - 1);
  }
}

TEST_CASE("both models' weights and caches share a device") {
  const ModelShape target = shipped("llama-3.1-70b"), draft = shipped("llama-3.1-8b");
  const Deployment four{.tensor_parallel = 4};
  const MemoryNeed alone = memory_need({&target, four}, no_drafter(), 8, 5, 1000);
  const MemoryNeed both = memory_need({&target, four}, {&draft, {}}, 8, 5, 1000);
  CHECK(alone.target_weights_bytes == weight_bytes_per_device(target, four));
  CHECK(alone.draft_weights_bytes == 0.0);
  CHECK(alone.sequence_bytes == 1000 * kv_bytes_per_token(target, {}) / 4);
  CHECK(both.target_weights_bytes == alone.target_weights_bytes);
  CHECK(both.draft_weights_bytes == weight_bytes(draft, {}));
  CHECK(both.sequence_bytes == alone.sequence_bytes + 1000 * 131072.0);
  CHECK(both.activation_bytes == alone.activation_bytes);
  CHECK(both.total(8) ==
        both.target_weights_bytes + both.draft_weights_bytes + both.activation_bytes + 8 * both.sequence_bytes);
  // Logits of 40 tokens at least.
  CHECK(alone.activation_bytes > 40.0 * 2 * 128256);
  CHECK(alone.activation_bytes == 8 * memory_need({&target, four}, no_drafter(), 1, 5, 1000).activation_bytes);
  CHECK_THROWS_AS(memory_need({&target, {}}, {&draft, four}, 8, 5, 1000), DomainError);
  CHECK_THROWS_AS(memory_need({&target, four}, no_drafter(), 0, 5, 1000), DomainError);
}

TEST_CASE("activations of a token are its residual stream, logits and widest block, worked by hand") {
  ModelShape shape = shipped("llama-3.1-8b");
  const auto bytes = [&] { return memory_need({&shape, {}}, no_drafter(), 2, 5, 100).activation_bytes; };
  CHECK(bytes() == 10 * 2.0 * (3 * 4096 + 128256 + 3 * 14336));
  shape.gated = false;
  CHECK(bytes() == 10 * 2.0 * (3 * 4096 + 128256 + 2 * 14336));
}

TEST_CASE("a limit counts the verified tokens, in the fit and in the largest batch") {
  const MemoryLimit limit{.models = {.target = shipped("tiny-target"),
                                     .draft = shipped("tiny-drafter"),
                                     .target_deployment = {},
                                     .draft_deployment = {}},
                          .capacity_bytes = 1e9};
  // The context is short compared with the tokens, so that they decide.
  const std::int64_t batch = limit.max_batch(64, 1);
  REQUIRE(batch > 1);
  CHECK(limit.fits(batch, 64, 1));
  CHECK_FALSE(limit.fits(batch + 1, 64, 1));
  CHECK_NOTHROW(limit.check(batch, 64, 1));
  CHECK_THROWS_AS(limit.check(batch + 1, 64, 1), DomainError);
}

TEST_CASE("a head shares the target's tables as far as the first device holds them") {
  const ModelShape target = shipped("llama-3.1-8b");
  ModelShape head = shipped("eagle-llama-3.1-8b");
  const auto draft_weights = [&](std::int64_t target_devices, std::int64_t head_devices) {
    return memory_need({&target, {.tensor_parallel = target_devices}}, {&head, {.tensor_parallel = head_devices}}, 1, 1,
                       100)
        .draft_weights_bytes;
  };
  const double own = weight_bytes(head, {}), table = 2.0 * 128256 * 4096;
  CHECK(draft_weights(1, 1) == own);
  CHECK(draft_weights(4, 4) == weight_bytes_per_device(head, {.tensor_parallel = 4}));
  CHECK(draft_weights(4, 1) == own + 2.0 * table * 3 / 4);
  head.head.own_vocabulary = true;
  CHECK(draft_weights(4, 1) == own + table + table * 3 / 4);
}

TEST_CASE("states of linear attention are kept for each token that may be rolled back") {
  ModelShape shape = tests::tiny_decoder();
  shape.layers = 4;
  shape.linear = {.layers = 3, .layer_parameters = 100, .state_elements = 50};
  const auto sequence = [&](std::int64_t tokens) {
    return memory_need({&shape, {}}, no_drafter(), 1, tokens, 10).sequence_bytes;
  };
  CHECK(sequence(1) == 10 * kv_bytes_per_token(shape, {}) + 3 * 50 * 4.0);
  CHECK(sequence(5) == sequence(1) + 4 * 3 * 50 * 4.0);
}

}  // namespace foredraft::latency
