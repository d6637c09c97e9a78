// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/cell_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace foredraft::gpu_bench {

TEST_CASE("the core grid of verifications is planned whole, batch 1 first, and no cell twice") {
  const auto groups = plan_verifications({{.name = "ours"}, {.name = "library", .waits_for_host = true}});
  std::set<latency::VerificationCell> cells;
  for (const auto& group : groups) {
    for (const latency::VerificationCell& cell : group) {
      CHECK(cells.insert(cell).second);
      CHECK((cell.batch == group.front().batch && cell.vocabulary == group.front().vocabulary));
    }
  }
  for (const char* dtype : {"fp16", "fp32"}) {
    for (const std::int64_t batch : {1, 8, 64}) {
      for (const std::int64_t gamma : {1, 5, 20}) {
        for (const std::int64_t vocabulary : {32'000, 128'256, 256'000}) {
          for (const latency::Cache cache : {latency::Cache::hot, latency::Cache::cold}) {
            const latency::VerificationCell cell{"ours",     dtype,       batch, gamma,
                                                 vocabulary, "real_like", cache, latency::Launch::graph};
            INFO(to_text(cell));
            CHECK(cells.contains(cell));
          }
        }
      }
    }
  }
  CHECK(groups.front().front().batch == 1);
  CHECK(std::all_of(groups.begin(), groups.begin() + 18, [](const auto& group) { return group[0].batch == 1; }));
}

TEST_CASE("separate launches are planned only for host-bound verifiers, over hot logits") {
  int eager = 0;
  for (const auto& group : plan_verifications({{.name = "ours"}, {.name = "library", .waits_for_host = true}})) {
    for (const latency::VerificationCell& cell : group) {
      if (cell.launch != latency::Launch::eager) continue;
      ++eager;
      CHECK((cell.verifier == "library" && cell.cache == latency::Cache::hot));
    }
  }
  CHECK(eager == 54);
}

TEST_CASE("sampling is planned for draws and verifications of each batch and vocabulary once, hot, side by side") {
  std::vector<latency::ModelShape> models(3);
  models[0].name = "first";
  models[1].name = "second";
  models[2].name = "third";
  models[0].vocabulary = models[2].vocabulary = 37'000;
  models[1].vocabulary = 32'128;
  const PlannedModel drafter{.name = "drafter"};
  const std::vector<PlannedPair> pairs{{.target = {.name = "first"}, .drafter = drafter},
                                       {.target = {.name = "second"}, .drafter = drafter},
                                       {.target = {.name = "third"}, .drafter = drafter}};
  const PlanGrid grid{
      .dtypes = {"fp16", "bf16"}, .batches = {4, 1}, .contexts = {0, 512}, .launch = latency::Launch::eager};
  const auto groups = plan_sampling(pairs, models, grid);
  REQUIRE(groups.size() == 8);
  std::set<latency::VerificationCell> cells;
  for (const auto& group : groups) {
    CHECK(group.front().gamma == 0);
    for (const latency::VerificationCell& cell : group) {
      CHECK(cells.insert(cell).second);
      CHECK((cell.batch == group.front().batch && cell.vocabulary == group.front().vocabulary));
      CHECK((cell.verifier == "fused_exact" && cell.dtype == group.front().dtype && cell.cache == latency::Cache::hot));
      CHECK(cell.launch == latency::Launch::eager);
    }
  }
  CHECK(cells.size() == 32);
  CHECK((groups[0][0].batch == 4 && groups[1][0].batch == 4 && groups[2][0].batch == 1));
  CHECK((groups[3][0].dtype == "fp16" && groups[4][0].dtype == "bf16"));
  CHECK((groups[0][0].vocabulary == 32'128 && groups[1][0].vocabulary == 37'000));
}

}  // namespace foredraft::gpu_bench
