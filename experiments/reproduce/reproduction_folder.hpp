#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/experiment.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {

inline constexpr std::string_view reproduction_schema = "foredraft.reproduction/1";

/// The results folder of `reproduce`: what the experiments leave, scorecard.csv, and a manifest.json that is written
/// first with state "running" and at the end with the digests of everything.
class ReproductionFolder {
 public:
  /// Creates the folder. One that holds the same experiments, seed and program version is written again, file by file;
  /// one that holds anything else is refused with InputError.
  ReproductionFolder(std::string path, const std::vector<ExperimentEntry>& experiments, std::uint64_t seed,
                     unsigned threads, const std::vector<std::string>& command_line);

  /// Writes the artifacts of one experiment and remembers its inputs.
  void add(const ExperimentResult& result);

  /// Writes the scorecard and the final manifest.
  void complete(const std::vector<ScorecardRow>& rows);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Names of the files written, in order.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  void write(const std::string& name, const std::string& content);
  void write_manifest() const;

  std::string path_;
  nlohmann::ordered_json manifest_;
  std::vector<FileDigest> inputs_;
  std::vector<FileDigest> outputs_;
};

}  // namespace foredraft::experiments
