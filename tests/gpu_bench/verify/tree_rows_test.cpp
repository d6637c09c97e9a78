// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/tree_path.hpp"
#include "tests/gpu_bench/verify/rows_support.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/statistics.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// A batch of drafted trees.
template <class Storage>
struct TreeBatch {
  TreeShape shape;
  std::size_t vocabulary;
  std::vector<Storage> target;
  std::vector<std::int32_t> tokens;
  DrawStream draws = draw_stream(seed, 0, 0);

  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(shape.nodes()) + 1; }
  [[nodiscard]] std::size_t size() const { return tokens.size() / rows(); }

  [[nodiscard]] TreeVerificationInput<Storage> input() const {
    return {.target_logits = target.data(),
            .node_tokens = tokens.data(),
            .first_children = shape.first_children().data(),
            .next_siblings = shape.next_siblings().data(),
            .batch = static_cast<unsigned>(size()),
            .nodes = static_cast<unsigned>(shape.nodes()),
            .depth = static_cast<unsigned>(shape.depth()),
            .vocabulary = static_cast<unsigned>(vocabulary),
            .draws = draws};
  }
};

/// Two levels, a chain after one of them, and a node whose siblings are far apart.
TreeShape some_tree() { return TreeShape(std::vector<std::int32_t>{0, 0, 1, 1, 3, 5, 0, 2}); }

/// Every other tree holds likely tokens, so that walks are long; some siblings have equal tokens, some tokens are
/// invalid.
template <class Storage>
TreeBatch<Storage> random_trees(const TreeShape& shape, std::size_t batch, std::size_t vocabulary, std::uint32_t salt) {
  std::mt19937 engine(seed + salt);
  std::uniform_int_distribution<int> percent(0, 99);
  std::uniform_int_distribution<std::size_t> any(0, vocabulary - 1);
  TreeBatch<Storage> trees{.shape = shape, .vocabulary = vocabulary, .target = {}, .tokens = {}};
  for (std::size_t b = 0; b < batch; ++b) {
    std::vector<std::size_t> tops;
    for (std::size_t node = 0; node < trees.rows(); ++node) {
      auto row = random_row<Storage>(vocabulary, engine);
      const std::size_t favourite = any(engine);
      if (percent(engine) < 60) row[favourite] = from_float<Storage>(8.0F);
      trees.target.insert(trees.target.end(), row.begin(), row.end());
      tops.push_back(ReferenceRow(as_doubles(row)).top);
      const int what = percent(engine);
      const std::size_t parent = node > 0 ? static_cast<std::size_t>(shape.parents()[node - 1]) : 0;
      const std::size_t token = what < 4 ? vocabulary + any(engine) : what < 60 ? tops[parent] : any(engine);
      trees.tokens.push_back(node == 0 || what < 2 ? no_token : static_cast<std::int32_t>(token));
    }
  }
  return trees;
}

enum class TreeRule { greedy, sampled };

template <class Storage, class... Arguments>
void verify_trees(TreeRule rule, const TreeVerificationInput<Storage>& input, Arguments&&... arguments) {
  rule == TreeRule::greedy ? tree_greedy(input, arguments...) : tree_sampled(input, arguments...);
}

template <class Storage>
Emitted emitted_by(TreeRule rule, const TreeBatch<Storage>& trees, RowsLauncher rows = {}) {
  // Outputs are those of chains as long as the tree is deep.
  const Batch<Storage> chains{.batch = static_cast<unsigned>(trees.size()),
                              .gamma = static_cast<unsigned>(trees.shape.depth()),
                              .vocabulary = static_cast<unsigned>(trees.vocabulary)};
  const WorkspaceSize size = workspace_for(chains, [&](const auto&, const auto& output, auto& cutter, auto& launcher) {
    verify_trees(rule, trees.input(), output, cutter, launcher);
  });
  return emitted_by(chains, enough_for_parts(size), [&](const auto&, const auto& output, auto& cutter, auto&) {
    verify_trees(rule, trees.input(), output, cutter, rows);
  });
}

