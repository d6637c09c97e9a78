// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"
#include "core/files.hpp"
#include "experiments/config/sweep_config.hpp"
#include "foredraft/sweep.hpp"

namespace foredraft::experiments {

/// Source and build environment of this program.
struct BuildInfo {
  std::string_view version;
  std::string_view commit;   ///< commit of the repository, or "unknown"
  std::string_view changes;  ///< "none", "uncommitted" or "unknown"
  std::string_view compiler;
  std::string_view flags;
  std::string_view build_type;
  std::string_view installed_plots;      ///< path of the installed plots/, relative to the program's folder
  std::string_view installed_operators;  ///< path of the installed operators/, also relative
};

[[nodiscard]] BuildInfo build_info();

/// A results folder with files that are written at once. manifest.json is written first, with state "running", and
/// again at the end, with all digests. The WriteLock is held until destruction; draw figures before.
class ResultFolder {
 public:
  /// Keys and values of the manifest. `content` and the program version identify a folder.
  struct Kind {
    std::string_view schema;
    nlohmann::ordered_json content = nlohmann::ordered_json::object();
    nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  };

  /// Creates the folder, or overwrites the files of a folder of the same kind and program version. Throws InputError,
  /// without changing anything, for a folder with other contents. `threads`: nullopt if the command has no such option.
  ResultFolder(std::string path, const Kind& kind, const std::vector<std::string>& command_line,
               std::optional<unsigned> threads = std::nullopt);

  /// Records an input file; duplicates are ignored.
  void add_input(const FileDigest& input);
  void write(const std::string& name, const std::string& content);
  /// Writes the final manifest.
  void complete();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Names of the files written, in order, manifest.json first.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  void write_manifest() const;

  std::string path_;
  WriteLock lock_;
  nlohmann::ordered_json manifest_;
  std::vector<FileDigest> inputs_, outputs_;
};

// ---- manifest.json: contents, origin and completeness of a results folder.

inline constexpr std::string_view result_schema = "foredraft.sweep_result/1";

struct Manifest {
  std::string version;              ///< version of the program
  std::string state;                ///< "running" or "complete"
  nlohmann::ordered_json seed;      ///< null: nothing is simulated
  std::uint64_t points;             ///< number of points of the whole sweep
  nlohmann::ordered_json resolved;  ///< the resolved configuration without figures
  nlohmann::ordered_json figures;   ///< figures of the configuration
  std::string hash;                 ///< hash of the configuration without figures
  std::string config_folder;        ///< folder to which paths of inputs are relative; may be empty
  std::optional<Shard> shard;       ///< empty: the whole sweep
  std::vector<FileDigest> inputs;
  std::vector<FileDigest> outputs;  ///< files of a complete run
  nlohmann::ordered_json program;   ///< build and host, for information
  nlohmann::ordered_json run;       ///< command line, threads, times, for information
};

/// A manifest read from a folder.
struct StoredManifest : Manifest {
  SweepConfig config;
};

/// The manifest of a run that starts now.
[[nodiscard]] Manifest new_manifest(const SweepConfig& config, const std::optional<Shard>& shard,
                                    const std::vector<FileDigest>& inputs, const std::vector<std::string>& command_line,
                                    unsigned threads);

[[nodiscard]] std::string to_text(const Manifest& manifest);

/// Parses and checks a manifest of result_schema. Throws InputError `file: ...` for any other document, for a
/// configuration with another hash, for seed, points, version or shard that do not match configuration and program, and
/// for outputs that are not files of the folder. In a complete manifest, points.csv must be the first output.
[[nodiscard]] StoredManifest parse_manifest(std::string_view text, const std::string& file);

/// Version, build and host of this program, for information.
[[nodiscard]] nlohmann::ordered_json program_json();

[[nodiscard]] nlohmann::ordered_json files_json(const std::vector<FileDigest>& files);

/// Indented JSON with a line end. Invalid UTF-8, which paths may contain, becomes U+FFFD.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& json);

/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string utc_now();

}  // namespace foredraft::experiments
