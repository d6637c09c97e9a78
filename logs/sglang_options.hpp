// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foredraft::logs {

/// The draft options of an SGLang server in a command line, which may span several lines: `--speculative-num-steps`,
/// `--speculative-eagle-topk`, `--speculative-num-draft-tokens`, `--speculative-adaptive`; or the one setting that a
/// bench starts it with, `--config-list 1,3,1,4`.
class SglangOptions {
 public:
  /// Reads the options of a line. Returns true if it has a depth: a second one begins the options of the next server,
  /// and those before it are forgotten, but not `--speculative-adaptive` on a line of its own, which may be of both.
  bool read(std::string_view text);

  /// The draft length; nullopt if it is unknown, adaptive, or for a tree, which drafts more tokens than its depth.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

 private:
  std::optional<std::int64_t> depth_ = {}, width_ = {}, tokens_ = {};
  bool adaptive_ = false;
  bool adaptive_alone_ = false;  ///< on a line after that of the depth, or before any
};

}  // namespace foredraft::logs
