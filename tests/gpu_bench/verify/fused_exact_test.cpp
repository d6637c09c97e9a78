// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/fused_exact.hpp"

#include "tests/gpu_bench/verify/verify_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// Splits of one chunk: a vocabulary of some hundreds already has several.
constexpr unsigned small_split = chunk_tokens;

template <unsigned split_tokens = small_split, class Storage>
Emitted fused(const Batch<Storage>& batch, HostOrder order = HostOrder::forward, unsigned threads = 32) {
  const auto verify = [threads](const auto& input, const auto& output, auto& cutter, auto& launcher) {
    fused_exact<split_tokens>(input, output, cutter, launcher, threads);
  };
  return emitted_by(batch, workspace_for(batch, verify), verify, order);
}

}  // namespace

TEMPLATE_TEST_CASE("the fused verifier emits the reference's tokens from the same draws", "", Half, Bfloat16, float) {
  unsigned different = 0;
  for (const unsigned vocabulary : {1U, 7U, 40U, 256U, 600U, 777U}) {
    const unsigned requests = vocabulary < 256 ? 24 : vocabulary == 256 ? 8 : 5;
    const auto batch = random_batch<TestType>(requests, 4, vocabulary, vocabulary, true);
    different += check_reference(batch, fused(batch));
  }
  CHECK(different <= 1);  // one request in tens of thousands has such a small margin
}

TEST_CASE("the fused verifier splits the vocabulary as requested, with blocks of any size") {
  const auto batch = random_batch<Half>(3, 2, 1544, 5);
  const Emitted want = fused(batch);
  CHECK(check_reference(batch, want) == 0);
  CHECK(fused<2 * chunk_tokens>(batch, HostOrder::forward, 64) == want);
  CHECK(fused<4 * chunk_tokens>(batch, HostOrder::forward, 96) == want);
  CHECK(fused<fused_exact_split_tokens>(batch, HostOrder::forward, 256) == want);
}

TEST_CASE("the fused verifier gives the same bits in any order of blocks and threads, in one launch and in two") {
  for (const unsigned vocabulary : {520U, 333U}) {
    const auto batch = random_batch<Bfloat16>(3, 2, vocabulary, 29, true);
    const WorkspaceSize size =
        workspace_for(batch, [](const auto& input, const auto& output, auto& cutter, auto& launcher) {
          fused_exact<small_split>(input, output, cutter, launcher, 64);
        });
    std::vector<std::vector<float>> sums;
    std::vector<Emitted> emitted;
    for (const HostOrder order : every_order) {
      for (const bool two_launches : {false, true}) {
        emitted.push_back(emitted_by(
            batch, size,
            [&](const auto& input, const auto& output, auto& cutter, auto& launcher) {
              const auto* floats = cutter.template packed<float>(0);
              if (two_launches) {
                fused_exact_two_launches<small_split>(input, output, cutter, launcher, 64);
              } else {
                fused_exact<small_split>(input, output, cutter, launcher, 64);
              }
              CHECK(cutter.size().floats == size.floats);
              sums.emplace_back(floats, floats + size.floats);
            },
            order));
      }
    }
    for (std::size_t i = 1; i < sums.size(); ++i) {
      CHECK(emitted[i] == emitted[0]);
      CHECK(same_bits(sums[i], sums[0]));
    }
  }
}

TEST_CASE("the fused verifier gives a request the same tokens alone as in any batch") {
  const unsigned requests = 6;
  auto batch = random_batch<float>(requests, 3, 300, 31, true);
  batch.draws.first_request = 100;
  const Emitted together = fused(batch);
  for (unsigned request = 0; request < requests; ++request) {
    CHECK(fused(alone(batch, request)).tokens_of(0) == together.tokens_of(request));
  }
}

TEST_CASE("the fused verifier takes hundreds of requests, more than it assigns rows to in advance") {
  const auto batch = random_batch<Half>(512, 1, 3, 37, true);
  const Emitted emitted = fused(batch);
  CHECK(check_reference(batch, emitted) <= 1);
}

