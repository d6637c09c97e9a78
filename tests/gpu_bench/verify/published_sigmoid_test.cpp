// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_bench/verify/published_support.hpp"

// Its decisions are compared with the simulator's rule in tests/agreement/sigmoid_kernel_agreement_test.cpp.
namespace foredraft::gpu_bench::tests {

TEST_CASE("the sigmoid verifier draws the token after accepted drafts from sigmas, not from raw logits") {
  // With raw logits clamped at a small number, token 0 has nearly all weight; with sigmas all tokens have equal weight.
  auto batch = random_batch<float>(32, 1, 8, 30);
  for (unsigned request = 0; request < batch.batch; ++request) {
    fill_row(batch.target_row(request, 0), 0.0F);
    fill_row(batch.draft_row(request, 0), 0.0F);
    fill_row(batch.target_row(request, 1), -1.0F);
    batch.target_row(request, 1)[0] = 100.0F;
  }
  const Emitted got =
      emitted_by_published(Published::wagner_sigmoid, batch, {}, {.low = -10'000.0F, .high = 10'000.0F});
  std::size_t zeros = 0;
  for (unsigned request = 0; request < batch.batch; ++request) {
    REQUIRE(got.tokens_of(request).size() == 2);
    if (got.tokens_of(request)[1] == 0) ++zeros;
  }
  CHECK(zeros <= 14);  // 4 of 32 are expected; more than 14 happen once in a million draws
}

TEST_CASE("the sigmoid verifier draws from the target's sigmas if a rejection leaves nothing, and reports it") {
  auto batch = random_batch<float>(16, 1, 5, 31);
  for (unsigned request = 0; request < batch.batch; ++request) {
    fill_row(batch.target_row(request, 0), -8.0F);  // below every logit of the drafter
    fill_row(batch.draft_row(request, 0), 8.0F);
    batch.target_row(request, 0)[3] = -float_infinity;
  }
  const Emitted got = emitted_by_published(Published::wagner_sigmoid, batch);
  std::size_t rejected = 0;
  for (unsigned request = 0; request < batch.batch; ++request) {
    if (got.counts[request] == 2) continue;
    ++rejected;
    CHECK(got.faults[request] == 1);
    CHECK(got.tokens_of(request)[0] != 3);
  }
  CHECK(rejected >= 8);
}

TEST_CASE("the sigmoid verifier handles NaN and infinite logits as documented") {
  auto batch = random_batch<float>(8, 1, 19, 32);
  fill_row(batch.target_row(0, 0), -float_infinity);
  fill_row(batch.target_row(1, 0), no_number);
  batch.target_row(2, 0)[4] = no_number;
  batch.target_row(3, 1)[4] = float_infinity;
  batch.draft_row(4, 0)[4] = no_number;
  fill_row(batch.draft_row(5, 0), -float_infinity);
  batch.draft_counts[6] = 0;
  fill_row(batch.draft_row(6, 0), no_number);
  fill_row(batch.target_row(6, 1), no_number);
  batch.target_row(7, 0)[4] = -float_infinity;
  const Emitted got = emitted_by_published(Published::wagner_sigmoid, batch);
  CHECK(got.tokens_of(0) == std::vector<std::int32_t>{0});
  CHECK(got.tokens_of(1) == std::vector<std::int32_t>{0});
  CHECK(got.counts[5] == 2);
  CHECK(got.counts[6] == 1);
  CHECK(got.faults == std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("the sigmoid verifier takes no drafts at all, one token, and many requests") {
  CHECK(emitted_by_published(Published::wagner_sigmoid, random_batch<float>(3, 0, 50, 33)).counts ==
        std::vector<std::int32_t>{1, 1, 1});
  CHECK(emitted_by_published(Published::wagner_sigmoid, random_batch<float>(1, 2, 1, 34)).tokens_of(0) ==
        std::vector<std::int32_t>{0, 0, 0});
  const auto batch = random_batch<float>(64, 1, 3, 35);
  const Emitted together = emitted_by_published(Published::wagner_sigmoid, batch);
  for (const unsigned request : {0U, 31U, 63U}) {
    CHECK(together.tokens_of(request) ==
          emitted_by_published(Published::wagner_sigmoid, alone(batch, request)).tokens_of(0));
  }
}

}  // namespace foredraft::gpu_bench::tests
