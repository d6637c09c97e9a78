// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foredraft::logs {

/// RE2 of the lines that LlamaOptions reads.
inline constexpr std::string_view llama_options_anchor =
    R"re(\bllama-[a-z-]+(?:\.exe)?["']?[ \t]+(?:--?[a-zA-Z]|[\\^`]))re"
    R"re(|(?:^|[ \t])--?(?:spec-(?:type|draft-model|draft-n-max|draft-p-min)|model-draft|md|mtp|draft)\b|\bspeculative\.n_max\b)re";

/// The draft options of a llama-server in a command line, which may go over several lines of a post: `--spec-type`,
/// `--spec-draft-model`, `--spec-draft-n-max`, `--spec-draft-p-min`, their older names and those of ik_llama.cpp.
class LlamaOptions {
 public:
  /// Reads the options of a line. Returns whether it starts a program, whose options then replace those before; so does
  /// what a request sets, `speculative.n_max`.
  bool read(std::string_view text);

  /// Whether the command line of a server was read, and it drafts.
  [[nodiscard]] bool drafts() const { return server_ && drafter_ && maximum_ != 0; }

  /// The draft length; nullopt if it is unknown, or only a maximum: drafts that are not of MTP end where the draft
  /// model is unsure.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

  bool operator==(const LlamaOptions&) const = default;

 private:
  bool server_ = false, drafter_ = false, mtp_ = false, unsure_ = false;
  std::optional<std::int64_t> maximum_ = {};
};

}  // namespace foredraft::logs
