// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "logs/arms.hpp"

/// Options of engines in the words above a run or a table: "with `--speculative-algorithm EAGLE3`:".
namespace foredraft::logs {

/// A text whose options that set up speculation are the word "speculation", or "no speculation" if they turn it off:
/// the words around them say the rest, "without", "then". Other options beside them and marks of code are left out.
struct SpokenOptions {
  std::string words = {};
  int mentions = 0;  ///< of options, in a row or apart; 0: `words` is the text
  Arm arm = {};      ///< what the options say of it: a draft length, a drafter
};

/// Reads the options in a text. Command lines have none: what they start is that of the runs below them (launches.hpp).
[[nodiscard]] SpokenOptions spoken_options(std::string_view text);

}  // namespace foredraft::logs
