// SPDX-License-Identifier: Apache-2.0
// Trees whose nodes have several children, drawn from q after the path with or without replacement, and verified from
// the root down by recursive rejection at each node [Miao2024, Alg. 2; Chen2024].
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random_stream.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// Two models in which the next token depends on the token before it: row 0 at the start, row x + 1 after token x.
struct BigramPair {
  std::vector<std::vector<double>> target;
  std::vector<std::vector<double>> draft;

  [[nodiscard]] PositionDistributions after(std::size_t row) const {
    return {.target = target[row], .draft = draft[row]};
  }
};

/// Random rows, with tokens that have mass in only one of the models.
BigramPair random_pair(std::size_t vocabulary, std::uint64_t seed) {
  RandomStream random(seed, {.purpose = Purpose::test, .point = 2, .block = vocabulary});
  const auto rows = [&] {
    std::vector<std::vector<double>> table(vocabulary + 1, std::vector<double>(vocabulary));
    for (std::vector<double>& row : table) {
      for (double& entry : row) entry = random.uniform() < 0.2 ? 0.0 : std::pow(random.uniform(), 5.0);
      row[static_cast<std::size_t>(random.uniform() * static_cast<double>(vocabulary))] += 0.1;
      normalize(row);
    }
    return table;
  };
  BigramPair pair{.target = rows(), .draft = rows()};
  for (std::size_t row = 0; row <= vocabulary; ++row) {
    for (std::size_t x = 0; x < vocabulary; ++x) {
      if (pair.draft[row][x] > 0.0) pair.draft[row][x] += 0.5 * pair.target[row][x];
    }
    normalize(pair.draft[row]);
  }
  return pair;
}

struct CandidateTree {
  std::vector<std::int64_t> widths;  ///< [d]: children of each node of depth d
  CandidateDraws draws;
};

/// Adds the distribution of the first `length` tokens, [first * V * V + second * V + third] for three. After an
/// iteration the next one begins.
class JointTokens {
 public:
  JointTokens(const BigramPair& pair, const CandidateTree& tree, std::size_t length)
      : pair_(pair), tree_(tree), length_(length), vocabulary_(pair.draft.front().size()) {}

  [[nodiscard]] std::vector<double> enumerate() {
    joint_.assign(static_cast<std::size_t>(std::pow(vocabulary_, length_)), 0.0);
    node(0, 0, 0, 0, 1.0);
    return joint_;
  }

 private:
  void node(std::size_t depth, std::size_t row, std::size_t emitted, std::size_t place, double probability) {
    if (emitted == length_) {
      joint_[place] += probability;
      return;
    }
    const auto candidates = depth < tree_.widths.size() ? tree_.widths[depth] : 0;
    children(RecursiveRejection(pair_.after(row), tree_.draws), candidates, depth, emitted, place, probability);
  }

  void children(const RecursiveRejection& state, std::int64_t left, std::size_t depth, std::size_t emitted,
                std::size_t place, double probability) {
    for (std::size_t x = 0; x < vocabulary_; ++x) {
      const double share = left == 0 ? state.residual()[x] : state.draft()[x];
      if (!(share > 0.0)) continue;
      const std::size_t next = place * vocabulary_ + x;
      if (left == 0) {  // the target's own token ends the iteration
        node(0, x + 1, emitted + 1, next, probability * share);
        continue;
      }
      const double acceptance = state.acceptance(static_cast<Token>(x));
      node(depth + 1, x + 1, emitted + 1, next, probability * share * acceptance);
      if (!(acceptance < 1.0)) continue;
      RecursiveRejection rejected = state;
      rejected.reject(static_cast<Token>(x));
      children(rejected, left - 1, depth, emitted, place, probability * share * (1.0 - acceptance));
    }
  }

  const BigramPair& pair_;
  const CandidateTree& tree_;
  std::size_t length_;
  std::size_t vocabulary_;
  std::vector<double> joint_;
};

/// A drawn tree: tokens of a node's children in the order in which they are tried.
struct DrawnNode {
  std::vector<Token> tokens;
  std::vector<DrawnNode> children;
};

std::size_t drawn_index(std::span<const double> distribution, RandomStream& random) {
  const double uniform = random.uniform();
  double passed = 0.0;
  std::size_t last = 0;
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    if (!(distribution[x] > 0.0)) continue;
    last = x;
    passed += distribution[x];
    if (uniform < passed) break;
  }
  return last;
}

/// Draws the whole tree before anything is verified.
DrawnNode draw_tree(const BigramPair& pair, const CandidateTree& tree, std::size_t depth, std::size_t row,
                    RandomStream& random) {
  DrawnNode node;
  if (depth == tree.widths.size()) return node;
  std::vector<double> left = pair.draft[row];
  for (std::int64_t i = 0; i < tree.widths[depth]; ++i) {
    const std::size_t token = drawn_index(left, random);
    node.tokens.push_back(static_cast<Token>(token));
    node.children.push_back(draw_tree(pair, tree, depth + 1, token + 1, random));
    if (tree.draws == CandidateDraws::with_replacement) continue;
    left[token] = 0.0;
    if (normalize(left)) continue;
    for (std::size_t x = 0; x < left.size(); ++x) {
      left[x] = std::ranges::find(node.tokens, static_cast<Token>(x)) == node.tokens.end() ? 1.0 : 0.0;
    }
    normalize(left);
  }
  return node;
}

