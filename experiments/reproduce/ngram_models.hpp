// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/reproduce/registry.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::experiments {

/// A corpus and the models trained on it: the target of order 5 and drafters of order 1, 2 and 3.
struct NgramStudyModels {
  std::string corpus;  ///< "prose" or "code"
  std::int64_t tokens;
  std::int64_t vocabulary;
  double unknown_share;  ///< of the corpus tokens, outside the vocabulary
  std::shared_ptr<const ngram::Model> target;
  std::vector<std::shared_ptr<const ngram::Model>> drafters;  ///< [i]: order i + 1
  std::vector<FileDigest> inputs;
};

/// Trains on the default corpora, prose first; some seconds. Kept for the rest of the process, because two experiments
/// use the same models.
[[nodiscard]] const std::vector<NgramStudyModels>& ngram_study_models(const ExperimentSettings& settings);

/// One of the drafters against the target, over as many tokens of text as give alpha to about 0.001.
[[nodiscard]] ngram::StudyTally acceptance_study(const NgramStudyModels& models,
                                                 const std::shared_ptr<const ngram::Model>& drafter, double temperature,
                                                 const sim::RunKey& key, unsigned threads);

/// "unigram", "bigram", "trigram" for order 1, 2, 3.
[[nodiscard]] std::string drafter_name(int order);

}  // namespace foredraft::experiments
