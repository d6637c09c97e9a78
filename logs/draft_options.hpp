// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "logs/llama_options.hpp"
#include "logs/observation.hpp"
#include "logs/sglang_options.hpp"

namespace foredraft::logs {

/// The options and settings of engines that set up speculation, in a command line, a configuration or a text.
struct DraftOptions {
  bool drafts = false;
  std::optional<std::string> drafter = {};  ///< its method, in lower case
  std::optional<std::int64_t> tokens = {};  ///< num_speculative_tokens, draft_num_predict, TabbyAPI's draft_num_tokens
  bool has_assistant = false;               ///< a script has the option of a draft model
  bool ends_early = false;                  ///< `tokens` is the most
  std::optional<std::int64_t> block = {};   ///< mlx-vlm's: the drafted tokens and the known one before them
  DraftTree eagle = {};                     ///< of EAGLE's own scripts; 0: not stated
  SglangOptions sglang = {};
  LlamaOptions llama = {};

  /// Reads the options of a line; those that it lacks stay.
  void read(std::string_view text);

  /// The draft length; nullopt if it is unknown or only a maximum.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

  /// The most that it drafts at once, where that is all that options say.
  [[nodiscard]] std::optional<std::int64_t> most() const;

  /// The tree; nullopt for others.
  [[nodiscard]] std::optional<DraftTree> tree() const;

  /// Whether it drafts with a drafter that looks tokens up, and may find nothing: n-gram.
  [[nodiscard]] bool looks_up() const;

 private:
  [[nodiscard]] bool is_most() const;
};

}  // namespace foredraft::logs
