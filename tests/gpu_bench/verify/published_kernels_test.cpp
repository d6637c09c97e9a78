// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_bench/verify/published_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// Elements that a call moves, in rows of the vocabulary's length per request, and its launches and waits.
struct CountedCall {
  double rows;
  unsigned launches;
  unsigned read_backs;
};

CountedCall counted(Published verifier, unsigned gamma, unsigned batch) {
  constexpr unsigned vocabulary = 128'000;
  VerificationInput<Half> input{};
  input.batch = batch;
  input.gamma = gamma;
  input.vocabulary = vocabulary;
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  verify_published(verifier, input, {}, cutter, launcher);
  const Traffic& traffic = launcher.cost.traffic;
  return {.rows = (traffic.read_bytes + traffic.written_bytes) / (2.0 * vocabulary * batch),
          .launches = launcher.cost.launches,
          .read_backs = launcher.cost.read_backs};
}

/// Traffic besides rows: small tensors, and two passes over sums of 256 tokens in fp32.
constexpr double small_tensors_in_rows = 0.03;

}  // namespace

TEST_CASE(
    "published verifiers move the rows counted for the published code, with the exceptions that their files name") {
  for (const unsigned batch : {1U, 4U}) {
    for (const unsigned gamma : {1U, 5U, 20U}) {
      INFO("gamma " << gamma << ", batch " << batch);
      const double second_reads = 2.0 * gamma + 1.0;  // of a softmax, from a cache
      const double draw = 4.0;  // additional traffic of exponential noise compared with inverse sampling
      const CountedCall library = counted(Published::hf_reference, gamma, batch);
      CHECK(library.rows == Approx(4.0 * gamma + 18.0 + second_reads - draw).margin(small_tensors_in_rows));
      CHECK(library.launches == 29 * batch);
      CHECK(library.read_backs == 7 * batch);

      const CountedCall exact = counted(Published::wagner_exact, gamma, batch);
      CHECK(exact.rows == Approx(10.0 * gamma + 12.0 + second_reads - draw).margin(small_tensors_in_rows));
      CHECK(exact.launches == 26);
      CHECK(exact.read_backs == 4);

      const CountedCall sigmoid = counted(Published::wagner_sigmoid, gamma, batch);
      const double bonus_row = 2.0;
      const double clamp = 2.0;
      CHECK(sigmoid.rows == Approx(7.0 * gamma + 12.0 + bonus_row - clamp - draw).margin(small_tensors_in_rows));
      CHECK(sigmoid.launches == 24);
      CHECK(sigmoid.read_backs == 4);
    }
  }
}