TEST_CASE("the fused verifier draws the bonus token without a draft: gamma 0, counts of 0, padding") {
  const auto plain = random_batch<float>(6, 0, 50, 41);
  CHECK(check_reference(plain, fused(plain)) == 0);

  auto batch = random_batch<float>(4, 3, 50, 43);
  batch.draft_counts[0] = 0;
  batch.draft(1, 0) = no_token;
  batch.draft(2, 1) = 50;  // later drafts are not reached
  batch.draft(3, 2) = std::numeric_limits<std::int32_t>::max();
  // Nothing after the last draft is read: it would be a fault.
  for (const auto& [request, position] : {std::array{0U, 1U}, std::array{1U, 1U}, std::array{2U, 2U}}) {
    for (unsigned i = position; i <= batch.gamma; ++i) {
      std::ranges::fill(batch.target_row(request, i), no_number);
      if (i > 0) std::ranges::fill(batch.draft_row(request, i - 1), no_number);
    }
  }
  const Emitted emitted = fused(batch);
  CHECK(check_reference(batch, emitted) == 0);
  CHECK(emitted.counts[0] == 1);
  CHECK(emitted.counts[1] == 1);
  CHECK(emitted.counts[2] <= 2);
  CHECK(emitted.counts[3] <= 3);
  CHECK(emitted.faults == std::vector<std::uint32_t>(4, 0));
}

TEST_CASE("the fused verifier accepts every draft if p = q, and one-hot rows leave no choice") {
  auto batch = random_batch<Half>(4, 5, 264, 47);
  for (unsigned b = 0; b < 4; ++b) {
    for (unsigned i = 0; i < 5; ++i) std::ranges::copy(batch.target_row(b, i), batch.draft_row(b, i).begin());
  }
  CHECK(fused(batch).counts == std::vector<std::int32_t>(4, 6));
  CHECK(check_reference(batch, fused(batch)) == 0);

  for (unsigned b = 0; b < 4; ++b) {
    for (unsigned i = 0; i <= 5; ++i) {
      std::ranges::fill(batch.target_row(b, i), from_float<Half>(-float_infinity));
      batch.target_row(b, i)[10 * b + i] = from_float<Half>(-3.0F);
      if (i < 5) batch.draft(b, i) = static_cast<std::int32_t>(10 * b + i);
    }
    batch.draft(b, b) = 200;  // the first that the target cannot emit
  }
  const Emitted emitted = fused(batch);
  for (unsigned b = 0; b < 4; ++b) {
    std::vector<std::int32_t> want;
    for (unsigned i = 0; i <= b; ++i) want.push_back(static_cast<std::int32_t>(10 * b + i));
    CHECK(emitted.tokens_of(b) == want);
  }
  CHECK(check_reference(batch, emitted) == 0);
}

TEST_CASE("the fused verifier draws from p if a rejection leaves no residual") {
  const std::vector<float> row{0.0F, -float_infinity, 1.0F, 0.5F};
  std::vector<unsigned> seen(4, 0);
  for (std::uint32_t iteration = 0; iteration < 60; ++iteration) {
    const auto batch = single(row, row, 1, iteration);  // 0/0 rejects
    const Emitted emitted = fused(batch);
    CHECK(emitted.counts[0] == 1);
    CHECK(check_reference(batch, emitted) == 0);
    ++seen[static_cast<std::size_t>(emitted.tokens[0])];
  }
  CHECK(seen[0] > 0);
  CHECK(seen[1] == 0);
  CHECK(seen[2] > 0);
  CHECK(seen[3] > 0);
}

TEST_CASE("the fused verifier takes NaN for -inf and +inf for the largest number, and reports it") {
  const std::vector<float> plain{0.0F, 1.0F, 2.0F, 0.5F};
  for (std::uint32_t iteration = 0; iteration < 12; ++iteration) {
    // The target's token 2 is NaN: its draft is rejected and it is not drawn.
    auto batch = single({0.0F, 1.0F, no_number, 0.5F}, plain, 2, iteration);
    Emitted emitted = fused(batch);
    CHECK(emitted.counts[0] == 1);
    CHECK(emitted.tokens[0] != 2);
    CHECK(emitted.faults[0] == 1);
    CHECK(check_reference(batch, emitted) == 0);
    // Two tokens of the target are +inf: half of the probability each, nothing for the others.
    batch = single({0.0F, float_infinity, float_infinity, 0.5F}, plain, 0, iteration);
    emitted = fused(batch);
    CHECK((emitted.tokens[0] == 1 || emitted.tokens[0] == 2));
    CHECK(emitted.faults[0] == 1);
    CHECK(check_reference(batch, emitted) == 0);
    // The drafter's logit of its own draft is NaN: q = 0, accepted.
    batch = single(plain, {0.0F, no_number, 2.0F, float_infinity}, 1, iteration);
    emitted = fused(batch);
    CHECK(emitted.tokens_of(0) == std::vector<std::int32_t>{1, 3});
    CHECK(emitted.faults[0] == 1);
    CHECK(check_reference(batch, emitted) == 0);
  }
  CHECK(fused(single(plain, plain, 2)).faults[0] == 0);
  // A drafter certain of its draft: q = 1, so the draft is not always accepted.
  unsigned rejected = 0;
  for (std::uint32_t iteration = 0; iteration < 12; ++iteration) {
    rejected += fused(single(plain, {0.0F, float_infinity, 2.0F, 0.5F}, 1, iteration)).counts[0] == 1 ? 1U : 0U;
  }
  CHECK(rejected > 0);
}

