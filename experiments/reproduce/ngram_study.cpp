// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "core/parallel.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "inputs/corpus.hpp"
#include "sim/estimates.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/simulate.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/pooled/text_contexts.hpp"
#include "sim/token/rows/row_operations.hpp"

// N-gram drafters with a 5-gram target on text: their acceptance, predictions from it, and its dependence on
// temperature and truncation, also for a synthetic pair.
namespace foredraft::experiments {
namespace {

/// A corpus and the models trained on it: the target of order 5 and drafters of order 1, 2 and 3.
struct NgramStudyModels {
  std::string corpus;
  std::int64_t tokens;
  std::int64_t vocabulary;
  double unknown_share;  ///< fraction of corpus tokens outside the vocabulary
  std::shared_ptr<const ngram::Model> target;
  std::vector<std::shared_ptr<const ngram::Model>> drafters;
  std::vector<FileDigest> inputs;
};

NgramStudyModels train(std::string name, inputs::DefaultCorpus kind, const ExperimentSettings& settings) {
  constexpr std::int64_t vocabulary_limit = 16'384;
  constexpr int target_order = 5;
  const inputs::Corpus corpus = inputs::default_corpus(kind);
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
  const auto of_order = [&](int order) { return ngram::Model::train(documents, vocabulary.size(), order); };
  return {.corpus = std::move(name),
          .tokens = tokens,
          .vocabulary = vocabulary.size(),
          .unknown_share = static_cast<double>(unknown) / static_cast<double>(tokens),
          .target = of_order(target_order),
          .drafters = {of_order(1), of_order(2), of_order(3)},
          .inputs = corpus.files};
}

/// Models trained on the default corpora in a few seconds; cached, because two experiments use them.
const std::vector<NgramStudyModels>& ngram_study_models(const ExperimentSettings& settings) {
  static const std::vector<NgramStudyModels> models{train("prose", inputs::DefaultCorpus::prose, settings),
                                                    train("code", inputs::DefaultCorpus::code, settings)};
  return models;
}

/// A drafter with its target at one temperature.
struct NgramCase {
  const NgramStudyModels& models;
  double temperature;
  std::shared_ptr<const ngram::Model> drafter;

