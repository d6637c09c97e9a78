#include "sim/token/ngram_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "sim/ngram/prompts.hpp"
#include "sim/ngram/speculation.hpp"

namespace foredraft::sim {
namespace {

constexpr std::int64_t block_iterations = 1024;
/// Iterations of a text before the first counted one: a prompt is any place of the text, but iterations begin more
/// often where drafts are rejected. 64 are enough on the default corpora, where 8 still show.
constexpr std::int64_t settling_iterations = 64;
constexpr std::int64_t max_iterations = block_iterations << 31;  // 2^31 blocks

const NgramPair& ngram_pair(const TokenSimulation& simulation) {
  const auto* pair = std::get_if<NgramPair>(&simulation.models);
  if (pair == nullptr) throw DomainError("invalid models=other (must be an n-gram pair)");
  return *pair;
}

class NgramSimulator final : public Simulator {
 public:
  explicit NgramSimulator(const TokenSimulation& simulation)
      : pair_(ngram_pair(simulation)),
        models_(ngram::make_speculation(pair_.target.get(), pair_.draft.get(), simulation.temperature)),
        gamma_(simulation.gamma),
        convention_(simulation.convention),
        drafting_(simulation.drafting),
        iterations_(static_cast<std::int64_t>(simulation.iterations)) {  // above 2^63: negative, refused
    check_ngram_rule(simulation);
    check_range("gamma", gamma_, min_gamma(convention_), max_token_gamma);
    check_range("iterations", iterations_, 1, max_iterations);
  }

  [[nodiscard]] std::uint64_t blocks() const override {
    return static_cast<std::uint64_t>((iterations_ + block_iterations - 1) / block_iterations);
  }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    ngram::Prompts prompts(*models_.target, RandomStream(key.seed, {Purpose::text, key.point, block}));
    ngram::SpeculationStreams streams(key.seed, key.point, block);
    const std::int64_t count =
        std::min(block_iterations, iterations_ - static_cast<std::int64_t>(block) * block_iterations);
    Tally tally = empty_tally(gamma_, convention_);
    UnitMoments::Values unit{};
    if (models_.choice == ngram::Choice::greedy) {
      while (unit[iterations] < count) add_greedy_text(prompts.next(), streams, tally, unit);
    } else {
      std::vector<ngram::Token> text = prompts.next();
      for (std::int64_t i = 0; i < settling_iterations; ++i) iterate(text, streams);
      for (std::int64_t i = 0; i < count; ++i) add_iteration(iterate(text, streams), tally, unit);
    }
    tally.units.add(unit);
    return tally;
  }

 private:
  std::int64_t iterate(std::vector<ngram::Token>& text, ngram::SpeculationStreams& streams) const {
    return ngram::iterate(models_, gamma_, convention_, text, streams);
  }

  void add_greedy_text(std::vector<ngram::Token> text, ngram::SpeculationStreams& streams, Tally& tally,
                       UnitMoments::Values& unit) const {
    const std::size_t end = text.size() + static_cast<std::size_t>(ngram::Prompts::passage_tokens);
    while (text.size() < end) add_iteration(iterate(text, streams), tally, unit);
  }

  void add_iteration(std::int64_t accepted_drafts, Tally& tally, UnitMoments::Values& unit) const {
    const std::int64_t tested_drafts = std::min(gamma_, accepted_drafts + 1);
    const std::int64_t emitted = std::min(max_tokens(gamma_, convention_), accepted_drafts + 1);
    unit[tokens] += emitted;
    unit[iterations] += 1;
    unit[drafted] += gamma_;
    unit[draft_passes] += foredraft::draft_passes(gamma_, drafting_);
    unit[accepted] += accepted_drafts;
    unit[tested] += tested_drafts;
    ++tally.tokens_count[static_cast<std::size_t>(emitted - 1)];
    for (std::size_t i = 0; std::cmp_less(i, gamma_); ++i) {
      ++tally.drafted_at[i];
      if (std::cmp_less(i, tested_drafts)) ++tally.tested_at[i];
      if (std::cmp_less(i, accepted_drafts)) ++tally.accepted_at[i];
    }
  }

  NgramPair pair_;  ///< keeps the models alive
  ngram::Speculation models_;
  std::int64_t gamma_;
  Convention convention_;
  Drafting drafting_;
  std::int64_t iterations_;
};

}  // namespace

void check_ngram_rule(const TokenSimulation& simulation) {
  const bool greedy = simulation.rule == "greedy_match";
  if (!greedy && simulation.rule != "rejection_sampling") {
    throw DomainError(
        fmt::format("invalid rule={} (must be rejection_sampling or greedy_match for n-gram models)", simulation.rule));
  }
  if (greedy && simulation.temperature != 0.0) {
    throw DomainError(
        fmt::format("invalid rule=greedy_match (must be rejection_sampling for n-gram models at "
                    "temperature {}: matching the most probable token is greedy decoding)",
                    simulation.temperature));
  }
  if (!simulation.rule_parameters.empty()) {
    throw DomainError(fmt::format("invalid rule.{}={} (must not be given: {} has no parameters)",
                                  simulation.rule_parameters.begin()->first, simulation.rule_parameters.begin()->second,
                                  simulation.rule));
  }
}

std::unique_ptr<Simulator> make_ngram_simulator(const TokenSimulation& simulation) {
  return std::make_unique<NgramSimulator>(simulation);
}

}  // namespace foredraft::sim
