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
      CHECK((cell.gamma == group.front().gamma && cell.logits == group.front().logits));
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

TEST_CASE("sampling is planned for draws and verifications of each batch and vocabulary once, hot, each by itself") {
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
  std::vector<latency::VerificationCell> expected;
  for (const char* dtype : {"fp16", "bf16"}) {
    for (const std::int64_t batch : {4, 1}) {
      for (const std::int64_t vocabulary : {32'128, 37'000}) {
        for (const std::int64_t gamma : {0, 1, 4, 8}) {
          expected.push_back({"fused_exact", dtype, batch, gamma, vocabulary, "real_like", latency::Cache::hot,
                              latency::Launch::eager});
        }
      }
    }
  }
  std::vector<latency::VerificationCell> cells;
  for (const auto& group : groups) {
    CHECK(group.size() == 1);  // a group shares its logits, so it has one gamma
    cells.insert(cells.end(), group.begin(), group.end());
  }
  CHECK(cells == expected);
}

}  // namespace foredraft::gpu_bench
