// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "experiments/results/manifest.hpp"

/// The last step of every command with --out: prints the answer and writes its folder.
namespace foredraft::app {

/// The results folder of an answer.
struct AnswerFolder {
  experiments::ResultFolder::Kind kind;
  std::vector<FileDigest> inputs;                             ///< files that were read
  std::function<void(experiments::ResultFolder& out)> write;  ///< writes all files except the manifest
};

/// Prints `answer`. If the line has --out, writes the folder first and draws its figures afterwards. Returns the exit
/// code. Throws InputError if the folder holds something else.
[[nodiscard]] int print_answer(const CommandLine& line, const std::string& answer, const AnswerFolder& folder);

}  // namespace foredraft::app
