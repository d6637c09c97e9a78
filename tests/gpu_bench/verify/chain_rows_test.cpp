// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "gpu_bench/kernels/reduce.hpp"
#include "gpu_bench/verify/chain_path.hpp"
#include "tests/gpu_bench/verify/rows_support.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// Target rows with all kinds of values; most drafts are the most probable token, some are outside the vocabulary. The
/// drafter's rows and those that must not be read hold NaN.
template <class Storage>
Batch<Storage> random_chains(unsigned requests, unsigned gamma, unsigned vocabulary, std::uint32_t salt) {
  Batch<Storage> batch{.batch = requests, .gamma = gamma, .vocabulary = vocabulary};
  std::mt19937 engine(seed + salt);
  std::uniform_int_distribution<int> percent(0, 99);
  std::uniform_int_distribution<std::int32_t> any(0, static_cast<std::int32_t>(vocabulary) - 1);
  std::uniform_int_distribution<unsigned> count(0, gamma);
  for (unsigned b = 0; b < requests; ++b) {
    const unsigned drafts = percent(engine) < 70 ? gamma : count(engine);
    batch.draft_counts[b] = static_cast<std::int32_t>(drafts);
    for (unsigned i = 0; i <= drafts; ++i) {
      const auto row = random_row<Storage>(vocabulary, engine);
      std::ranges::copy(row, batch.target_row(b, i).begin());
      if (i == drafts) break;
      const int what = percent(engine);
      const auto top = static_cast<std::int32_t>(ReferenceRow(as_doubles(row)).top);
      const std::int32_t outside = what < 2 ? no_token : static_cast<std::int32_t>(vocabulary) + any(engine);
      batch.draft(b, i) = what < 4 ? outside : what < 75 ? top : any(engine);
      if (what < 4) break;
    }
  }
  return batch;
}

struct GreedyMatch {};

// The same name for the kernel and the reference of each rule.
template <class... Arguments>
void verify_chain(const GreedyMatch&, Arguments&&... arguments) {
  greedy_match(arguments...);
}
template <class... Arguments>
void verify_chain(const TopBeta& rule, Arguments&&... arguments) {
  top_beta(rule, arguments...);
}
template <class... Arguments>
void verify_chain(const TypicalAcceptance& rule, Arguments&&... arguments) {
  typical_acceptance(rule, arguments...);
}

ReferenceTokens reference_for(const GreedyMatch&, const ReferenceRequest& r) { return reference_greedy_match(r); }
ReferenceTokens reference_for(const TopBeta& rule, const ReferenceRequest& r) { return reference_top_beta(r, rule); }
ReferenceTokens reference_for(const TypicalAcceptance& rule, const ReferenceRequest& r) {
  return reference_typical_acceptance(r, rule);
}

template <class Rule, class Storage>
Emitted emitted_by(const Rule& rule, const Batch<Storage>& batch, RowsLauncher rows = {}) {
  const WorkspaceSize size = workspace_for(batch, [&rule](auto&&... arguments) { verify_chain(rule, arguments...); });
  return emitted_by(batch, enough_for_parts(size), [&](const auto& input, const auto& output, auto& cutter, auto&) {
    verify_chain(rule, input, output, cutter, rows);
  });
}

/// Number of requests for which kernel and reference differ, each within its margin.
template <class Rule, class Storage>
unsigned checked_exceptions(const Rule& rule, const Batch<Storage>& batch, const Emitted& got) {
  unsigned exceptions = 0;
  for (unsigned b = 0; b < batch.batch; ++b) {
    const ReferenceTokens want = reference_for(rule, ReferenceInput(batch, b).request());
    INFO("request " << b);
    REQUIRE(got.faults[b] == (want.fault ? 1U : 0U));
    if (excused(want) && got.tokens_of(b) != want.tokens) {
      ++exceptions;
    } else {
      REQUIRE(got.tokens_of(b) == want.tokens);
    }
  }
  return exceptions;
}

template <class Rule, class Storage>
void check_rule_on_chains(const Rule& rule) {
  // A margin below 2e-6 has a probability of about 1e-5 per decision.
  unsigned exceptions = 0;
  for (const unsigned vocabulary : {1U, 2U, 40U, 67U}) {
    INFO(vocabulary << " tokens");
    const auto chains = random_chains<Storage>(16, 3, vocabulary, vocabulary);
    const Emitted got = emitted_by(rule, chains);
    exceptions += checked_exceptions(rule, chains, got);
    if (vocabulary == 40) {
      CHECK(emitted_by(rule, chains, {.threads = 64, .order = HostOrder::reversed}) == got);
    }
  }
  for (const unsigned vocabulary : {600U, 1031U}) {
    INFO(vocabulary << " tokens in parts");
    const auto chains = random_chains<Storage>(5, 2, vocabulary, vocabulary);
    const Emitted got = emitted_by(rule, chains, {.splits = 3});
    exceptions += checked_exceptions(rule, chains, got);
    CHECK(emitted_by(rule, chains, {.threads = 64, .splits = 5, .order = HostOrder::shuffled}) == got);
  }
  CHECK(exceptions <= 1);
}

