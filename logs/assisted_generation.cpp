// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"

/// Console of the benchmarks of assisted generation with Hugging Face's transformers (2023 to 2025): a progress bar
/// that names the run, and below it the mean time of a token. Which run comes first differs between versions.
namespace foredraft::logs {
namespace {

class AssistedReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 of_run(R"(\b(?:(ORIGINAL|OG)|ASSISTED|NEW) (?:model\b|Average time))", byte_options());
    std::string plain;
    const bool names_run = RE2::PartialMatch(piece(text), of_run, &plain);
    if (names_run) decoding_ = plain.empty() ? Decoding::speculative : Decoding::plain;
    const std::optional<double> ms = number_after(text, "Average time per token (ms):", "");
    if (!ms || *ms <= 0.0) return names_run;
    // Prompts one after the other. The time of a prompt is in that of its tokens.
    const StatedRun run{.line = number, .concurrency = 1.0, .tpot_ms = ms};
    if (decoding_ == Decoding::unknown) {
      constexpr std::size_t enough = 1024;
      if (unnamed_.size() < enough) unnamed_.push_back(run);
      return false;  // other scripts print the same words
    }
    contents.observations.push_back(observation_of(run, decoding_, contents));
    decoding_ = Decoding::unknown;
    return true;
  }

  /// Scripts that run one arm name none: their command lines do.
  void finish_alone(LogContents& contents) override {
    for (const StatedRun& run : unnamed_)
      contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
  }

 private:
  Decoding decoding_ = Decoding::unknown;  ///< of the last run that was named
  std::vector<StatedRun> unnamed_ = {};
};

}  // namespace

LineFormat assisted_generation_format() {
  return {
      .anchor =
          R"(\b(?:ORIGINAL|OG|ASSISTED|NEW) (?:model\b[^|\n]*: +\d+%\||Average time)|Average time per (?:input|token) \(ms\): *\d)",
      .open = [] { return std::make_unique<AssistedReader>(); }};
}

}  // namespace foredraft::logs
