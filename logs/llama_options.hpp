// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foredraft::logs {

/// RE2 of the lines that LlamaOptions reads.
inline constexpr std::string_view llama_options_anchor =
    R"re(\bllama-[a-z-]+(?:\.exe)?["']?[ \t]+(?:--?[a-zA-Z]|[\\^`]))re"
    R"re(|(?:^|[ \t])--?(?:spec-(?:type|draft-model|draft-hf|draft-n-max|draft-p-min)|model-draft|hf-repo-draft|hfr?d|md|mtp|draft)\b|\bspeculative\.n_max\b)re"
    R"re(|adding speculative implementation '|- n_max=\d+, n_min=)re";

/// The draft options of a llama-server, or of llama-cli, in a command line, which may span several lines:
/// `--spec-type`, `--spec-draft-model`, `--spec-draft-n-max`, `--spec-draft-p-min`, their older names and those of
/// ik_llama.cpp; or in what it prints at its start, "adding speculative implementation 'draft-mtp'".
class LlamaOptions {
 public:
  /// Reads the options of a line. Returns whether they replace all before: those of a line that starts a program, or
  /// `speculative.n_max`, which a request sets.
  bool read(std::string_view text);

  /// Whether the command line of a server or console was read, or its drafter, and it drafts.
  [[nodiscard]] bool drafts() const { return (started_ || printed_) && drafter_ && maximum_ != 0; }

  /// Whether a command line says so, which is of all answers below it.
  [[nodiscard]] bool is_commanded() const { return started_; }

  [[nodiscard]] bool is_server() const { return server_; }

  /// The draft length; nullopt if it is unknown, or only a maximum: a drafter other than MTP, or one with a minimum
  /// probability (`--spec-draft-p-min`), stops where it is unsure.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

  /// The most that it drafts at once.
  [[nodiscard]] std::optional<std::int64_t> most() const { return drafts() ? maximum_ : std::nullopt; }

  bool operator==(const LlamaOptions&) const = default;

 private:
  bool started_ = false, server_ = false, drafter_ = false, mtp_ = false, unsure_ = false, printed_ = false;
  std::optional<std::int64_t> maximum_ = {};
};

}  // namespace foredraft::logs
