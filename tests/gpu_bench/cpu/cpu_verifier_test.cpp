// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_verifier.hpp"

#include "tests/gpu_bench/cpu/instruction_sets.hpp"
#include "tests/gpu_bench/verify/verify_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

Emitted verified_on_cpu(const Batch<float>& batch, unsigned threads) {
  ThreadTeam team(threads);
  CpuVerifier verifier(batch.shape(), team);
  return emitted_by(batch, {}, [&verifier](const auto& input, const auto& output, const auto&, auto&) {
    verifier.run(input, output);
  });
}

/// With one thread and with three, which must agree; returns the number of requests that differ from the reference
/// within rounding.
unsigned check_on_cpu(const Batch<float>& batch) {
  const Emitted emitted = verified_on_cpu(batch, 1);
  CHECK(verified_on_cpu(batch, 3) == emitted);
  return check_reference(batch, emitted);
}

}  // namespace

TEST_CASE("verification on the CPU emits the reference's tokens on every instruction set, with one thread and three") {
  // Below, at and above vectors and chunks.
  std::vector<Batch<float>> batches;
  for (const unsigned vocabulary : {1U, 3U, 16U, 37U, 600U, 2048U, 2049U, 6150U}) {
    batches.push_back(random_batch<float>(vocabulary < 100 ? 20 : 5, 4, vocabulary, vocabulary, true));
  }
  on_every_instruction_set([&batches] {
    unsigned different = 0;
    for (const Batch<float>& batch : batches) different += check_on_cpu(batch);
    CHECK(different <= 1);  // one request in tens of thousands has such a small margin
  });
}

TEST_CASE("verification on the CPU only draws from rows if gamma is 0, and needs no drafter") {
  for (const unsigned vocabulary : {50U, 4100U}) {
    auto batch = random_batch<float>(6, 0, vocabulary, 41);
    CHECK(check_on_cpu(batch) == 0);
    const Emitted want = verified_on_cpu(batch, 1);
    ThreadTeam team(1);
    CpuVerifier verifier(batch.shape(), team);
    const Emitted alone =
        emitted_by(batch, {}, [&](VerificationInput<float> input, const auto& output, const auto&, auto&) {
          input.draft_logits = nullptr;
          input.drafts = nullptr;
          input.draft_counts = nullptr;
          verifier.run(input, output);
        });
    CHECK(alone == want);
  }
}

TEST_CASE("verification on the CPU ends a request's drafts at padding and reads nothing after them") {
  auto batch = random_batch<float>(4, 3, 50, 43);
  batch.draft_counts[0] = 0;
  batch.draft(1, 0) = no_token;
  batch.draft(2, 1) = 50;  // later drafts are not reached
  batch.draft(3, 2) = std::numeric_limits<std::int32_t>::max();
  for (const auto& [request, position] : {std::array{0U, 1U}, std::array{1U, 1U}, std::array{2U, 2U}}) {
    for (unsigned i = position; i <= batch.gamma; ++i) {
      std::ranges::fill(batch.target_row(request, i), no_number);
      std::ranges::fill(batch.draft_row(request, i - 1), no_number);
    }
  }
  const Emitted emitted = verified_on_cpu(batch, 1);
  CHECK(check_on_cpu(batch) == 0);
  CHECK(emitted.counts[0] == 1);
  CHECK(emitted.counts[1] == 1);
  CHECK(emitted.counts[2] <= 2);
  CHECK(emitted.counts[3] <= 3);
  CHECK(emitted.faults == std::vector<std::uint32_t>(4, 0));
}

TEST_CASE("verification on the CPU accepts every draft if p = q, and one-hot rows leave no choice") {
  auto batch = random_batch<float>(4, 5, 2500, 47);
  for (unsigned b = 0; b < 4; ++b) {
    for (unsigned i = 0; i < 5; ++i) std::ranges::copy(batch.target_row(b, i), batch.draft_row(b, i).begin());
  }
  CHECK(verified_on_cpu(batch, 1).counts == std::vector<std::int32_t>(4, 6));
  CHECK(check_on_cpu(batch) == 0);
  for (unsigned b = 0; b < 4; ++b) {
    for (unsigned i = 0; i <= 5; ++i) {
      std::ranges::fill(batch.target_row(b, i), -float_infinity);
      batch.target_row(b, i)[500 * b + i] = -3.0F;
      if (i < 5) batch.draft(b, i) = static_cast<std::int32_t>(500 * b + i);
    }
    batch.draft(b, b) = 2499;  // the first that the target cannot emit
  }
  const Emitted emitted = verified_on_cpu(batch, 1);
  for (unsigned b = 0; b < 4; ++b) {
    std::vector<std::int32_t> want;
    for (unsigned i = 0; i <= b; ++i) want.push_back(static_cast<std::int32_t>(500 * b + i));
    CHECK(emitted.tokens_of(b) == want);
  }
  CHECK(check_on_cpu(batch) == 0);
}

TEST_CASE("verification on the CPU has the reference's answer for NaN and infinite logits, on all instruction sets") {
  constexpr float huge = std::numeric_limits<float>::max();
  const std::vector<float> plain{0.0F, 1.0F, 2.0F, 0.5F};
  const std::vector<float> nothing(4, -float_infinity);
  const std::vector<std::pair<std::vector<float>, std::vector<float>>> rows{
      {{0.0F, 1.0F, no_number, 0.5F}, plain},
      {{0.0F, float_infinity, float_infinity, 0.5F}, plain},
      {plain, {0.0F, no_number, 2.0F, float_infinity}},
      {nothing, plain},
      {plain, std::vector<float>(4, no_number)},
      {nothing, nothing},
      {{-huge, huge, 0.0F, huge}, {huge, -huge, huge, 0.0F}},
      {{0.0F, -float_infinity, 1.0F, 0.5F}, {0.0F, -float_infinity, 1.0F, 0.5F}}};  // 0/0 rejects, without a residual
  on_every_instruction_set([&rows] {
    for (const auto& [target, draft] : rows) {
      for (std::int32_t token = 0; token < 4; ++token) {
        for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
          CHECK(check_reference(single(target, draft, token, iteration),
                                verified_on_cpu(single(target, draft, token, iteration), 1)) == 0);
        }
      }
    }
  });
}

TEST_CASE("verification on the CPU gives a request the same tokens alone as in any batch") {
  auto batch = random_batch<float>(6, 3, 2300, 31, true);
  batch.draws.first_request = 100;
  const Emitted together = verified_on_cpu(batch, 2);
  for (unsigned request = 0; request < batch.batch; ++request) {
    CHECK(verified_on_cpu(alone(batch, request), 2).tokens_of(0) == together.tokens_of(request));
  }
}

}  // namespace foredraft::gpu_bench::tests