/// One request of one draft; the token after it is the last.
Emitted judged(const auto& rule, const std::vector<float>& row, std::int32_t draft) {
  Batch<float> batch{.batch = 1, .gamma = 1, .vocabulary = static_cast<unsigned>(row.size())};
  std::ranges::copy(row, batch.target_row(0, 0).begin());
  std::ranges::fill(batch.target_row(0, 1), 0.0F);
  batch.target_row(0, 1).back() = 1.0F;
  batch.draft(0, 0) = draft;
  return emitted_by(rule, batch);
}

bool accepts(const auto& rule, const std::vector<float>& row, std::int32_t draft) {
  const Emitted got = judged(rule, row, draft);
  const auto last = static_cast<std::int32_t>(row.size()) - 1;
  const bool accepted = got.counts[0] == 2;
  CHECK(got.tokens_of(0) == (accepted ? std::vector{draft, last}
                                      : std::vector{static_cast<std::int32_t>(ReferenceRow(as_doubles(row)).top)}));
  return accepted;
}

}  // namespace

TEMPLATE_TEST_CASE("greedy_match emits the tokens of its reference for any split of rows", "", Half, Bfloat16, float) {
  check_rule_on_chains<GreedyMatch, TestType>({});
}

TEMPLATE_TEST_CASE("top_beta emits the tokens of its reference for any split of rows", "", Half, Bfloat16, float) {
  check_rule_on_chains<TopBeta, TestType>({.top_beta = 3, .tolerance = 1.5});
}

TEMPLATE_TEST_CASE("typical_acceptance emits the tokens of its reference for any split of rows", "", Half, Bfloat16,
                   float) {
  check_rule_on_chains<TypicalAcceptance, TestType>({.epsilon = 0.09, .delta = 0.4});
}

TEST_CASE("greedy_match emits the token that PickToken picks, of every row") {
  constexpr unsigned rows = 40;
  constexpr unsigned vocabulary = 90;
  const auto logits = random_values<Bfloat16>(std::size_t{rows} * vocabulary, 5);  // ties in most rows
  std::vector<std::int32_t> picks(rows, -1);
  run_on_host(PickTokenKernel<Bfloat16, 1>{.logits = logits.data(),
                                           .out = picks.data(),
                                           .best_logits = nullptr,
                                           .best_tokens = nullptr,
                                           .counters = nullptr,
                                           .rows = rows,
                                           .vocabulary = vocabulary,
                                           .splits = 1,
                                           .threads = 32});
  // Every row as one after no draft, then as one of a chain whose drafts are the picked tokens.
  Batch<Bfloat16> alone{.batch = rows, .gamma = 0, .vocabulary = vocabulary};
  alone.target_logits = logits;
  CHECK(emitted_by(GreedyMatch{}, alone).tokens == picks);
  Batch<Bfloat16> chain{.batch = 1, .gamma = rows - 1, .vocabulary = vocabulary};
  chain.target_logits = logits;
  chain.drafts.assign(picks.begin(), picks.end() - 1);
  CHECK(emitted_by(GreedyMatch{}, chain).tokens == picks);
}

TEST_CASE("what is emitted for a request does not depend on the batch around it") {
  auto batch = random_chains<float>(12, 3, 45, 77);
  const Emitted together = emitted_by(TypicalAcceptance{}, batch);
  for (const unsigned b : {0U, 5U, 11U}) {
    Batch<float> alone{.batch = 1, .gamma = 3, .vocabulary = 45};
    alone.draft_counts = {batch.draft_counts[b]};
    for (unsigned i = 0; i <= 3; ++i) {
      std::ranges::copy(batch.target_row(b, i), alone.target_row(0, i).begin());
      if (i < 3) alone.draft(0, i) = batch.draft(b, i);
    }
    CHECK(emitted_by(TypicalAcceptance{}, alone).tokens_of(0) == together.tokens_of(b));
  }
}

TEST_CASE("five hundred requests of few tokens are each verified by their own rows") {
  const auto chains = random_chains<Half>(512, 1, 2, 9);
  CHECK(checked_exceptions(GreedyMatch{}, chains, emitted_by(GreedyMatch{}, chains)) == 0);
}

TEST_CASE("top_beta counts larger logits only, and holds the gap to the tolerance") {
  const TopBeta rule{.top_beta = 2, .tolerance = 1.0};
  const std::vector<float> row{0.0F, 3.0F, 2.0F, 2.0F, 2.5F, -float_infinity};
  CHECK(accepts(rule, row, 1));
  CHECK(accepts(rule, row, 4));
  CHECK_FALSE(accepts(rule, row, 2));  // two are larger
  CHECK_FALSE(accepts(rule, row, 0));
  CHECK_FALSE(accepts(rule, row, 5));
  const TopBeta third{.top_beta = 3, .tolerance = 1.0};
  CHECK(accepts(third, row, 2));  // tied at rank 3, a gap of exactly 1
  CHECK(accepts(third, row, 3));
  CHECK_FALSE(accepts(TopBeta{.top_beta = 3, .tolerance = 0.999}, row, 3));
  CHECK_FALSE(accepts(TopBeta{.top_beta = 6, .tolerance = 1000.0}, row, 5));  // -inf, within every rank
  CHECK(accepts(TopBeta{.top_beta = 6, .tolerance = 3.0}, row, 0));
}

