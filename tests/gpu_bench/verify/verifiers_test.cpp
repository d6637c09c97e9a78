// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/verifiers.hpp"

#include <set>

#include "gpu_bench/verify/launch_verifier.hpp"
#include "gpu_bench/verify/logits.hpp"
#include "gpu_bench/verify/test_batch.hpp"
#include "tests/gpu_bench/verify/published_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

template <class Storage>
std::vector<Storage> stored(const std::vector<double>& values) {
  std::vector<Storage> stored;
  for (const double value : values) stored.push_back(from_float<Storage>(static_cast<float>(value)));
  return stored;
}

/// Runs a verifier by name over a test batch, on the host; gives the tokens of every request.
template <class Storage>
std::vector<std::vector<std::int32_t>> tokens_by(Verifier verifier, const TestBatch& batch) {
  std::vector<Storage> target = stored<Storage>(batch.target_logits);
  std::vector<Storage> draft = stored<Storage>(batch.draft_logits);
  TestBatch word_batch = batch;
  const TreeShape tree = binary_tree(batch.shape.gamma);
  const auto requests = static_cast<unsigned>(batch.shape.batch);
  const WorkspaceSize size = verification_cost(verifier, batch.shape, type_of<Storage>).workspace;
  std::vector<float> floats(static_cast<std::size_t>(size.floats), no_number);
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(size.counters), 0);
  std::vector<std::int32_t> tokens(std::size_t{requests} * static_cast<std::size_t>(batch.shape.gamma + 1), -77);
  std::vector<std::int32_t> counts(requests, -77);
  std::vector<std::uint32_t> faults(requests, 77);
  const VerifierMemory memory{.target_logits = target.data(),
                              .draft_logits = draft.data(),
                              .drafts = word_batch.drafts.data(),
                              .draft_counts = word_batch.draft_counts.data(),
                              .node_tokens = word_batch.node_tokens.data(),
                              .first_children = tree.first_children().data(),
                              .next_siblings = tree.next_siblings().data(),
                              .output = {tokens.data(), counts.data(), faults.data()}};
  WorkspaceCutter cutter({.floats = floats.data(), .counters = counters.data()});
  SmallBlocks launcher;
  launch_verifier<Storage>(verifier, batch.shape, memory, batch.draws, cutter, launcher);
  const bool of_tree = verifier == Verifier::tree_greedy || verifier == Verifier::tree_sampled;
  const std::int64_t longest = of_tree ? tree.depth() + 1 : batch.shape.gamma + 1;
  std::vector<std::vector<std::int32_t>> all;
  for (unsigned b = 0; b < requests; ++b) {
    REQUIRE((counts[b] >= 1 && counts[b] <= longest));
    const auto begin = tokens.begin() + b * longest;
    all.emplace_back(begin, begin + counts[b]);
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("every verifier by name emits the tokens of its reference", "", Half, Bfloat16, float) {
  const VerificationShape shape{.batch = 6, .gamma = 2, .vocabulary = 100};
  const TestBatch batch = test_batch(shape, type_of<TestType>, seed);
  for (const VerifierEntry& entry : verifier_registry()) {
    INFO(entry.name);
    const auto tokens = tokens_by<TestType>(entry.verifier, batch);
    if (entry.verifier == Verifier::wagner_sigmoid) continue;  // its tests are published_sigmoid_test.cpp
    int may_differ = 0;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      const ExpectedTokens want = expected_tokens(entry.verifier, batch, b, type_of<TestType>);
      if (want.may_differ) ++may_differ;
      if (!want.may_differ) CHECK(tokens[static_cast<std::size_t>(b)] == want.tokens);
    }
    // Most decisions must be far from rounding for the test to be useful; for verifiers that round to 16 bits, few are.
    if (!entry.waits_for_host || type_of<TestType> == latency::DataType::fp32) CHECK(may_differ <= 1);
  }
}

TEST_CASE("verifiers are found by name and listed in the order of the enumeration") {
  std::set<std::string_view> names;
  for (const VerifierEntry& entry : verifier_registry()) {
    CHECK(names.insert(entry.name).second);
    CHECK(&entry_of(entry.verifier) == &entry);
    CHECK(find_verifier(entry.name) == &entry);
  }
  CHECK(find_verifier("nobody") == nullptr);
}

TEST_CASE("a verifier's floor is each row once, the drafter's if it reads them") {
  const VerificationShape shape{.batch = 8, .gamma = 5, .vocabulary = 32'000};
  CHECK(floor_bytes(Verifier::fused_exact, shape, latency::DataType::fp16) == 8.0 * 11 * 32'000 * 2);
  CHECK(floor_bytes(Verifier::greedy_match, shape, latency::DataType::fp32) == 8.0 * 6 * 32'000 * 4);
  for (const VerifierEntry& entry : verifier_registry()) {
    INFO(entry.name);
    const VerificationCost cost = verification_cost(entry.verifier, shape, latency::DataType::fp16);
    CHECK(cost.traffic.read_bytes >= floor_bytes(entry.verifier, shape, latency::DataType::fp16));
    CHECK((cost.read_backs > 0) == entry.waits_for_host);
    CHECK(cost.launches >= 1);
  }
  CHECK(verification_cost(Verifier::fused_exact, shape, latency::DataType::fp16).launches == 1);
  CHECK(verification_cost(Verifier::hf_reference, shape, latency::DataType::fp16).launches ==
        8 * verification_cost(Verifier::hf_reference, {.batch = 1, .gamma = 5, .vocabulary = 32'000},
                              latency::DataType::fp16)
                .launches);
}

TEST_CASE("every row of filled logits has its own first token, and a peak of about half of the probability") {
  constexpr std::int64_t vocabulary = 1003;
  constexpr std::int64_t rows = 3;
  for (const LogitsProfile& profile : logits_profiles) {
    INFO(profile.name);
    std::vector<float> logits(vocabulary * rows, no_number);
    auto kernel = logits_kernel<float>(profile, "logits", logits.data(), rows, rows, vocabulary, seed);
    kernel.threads = 64;
    run_on_host(kernel);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto begin = logits.begin() + row * vocabulary;
      double sum = 0.0;
      for (auto logit = begin; logit != begin + vocabulary; ++logit) sum += std::exp(static_cast<double>(*logit));
      const double first = std::exp(static_cast<double>(begin[first_token(row, vocabulary)])) / sum;
      if (profile.peaked) {
        CHECK(first > 0.1);  // half, and a bell of the peak's own of 1.5 nat
        CHECK(first < 0.95);
        CHECK(std::max_element(begin, begin + vocabulary) - begin == first_token(row, vocabulary));
      }
      if (profile.name == "flat") CHECK(first < 2.0 / vocabulary);
    }
  }
  std::set<std::int64_t> ranks;
  for (std::int64_t token = 0; token < vocabulary; ++token) ranks.insert(rank_in_row(token, 2, vocabulary));
  CHECK(ranks.size() == vocabulary);
  CHECK(rank_in_row(first_token(2, vocabulary), 2, vocabulary) == 0);
}

}  // namespace foredraft::gpu_bench::tests
