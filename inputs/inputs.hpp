// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/digest.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/cost.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/server.hpp"
#include "inputs/engines.hpp"
#include "inputs/observed_acceptance.hpp"
#include "latency/profile/profile.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::inputs {

/// Data that scenarios name: recorded traces, logs, profiles, models trained on texts. Reads every file once; digests
/// are of the bytes that were used. Thread-safe.
class Inputs {
 public:
  Inputs() = default;
  /// Relative paths are searched in `folder`, the folder of a configuration, and then in the working directory.
  explicit Inputs(std::string folder) : folder_(std::move(folder)) {}

  /// Reads the files that the scenario names into it. Throws InputError for a file that cannot be read, DomainError for
  /// models that are not in a profile.
  void attach(Scenario& scenario);

  /// Every file read so far, sorted by path, for the manifest.
  [[nodiscard]] std::vector<FileDigest> files() const;

  /// Notes for the user about the files read so far, such as where a file was found and what is extrapolated. One
  /// sentence each.
  [[nodiscard]] std::set<std::string> notes() const;

 private:
  struct TrainedCorpus {
    ngram::Vocabulary vocabulary;
    std::vector<std::vector<ngram::Token>> documents;
    std::map<std::vector<int>, std::shared_ptr<const ngram::Model>> models;  ///< by distances of the window
  };

  /// The times of a target and its drafter.
  struct TimedModels {
    std::shared_ptr<const ForwardPassTimes> times;
    double operators = 0.0;     ///< of a decode step of the target; 0: unknown shape
    double iteration_us = 0.0;  ///< time of an iteration beyond its passes that is included
  };

  /// The path of a file that the configuration names. A name without a file in the folder is returned unchanged.
  /// `is_file`: it names a file, also in the working directory; if there is neither, returns the path in the folder.
  std::string located(const std::string& name, bool is_file = false);
  void note_extrapolation(const std::string& file, std::int64_t recorded_gamma, std::int64_t gamma);
  AcceptanceProcess acceptance(const Observed& log, std::int64_t gamma);
  std::shared_ptr<const Recording> recording(const Trace& trace, const Scenario& scenario);
  /// `roofline`: settings of a data sheet; null: measured times.
  const TimedModels& times(const LookedUpTimes& asked, const Roofline* roofline, const Drafter& drafter);
  const latency::Profile& profile(const std::string& name);
  /// Sets the engine's terms and the recorded requests. `pair`: looked-up times of the scenario; null: times are given.
  void attach(Server& server, const TimedModels* pair, Cost& cost);
  std::shared_ptr<const TrainedModels> trained(const NgramModels& models, const Drafter& drafter, std::int64_t gamma);
  TrainedCorpus& corpus(const std::vector<std::string>& names, std::int64_t vocabulary);
  std::shared_ptr<const ngram::Model> model(TrainedCorpus& trained, const ngram::Window& window);

  std::string folder_;
  mutable std::mutex mutex_;
  FileTexts texts_;                                                     ///< of recordings and models
  std::map<std::string, std::shared_ptr<const Recording>> recordings_;  ///< by file and format
  std::map<std::string, ObservedAcceptance> observed_;
  std::map<std::string, latency::Profile> profiles_;
  std::map<std::string, TimedModels> times_;
  std::map<std::string, ReadEngine> engines_;
  std::map<std::string, std::shared_ptr<const RequestRecording>> requests_;
  std::map<std::string, TrainedCorpus> corpora_;
  std::map<std::string, FileDigest> files_;
  std::set<std::string> notes_;
};

/// Parses recorded acceptance in four formats, which are recognized by content.
///
/// CSV with header `sequence,outcome`: a row per token position; 1: accepted, 0: rejected, -1: not observed. CSV with
/// header `sequence,accepted`: a row per iteration; accepted drafts, 0 to recorded_gamma. JSONL, one sequence per line:
/// {"outcomes": [1, 0, ...]} or {"accepted": [3, 0, ...]}. Rows of a sequence are consecutive; blank lines and lines
/// that begin with # are skipped.
///
/// `recorded_gamma` (0: not given) is required for accepted counts. Throws InputError `file:line: ...` with the first
/// twenty problems and the number of the others.
[[nodiscard]] Recording parse_trace(std::string_view text, const std::string& file, std::int64_t recorded_gamma,
                                    Convention convention);

/// Evaluates the times of the smallest and largest passes of a server. Throws DomainError if one is unknown.
void ask_extreme_passes(const Server& server, const Scenario& scenario);

}  // namespace foredraft::inputs
