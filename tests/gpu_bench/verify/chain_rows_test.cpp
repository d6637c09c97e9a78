#include <catch2/catch.hpp>

#include "core/check.hpp"
#include "gpu_bench/kernels/pick_token.hpp"
#include "gpu_bench/verify/greedy_match.hpp"
#include "gpu_bench/verify/top_beta.hpp"
#include "gpu_bench/verify/typical_acceptance.hpp"
#include "tests/gpu_bench/verify/rows_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// A batch of drafted chains. Rows that must not count hold NaN.
template <class Storage>
struct ChainBatch {
  std::size_t gamma, vocabulary;
  std::vector<Storage> target;
  std::vector<std::int32_t> drafts, counts;

  [[nodiscard]] std::size_t size() const { return counts.size(); }

  [[nodiscard]] VerificationInput<Storage> input() const {
    return {.target_logits = target.data(),
            .draft_logits = nullptr,
            .drafts = drafts.data(),
            .draft_counts = counts.data(),
            .draft_log_sum_exps = nullptr,
            .batch = static_cast<unsigned>(size()),
            .gamma = static_cast<unsigned>(gamma),
            .vocabulary = static_cast<unsigned>(vocabulary),
            .draws = draw_stream(draw_seed, 0, 0)};
  }

  [[nodiscard]] VerificationShape shape() const {
    return {.batch = static_cast<std::int64_t>(size()),
            .gamma = static_cast<std::int64_t>(gamma),
            .vocabulary = static_cast<std::int64_t>(vocabulary)};
  }

  void append(const ChainBatch& other) {
    target.insert(target.end(), other.target.begin(), other.target.end());
    drafts.insert(drafts.end(), other.drafts.begin(), other.drafts.end());
    counts.insert(counts.end(), other.counts.begin(), other.counts.end());
  }
};

template <class Storage>
ChainBatch<Storage> random_chain(std::size_t gamma, std::size_t vocabulary, std::mt19937& engine) {
  std::uniform_int_distribution<int> percent(0, 99);
  std::uniform_int_distribution<std::size_t> any(0, vocabulary - 1);
  std::uniform_int_distribution<std::size_t> count(0, gamma);
  ChainBatch<Storage> chain{.gamma = gamma, .vocabulary = vocabulary, .target = {}, .drafts = {}, .counts = {}};
  const std::size_t drafts = percent(engine) < 70 ? gamma : count(engine);
  chain.counts.push_back(static_cast<std::int32_t>(drafts));
  bool ended = false;
  for (std::size_t i = 0; i <= gamma; ++i) {
    const auto row = ended ? poisoned<Storage>(vocabulary) : random_row<Storage>(vocabulary, engine);
    chain.target.insert(chain.target.end(), row.begin(), row.end());
    if (i == gamma) break;
    const std::size_t top = ReferenceRow(as_doubles(row)).top;
    const int what = percent(engine);
    const std::size_t outside = vocabulary + any(engine);
    const std::size_t token = what < 4 ? outside : what < 75 ? top : any(engine);
    chain.drafts.push_back(what < 2 || i >= drafts ? no_token : static_cast<std::int32_t>(token));
    ended = ended || i >= drafts || what < 4;
  }
  return chain;
}

template <class Storage>
ChainBatch<Storage> random_chains(std::size_t batch, std::size_t gamma, std::size_t vocabulary, std::uint32_t salt) {
  std::mt19937 engine(seed + salt);
  auto chains = random_chain<Storage>(gamma, vocabulary, engine);
  while (chains.size() < batch) chains.append(random_chain<Storage>(gamma, vocabulary, engine));
  return chains;
}

struct GreedyMatch {};

// One name for the kernel and for the reference of each rule.
WorkspaceSize size_for(const GreedyMatch&, const VerificationShape& shape) { return greedy_match_workspace(shape); }
WorkspaceSize size_for(const TopBeta&, const VerificationShape& shape) { return top_beta_workspace(shape); }
WorkspaceSize size_for(const TypicalAcceptance&, const VerificationShape& s) { return typical_acceptance_workspace(s); }

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
Emitted emitted_by(const Rule& rule, const ChainBatch<Storage>& chains, RowsLauncher launcher = {}) {
  return emitted(chains.size(), chains.gamma + 1, size_for(rule, chains.shape()),
                 [&](const VerificationOutput& output, const Workspace& workspace) {
                   verify_chain(rule, chains.input(), output, workspace, launcher);
                 });
}

