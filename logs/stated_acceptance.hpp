// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"

/// Acceptance lengths that a sentence beside a table states: "AL was 1.7 / 2.2 for K = 1 / 2", "the acceptance length
/// stayed at 2.4".
namespace foredraft::logs {

class StatedAcceptance {
 public:
  /// The text at the beginning of a log, part by part.
  void note(std::string_view text);
  /// A line "Acceptance length: 2.4" beside a table that states none is such a sentence, too, and no run of a console
  /// of which all else is cut off.
  void take_lines(LogContents& contents) const;
  /// Gives the lengths to the drafting runs of a table that states no acceptance (W22): those of K to the runs of K; a
  /// single one to all, if they have one setting. Of several kinds of prompts only if the sentence says that it is of
  /// all. A rate is one of runs with a draft length if no sentence states a length (W20).
  void name_runs(LogContents& contents) const;

 private:
  struct Sentence {
    std::vector<std::int64_t> gammas = {};  ///< [i]: of lengths[i]; empty: of the only setting
    std::vector<double> lengths = {};       ///< or rates
    bool is_rate = false;
    bool of_all = false;  ///< says so
    std::string words = {};
  };
  void note_sentence(std::string_view sentence);

  std::size_t bytes_ = 0;
  std::vector<Sentence> sentences_ = {};
};

}  // namespace foredraft::logs