/// The request of a batch; the caller keeps the logits as doubles.
template <class Storage>
ReferenceTokens reference_of(TreeRule rule, const TreeBatch<Storage>& trees, std::span<const double> target,
                             std::size_t request) {
  const std::size_t row_size = trees.rows() * trees.vocabulary;
  const ReferenceTree tree{.target_logits = target.subspan(request * row_size, row_size),
                           .node_tokens = std::span(trees.tokens).subspan(request * trees.rows(), trees.rows()),
                           .parents = trees.shape.parents(),
                           .vocabulary = static_cast<std::int64_t>(trees.vocabulary),
                           .draws = trees.draws,
                           .request = static_cast<unsigned>(request)};
  return rule == TreeRule::greedy ? reference_tree_greedy(tree) : reference_tree_sampled(tree);
}

/// Number of requests for which kernel and reference differ, each within its margin.
template <class Storage>
std::size_t checked_exceptions(TreeRule rule, const TreeBatch<Storage>& trees, const Emitted& got) {
  const std::vector<double> target = as_doubles(trees.target);
  std::size_t exceptions = 0;
  for (std::size_t b = 0; b < trees.size(); ++b) {
    const ReferenceTokens want = reference_of(rule, trees, target, b);
    INFO("request " << b);
    if (excused(want) && got.tokens_of(static_cast<unsigned>(b)) != want.tokens) {
      ++exceptions;
    } else {
      REQUIRE(got.tokens_of(static_cast<unsigned>(b)) == want.tokens);
      REQUIRE(got.faults[b] == (want.fault ? 1U : 0U));
    }
  }
  return exceptions;
}

template <class Storage>
void check_trees(TreeRule rule) {
  std::size_t exceptions = 0;
  for (const std::size_t vocabulary : {1U, 3U, 40U, 67U}) {
    INFO(vocabulary << " tokens");
    const auto trees = random_trees<Storage>(some_tree(), 6, vocabulary, static_cast<std::uint32_t>(vocabulary));
    const Emitted got = emitted_by(rule, trees);
    exceptions += checked_exceptions(rule, trees, got);
    if (vocabulary == 40) {
      CHECK(emitted_by(rule, trees, {.threads = 64, .order = HostOrder::reversed}) == got);
    }
  }
  const TreeShape small(std::vector<std::int32_t>{0, 0, 2});
  for (const std::size_t vocabulary : {600U, 1031U}) {
    INFO(vocabulary << " tokens in parts");
    const auto trees = random_trees<Storage>(small, 3, vocabulary, static_cast<std::uint32_t>(vocabulary));
    const Emitted got = emitted_by(rule, trees, {.splits = 3});
    exceptions += checked_exceptions(rule, trees, got);
    CHECK(emitted_by(rule, trees, {.threads = 64, .splits = 5, .order = HostOrder::shuffled}) == got);
  }
  CHECK(exceptions <= 1);
}

/// A Markov chain over four tokens: the distribution of the next given the last.
constexpr std::size_t words = 4;
constexpr double distribution[words][words] = {
    {0.4, 0.3, 0.2, 0.1}, {0.1, 0.2, 0.3, 0.4}, {0.25, 0.5, 0.05, 0.2}, {0.02, 0.08, 0.7, 0.2}};

std::vector<float> distribution_row(std::size_t last) {
  std::vector<float> row;
  for (const double p : distribution[last]) row.push_back(static_cast<float>(std::log(p)));
  return row;
}

/// Trees at the start of a text of the chain after token 0, equal except for their draws.
TreeBatch<float> distribution_trees(const TreeShape& shape, const std::vector<std::int32_t>& tokens,
                                    std::size_t batch) {
  TreeBatch<float> trees{.shape = shape, .vocabulary = words, .target = {}, .tokens = {}};
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t node = 0; node < tokens.size(); ++node) {
      const auto row = distribution_row(node == 0 ? 0 : static_cast<std::size_t>(tokens[node]));
      trees.target.insert(trees.target.end(), row.begin(), row.end());
    }
    trees.tokens.insert(trees.tokens.end(), tokens.begin(), tokens.end());
  }
  return trees;
}

