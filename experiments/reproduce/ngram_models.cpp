// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/ngram_models.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "experiments/inputs/corpus.hpp"
#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/registry.hpp"
#include "sim/estimates.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t vocabulary_limit = 16'384;
constexpr int target_order = 5;
constexpr int longest_drafter_order = 3;

NgramStudyModels train(std::string name, DefaultCorpus kind, const ExperimentSettings& settings) {
  const Corpus corpus = default_corpus(kind);
  const auto vocabulary = ngram::Vocabulary::build(corpus.texts, vocabulary_limit);
  std::vector<std::vector<ngram::Token>> documents;
  std::int64_t tokens = 0;
  std::int64_t unknown = 0;
  for (const std::string& text : corpus.texts) {
    documents.push_back(vocabulary.encode(text));
    tokens += static_cast<std::int64_t>(documents.back().size());
    unknown += std::count(documents.back().begin(), documents.back().end(), ngram::Token{0});
  }
  settings.note(
      fmt::format("{}: {} files, {} tokens, training orders 1 to {}", name, corpus.files.size(), tokens, target_order));
  NgramStudyModels models{.corpus = std::move(name),
                          .tokens = tokens,
                          .vocabulary = vocabulary.size(),
                          .unknown_share = static_cast<double>(unknown) / static_cast<double>(tokens),
                          .target = ngram::Model::train(documents, vocabulary.size(), target_order),
                          .drafters = {},
                          .inputs = corpus.files};
  for (int order = 1; order <= longest_drafter_order; ++order) {
    models.drafters.push_back(ngram::Model::train(documents, vocabulary.size(), order));
  }
  return models;
}

}  // namespace

const std::vector<NgramStudyModels>& ngram_study_models(const ExperimentSettings& settings) {
  static const std::vector<NgramStudyModels> models{train("prose", DefaultCorpus::prose, settings),
                                                    train("code", DefaultCorpus::code, settings)};
  return models;
}

ngram::StudyTally acceptance_study(const NgramStudyModels& models, const std::shared_ptr<const ngram::Model>& drafter,
                                   double temperature, const sim::RunKey& key, unsigned threads) {
  constexpr std::uint64_t study_tokens = 400'000;
  return ngram::run_acceptance_study({.target = models.target,
                                      .drafter = ngram::ngram_drafter(drafter),
                                      .index = 0,
                                      .temperature = temperature,
                                      .tokens = study_tokens},
                                     key, threads);
}

std::string drafter_name(int order) {
  constexpr std::array names{"unigram", "bigram", "trigram"};
  check_range("order", order, 1, static_cast<std::int64_t>(names.size()));
  return names.at(static_cast<std::size_t>(order) - 1);
}

namespace {

constexpr auto convention = Convention::bonus;
constexpr std::uint64_t checked_iterations = 100'000;

/// Tokens per iteration as the pair of models really yields them, by real draws and real verification.
Estimate as_run(const NgramStudyModels& models, const std::shared_ptr<const ngram::Model>& drafter, double temperature,
                std::int64_t gamma, const sim::RunKey& key, unsigned threads) {
  const auto simulator =
      sim::make_token_simulator({.models = sim::NgramPair{models.target, ngram::ngram_drafter(drafter)},
                                 .rule = RejectionSampling{},
                                 .temperature = temperature,
                                 .gamma = gamma,
                                 .convention = convention,
                                 .drafting = Drafting::autoregressive,
                                 .iterations = checked_iterations},
                                key.seed);
  return sim::tokens_per_iteration(sim::run(*simulator, key, threads));
}

ExperimentResult ngram_iid_check(const Declaration& declared, const ExperimentSettings& settings) {
  ExperimentResult result;
  Table table = declared.table();
  DataText data = declared.data();
  constexpr std::array<std::int64_t, 5> gammas{1, 3, 5, 7, 10};
  std::uint64_t point = 0;
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    result.inputs.insert(result.inputs.end(), models.inputs.begin(), models.inputs.end());
    for (const double temperature : {0.0, 1.0}) {
      for (const auto& drafter : models.drafters) {
        const ngram::StudyTally study =
            acceptance_study(models, drafter, temperature,
                             {.seed = settings.seed, .point = point++, .stop = settings.stop}, settings.threads);
        const double alpha = ngram::alpha(study).mean;
        const analytic::MarkovAcceptance chain{.a = ngram::accept_after_acceptance(study).mean,
                                               .b = ngram::accept_after_rejection(study).mean};
        for (const std::int64_t gamma : gammas) {
          const Estimate run =
              as_run(models, drafter, temperature, gamma,
                     {.seed = settings.seed, .point = point++, .stop = settings.stop}, settings.threads);
          const double iid = analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = convention});
          const double markov = analytic::tokens_per_iteration(chain, gamma, convention);
          const analytic::TokenBounds bounds = analytic::any_process_bounds(alpha, gamma, convention);
          data.row().cell(models.corpus).cell(temperature).cell(drafter_name(drafter->order()));
          data.cell(static_cast<double>(gamma)).cell(alpha).cell(run).cell(iid).cell(markov);
          data.cell(bounds.low).cell(bounds.high);
          const auto difference = [&](double formula) {
            return fmt::format("{:+.1f} %", 100.0 * (formula / run.mean - 1.0));
          };
          table.rows.push_back({models.corpus, fmt::format("{:.0f}", temperature), drafter_name(drafter->order()),
                                fmt::format("{}", gamma), fmt::format("{:.4f}", alpha),
                                fmt::format("{:.4f} +- {:.4f}", run.mean, normal_quantile(0.95) * run.standard_error),
                                fmt::format("{:.4f}", iid), difference(iid), fmt::format("{:.4f}", markov),
                                difference(markov), fmt::format("{:.2f} to {:.2f}", bounds.low, bounds.high)});
        }
      }
    }
  }
  result.text = declared.text("heading") + to_text(table);
  result.add_table(declared.id(), table, data.csv());
  return result;
}

}  // namespace

FigureCodes ngram_checks() { return {{"ngram-iid-check", ngram_iid_check}}; }

}  // namespace foredraft::experiments
