// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "experiments/corpus/corpus.hpp"
#include "sim/ngram/model.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::experiments {

/// The files that points need, read once: recorded traces and trained n-gram models. Thread-safe.
class Resources {
 public:
  /// A recorded trace. Throws InputError `file:line: ...`.
  [[nodiscard]] const sim::Trace& trace(const std::string& path, std::int64_t recorded_gamma, Convention convention);

  /// Target and drafter trained on a corpus: heads and mlp_speculator get a model for each of gamma positions, any
  /// other drafter an n-gram model. Throws InputError for a corpus that is missing, empty or not text.
  [[nodiscard]] sim::NgramPair ngram_pair(const PointInputs& inputs);
  /// The target alone, for drafts that no model makes.
  [[nodiscard]] std::shared_ptr<const ngram::Model> ngram_target(const ModelInputs& models);

  /// Reads everything that `config` names. Throws InputError, before anything is simulated.
  void prepare(const SweepConfig& config);

  /// Every file read so far, sorted by path: for the manifest.
  [[nodiscard]] std::vector<FileDigest> files() const;

 private:
  struct TrainedCorpus {
    ngram::Vocabulary vocabulary;
    std::vector<std::vector<ngram::Token>> documents;
    std::map<std::vector<int>, std::shared_ptr<const ngram::Model>> models;  ///< by the distances of their window
  };
  TrainedCorpus& corpus(const std::vector<std::string>& names, std::int64_t vocabulary);
  std::shared_ptr<const ngram::Model> model(TrainedCorpus& trained, const ngram::Window& window);
  ngram::Drafter drafter(TrainedCorpus& trained, const PointInputs& inputs);

  /// Looks up the time of every point, so that one that nobody knows is refused here.
  void prepare_costs(const SweepConfig& config);

  std::mutex mutex_;
  std::map<std::string, sim::Trace> traces_;
  std::map<std::string, TrainedCorpus> corpora_;
  std::map<std::string, FileDigest> files_;
};

}  // namespace foredraft::experiments