/// Requests where a kernel and its reference part, each of them excused by its margin.
template <class Rule, class Storage>
std::size_t checked_exceptions(const Rule& rule, const ChainBatch<Storage>& chains, const Emitted& got) {
  const std::vector<double> target = as_doubles(chains.target);
  const std::size_t row_size = (chains.gamma + 1) * chains.vocabulary;
  std::size_t exceptions = 0;
  for (std::size_t b = 0; b < chains.size(); ++b) {
    const auto drafts = std::span(chains.drafts).subspan(b * chains.gamma, static_cast<std::size_t>(chains.counts[b]));
    const ReferenceTokens want =
        reference_for(rule, {.target_logits = std::span(target).subspan(b * row_size, row_size),
                             .draft_logits = {},
                             .drafts = drafts,
                             .vocabulary = static_cast<std::int64_t>(chains.vocabulary),
                             .draws = draw_stream(draw_seed, 0, 0),
                             .request = static_cast<unsigned>(b)});
    INFO("request " << b);
    REQUIRE(got.faults[b] == (want.fault ? 1U : 0U));
    if (excused(want) && got.of(b) != want.tokens) {
      ++exceptions;
    } else {
      REQUIRE(got.of(b) == want.tokens);
    }
  }
  return exceptions;
}

template <class Rule, class Storage>
void check_rule_on_chains(const Rule& rule) {
  // A margin below 2e-6 has a chance of some 1e-5 a decision.
  std::size_t exceptions = 0;
  for (const std::size_t vocabulary : {1U, 2U, 40U, 67U}) {
    INFO(vocabulary << " tokens");
    const auto chains = random_chains<Storage>(25, 3, vocabulary, static_cast<std::uint32_t>(vocabulary));
    const Emitted got = emitted_by(rule, chains);
    exceptions += checked_exceptions(rule, chains, got);
    if (vocabulary == 40) {
      CHECK(emitted_by(rule, chains, {.threads = 64, .order = HostOrder::shuffled}) == got);
      CHECK(emitted_by(rule, chains, {.threads = 32, .order = HostOrder::reversed}) == got);
    }
  }
  for (const std::size_t vocabulary : {600U, 1031U}) {
    INFO(vocabulary << " tokens in parts");
    const auto chains = random_chains<Storage>(8, 2, vocabulary, static_cast<std::uint32_t>(vocabulary));
    const Emitted got = emitted_by(rule, chains, {.splits = 3});
    exceptions += checked_exceptions(rule, chains, got);
    CHECK(emitted_by(rule, chains, {.splits = 3, .order = HostOrder::reversed}) == got);
    CHECK(emitted_by(rule, chains, {.threads = 64, .splits = 7, .order = HostOrder::shuffled}) == got);
  }
  CHECK(exceptions <= 1);
}

/// One request of one draft.
Emitted judged(const auto& rule, const std::vector<float>& row, std::int32_t draft) {
  ChainBatch<float> chain{.gamma = 1, .vocabulary = row.size(), .target = row, .drafts = {draft}, .counts = {1}};
  std::vector<float> bonus(row.size(), 0.0F);
  bonus.back() = 1.0F;
  chain.target.insert(chain.target.end(), bonus.begin(), bonus.end());
  return emitted_by(rule, chain);
}

bool accepts(const auto& rule, const std::vector<float>& row, std::int32_t draft) {
  const Emitted got = judged(rule, row, draft);
  const auto last = static_cast<std::int32_t>(row.size()) - 1;
  const bool accepted = got.counts[0] == 2;
  CHECK(got.of(0) == (accepted ? std::vector{draft, last}
                               : std::vector{static_cast<std::int32_t>(ReferenceRow(as_doubles(row)).top)}));
  return accepted;
}

constexpr float minus_inf = -std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_TEST_CASE("greedy_match emits what its reference does, however rows are split", "", Half, Bfloat16, float) {
  check_rule_on_chains<GreedyMatch, TestType>({});
}