/// The tokens that an iteration emits: an accepted path and a token of the target.
std::vector<std::size_t> verify_tree(const BigramPair& pair, const CandidateTree& tree, const DrawnNode& root,
                                     RandomStream& random) {
  std::vector<std::size_t> emitted;
  const DrawnNode* node = &root;
  for (;;) {
    RecursiveRejection state(pair.after(emitted.empty() ? 0 : emitted.back() + 1), tree.draws);
    const DrawnNode* accepted = nullptr;
    for (std::size_t i = 0; i < node->tokens.size() && accepted == nullptr; ++i) {
      if (random.uniform() < state.acceptance(node->tokens[i])) {
        emitted.push_back(static_cast<std::size_t>(node->tokens[i]));
        accepted = &node->children[i];
      } else {
        state.reject(node->tokens[i]);
      }
    }
    if (accepted == nullptr) {
      emitted.push_back(drawn_index(state.residual(), random));
      return emitted;
    }
    node = accepted;
  }
}

}  // namespace

TEST_CASE(
    "recursive rejection at each node of a tree leaves the target's joint distribution of three tokens unchanged") {
  for (const std::size_t vocabulary : {3U, 4U, 5U}) {
    const BigramPair pair = random_pair(vocabulary, 1);
    for (const CandidateDraws draws : {CandidateDraws::with_replacement, CandidateDraws::without_replacement}) {
      for (const std::vector<std::int64_t>& widths : {std::vector<std::int64_t>{1, 1}, {3, 2}, {2, 1, 2}, {4}}) {
        CAPTURE(vocabulary, widths, draws == CandidateDraws::with_replacement);
        const CandidateTree tree{.widths = widths, .draws = draws};
        const std::vector<double> joint = JointTokens(pair, tree, 3).enumerate();
        for (std::size_t i = 0; i < joint.size(); ++i) {
          const std::size_t first = i / (vocabulary * vocabulary);
          const std::size_t second = i / vocabulary % vocabulary;
          const std::size_t third = i % vocabulary;
          const double expected =
              pair.target[0][first] * pair.target[first + 1][second] * pair.target[second + 1][third];
          CHECK(std::abs(joint[i] - expected) < tests::second_route);
        }
      }
    }
  }
}

// 100,000 iterations over 50 tokens detect an error of a tenth in a probability of 0.03.
TEST_CASE("a tree drawn before verification emits the target's tokens, and reaches the depths of its closed form") {
  constexpr std::size_t vocabulary = 50;
  constexpr int iterations = 100'000;
  const BigramPair pair = random_pair(vocabulary, 2);
  for (const CandidateDraws draws : {CandidateDraws::with_replacement, CandidateDraws::without_replacement}) {
    const CandidateTree tree{.widths = {2, 2}, .draws = draws};
    RandomStream random(9, {.purpose = Purpose::test, .point = 3, .block = static_cast<std::uint64_t>(draws)});
    std::vector<std::int64_t> pairs(vocabulary * vocabulary, 0);
    std::vector<std::int64_t> lengths(3, 0);
    for (int i = 0; i < iterations; ++i) {
      std::vector<std::size_t> tokens = verify_tree(pair, tree, draw_tree(pair, tree, 0, 0, random), random);
      ++lengths[tokens.size() - 1];
      if (tokens.size() == 1) tokens.push_back(drawn_index(pair.target[tokens[0] + 1], random));  // of the next one
      ++pairs[tokens[0] * vocabulary + tokens[1]];
    }
    std::vector<double> expected(pairs.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = iterations * pair.target[0][i / vocabulary] * pair.target[i / vocabulary + 1][i % vocabulary];
    }
    CHECK(tests::chi_squared_p_value(pairs, expected) > tests::level_of_one(6));
    std::vector<std::int64_t> firsts(vocabulary, 0);
    std::vector<double> expected_firsts(vocabulary, 0.0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      firsts[i / vocabulary] += pairs[i];
      expected_firsts[i / vocabulary] += expected[i];
    }
    CHECK(tests::chi_squared_p_value(firsts, expected_firsts) > tests::level_of_one(6));

    const CandidateScheme scheme{.count = 2, .draws = draws};
    const std::vector<double> accepted = tests::candidate_distributions(pair.after(0), scheme).accepted;
    double both = 0.0;
    for (std::size_t x = 0; x < vocabulary; ++x) both += accepted[x] * candidate_acceptance(pair.after(x + 1), scheme);
    const double one = std::accumulate(accepted.begin(), accepted.end(), 0.0);
    CHECK(tests::chi_squared_p_value(lengths, std::vector{iterations * (1.0 - one), iterations * (one - both),
                                                          iterations * both}) > tests::level_of_one(6));
  }
}

}  // namespace foredraft::sim
