// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "experiments/text/digest.hpp"
#include "foredraft/sweep.hpp"

/// manifest.json: what a results folder holds, where it came from and whether it is complete.
namespace foredraft::experiments {

inline constexpr std::string_view result_schema = "foredraft.sweep_result/1";

struct Manifest {
  std::string version;  ///< of the program
  std::string state;    ///< "running" or "complete"
  std::string hash;     ///< of the configuration
  SweepConfig config;
  std::optional<Shard> shard;  ///< nothing: the whole sweep
  std::vector<FileDigest> inputs;
  std::vector<FileDigest> outputs;  ///< of a complete run
  nlohmann::ordered_json program;   ///< build and host, for people
  nlohmann::ordered_json run;       ///< command line, threads, times, for people
};

/// A manifest of a run that begins now.
[[nodiscard]] Manifest new_manifest(const SweepConfig& config, const std::optional<Shard>& shard,
                                    const std::vector<FileDigest>& inputs, const std::vector<std::string>& command_line,
                                    unsigned threads);

[[nodiscard]] std::string to_text(const Manifest& manifest);

/// Throws InputError `file: ...` on anything but a manifest of result_schema whose configuration has its hash, whose
/// seed, points and version are those of the configuration and the program, whose shard is one of that sweep, and whose
/// outputs are files of its folder, where it is complete with points.csv first.
[[nodiscard]] Manifest parse_manifest(std::string_view text, const std::string& file);

/// Version, build and host of this program, for people.
[[nodiscard]] nlohmann::ordered_json program_json();

[[nodiscard]] nlohmann::ordered_json files_json(const std::vector<FileDigest>& files);

/// Indented, with a line end. Bytes that are not UTF-8 (a path may hold some) become U+FFFD.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& json);

/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string utc_now();

}  // namespace foredraft::experiments