TEMPLATE_TEST_CASE("top_beta emits what its reference does, however rows are split", "", Half, Bfloat16, float) {
  check_rule_on_chains<TopBeta, TestType>({.beta = 3, .tolerance = 1.5});
}

TEMPLATE_TEST_CASE("typical_acceptance emits what its reference does, however rows are split", "", Half, Bfloat16,
                   float) {
  check_rule_on_chains<TypicalAcceptance, TestType>({.epsilon = 0.09, .delta = 0.4});
}

TEST_CASE("greedy_match emits the token that PickToken picks, of every row") {
  constexpr unsigned rows = 40;
  constexpr std::size_t vocabulary = 90;
  const auto logits = random_values<Bfloat16>(rows * vocabulary, 5);  // ties in most rows
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
  // Every row the one behind no draft, then the drafts that are picked: all of them and the next are emitted.
  const ChainBatch<Bfloat16> alone{.gamma = 0,
                                   .vocabulary = vocabulary,
                                   .target = logits,
                                   .drafts = {},
                                   .counts = std::vector<std::int32_t>(rows, 0)};
  CHECK(emitted_by(GreedyMatch{}, alone).tokens == picks);
  const ChainBatch<Bfloat16> chain{.gamma = rows - 1,
                                   .vocabulary = vocabulary,
                                   .target = logits,
                                   .drafts = {picks.begin(), picks.end() - 1},
                                   .counts = {rows - 1}};
  CHECK(emitted_by(GreedyMatch{}, chain).of(0) == picks);
}

TEST_CASE("what is emitted for a request does not depend on the batch around it") {
  const auto chains = random_chains<float>(12, 3, 45, 77);
  const Emitted together = emitted_by(TypicalAcceptance{}, chains);
  for (const std::size_t b : {0U, 5U, 11U}) {
    const auto part = [b](const auto& all, std::size_t of_request) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(b * of_request);
      return std::vector(first, first + static_cast<std::ptrdiff_t>(of_request));
    };
    const ChainBatch<float> alone{.gamma = 3,
                                  .vocabulary = 45,
                                  .target = part(chains.target, std::size_t{4} * 45),
                                  .drafts = part(chains.drafts, 3),
                                  .counts = part(chains.counts, 1)};
    CHECK(emitted_by(TypicalAcceptance{}, alone).of(0) == together.of(b));
  }
}

TEST_CASE("five hundred requests of few tokens are each verified by their own rows") {
  const auto chains = random_chains<Half>(512, 1, 3, 9);
  CHECK(checked_exceptions(GreedyMatch{}, chains, emitted_by(GreedyMatch{}, chains)) == 0);
}

TEST_CASE("top_beta counts larger logits only, and holds the gap to the tolerance") {
  const TopBeta rule{.beta = 2, .tolerance = 1.0};
  const std::vector<float> row{0.0F, 3.0F, 2.0F, 2.0F, 2.5F, minus_inf};
  CHECK(accepts(rule, row, 1));
  CHECK(accepts(rule, row, 4));
  CHECK_FALSE(accepts(rule, row, 2));  // two are larger
  CHECK_FALSE(accepts(rule, row, 0));
  CHECK_FALSE(accepts(rule, row, 5));
  const TopBeta third{.beta = 3, .tolerance = 1.0};
  CHECK(accepts(third, row, 2));  // tied at rank 3, a gap of exactly 1
  CHECK(accepts(third, row, 3));
  CHECK_FALSE(accepts(TopBeta{.beta = 3, .tolerance = 0.999}, row, 3));
  CHECK_FALSE(accepts(TopBeta{.beta = 6, .tolerance = 1000.0}, row, 5));  // -inf, within every rank
  CHECK(accepts(TopBeta{.beta = 6, .tolerance = 3.0}, row, 0));
}

TEST_CASE("top_beta is greedy_match at beta 1 and at tolerance 0, of tied tokens the first alone") {
  const std::vector<float> tied{1.0F, 2.0F, 2.0F};
  for (const TopBeta& rule : {TopBeta{.beta = 1, .tolerance = 5.0}, TopBeta{.beta = 3, .tolerance = 0.0}}) {
    CHECK(accepts(rule, tied, 1));
    CHECK_FALSE(accepts(rule, tied, 2));
    CHECK_FALSE(accepts(rule, tied, 0));
  }
}