TEST_CASE("a published verifier's workspace holds one request's matrices, or the whole batch's") {
  const VerificationShape one{.batch = 1, .gamma = 5, .vocabulary = 32'000};
  const VerificationShape eight{.batch = 8, .gamma = 5, .vocabulary = 32'000};
  const auto rows = [](const WorkspaceSize& size) { return static_cast<double>(size.floats) * 4.0 / (2.0 * 32'000); };
  constexpr double beside = 0.1;
  CHECK(rows(published_workspace<Half>(Published::hf_reference, one)) == Approx(11.0 + 2.0).margin(beside));
  CHECK(rows(published_workspace<Half>(Published::hf_reference, eight)) == Approx(11.0 + 2.0).margin(beside));
  CHECK(rows(published_workspace<Half>(Published::wagner_exact, one)) == Approx(10.0 + 11.0 + 1.0).margin(beside));
  CHECK(rows(published_workspace<Half>(Published::wagner_exact, eight)) ==
        Approx(8 * (10.0 + 11.0 + 1.0)).margin(8 * beside));
  CHECK(rows(published_workspace<Half>(Published::wagner_sigmoid, one)) == Approx(10.0 + 6.0 + 1.0).margin(beside));
}

TEST_CASE("the tiled kernel covers every token and has every thread at every barrier, for any last tile") {
  // 51,865 tokens, as Whisper has, end a tile of 1,024 at 665; here 64 threads end at 41.
  constexpr unsigned vocabulary = 1001;
  constexpr unsigned requests = 2;
  constexpr unsigned gamma = 2;
  auto batch = random_batch<float>(requests, gamma, vocabulary, 40);
  batch.draft_counts = {2, 1};
  for (float& value : batch.target_logits) value = std::exp(value);  // any weights will do
  for (float& value : batch.draft_logits) value = std::exp(value);
  std::vector<float> ratios(requests * gamma * vocabulary, 0.0F);
  std::vector<float> residuals(ratios);
  std::vector<float> sums(requests * gamma, 0.0F);
  const published::TiledRatiosKernel<float, published::AsTheyAre> kernel{.input = batch.input(),
                                                                         .values = {},
                                                                         .targets = batch.target_logits.data(),
                                                                         .drafts = batch.draft_logits.data(),
                                                                         .ratios = ratios.data(),
                                                                         .residuals = residuals.data(),
                                                                         .sums = sums.data(),
                                                                         .probabilities = nullptr,
                                                                         .row_faults = nullptr,
                                                                         .threads = 64};
  run_on_host(kernel);
  for (unsigned request = 0; request < requests; ++request) {
    for (unsigned position = 0; position < gamma; ++position) {
      const std::size_t row = std::size_t{request} * gamma + position;
      const bool drafted = position < static_cast<unsigned>(batch.draft_counts[request]);
      double want = 0.0;
      for (unsigned x = 0; x < vocabulary; ++x) {
        const float p = batch.target_row(request, position)[x];
        const float q = batch.draft_row(request, position)[x];
        REQUIRE(ratios[row * vocabulary + x] == (drafted ? p / q : 0.0F));
        REQUIRE(residuals[row * vocabulary + x] == (drafted ? std::max(0.0F, p - q) : 0.0F));
        if (drafted) want += static_cast<double>(std::max(0.0F, p - q));
      }
      CHECK(static_cast<double>(sums[row]) == Approx(want).epsilon(single_precision));
    }
  }
}

TEST_CASE("counts add up along rows of any length, in any order of threads") {
  for (const unsigned columns : {1U, 31U, 64U, 65U, 1023U}) {
    std::vector<std::uint32_t> in(2 * columns);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i * i % 3);
    for (const HostOrder order : {HostOrder::forward, HostOrder::reversed}) {
      std::vector<std::uint32_t> out(in.size(), 77);
      run_on_host(
          published::CumulativeSumKernel{
              .in = in.data(), .out = out.data(), .rows = 2, .columns = columns, .threads = 64},
          order);
      std::uint32_t want = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        want = (i % columns == 0 ? 0 : want) + in[i];
        REQUIRE(out[i] == want);
      }
    }
  }
}

TEST_CASE("a row's largest, smallest and sum are found over all blocks, and NaN is kept") {
  std::vector<float> row = random_values<float>(9001, 41);  // three blocks
  std::vector<float> parts(3);
  std::uint32_t counter = 0;
  const auto reduced = [&](auto reduction) {
    float out = -77.0F;
    run_on_host(published::ReduceKernel<decltype(reduction), float, float>{.in = row.data(),
                                                                           .out = &out,
                                                                           .parts = parts.data(),
                                                                           .counters = &counter,
                                                                           .rows = 1,
                                                                           .columns = 9001,
                                                                           .threads = 64});
    CHECK(counter == 0);
    return out;
  };
  double sum = 0.0;
  for (const float value : row) sum += static_cast<double>(value);
  CHECK(reduced(published::Largest{}) == *std::max_element(row.begin(), row.end()));
  CHECK(reduced(published::Smallest{}) == *std::min_element(row.begin(), row.end()));
  CHECK(static_cast<double>(reduced(published::Sum{})) == Approx(sum).margin(9001 * single_precision));
  row[8999] = no_number;
  CHECK(std::isnan(reduced(published::Largest{})));
  CHECK(std::isnan(reduced(published::Smallest{})));
}

}  // namespace foredraft::gpu_bench::tests
