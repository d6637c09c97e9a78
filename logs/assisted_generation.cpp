// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
    if (decoding_ == Decoding::unknown) return false;  // another script prints the same words
    // Prompts one after the other. The time of a prompt is in that of its tokens.
    contents.observations.push_back(
        observation_of({.line = number, .concurrency = 1.0, .tpot_ms = ms}, decoding_, contents));
    decoding_ = Decoding::unknown;
    return true;
  }

 private:
  Decoding decoding_ = Decoding::unknown;  ///< of the last run that was named
};

}  // namespace

LineFormat assisted_generation_format() {
  return {
      .anchor =
          R"(\b(?:ORIGINAL|OG|ASSISTED|NEW) (?:model\b[^|\n]*: +\d+%\||Average time)|Average time per token \(ms\): *\d)",
      .open = [] { return std::make_unique<AssistedReader>(); }};
}

}  // namespace foredraft::logs
