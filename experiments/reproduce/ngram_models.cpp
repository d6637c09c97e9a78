// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/ngram_models.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/check.hpp"
#include "experiments/inputs/corpus.hpp"

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

std::string drafter_name(int order) {
  constexpr std::array names{"unigram", "bigram", "trigram"};
  check_range("order", order, 1, static_cast<std::int64_t>(names.size()));
  return names.at(static_cast<std::size_t>(order) - 1);
}

}  // namespace foredraft::experiments