/// p-value of the first two tokens of each text: `first` and, where a request emitted one token alone, one drawn after
/// it by second(token, request).
template <class First, class Second>
double joint_distribution_p_value(std::size_t requests, const First& first, const Second& second) {
  std::vector<std::int64_t> seen(words * words, 0);
  for (std::size_t b = 0; b < requests; ++b) {
    const std::vector<std::int32_t> tokens = first(b);
    const auto a = static_cast<std::size_t>(tokens[0]);
    const auto next = static_cast<std::size_t>(tokens.size() > 1 ? tokens[1] : second(tokens[0], b));
    ++seen[a * words + next];
  }
  std::vector<double> expected;
  for (std::size_t a = 0; a < words; ++a) {
    for (std::size_t c = 0; c < words; ++c)
      expected.push_back(static_cast<double>(requests) * distribution[0][a] * distribution[a][c]);
  }
  return foredraft::tests::chi_squared_p_value(seen, expected);
}

}  // namespace

TEST_CASE("a tree knows its depth, its first children and next siblings") {
  const TreeShape tree = some_tree();
  CHECK(tree.nodes() == 8);
  CHECK(tree.depth() == 4);
  const auto list = [](std::span<const std::int32_t> values) { return std::vector(values.begin(), values.end()); };
  CHECK(list(tree.first_children()) == std::vector{1, 3, 8, 5, -1, 6, -1, -1, -1});
  CHECK(list(tree.next_siblings()) == std::vector{-1, 2, 7, 4, -1, -1, -1, -1, -1});
  CHECK(TreeShape({}).depth() == 0);
}

TEST_CASE("a parent that is not an earlier node is rejected, and so is a tree too large") {
  CHECK_THROWS_MATCHES(TreeShape(std::vector<std::int32_t>{0, 2}), DomainError, Says("invalid parent of node 2=2"));
  CHECK_THROWS_AS(TreeShape(std::vector<std::int32_t>{-1}), DomainError);
  CHECK_NOTHROW(TreeShape(std::vector<std::int32_t>(1023, 0)));
  CHECK_THROWS_AS(TreeShape(std::vector<std::int32_t>(1024, 0)), DomainError);
}

TEMPLATE_TEST_CASE("tree_greedy emits the tokens of its reference for any split of rows", "", Half, Bfloat16, float) {
  check_trees<TestType>(TreeRule::greedy);
}

TEMPLATE_TEST_CASE("tree_sampled emits the tokens of its reference for any split of rows", "", Half, Bfloat16, float) {
  check_trees<TestType>(TreeRule::sampled);
}

TEST_CASE("tree_greedy on a chain is greedy_match") {
  const auto trees = random_trees<float>(TreeShape(std::vector<std::int32_t>{0, 1, 2}), 30, 20, 6);
  Batch<float> batch{.batch = 30, .gamma = 3, .vocabulary = 20};
  batch.target_logits = trees.target;
  for (unsigned b = 0; b < 30; ++b) {
    for (unsigned i = 0; i < 3; ++i) batch.draft(b, i) = trees.tokens[std::size_t{b} * 4 + i + 1];
  }
  RowsLauncher rows;
  const WorkspaceSize size =
      workspace_for(batch, [](const auto& input, const auto& output, auto& cutter, auto& launcher) {
        greedy_match(input, output, cutter, launcher);
      });
  const Emitted chained = emitted_by(batch, size, [&](const auto& input, const auto& output, auto& cutter, auto&) {
    greedy_match(input, output, cutter, rows);
  });
  const Emitted walked = emitted_by(TreeRule::greedy, trees);
  CHECK(walked.tokens == chained.tokens);
  CHECK(walked.counts == chained.counts);
}

TEST_CASE("a tree of many children and one that is a long chain are walked to the last node") {
  constexpr std::size_t vocabulary = 2;
  std::vector<std::int32_t> wide(150, 0);
  std::vector<std::int32_t> deep;
  for (std::int32_t i = 0; i < 150; ++i) deep.push_back(i);
  for (const auto& parents : {wide, deep}) {
    TreeBatch<float> trees{.shape = TreeShape(parents), .vocabulary = vocabulary, .target = {}, .tokens = {}};
    for (std::size_t node = 0; node <= 150; ++node) trees.target.insert(trees.target.end(), {0.0F, 1.0F});
    trees.tokens.assign(151, parents[149] == 0 ? 0 : 1);
    trees.tokens.back() = 1;  // only the last sibling holds the token, or all nodes of the chain do
    const Emitted got = emitted_by(TreeRule::greedy, trees);
    CHECK(got.tokens_of(0) == std::vector<std::int32_t>(parents[149] == 0 ? 2 : 151, 1));
  }
}

