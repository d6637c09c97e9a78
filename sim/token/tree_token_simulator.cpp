// SPDX-License-Identifier: Apache-2.0
#include "sim/token/tree_token_simulator.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t tree_block_iterations = 4096;
constexpr std::uint64_t text_unit_iterations = 64;

/// Rank, in the drafter's order, of each row's most probable target token.
std::vector<std::int64_t> ranks_of_target(const GivenDistributions& tables) {
  std::vector<std::int64_t> ranks;
  for (std::size_t k = 0; k < tables.target.size(); ++k) {
    const std::vector<double>& q = tables.draft[k];
    const std::size_t wanted = row_argmax(tables.target[k]);
    std::int64_t before = 0;
    for (std::size_t x = 0; x < q.size(); ++x) before += q[x] > q[wanted] || (q[x] == q[wanted] && x < wanted) ? 1 : 0;
    ranks.push_back(before);
  }
  return ranks;
}

Token draw_token(std::span<const double> law, double uniform) {
  std::vector<double> sums(sum_blocks(law.size()));
  sum_row_blocks(law, std::span<double>(sums));
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  return static_cast<Token>(draw_by_inversion(law, sums, total, uniform));
}

/// The random numbers of one block, one stream per purpose.
struct TreeDraws {
  RandomStream context;
  RandomStream draft;
  RandomStream accept;
  RandomStream replacement;
  RandomStream bonus;

  TreeDraws(const RunKey& key, std::uint64_t block)
      : context(key.seed, {.purpose = Purpose::context, .point = key.point, .block = block}),
        draft(key.seed, {.purpose = Purpose::draft_token, .point = key.point, .block = block}),
        accept(key.seed, {.purpose = Purpose::accept, .point = key.point, .block = block}),
        replacement(key.seed, {.purpose = Purpose::replacement, .point = key.point, .block = block}),
        bonus(key.seed, {.purpose = Purpose::bonus_token, .point = key.point, .block = block}) {}
};

/// Outcome at one node: the emitted token, and the child with that token, if any.
struct NodeOutcome {
  Token token;
  std::optional<std::int32_t> child;
};

class TreeTokenSimulator final : public TokenSimulator {
 public:
  explicit TreeTokenSimulator(TreeTokenSimulation simulation)
      : simulation_(std::move(simulation)),
        target_rank_(ranks_of_target(simulation_.tables)),
        shape_{.gamma = simulation_.tree.depth(), .convention = Convention::bonus, .drafting = simulation_.drafting},
        plan_(plan_blocks("iterations", simulation_.iterations, tree_block_iterations)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] double expected_acceptance() const override { return std::numeric_limits<double>::quiet_NaN(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    const std::uint64_t unit = simulation_.contexts == TreeContexts::independent ? 1 : text_unit_iterations;
    OutcomeCounts counts(shape_);
    std::uint64_t iteration = 0;
    for_each_iteration(key, block, [&](const std::vector<EmittedToken>& emitted) {
      counts.add(iteration_outcome(shape_, static_cast<std::int64_t>(emitted.size()) - 1));
      if (++iteration % unit == 0) counts.end_unit();
    });
    counts.end_unit();
    return counts.tally();
  }

  [[nodiscard]] std::vector<std::vector<EmittedToken>> emit_block(const RunKey& key,
                                                                  std::uint64_t block) const override {
    std::vector<std::vector<EmittedToken>> result;
    for_each_iteration(key, block, [&](const std::vector<EmittedToken>& emitted) { result.push_back(emitted); });
    return result;
  }

 private:
  /// Calls `use` with the outcome of each iteration of a block.
  template <class Use>
  void for_each_iteration(const RunKey& key, std::uint64_t block, const Use& use) const {
    TreeDraws draws(key, block);
    std::size_t context = random_context(draws);
    std::vector<EmittedToken> emitted;
    const std::uint64_t iterations = plan_.in_block(block);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      emitted.clear();
      for (std::optional<std::int32_t> node = 0; node;) {
        const NodeOutcome outcome = decide(*node, context, draws);
        emitted.push_back({.token = outcome.token, .context = static_cast<std::int64_t>(context)});
        context = simulation_.contexts == TreeContexts::last_token ? static_cast<std::size_t>(outcome.token)
                                                                   : random_context(draws);
        node = outcome.child;
      }
      use(emitted);
    }
  }

  [[nodiscard]] std::size_t random_context(TreeDraws& draws) const {
    // A double below 1 times a small count rounds to at most the count; the last row takes that case.
    const std::size_t rows = simulation_.tables.target.size();
    return std::min(rows - 1, static_cast<std::size_t>(draws.context.uniform() * static_cast<double>(rows)));
  }

  [[nodiscard]] NodeOutcome decide(std::int32_t node, std::size_t context, TreeDraws& draws) const {
    const auto* sampled = std::get_if<SampledTree>(&simulation_.verification);
    return sampled != nullptr ? decide_sampled(node, context, sampled->draws, draws) : decide_greedy(node, context);
  }

  [[nodiscard]] NodeOutcome decide_greedy(std::int32_t node, std::size_t context) const {
    return {.token = static_cast<Token>(row_argmax(simulation_.tables.target[context])),
            .child = simulation_.tree.child(node, target_rank_[context])};
  }

  [[nodiscard]] NodeOutcome decide_sampled(std::int32_t node, std::size_t context, CandidateDraws how,
                                           TreeDraws& draws) const {
    const std::vector<double>& target = simulation_.tables.target[context];
    const auto children = simulation_.tree.children(node);
    if (children.empty()) return {.token = draw_token(target, draws.bonus.uniform()), .child = std::nullopt};
    RecursiveRejection position({.target = target, .draft = simulation_.tables.draft[context]}, how);
    for (const DraftTree::Child& child : children) {
      const Token candidate = draw_token(position.draft(), draws.draft.uniform());
      if (draws.accept.uniform() < position.acceptance(candidate)) return {.token = candidate, .child = child.node};
      position.reject(candidate);
    }
    return {.token = draw_token(position.residual(), draws.replacement.uniform()), .child = std::nullopt};
  }

  TreeTokenSimulation simulation_;
  std::vector<std::int64_t> target_rank_;
  IterationShape shape_;
  BlockPlan plan_;
};

void check_tree_tables(const TreeTokenSimulation& simulation) {
  const GivenDistributions& tables = simulation.tables;
  check_at_least("target rows", static_cast<std::int64_t>(tables.target.size()), 1);
  const auto rows = static_cast<std::int64_t>(tables.target.size());
  check_range("draft rows", static_cast<std::int64_t>(tables.draft.size()), rows, rows);
  const auto vocabulary = static_cast<std::int64_t>(tables.target.front().size());
  for (std::size_t k = 0; k < tables.target.size(); ++k) {
    for (const auto& [name, row] : {std::pair("target", &tables.target[k]), std::pair("draft", &tables.draft[k])}) {
      check_range(fmt::format("{}[{}] length", name, k), static_cast<std::int64_t>(row->size()), vocabulary,
                  vocabulary);
      check_distribution(fmt::format("{}[{}]", name, k), *row);
    }
  }
  if (simulation.contexts == TreeContexts::last_token && rows != vocabulary) {
    throw DomainError(fmt::format("invalid target rows={} (must be one for each of the {} tokens)", rows, vocabulary));
  }
}

}  // namespace

std::unique_ptr<TokenSimulator> make_tree_token_simulator(TreeTokenSimulation simulation) {
  check_tree_tables(simulation);
  return std::make_unique<TreeTokenSimulator>(std::move(simulation));
}

}  // namespace foredraft::sim
