// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"

/// Command lines above the output of scripts and servers that say which of its runs speculate.
namespace foredraft::logs {

/// RE2 of the lines that Launches reads.
inline constexpr std::string_view launch_anchor =
    R"re(\bpython[\d.]*[ \t]+(?:-[a-z][ \t]+)?[\w./-]+\.|\bvllm[ \t]+serve\b|\btrtllm-bench[ \t]+-)re"
    R"re(|^[ \t]*(?:decoding_type|num_nextn_predict_layers|max_draft_len):[ \t]*\w|^[ \t]*--(?:speculative|num[-_]spec|with[-_]speculation|(?:max[-_])?concurrency))re";

/// The command lines of a log: those of Python's scripts and modules, of `vllm serve` and `trtllm-bench`, also over
/// several lines, and the configurations (YAML) of TensorRT-LLM.
class Launches {
 public:
  void read(std::string_view text, std::int64_t number);

  /// Runs of which it is not known speculate if the command line before them drafts. They do not if it starts a program
  /// that another command line of the log starts with drafts. Commands without output between them are one; those of
  /// two servers tell nothing. Runs whose load is not known have that of the command. Warns of what was read (W22).
  void name_runs(LogContents& contents) const;

 private:
  struct Launch {
    std::int64_t line;
    std::string program;  ///< "vllm serve", or the script or module; empty: a configuration
    bool drafts = false;
    std::optional<std::int64_t> gamma = {};
    std::optional<double> concurrency = {};
  };

  [[nodiscard]] std::vector<Launch> before_runs(const LogContents& contents) const;

  std::vector<Launch> launches_ = {};
};

}  // namespace foredraft::logs
