// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"

/// Hugging Face's text-generation-inference (TGI).
namespace foredraft::logs {
namespace {

/// Right below a line that was read may be the number that it does not hold yet; that ends with a comma.
constexpr std::array<std::string_view, 1> tgi_next{","};

/// The settings at the start of a server, on one line or a line each, and the line at the end of each request. It
/// counts no drafts; nothing tells which requests ran at the same time.
class TgiReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 time(R"re(\btime_per_token\\?"?[=:]\\?"([\d.]+)(s|ms|\xC2\xB5s|ns)\b)re", byte_options());
    static const RE2 inference(R"re(\binference_time\\?"?[=:]\\?"([\d.]+)(s|ms|\xC2\xB5s|ns)\b)re", byte_options());
    const auto per_token_ms = milliseconds(text, time);
    if (!per_token_ms) return configure(text, number, contents);
    if (!(*per_token_ms > 0.0)) return true;
    StatedRun run{.line = number, .gamma = gamma_, .tpot_ms = per_token_ms};
    if (const auto total_ms = milliseconds(text, inference)) {
      run.output_tokens = std::round(*total_ms / *per_token_ms);
    }
    Observation request = observation_of(run, decoding_, contents);
    request.span = Span::request;
    contents.observations.push_back(std::move(request));
    warn_once(contents, "W12", number, "the time per token includes that of the prompt: TGI logs no other");
    return true;
  }

 private:
  /// A duration as Rust prints it: "17.46s", "340.1µs".
  static std::optional<double> milliseconds(std::string_view text, const RE2& duration) {
    double value = 0.0;
    std::string unit;
    if (!RE2::PartialMatch(piece(text), duration, &value, &unit)) return std::nullopt;
    return value * (unit == "s" ? 1e3 : unit == "ms" ? 1.0 : unit == "ns" ? 1e-6 : 1e-3);
  }

  /// `speculate: Some(3)`, in later versions over three lines. A model may bring heads of its own, which draft without
  /// that setting; their names say so.
  bool configure(std::string_view text, std::int64_t number, LogContents& contents) {
    static const RE2 model(R"re(\bmodel_id: \\?"([^"\\]+))re", byte_options());
    static const RE2 heads("(?i)medusa|speculator|accelerator");
    static const RE2 drafts(R"(\bspeculate: (None|Some)\(?[ \t]*(\d*))", byte_options());
    static const RE2 number_alone(R"(\b(\d{1,3}),[ \t]*$)");
    // Of a message of JSON only its text is offered.
    const bool begins = text.find("Args {") != std::string_view::npos &&
                        (text.find("text_generation_launcher") != std::string_view::npos || text.starts_with("Args {"));
    if (begins) {
      in_settings_ = true;
      has_heads_ = false;
    }
    if (!in_settings_) return false;
    if (std::string target; RE2::PartialMatch(piece(text), model, &target)) {
      has_heads_ = RE2::PartialMatch(target, heads);
      note(contents.settings.target, std::optional(target));
    }
    std::string set, drafted;
    const bool follows = number == open_line_ + 1 && RE2::PartialMatch(piece(text), number_alone, &drafted);
    if (!follows && !RE2::PartialMatch(piece(text), drafts, &set, &drafted)) return begins;
    if (set == "Some" && drafted.empty()) open_line_ = number;
    gamma_ = drafted.empty() ? std::nullopt : std::optional(std::stod(drafted));
    const bool off = set == "None" || gamma_ == 0.0;
    decoding_ = !off ? Decoding::speculative : has_heads_ ? Decoding::unknown : Decoding::plain;
    return true;
  }

  std::optional<double> gamma_ = {};
  Decoding decoding_ = Decoding::unknown;
  bool in_settings_ = false;  ///< a server has printed its own: others have settings of these names too
  bool has_heads_ = false;
  std::int64_t open_line_ = -1;  ///< the last one that ends in "speculate: Some("
};

}  // namespace

LineFormat tgi_format() {
  return lines_of<TgiReader>(R"(\btime_per_token\\?"?[=:]\\?"\d|\bArgs \{)"
                             R"(|\bspeculate: (?:None\b|Some\()|\bmodel_id: \\?")",
                             tgi_next);
}

}  // namespace foredraft::logs