TEST_CASE("top_beta is greedy_match at beta 1 and at tolerance 0, of tied tokens only the first") {
  const std::vector<float> tied{1.0F, 2.0F, 2.0F};
  for (const TopBeta& rule : {TopBeta{.top_beta = 1, .tolerance = 5.0}, TopBeta{.top_beta = 3, .tolerance = 0.0}}) {
    CHECK(accepts(rule, tied, 1));
    CHECK_FALSE(accepts(rule, tied, 2));
    CHECK_FALSE(accepts(rule, tied, 0));
  }
}

TEST_CASE("typical_acceptance compares with epsilon if a row is certain, with exp(-entropy) if it is not") {
  const TypicalAcceptance rule{.epsilon = 0.2, .delta = 0.5};
  // Eight tokens alike: exp(-H) = 1/8, the threshold 1/16.
  CHECK(accepts(rule, std::vector<float>(8, 7.0F), 5));
  CHECK_FALSE(accepts(TypicalAcceptance{.epsilon = 0.2, .delta = 1.01}, std::vector<float>(8, 7.0F), 5));
  // 0.79, 0.16 and 0.05: exp(-H) = 0.53, so epsilon decides.
  const std::vector<float> sure{std::log(0.79F), std::log(0.16F), std::log(0.05F)};
  CHECK(accepts(rule, sure, 0));
  CHECK_FALSE(accepts(rule, sure, 1));
  CHECK(accepts(TypicalAcceptance{.epsilon = 0.15, .delta = 0.5}, sure, 1));
  const std::vector<float> one_hot{-float_infinity, 0.0F, -float_infinity};
  CHECK(accepts(rule, one_hot, 1));
  CHECK_FALSE(accepts(rule, one_hot, 0));
}

TEST_CASE("NaN and infinite logits each have a defined result, and the request is marked") {
  const auto check = [&](const auto& rule) {
    CHECK(judged(rule, {-float_infinity, -float_infinity, no_number}, 0).tokens_of(0) ==
          std::vector{0});  // no finite logit: token 0, which is not drafted
    CHECK(judged(rule, {-float_infinity, -float_infinity, -float_infinity}, 0).counts[0] == 1);
    CHECK(judged(rule, {-float_infinity, -float_infinity, -float_infinity}, 0).faults[0] == 1);
    CHECK(judged(rule, {no_number, 1.0F, 0.5F}, 0).tokens_of(0) == std::vector{1});
    CHECK(judged(rule, {no_number, 1.0F, 0.5F}, 0).faults[0] == 1);
    CHECK(judged(rule, {3.0F, float_infinity, 1.0F}, 1).tokens_of(0) == std::vector{1, 2});
    CHECK(judged(rule, {3.0F, float_infinity, 1.0F}, 1).faults[0] == 1);
    CHECK(judged(rule, {3.0F, float_infinity, 1.0F}, 0).tokens_of(0) == std::vector{1});
    CHECK(judged(rule, {3.0F, -float_infinity, 1.0F}, 0).faults[0] == 0);
  };
  check(GreedyMatch{});
  check(TopBeta{});
  check(TypicalAcceptance{});
}

TEST_CASE("greedy_match reads the target's rows once, in one launch") {
  VerificationInput<Half> input = random_chains<Half>(4, 5, 8, 2).input();
  input.vocabulary = 128256;
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  greedy_match(input, VerificationOutput{}, cutter, launcher);
  CHECK(launcher.cost.launches == 1);
  CHECK(launcher.cost.read_backs == 0);
  const double floor_bytes = 4 * 6 * 128256.0 * 2;
  CHECK(launcher.cost.traffic.read_bytes > floor_bytes);
  CHECK(launcher.cost.traffic.read_bytes < 1.001 * floor_bytes);
  CHECK(launcher.cost.traffic.written_bytes < 0.001 * floor_bytes);
}

TEST_CASE("parameters outside their range are rejected") {
  CHECK_THROWS_MATCHES(check_rule(TopBeta{.top_beta = 0}), DomainError, Says("invalid top_beta=0"));
  CHECK_THROWS_AS(check_rule(TopBeta{.tolerance = -0.5}), DomainError);
  CHECK_THROWS_AS(check_rule(TopBeta{.tolerance = std::nan("")}), DomainError);
  CHECK_THROWS_MATCHES(check_rule(TypicalAcceptance{.epsilon = 1.0}), DomainError, Says("invalid epsilon=1"));
  CHECK_THROWS_AS(check_rule(TypicalAcceptance{.epsilon = std::nan("")}), DomainError);
  CHECK_THROWS_AS(check_rule(TypicalAcceptance{.delta = -0.1}), DomainError);
}

}  // namespace foredraft::gpu_bench::tests
