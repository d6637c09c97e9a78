// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foredraft::logs {

/// The draft options of an SGLang server in a command line, which may go over several lines of a post:
/// `--speculative-num-steps`, `--speculative-eagle-topk`, `--speculative-num-draft-tokens`.
class SglangOptions {
 public:
  /// Reads the options of a line. Returns whether it has a depth, with which those of the next server begin.
  bool read(std::string_view text);

  /// The draft length; nullopt if it is unknown, adaptive (`--speculative-adaptive`), or for a tree, which drafts more
  /// tokens than its depth.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

 private:
  std::optional<std::int64_t> depth_ = {}, width_ = {}, tokens_ = {};
  bool adaptive_ = false;
};

}  // namespace foredraft::logs
