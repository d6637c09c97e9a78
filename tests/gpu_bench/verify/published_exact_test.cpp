// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_bench/verify/published_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr Published exact_verifiers[] = {Published::hf_reference, Published::wagner_exact};

/// Maximum margin of a decision that these verifiers may take differently. Probabilities are rounded to the storage
/// type once, ratios and uniforms once more: four roundings of a number up to 1, and four more for the sums of a
/// cumulative distribution. In fp32 the arithmetic of some tens of operations is larger.
template <class Storage>
constexpr double decision_rounding = std::max(8.0 * one_rounding<Storage>, 2.0 * single_precision);

/// Fails on a request that differs from the reference although no decision was close. Returns the number of close ones.
template <class Storage>
std::size_t check_against_reference(Published verifier, const Batch<Storage>& batch, SmallBlocks launcher = {}) {
  const Emitted got = emitted_by_published(verifier, batch, launcher);
  std::size_t close = 0;
  for (unsigned request = 0; request < batch.batch; ++request) {
    const ReferenceTokens want = reference_rejection_sampling(ReferenceInput(batch, request).request());
    INFO("verifier " << static_cast<int>(verifier) << ", request " << request << ", margin " << want.margin);
    CHECK(got.faults[request] == (want.fault ? 1U : 0U));
    const std::vector<std::int32_t> tokens = got.tokens_of(request);
    if (want.margin < decision_rounding<Storage>) {
      ++close;
    } else {
      CHECK(tokens == want.tokens);
    }
  }
  return close;
}

}  // namespace

TEST_CASE("published exact verifiers decide in fp32 as in double precision, except for ties within rounding") {
  for (const Published verifier : exact_verifiers) {
    std::size_t close = 0;
    close += check_against_reference(verifier, random_batch<float>(16, 3, 11, 1));
    close += check_against_reference(verifier, random_batch<float>(4, 5, 300, 2));
    close += check_against_reference(verifier, random_batch<float>(2, 1, 2000, 3));
    CHECK(close <= 1);  // of 22 requests; about 4 of 10,000 are expected to be close
  }
}

TEMPLATE_TEST_CASE("in 16 bits published exact verifiers agree if no decision is within rounding", "", Half, Bfloat16) {
  for (const Published verifier : exact_verifiers) {
    const auto batch = random_batch<TestType>(30, 3, 5, 4);
    // A decision is close with twice the rounding's probability at each of some ten boundaries.
    CHECK(static_cast<double>(check_against_reference(verifier, batch)) <=
          30 * std::min(0.9, 20.0 * decision_rounding<TestType>));
  }
}

TEMPLATE_TEST_CASE("published verifiers: a request's tokens depend on no other request, its place or the block size",
                   "", Half, float) {
  for (const Published verifier : {Published::hf_reference, Published::wagner_exact, Published::wagner_sigmoid}) {
    const auto batch = random_batch<TestType>(3, 2, 40, 5);
    const Emitted together = emitted_by_published(verifier, batch);
    for (unsigned request = 0; request < batch.batch; ++request) {
      INFO("verifier " << static_cast<int>(verifier) << ", request " << request);
      CHECK(emitted_by_published(verifier, alone(batch, request)).tokens_of(0) == together.tokens_of(request));
    }
    for (const HostOrder order : {HostOrder::reversed, HostOrder::shuffled}) {
      CHECK(emitted_by_published(verifier, batch, {.threads = 64, .order = order}) ==
            emitted_by_published(verifier, batch, {.threads = 64}));
    }
  }
}

TEST_CASE("published exact verifiers handle NaN and infinite logits as documented") {
  for (const Published verifier : exact_verifiers) {
    auto batch = random_batch<float>(16, 2, 37, 6);
    fill_row(batch.draft_row(0, 0), -float_infinity);   // every possible draft is accepted
    fill_row(batch.target_row(1, 0), -float_infinity);  // token 0
    fill_row(batch.target_row(2, 1), no_number);
    batch.target_row(3, 0)[5] = no_number;
    batch.target_row(4, 0)[5] = float_infinity;  // all of the probability
    batch.target_row(5, 0)[5] = batch.target_row(5, 0)[36] = float_infinity;
    batch.draft_row(6, 1)[8] = no_number;
    batch.draft_row(7, 0)[3] = float_infinity;
    fill_row(batch.target_row(8, 2), -float_infinity);
    for (unsigned x = 1; x < 37; ++x) batch.target_row(9, 0)[x] = -float_infinity;  // one-hot
    for (unsigned x = 0; x < 36; ++x) batch.target_row(10, 2)[x] = -float_infinity;
    for (unsigned x = 0; x < 36; ++x) batch.draft_row(11, 0)[x] = -float_infinity;
    batch.target_row(12, 0)[static_cast<unsigned>(batch.drafts[24])] = -float_infinity;  // p of the draft is 0
    batch.draft_row(13, 0)[static_cast<unsigned>(batch.drafts[26])] = -float_infinity;   // q of it
    batch.target_row(14, 0)[static_cast<unsigned>(batch.drafts[28])] = -float_infinity;  // both
    batch.draft_row(14, 0)[static_cast<unsigned>(batch.drafts[28])] = -float_infinity;
    check_against_reference(verifier, batch);
    const Emitted got = emitted_by_published(verifier, batch);
    CHECK(got.tokens_of(1) == std::vector<std::int32_t>{0});
    CHECK(got.faults[1] == 1);
    CHECK(got.faults[9] == 0);
    CHECK(got.faults[14] == 0);
  }
}