TEST_CASE("tree_sampled's draws belong to a request and a node, not to a place in the batch") {
  auto trees = random_trees<float>(some_tree(), 5, 40, 8);
  const Emitted together = emitted_by(TreeRule::sampled, trees);
  const std::size_t row_size = trees.rows() * trees.vocabulary;
  trees.target.erase(trees.target.begin(), trees.target.begin() + static_cast<std::ptrdiff_t>(3 * row_size));
  trees.tokens.erase(trees.tokens.begin(), trees.tokens.begin() + static_cast<std::ptrdiff_t>(3 * trees.rows()));
  trees.draws.first_request = 3;
  const Emitted apart = emitted_by(TreeRule::sampled, trees);
  CHECK(apart.tokens_of(0) == together.tokens_of(3));
  CHECK(apart.tokens_of(1) == together.tokens_of(4));
}

TEST_CASE("tree_sampled's first two tokens have the target's joint distribution") {
  // With 250 texts the test detects two tokens that share a draw; with 100,000 texts of the reference, which the kernel
  // must match token by token, a probability that is off by 2 %.
  const TreeShape chain(std::vector<std::int32_t>{0});
  const double level = foredraft::tests::level_of_one(2);
  {
    constexpr std::size_t texts = 250;
    const Emitted first = emitted_by(TreeRule::sampled, distribution_trees(chain, {no_token, 1}, texts));
    TreeBatch<float> after{.shape = TreeShape({}), .vocabulary = words, .target = {}, .tokens = {}};
    for (std::size_t b = 0; b < texts; ++b) {
      const auto row = distribution_row(static_cast<std::size_t>(first.tokens_of(static_cast<unsigned>(b))[0]));
      after.target.insert(after.target.end(), row.begin(), row.end());
      after.tokens.push_back(no_token);
    }
    after.draws.iteration = 1;
    const Emitted second = emitted_by(TreeRule::sampled, after);
    CHECK(joint_distribution_p_value(
              texts, [&](std::size_t b) { return first.tokens_of(static_cast<unsigned>(b)); },
              [&](std::int32_t, std::size_t b) { return second.tokens_of(static_cast<unsigned>(b))[0]; }) > level);
  }
  const TreeBatch<float> one = distribution_trees(chain, {no_token, 1}, 1);
  const std::vector<double> target = as_doubles(one.target);
  std::vector<std::vector<double>> rows;
  for (std::size_t last = 0; last < words; ++last) rows.push_back(as_doubles(distribution_row(last)));
  const auto reference = [](std::span<const double> logits, std::span<const std::int32_t> tokens,
                            std::span<const std::int32_t> parents, std::uint32_t iteration, std::size_t request) {
    return reference_tree_sampled({.target_logits = logits,
                                   .node_tokens = tokens,
                                   .parents = parents,
                                   .vocabulary = words,
                                   .draws = draw_stream(seed, 0, iteration),
                                   .request = static_cast<unsigned>(request)})
        .tokens;
  };
  CHECK(joint_distribution_p_value(
            100'000, [&](std::size_t b) { return reference(target, one.tokens, chain.parents(), 0, b); },
            [&](std::int32_t token, std::size_t b) {
              const std::vector<std::int32_t> root{no_token};
              return reference(rows[static_cast<std::size_t>(token)], root, {}, 1, b)[0];
            }) > level);
}

