// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {

/// A results folder whose files are written whole: a manifest.json first, with state "running", and at the end again
/// with the digests of everything. Its WriteLock is held as long as this lives; draw its figures within that time.
class ResultFolder {
 public:
  /// What a folder is: the keys and values of its manifest that tell it from others, as the version of the program
  /// does, and further ones that do not.
  struct Kind {
    std::string_view schema;
    nlohmann::ordered_json content = nlohmann::ordered_json::object();
    nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  };

  /// Creates the folder. One of the same kind and program version is written again, file by file; one that holds
  /// anything else is refused with InputError, and nothing in it is touched. `threads`: nothing where they change no
  /// result and none are chosen.
  ResultFolder(std::string path, const Kind& kind, const std::vector<std::string>& command_line,
               std::optional<unsigned> threads = std::nullopt);

  /// Remembers a file that was read, once.
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
  std::vector<FileDigest> inputs_;
  std::vector<FileDigest> outputs_;
};

}  // namespace foredraft::experiments
