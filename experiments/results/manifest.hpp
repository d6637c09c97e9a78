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
  std::string_view commit;   ///< of the repository, or "unknown"
  std::string_view changes;  ///< "none", "uncommitted" or "unknown"
  std::string_view compiler;
  std::string_view flags;
  std::string_view build_type;
  std::string_view installed_plots;      ///< plots/ of an installation, relative to the folder of the program
  std::string_view installed_operators;  ///< operators/ likewise
};

[[nodiscard]] BuildInfo build_info();

/// A results folder whose files are written whole: first a manifest.json with state "running", at the end again with
/// all digests. Its WriteLock is held for the lifetime of this; draw its figures within that time.
class ResultFolder {
 public:
  /// Keys and values of the manifest: with the program version, `content` distinguishes a folder from others.
  struct Kind {
    std::string_view schema;
    nlohmann::ordered_json content = nlohmann::ordered_json::object();
    nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  };

  /// Creates the folder. One of the same kind and program version is overwritten, file by file. Throws InputError,
  /// before anything is touched, for any other content. `threads`: nullopt if they cannot be chosen.
  ResultFolder(std::string path, const Kind& kind, const std::vector<std::string>& command_line,
               std::optional<unsigned> threads = std::nullopt);

  /// Records a file that was read, once.
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
  std::string version;              ///< of the program
  std::string state;                ///< "running" or "complete"
  nlohmann::ordered_json seed;      ///< null: nothing is simulated
  std::uint64_t points;             ///< of the whole sweep
  nlohmann::ordered_json resolved;  ///< the configuration, without its figures
  nlohmann::ordered_json figures;   ///< of the configuration
  std::string hash;                 ///< of the configuration, without its figures
  std::string config_folder;        ///< from where the paths of the inputs are repeated; may be empty
  std::optional<Shard> shard;       ///< empty: the whole sweep
  std::vector<FileDigest> inputs;
  std::vector<FileDigest> outputs;  ///< of a complete run
  nlohmann::ordered_json program;   ///< build and host, for readers
  nlohmann::ordered_json run;       ///< command line, threads, times, for readers
};

/// A manifest that was read.
struct StoredManifest : Manifest {
  SweepConfig config;
};

/// A manifest of a run that begins now.
[[nodiscard]] Manifest new_manifest(const SweepConfig& config, const std::optional<Shard>& shard,
                                    const std::vector<FileDigest>& inputs, const std::vector<std::string>& command_line,
                                    unsigned threads);

[[nodiscard]] std::string to_text(const Manifest& manifest);

/// Throws InputError `file: ...` for anything but a manifest of result_schema whose configuration has its hash, whose
/// seed, points, version and shard follow from configuration and program, and whose outputs are files of its folder; if
/// it is complete, points.csv comes first.
[[nodiscard]] StoredManifest parse_manifest(std::string_view text, const std::string& file);

/// Version, build and host of this program, for readers.
[[nodiscard]] nlohmann::ordered_json program_json();

[[nodiscard]] nlohmann::ordered_json files_json(const std::vector<FileDigest>& files);

/// Indented, with a line end. Bytes that are not UTF-8 (a path may hold some) become U+FFFD.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& json);

/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string utc_now();

}  // namespace foredraft::experiments