TEST_CASE("tree_sampled ends at each node as often as the enumeration") {
  const TreeShape shape(std::vector<std::int32_t>{0, 0, 1, 1, 3, 2});
  const std::vector<std::int32_t> tokens{no_token, 0, 1, 1, 3, 2, 3};
  const std::size_t rows = tokens.size();
  // The end of a walk: it reaches a node with the probability of its path, and continues with those of its children.
  std::vector<double> comes(rows, 1.0);
  std::vector<double> ends(rows);
  for (std::size_t node = 1; node < rows; ++node) {
    const auto parent = static_cast<std::size_t>(shape.parents()[node - 1]);
    const auto last = parent == 0 ? 0 : static_cast<std::size_t>(tokens[parent]);
    comes[node] = comes[parent] * distribution[last][static_cast<std::size_t>(tokens[node])];
  }
  ends = comes;
  for (std::size_t node = 1; node < rows; ++node)
    ends[static_cast<std::size_t>(shape.parents()[node - 1])] -= comes[node];

  const TreeBatch<float> one = distribution_trees(shape, tokens, 1);
  const std::vector<double> target = as_doubles(one.target);
  constexpr std::size_t walks = 50'000;
  std::vector<std::int64_t> seen(rows, 0);
  for (std::size_t b = 0; b < walks; ++b) {
    auto tree = ReferenceTree{.target_logits = target,
                              .node_tokens = tokens,
                              .parents = shape.parents(),
                              .vocabulary = words,
                              .draws = one.draws,
                              .request = static_cast<unsigned>(b)};
    const std::vector<std::int32_t> path = reference_tree_sampled(tree).tokens;
    std::size_t node = 0;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      for (std::size_t child = 1; child < rows; ++child) {
        if (static_cast<std::size_t>(shape.parents()[child - 1]) == node && tokens[child] == path[i]) {
          node = child;
          break;
        }
      }
    }
    ++seen[node];
  }
  for (double& end : ends) end *= static_cast<double>(walks);
  CHECK(foredraft::tests::chi_squared_p_value(seen, ends) > foredraft::tests::family_level);
}

TEST_CASE("tree_sampled draws from the whole of a large vocabulary") {
  // 16 bins of 125 tokens: with 200 draws the test detects one that is never drawn from.
  constexpr std::size_t vocabulary = 2000;
  constexpr std::size_t draws = 200;
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> row(vocabulary);
  for (float& logit : row) logit = normal(engine);
  TreeBatch<float> trees{.shape = TreeShape({}),
                         .vocabulary = vocabulary,
                         .target = {},
                         .tokens = std::vector<std::int32_t>(draws, no_token)};
  for (std::size_t b = 0; b < draws; ++b) trees.target.insert(trees.target.end(), row.begin(), row.end());
  const Emitted got = emitted_by(TreeRule::sampled, trees);
  std::vector<std::int64_t> seen(16, 0);
  std::vector<double> expected(16, 0.0);
  const ReferenceRow reference(as_doubles(row));
  for (std::size_t x = 0; x < vocabulary; ++x) expected[x / 125] += std::exp(reference.logs[x]) * draws;
  for (std::size_t b = 0; b < draws; ++b)
    ++seen[static_cast<std::size_t>(got.tokens_of(static_cast<unsigned>(b))[0]) / 125];
  CHECK(foredraft::tests::chi_squared_p_value(seen, expected) > foredraft::tests::family_level);
}

TEST_CASE("tree_sampled finds the group, the chunk and the token of a draw in a vocabulary of many chunks") {
  for (const std::size_t vocabulary : {20000U, 17003U}) {
    auto trees = random_trees<Half>(TreeShape({}), 6, vocabulary, 12);
    const Emitted got = emitted_by(TreeRule::sampled, trees, {.threads = 64, .splits = 3});
    CHECK(checked_exceptions(TreeRule::sampled, trees, got) <= 1);
    const auto largest = *std::ranges::max_element(got.tokens);
    CHECK(largest > 8192);  // the second group was drawn from
  }
}

TEST_CASE("tree_sampled reads rows once and writes their chunks, in one launch") {
  auto trees = random_trees<Half>(some_tree(), 1, 8, 3);
  TreeVerificationInput<Half> input = trees.input();
  input.vocabulary = 128000;
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  tree_sampled(input, VerificationOutput{}, cutter, launcher);
  CHECK(launcher.cost.launches == 1);
  const double floor_bytes = 9 * 128000.0 * 2;
  CHECK(launcher.cost.traffic.read_bytes > floor_bytes * (1 + 8.0 / 512));
  CHECK(launcher.cost.traffic.read_bytes < floor_bytes * 1.03);
  CHECK(launcher.cost.traffic.written_bytes > floor_bytes * 8 / 512);
  CHECK(launcher.cost.traffic.written_bytes < floor_bytes * 0.02);
}

}  // namespace foredraft::gpu_bench::tests
