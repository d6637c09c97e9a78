// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/arms.hpp"

/// Speeds that scripts print, a line each: "[chat 2/10] tps=1.7", "code rep1: 634 tok in 11.3 s = 56.1 tok/s".
namespace foredraft::logs {

struct LabeledSpeed {
  std::int64_t line = 0;
  std::string label = {};       ///< of the prompts, in lower case, without what counts repetitions; empty: none
  bool is_summary = false;      ///< a mean or a median
  std::optional<Arm> arm = {};  ///< that the words before the speed name
  double tokens_per_s = 0.0;
  std::optional<double> length = {};  ///< acceptance length
};

/// The only output speed of a line; nullopt for warm-ups, speeds of several requests together, and sentences.
[[nodiscard]] std::optional<LabeledSpeed> labeled_speed(std::string_view text, std::int64_t number);

/// One summary of each label in the place of what it sums up; without summaries, all its speeds.
[[nodiscard]] std::vector<LabeledSpeed> without_repeated(std::vector<LabeledSpeed> speeds);

}  // namespace foredraft::logs