TEST_CASE("the fused verifier has an answer for rows without a finite value") {
  const std::vector<float> plain{0.0F, 1.0F, 2.0F, 0.5F};
  const std::vector<float> nothing(4, -float_infinity);
  Emitted emitted = fused(single(nothing, plain, 2));
  CHECK(emitted.tokens_of(0) == std::vector<std::int32_t>{0});
  CHECK(emitted.faults[0] == 1);
  emitted = fused(single(plain, std::vector<float>(4, no_number), 2));
  CHECK(emitted.tokens_of(0) == std::vector<std::int32_t>{2, 3});
  CHECK(emitted.faults[0] == 1);
  emitted = fused(single(nothing, nothing, 2));
  CHECK(emitted.tokens_of(0) == std::vector<std::int32_t>{0});
  CHECK(emitted.faults[0] == 1);
  emitted = fused(single(plain, nothing, 2));
  CHECK(emitted.tokens_of(0) == std::vector<std::int32_t>{2, 3});
  CHECK(emitted.faults[0] == 1);
}

namespace {

/// An fp32 logit that counts its reads.
struct CountedLogit {
  float value;
};
double counted_bytes = 0.0;

float to_float(CountedLogit logit) {
  counted_bytes += sizeof logit;
  return logit.value;
}

struct LogitBytes {
  double bytes = 0.0;
  template <class Kernel>
  void launch(const Kernel& kernel) {
    bytes += kernel.logit_read_bytes();
  }
};

}  // namespace

TEST_CASE("the fused verifier reports the logits that its kernels read, and they are near its floor") {
  for (const unsigned vocabulary : {2000U, 1001U}) {
    auto batch = random_batch<float>(2, 3, vocabulary, 53);
    for (unsigned b = 0; b < 2; ++b) {  // one draft is rejected
      batch.target_row(b, b)[static_cast<std::size_t>(batch.draft(b, b))] = -float_infinity;
    }
    const auto input = batch.input();
    const VerificationInput<CountedLogit> counted{
        .target_logits = reinterpret_cast<const CountedLogit*>(input.target_logits),
        .draft_logits = reinterpret_cast<const CountedLogit*>(input.draft_logits),
        .drafts = input.drafts,
        .draft_counts = input.draft_counts,
        .batch = input.batch,
        .gamma = input.gamma,
        .vocabulary = input.vocabulary,
        .draws = input.draws};
    counted_bytes = 0.0;
    CountingLauncher counting;
    WorkspaceCutter cost;
    fused_exact<small_split>(counted, VerificationOutput{}, cost, counting, 32);
    LogitBytes logits;
    WorkspaceCutter unused;
    fused_exact_two_launches<small_split>(counted, VerificationOutput{}, unused, logits);
    const double said = logits.bytes;
    const Emitted emitted =
        emitted_by(batch, cost.size(), [&](const auto&, const auto& output, auto& cutter, auto& launcher) {
          fused_exact<small_split>(counted, output, cutter, launcher, 32);
        });
    CHECK(emitted.counts == std::vector<std::int32_t>{1, 2});
    // The last chunk is read again only up to the end of the vocabulary.
    const double last_chunk = sizeof(float) * 2.0 * 2.0 * chunk_tokens;
    CHECK(counted_bytes <= said);
    CHECK(counted_bytes >= said - last_chunk);
    CHECK(counting.cost.launches == 1);
    CHECK(counting.cost.read_backs == 0);
    CHECK(counting.cost.traffic.read_bytes > said);
  }
  // For real vocabularies sums and ids are negligible compared with the rows.
  const VerificationInput<Half> large{.target_logits = nullptr,
                                      .draft_logits = nullptr,
                                      .drafts = nullptr,
                                      .draft_counts = nullptr,
                                      .batch = 8,
                                      .gamma = 5,
                                      .vocabulary = 128256,
                                      .draws = {}};
  CountingLauncher counting;
  WorkspaceCutter cutter;
  fused_exact(large, VerificationOutput{}, cutter, counting);
  const double rows = 8.0 * 13.0 * 128256.0 * 2.0;  // 2 gamma + 1, and two again
  CHECK(counting.cost.traffic.read_bytes >= rows);
  CHECK(counting.cost.traffic.read_bytes <= 1.03 * rows);
  CHECK(counting.cost.traffic.written_bytes <= 0.01 * rows);
}

}  // namespace foredraft::gpu_bench::tests