TEST_CASE("typical_acceptance compares with epsilon where a row is sure, with exp(-entropy) where it is not") {
  const TypicalAcceptance rule{.epsilon = 0.2, .delta = 0.5};
  // Eight tokens alike: exp(-H) = 1/8, the threshold 1/16.
  CHECK(accepts(rule, std::vector<float>(8, 7.0F), 5));
  CHECK_FALSE(accepts(TypicalAcceptance{.epsilon = 0.2, .delta = 1.01}, std::vector<float>(8, 7.0F), 5));
  // 0.79, 0.16 and 0.05: exp(-H) = 0.53, so epsilon decides.
  const std::vector<float> sure{std::log(0.79F), std::log(0.16F), std::log(0.05F)};
  CHECK(accepts(rule, sure, 0));
  CHECK_FALSE(accepts(rule, sure, 1));
  CHECK(accepts(TypicalAcceptance{.epsilon = 0.15, .delta = 0.5}, sure, 1));
  const std::vector<float> one_hot{minus_inf, 0.0F, minus_inf};
  CHECK(accepts(rule, one_hot, 1));
  CHECK_FALSE(accepts(rule, one_hot, 0));
}

TEST_CASE("logits that are no numbers: each has its answer, and the request is marked") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const auto check = [&](const auto& rule) {
    CHECK(judged(rule, {minus_inf, minus_inf, nan}, 0).of(0) ==
          std::vector{0});  // nothing finite: token 0, not drafted
    CHECK(judged(rule, {minus_inf, minus_inf, minus_inf}, 0).counts[0] == 1);
    CHECK(judged(rule, {minus_inf, minus_inf, minus_inf}, 0).faults[0] == 1);
    CHECK(judged(rule, {nan, 1.0F, 0.5F}, 0).of(0) == std::vector{1});
    CHECK(judged(rule, {nan, 1.0F, 0.5F}, 0).faults[0] == 1);
    CHECK(judged(rule, {3.0F, inf, 1.0F}, 1).of(0) == std::vector{1, 2});
    CHECK(judged(rule, {3.0F, inf, 1.0F}, 1).faults[0] == 1);
    CHECK(judged(rule, {3.0F, inf, 1.0F}, 0).of(0) == std::vector{1});
    CHECK(judged(rule, {3.0F, minus_inf, 1.0F}, 0).faults[0] == 0);
  };
  check(GreedyMatch{});
  check(TopBeta{});
  check(TypicalAcceptance{});
}

TEST_CASE("greedy_match asks for the target's rows once, and one launch") {
  const auto chains = random_chains<Half>(4, 5, 8, 2);
  VerificationInput<Half> input = chains.input();
  input.vocabulary = 128256;
  CountingLauncher launcher;
  greedy_match(input, VerificationOutput{}, Workspace{}, launcher);
  CHECK(launcher.cost.launches == 1);
  CHECK(launcher.cost.read_backs == 0);
  const double floor_bytes = 4 * 6 * 128256.0 * 2;
  CHECK(launcher.cost.work.read_bytes > floor_bytes);
  CHECK(launcher.cost.work.read_bytes < 1.001 * floor_bytes);
  CHECK(launcher.cost.work.written_bytes < 0.001 * floor_bytes);
}

TEST_CASE("parameters outside their range are refused") {
  CHECK_THROWS_WITH(check_rule(TopBeta{.beta = 0}), "invalid beta=0 (must be at least 1)");
  CHECK_THROWS_AS(check_rule(TopBeta{.tolerance = -0.5}), DomainError);
  CHECK_THROWS_AS(check_rule(TopBeta{.tolerance = std::nan("")}), DomainError);
  CHECK_THROWS_WITH(check_rule(TypicalAcceptance{.epsilon = 1.0}), "invalid epsilon=1 (must be in (0, 1))");
  CHECK_THROWS_AS(check_rule(TypicalAcceptance{.epsilon = std::nan("")}), DomainError);
  CHECK_THROWS_AS(check_rule(TypicalAcceptance{.delta = 0.0}), DomainError);
}

}  // namespace foredraft::gpu_bench::tests