TEST_CASE("published exact verifiers: equal rows accept all, shorter drafts, padding and impossible drafts end them") {
  for (const Published verifier : exact_verifiers) {
    auto batch = random_batch<float>(12, 3, 21, 7);
    for (unsigned position = 0; position < 3; ++position) {
      for (unsigned x = 0; x < 21; ++x) batch.draft_row(0, position)[x] = batch.target_row(0, position)[x];
    }
    batch.draft_counts = {3, 0, 1, 2, 3, 3, 3, 2, 0, 3, 1, 3};
    batch.drafts[3 * 4] = no_token;
    batch.drafts[3 * 5 + 1] = no_token;
    batch.drafts[3 * 6 + 2] = 21;
    batch.drafts[3 * 7] = std::numeric_limits<std::int32_t>::max();
    // Rows after the last draft are not read: their NaN is no fault.
    fill_row(batch.target_row(1, 1), no_number);
    fill_row(batch.draft_row(1, 0), no_number);
    fill_row(batch.draft_row(2, 1), no_number);
    fill_row(batch.target_row(2, 2), no_number);
    fill_row(batch.draft_row(5, 1), no_number);
    fill_row(batch.target_row(5, 2), no_number);
    check_against_reference(verifier, batch);
    const Emitted got = emitted_by_published(verifier, batch);
    CHECK(got.counts[0] == 4);
    CHECK(got.counts[1] == 1);
    CHECK(got.faults == std::vector<std::uint32_t>(12, 0));
  }
}

TEST_CASE("published exact verifiers: no drafts at all, one token in the vocabulary, many requests") {
  for (const Published verifier : exact_verifiers) {
    check_against_reference(verifier, random_batch<float>(3, 0, 50, 8));
    check_against_reference(verifier, random_batch<float>(4, 2, 1, 9));
    check_against_reference(verifier, random_batch<float>(verifier == Published::hf_reference ? 8 : 512, 1, 3, 10));
  }
}

TEST_CASE("published verifiers read a row in packs to the same tokens as one by one") {
  for (const Published verifier : exact_verifiers) {
    // 1,000 tokens are whole packs but not whole chunks; 1,001 are neither.
    check_against_reference(verifier, random_batch<float>(2, 1, 1000, 11));
    check_against_reference(verifier, random_batch<float>(2, 1, 1001, 11), {.threads = 128});
    check_against_reference(verifier, random_batch<float>(1, 1, 9000, 12), {.threads = 64});  // three blocks a sum
  }
}

TEST_CASE("published exact verifiers: an empty residual is replaced by p and marked as a fault") {
  for (const Published verifier : exact_verifiers) {
    // In fp16 p(1) = 0 and q(1) = 2^-24: token 1 is rejected, and the residual of p - q is 0.
    Batch<Half> batch = random_batch<Half>(1, 1, 2, 13);
    batch.target_row(0, 0)[0] = batch.draft_row(0, 0)[0] = from_float<Half>(0.0F);
    batch.target_row(0, 0)[1] = from_float<Half>(-30.0F);
    batch.draft_row(0, 0)[1] = from_float<Half>(-16.5F);
    batch.drafts = {1};
    const Emitted got = emitted_by_published(verifier, batch);
    CHECK(got.tokens_of(0) == std::vector<std::int32_t>{0});
    CHECK(got.faults[0] == 1);
  }
}

TEST_CASE("published verifiers: uniforms stay below 1 in every storage type") {
  CHECK(to_float(from_float<Half>(published::largest_below_one<Half>)) == 1.0F - 0x1.0p-11F);
  CHECK(to_float(from_float<Bfloat16>(published::largest_below_one<Bfloat16>)) == 1.0F - 0x1.0p-8F);
  CHECK(published::largest_below_one<float> == std::nextafter(1.0F, 0.0F));
  std::vector<Bfloat16> uniforms(3000);
  HostLauncher launcher;
  published::launch_elementwise(
      launcher, published::AcceptDraws<Bfloat16>{
                    .draws = draw_stream(seed, 0, 0), .out = uniforms.data(), .gamma = 1000, .elements = 3000});
  float largest = 0.0F;
  for (const Bfloat16 uniform : uniforms) largest = std::max(largest, to_float(uniform));
  CHECK(largest == published::largest_below_one<Bfloat16>);  // one of 512 would round to 1
}

}  // namespace foredraft::gpu_bench::tests