  [[nodiscard]] std::string name() const {
    return std::array{"unigram", "bigram", "trigram"}.at(static_cast<std::size_t>(drafter->order()) - 1);
  }
  [[nodiscard]] ngram::StudyTally study(const sim::RunKey& key, unsigned threads) const {
    return ngram::run_acceptance_study({.target = models.target,
                                        .drafter = ngram::ngram_drafter(drafter),
                                        .index = 0,
                                        .temperature = temperature,
                                        .tokens = 400'000},  // alpha to about 0.001
                                       key, threads);
  }
};

void for_every_case(const ExperimentSettings& settings, const std::function<void(const NgramCase&)>& visit) {
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    for (const double temperature : {0.0, 1.0}) {
      for (const auto& drafter : models.drafters) visit({models, temperature, drafter});
    }
  }
}

/// The printed alphas need the trained networks, so they are only listed next to ours.
void leviathan_table3(FigureAccount& figure, const ExperimentSettings& settings) {
  figure.say_declared("heading");
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    figure.add_inputs(models.inputs);
    figure.say_declared("corpus", models.corpus, models.tokens, models.vocabulary, 100.0 * models.unknown_share);
  }
  std::uint64_t point = 0;
  for_every_case(settings, [&](const NgramCase& one) {
    const Estimate alpha = ngram::alpha(one.study({.seed = settings.seed, .point = point++}, settings.threads));
    figure.shown({fmt::format("5-gram ({})", one.models.corpus), one.name(), fmt::format("{:.0f}", one.temperature),
                  fmt::format("{:.4f}", alpha.mean),
                  fmt::format("{:.4f}", normal_quantile(0.95) * alpha.standard_error), "ours"});
  });
  figure.say_table();
  const TableAccount account(figure.declared());
  const PublishedTable& published = account.published();
  for (std::size_t i = 0; i < published.size(); ++i) {
    const auto text = [&](const char* column) { return published.text(i, column); };
    for (const char* column : {"temperature", "alpha"}) {
      ScorecardRow row = account.answer(i, column).value();
      row.row = fmt::format("{}, {} T={}", text("target_model"), text("approx_model"), text("temperature"));
      figure.score(row);
    }
    figure.shown({text("target_model"), text("approx_model"), text("temperature"), text("alpha"), "", "paper"});
  }
}

/// Tokens per iteration of the pair, simulated with real draws and verification.
Estimate as_run(const NgramCase& one, std::int64_t gamma, const sim::RunKey& key, unsigned threads) {
  const NgramModels models{.trained = std::make_shared<const TrainedModels>(TrainedModels{
                               .target = one.models.target, .drafter = ngram::ngram_drafter(one.drafter)})};
  const auto simulator =
      sim::make_simulator({.fidelity = TokenFidelity{.temperature = one.temperature, .models = models},
                           .gamma = gamma,
                           .drafter = NgramDrafter{}},
                          {.iterations = 100'000, .seed = key.seed});
  return sim::tokens_per_iteration(sim::run(*simulator, key, threads));
}

void ngram_iid_check(FigureAccount& figure, const ExperimentSettings& settings) {
  for (const NgramStudyModels& models : ngram_study_models(settings)) figure.add_inputs(models.inputs);
  std::uint64_t point = 0;
  for_every_case(settings, [&](const NgramCase& one) {
    const auto key = [&] { return sim::RunKey{.seed = settings.seed, .point = point++, .stop = settings.stop}; };
    const ngram::StudyTally study = one.study(key(), settings.threads);
    const double alpha = ngram::alpha(study).mean;
    const Markov chain{.a = ngram::accept_after_acceptance(study).mean, .b = ngram::accept_after_rejection(study).mean};
    for (const std::int64_t gamma : {1, 3, 5, 7, 10}) {
      const Estimate run = as_run(one, gamma, key(), settings.threads);
      const double iid = iid_tokens(alpha, gamma);
      const double markov = analytic::tokens_per_iteration(chain, gamma, Convention::bonus);
      const analytic::TokenBounds bounds = analytic::any_process_bounds(alpha, gamma, Convention::bonus);
      figure.row(one.models.corpus, one.temperature, one.name(), gamma, alpha, run, iid, markov, bounds.low,
                 bounds.high);
      const auto off = [&](double formula) { return fmt::format("{:+.1f} %", 100.0 * (formula / run.mean - 1.0)); };
      figure.shown({one.models.corpus, fmt::format("{:.0f}", one.temperature), one.name(), fmt::format("{}", gamma),
                    fmt::format("{:.4f}", alpha),
                    fmt::format("{:.4f} +- {:.4f}", run.mean, normal_quantile(0.95) * run.standard_error),
                    fmt::format("{:.4f}", iid), off(iid), fmt::format("{:.4f}", markov), off(markov),
                    fmt::format("{:.2f} to {:.2f}", bounds.low, bounds.high)});
    }
  });
  figure.say_declared("heading");
  figure.say_table();
}

// ---- Acceptance as a function of temperature and truncation of each model.

constexpr std::int64_t sampled_contexts = 200;

/// The distributions of a pair at some contexts, at temperature 1.
struct WrittenPair {
  std::string name;
  GivenDistributions rows;
};

/// Distributions of a bigram drafter and its target at contexts of the target's text.
WrittenPair written_text(const NgramStudyModels& models, std::uint64_t point, const ExperimentSettings& settings) {
  const TrainedModels trained{.target = models.target, .drafter = ngram::ngram_drafter(models.drafters.at(1))};
  return {.name = "5-gram and bigram, " + models.corpus,
          .rows = sim::text_contexts(trained, sampled_contexts, settings.seed, settings.stop, point)};
}

/// The truncation of each model.
struct KeptTokens {
  std::string name;
  Truncation target;
  Truncation draft;
};
const std::vector<KeptTokens>& kept_tokens() {
  static const std::vector<KeptTokens> all{{"all tokens", {}, {}},
                                           {"target: top-p 0.9", {.top_p = 0.9}, {}},
                                           {"target: top-k 20", {.top_k = 20}, {}},
                                           {"both: top-p 0.9", {.top_p = 0.9}, {.top_p = 0.9}}};
  return all;
}

/// The temperatures of both models as functions of the varied one.
struct DraftedAt {
  std::string name;
  double (*target)(double);
  double (*draft)(double);
};
const std::vector<DraftedAt>& drafted_at() {
  constexpr auto same = [](double temperature) { return temperature; };
  constexpr auto plain = [](double /*temperature*/) { return 1.0; };
  constexpr auto argmax = [](double /*temperature*/) { return 0.0; };
  static const std::vector<DraftedAt> all{{"drafts at the same temperature", same, same},
                                          {"drafts at temperature 1", same, plain},
                                          {"argmax drafts", same, argmax},
                                          {"target at temperature 1", plain, same}};
  return all;
}

constexpr std::array sampled_temperatures{0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5};

/// [kept][drafted][temperature]: sum min(p, q) in one context.
std::vector<double> acceptances_at(const std::vector<double>& target, const std::vector<double>& draft) {
  std::map<std::pair<double, std::pair<std::int64_t, double>>, std::vector<double>> targets;
  auto drafts = targets;
  const auto row_of = [](auto& rows, const std::vector<double>& plain, const sim::Sampling& sampling) -> const auto& {
    const auto [top_k, top_p] = sampling.truncation;
    const auto [at, added] = rows.try_emplace({sampling.temperature, {top_k, top_p}}, plain);
    if (added) sim::apply_sampling(at->second, sampling);
    return at->second;
  };
  std::vector<double> acceptances;
  for (const KeptTokens& kept : kept_tokens()) {
    for (const DraftedAt& drafted : drafted_at()) {
      for (const double temperature : sampled_temperatures) {
        acceptances.push_back(sim::overlap(row_of(targets, target, {drafted.target(temperature), kept.target}),
                                           row_of(drafts, draft, {drafted.draft(temperature), kept.draft})));
      }
    }
  }
  return acceptances;
}

/// The mean of entry `i` over contexts, with its standard error.
Estimate mean_of_entry(const std::vector<std::vector<double>>& contexts, std::size_t i) {
  const auto n = static_cast<double>(contexts.size());
  double sum = 0.0;
  for (const std::vector<double>& context : contexts) sum += context[i];
  double squares = 0.0;
  for (const std::vector<double>& context : contexts) squares += std::pow(context[i] - sum / n, 2);
  return {.mean = sum / n, .standard_error = std::sqrt(squares / (n - 1.0) / n)};
}

void sampling_acceptance(FigureAccount& figure, const ExperimentSettings& settings) {
  std::vector<WrittenPair> pairs{
      {"synthetic", sim::written_out(sim::SyntheticPool(
                        {.parameter = 3.0, .vocabulary = 4096, .alpha = 0.7, .pool = sampled_contexts}, settings.seed,
                        settings.stop))}};
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    figure.add_inputs(models.inputs);
    pairs.push_back(written_text(models, pairs.size(), settings));
  }
  for (const WrittenPair& pair : pairs) {
    settings.note(fmt::format("sampling-acceptance: {}", pair.name));
    std::vector<std::vector<double>> contexts(pair.rows.target.size());
    parallel_for(contexts.size(), settings.threads, [&](std::uint64_t k) {
      settings.stop.check();
      contexts[k] = acceptances_at(pair.rows.target[k], pair.rows.draft[k]);
    });
    for (std::size_t kept = 0; kept < kept_tokens().size(); ++kept) {
      std::map<double, std::vector<std::string>> shown;
      for (std::size_t drafted = 0; drafted < drafted_at().size(); ++drafted) {
        for (std::size_t t = 0; t < sampled_temperatures.size(); ++t) {
          const double temperature = sampled_temperatures.at(t);
          const std::size_t at = (kept * drafted_at().size() + drafted) * sampled_temperatures.size() + t;
          const Estimate acceptance = mean_of_entry(contexts, at);
          figure.row(pair.name, kept_tokens()[kept].name, drafted_at()[drafted].name, temperature, acceptance);
          shown[temperature].push_back(fmt::format("{:.4f}", acceptance.mean));
        }
      }
      for (const double temperature : {0.0, 0.5, 1.0, 1.5}) {
        std::vector<std::string> row{pair.name, kept_tokens()[kept].name, fmt::format("{:.1f}", temperature)};
        std::ranges::copy(shown[temperature], std::back_inserter(row));
        figure.shown(std::move(row));
      }
    }
  }
  figure.say_declared("heading");
  figure.say_table();
}

}  // namespace

ExperimentCodes ngram_studies() {
  return {{"leviathan-table3", leviathan_table3},
          {"ngram-iid-check", ngram_iid_check},
          {"sampling-acceptance", sampling_acceptance}};
}

}  // namespace foredraft::experiments
