// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"
#include "logs/vllm_windows.hpp"

/// Logs of servers with vLLM's V1 engine: every ten seconds an engine line and, if something was drafted, a line of
/// metrics.
namespace foredraft::logs {
namespace {

/// Maximum error of a printed length, and of a printed rate by position.
constexpr double length_rounding = 0.005;
constexpr double rate_rounding = 0.0005;
constexpr std::string_view positions_label = "Per-position acceptance rate: ";
/// Maximum error of a decimal number as a double.
constexpr double slack = 1e-9;

/// A line of metrics; the first versions had neither lengths nor positions.
struct Metrics {
  std::int64_t accepted = 0;
  std::int64_t drafted = 0;
  std::optional<double> length = {};
  std::optional<std::int64_t> depth = {};  ///< if the draft length changes while serving
  std::vector<double> rates = {};
  std::optional<double> drafted_per_s = {};
};

/// Accepted / drafted in percent, with which the longest form of a line ends.
std::optional<double> final_percent(std::string_view text) {
  return number_after(text, "Avg Draft acceptance rate: ", "%");
}

/// Nullopt if the line was cut, unless nothing follows it: then without rates by position if some are missing. The
/// longest form ends with a rate in percent; the others end with the rates by position, which add up to the length - 1.
std::optional<Metrics> read_metrics(std::string_view text, bool cut) {
  const auto accepted = count_after(text, "Accepted: ", " tokens");
  const auto drafted = count_after(text, "Drafted: ", " tokens");
  if (!accepted || !drafted || (!cut && trimmed(text).ends_with(','))) return std::nullopt;
  Metrics metrics{.accepted = *accepted,
                  .drafted = *drafted,
                  .length = number_after(text, "Mean acceptance length: "),
                  .depth = count_after(text, "Current speculative depth: "),
                  .drafted_per_s = number_after(text, "Drafted throughput: ", " tokens/s")};
  if (const std::size_t at = text.find(positions_label); at != std::string_view::npos) {
    metrics.rates = take_numbers(text.substr(at + positions_label.size()));
  }
  if (final_percent(text)) return metrics;
  const bool ends_with_rates = !metrics.drafted_per_s || text.find("metrics: Draft acceptance rate: ") != text.npos;
  double sum = 0.0;
  for (const double rate : metrics.rates) sum += rate;
  const double off = length_rounding + rate_rounding * static_cast<double>(metrics.rates.size()) + slack;
  const bool rates_cut = metrics.length && sum < *metrics.length - 1.0 - off;
  const std::string_view end = trimmed(text);
  const std::size_t point = end.rfind('.');
  constexpr std::size_t last_rate = 4;  // ".045"
  const bool digits_cut =
      end.find(", Avg ") == end.npos && end.find_last_not_of("0123456789") == point && end.size() - point < last_rate;
  if (cut && (rates_cut || digits_cut)) metrics.rates.clear();
  return cut || (ends_with_rates && !rates_cut) ? std::optional(metrics) : std::nullopt;
}

std::size_t used_positions(const std::vector<double>& rates) {
  std::size_t used = rates.size();
  while (used > 0 && rates[used - 1] == 0.0) --used;
  return used;
}

/// Whether `gamma` drafts in every step reproduce the numbers of the line.
bool fits(const Metrics& metrics, std::int64_t gamma) {
  if (gamma <= 0 || metrics.drafted % gamma != 0) return false;
  if (!metrics.rates.empty() && static_cast<std::int64_t>(used_positions(metrics.rates)) > gamma) return false;
  const std::int64_t steps = metrics.drafted / gamma;
  const double length = 1.0 + static_cast<double>(metrics.accepted) / static_cast<double>(steps);
  return !metrics.length || std::abs(length - *metrics.length) <= length_rounding + slack;
}

/// Drafts per iteration, if all are equal: stated by the line; else the maximum, up to the number of its positions,
/// that fits; else, without positions, from the server's settings.
std::optional<std::int64_t> drafts_each(const Metrics& metrics, std::optional<std::int64_t> configured) {
  if (metrics.depth && fits(metrics, *metrics.depth)) return metrics.depth;
  for (auto gamma = static_cast<std::int64_t>(metrics.rates.size()); gamma > 0; --gamma) {
    if (fits(metrics, gamma)) return gamma;
  }
  if (metrics.rates.empty() && configured && fits(metrics, *configured)) return configured;
  if (metrics.rates.empty() && metrics.length && metrics.accepted > 0) {
    const auto gamma = whole(
        gamma_of_rate(*metrics.length, static_cast<double>(metrics.accepted) / static_cast<double>(metrics.drafted)));
    if (gamma && fits(metrics, *gamma)) return gamma;
  }
  return std::nullopt;
}

/// Nullopt if the steps cannot be determined from the line.
std::optional<AcceptanceCounts> counts_of(const Metrics& metrics, std::optional<std::int64_t> gamma,
                                          std::int64_t line) {
  AcceptanceCounts counts{.drafted_tokens = metrics.drafted, .accepted_tokens = metrics.accepted};
  if (gamma) {
    counts.steps = metrics.drafted / *gamma;
  } else if (metrics.length && *metrics.length > 1.0) {
    const double steps = std::round(static_cast<double>(metrics.accepted) / (*metrics.length - 1.0));
    // A counted step drafts something.
    counts.steps = static_cast<std::int64_t>(std::min(steps, static_cast<double>(metrics.drafted)));
    counts.steps_estimated = true;
  }
  if (counts.steps <= 0) return std::nullopt;
  set_positions(counts, metrics.rates, gamma, rate_rounding, line);
  return counts;
}

/// Whether steps drafted different numbers of tokens, beyond the rounding of the length that tells their number.
bool varies(const Metrics& metrics, const std::optional<AcceptanceCounts>& counts) {
  if (!counts || !metrics.length || !(*metrics.length > 1.0)) return false;
  const double rounding = length_rounding / (*metrics.length - 1.0);
  const double steps = static_cast<double>(counts->steps) * (1.0 - std::min(rounding, 1.0));
  return drafts_vary({.steps = static_cast<std::int64_t>(steps), .drafted_tokens = counts->drafted_tokens},
                     static_cast<std::int64_t>(metrics.rates.size()));
}

/// The length that the rates by position add up to, if none is missing: their mean is the rate at the end of the line.
std::optional<double> length_of_rates(std::string_view text) {
  const std::size_t at = text.find(positions_label);
  const auto percent = final_percent(text);
  if (at == text.npos || !percent) return std::nullopt;
  const std::vector<double> rates = take_numbers(text.substr(at + positions_label.size()));
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const auto count = static_cast<double>(rates.size());
  constexpr double rounding_of_percent = 0.0005;
  const bool complete = std::abs(sum / count - *percent / 100.0) <= rate_rounding + rounding_of_percent + slack;
  return complete ? std::optional(1.0 + sum) : std::nullopt;
}

/// Accepted / drafted, as the end of the line or its throughputs say.
std::optional<double> rate_of(std::string_view text) {
  if (const auto percent = final_percent(text)) return *percent / 100.0;
  const auto accepted = number_after(text, "Accepted throughput: ", " tokens/s");
  const auto drafted = number_after(text, "Drafted throughput: ", " tokens/s");
  return accepted && drafted && *drafted > 0.0 ? std::optional(*accepted / *drafted) : std::nullopt;
}

/// Nullopt if its two decimals may be cut.
std::optional<double> printed_length(std::string_view text) {
  constexpr std::string_view label = "Mean acceptance length: ";
  const std::size_t point = text.find('.', text.find(label));
  return point != text.npos && point + 2 < text.size() ? number_after(text, label) : std::nullopt;
}

/// A line as posts shorten it, without its counts; `cut`: one that nothing follows, which may end anywhere.
std::optional<Observation> shortened_window(std::string_view text, std::int64_t number, bool cut) {
  auto length = printed_length(text);
  if (!length) length = length_of_rates(text);
  const auto rate = cut ? rate_of(text) : final_percent(text) ? rate_of(text) : std::nullopt;
  if (!length || !(*length >= 1.0) || (!cut && (!rate || text.find("Accepted: ") != text.npos))) return std::nullopt;
  return Observation{.line = number,
                     .decoding = Decoding::speculative,
                     .gamma = rate ? whole(gamma_of_rate(*length, *rate)) : std::nullopt,
                     .acceptance_length = length};
}

/// The counts of a window that generated this many tokens: an estimate.
std::optional<AcceptanceCounts> counts_of_tokens(const VllmEngineLine& engine, double length) {
  const double steps = engine.generation_tokens_per_s * engine.seconds / length;
  const auto counted = whole(std::round(steps)), accepted = whole(std::round(steps * (length - 1.0)));
  if (!counted || *counted == 0 || !accepted) return std::nullopt;
  return AcceptanceCounts{.steps = *counted, .accepted_tokens = accepted, .steps_estimated = true};
}

constexpr std::array<std::string_view, 3> vllm_lines{
    "SpecDecoding metrics:", "Avg generation throughput: ", "Avg thr (in/out): "};
/// Words of the rest of a line that was broken to fit a page.
constexpr std::array<std::string_view, 8> vllm_rests{"Mean acceptance length: ",
                                                     "Accepted throughput: ",
                                                     "Drafted throughput: ",
                                                     "Accepted: ",
                                                     "Drafted: ",
                                                     "Per-position acceptance rate: ",
                                                     "Avg Draft acceptance rate: ",
                                                     "Running: "};

/// Maximum number of characters of a broken line that is put together.
constexpr std::size_t longest_window = 4096;

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// LMDeploy's logger is adapted from vLLM's and writes the same metrics, but its server has other options: its own
/// words are its name as a logger's, its rank "DP0" or "DP: 0" instead of an engine, the finished requests, and the
/// metrics of drafts in the line of the others.
bool is_of_lmdeploy(std::string_view text) {
  static const RE2 own_words(
      R"(Avg thr \(in/out\): | - lmdeploy - |hit rate: [\d.]+%, SpecDec|\bDP(?:\d+\]|: \d+,) Avg |\bFinished: \d)");
  return RE2::PartialMatch(piece(text), own_words);
}

class VllmReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    // A "speculative_config" with a "decoding_type" is TensorRT-LLM's.
    if (text.find("decoding_type") != std::string_view::npos || !read_text(text, number, contents)) return false;
    of_lmdeploy_ = of_lmdeploy_ || is_of_lmdeploy(text);
    contents.engine = of_lmdeploy_ ? "lmdeploy" : "vllm";
    return true;
  }

  void finish(LogContents& contents) override {
    settle(contents);
    windows_.finish(contents);
    if (throughput_line_ && !has_engine_lines_) {
      warn_once(contents, "W04", *throughput_line_,
                "no engine lines: the generation throughput, of which accepted throughput is a part, is not logged");
    }
  }

 private:
  bool read_text(std::string_view text, std::int64_t number, LogContents& contents) {
    const bool follows =
        number == broken_line_ + 1 && broken_.size() + text.size() < longest_window && !has_any(text, vllm_lines);
    if (!follows) settle(contents);
    if (follows) {
      broken_.append(" ").append(trimmed(text));
    } else if (has_any(text, vllm_lines) || text.find(positions_label) != text.npos) {
      broken_ = text;  // without its beginning, the end of a line tells whether it is complete
    } else {
      return !has_any(text, vllm_rests) && configure(text, number, contents);
    }
    const bool read = read_line(broken_, number, contents);
    broken_line_ = read ? -1 : number;
    return read || (has_any(broken_, std::span(vllm_lines).first(1)) && shortened_window(broken_, number, true));
  }

  bool read_line(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_engine(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_window(std::string_view text, std::int64_t number, LogContents& contents, bool cut = false);
  void settle(LogContents& contents);
  bool configure(std::string_view text, std::int64_t number, LogContents& contents);

  std::string broken_ = {};        ///< the last line of a window, with what follows where it is not complete
  std::int64_t broken_line_ = -1;  ///< where the incomplete line ends so far
  VllmWindows windows_;
  std::optional<std::int64_t> throughput_line_ = {};  ///< first one with an accepted throughput
  bool has_engine_lines_ = false;
  bool of_lmdeploy_ = false;
  std::optional<std::int64_t> gamma_ = {};  ///< of the last window that was not cut
};

bool VllmReader::read_line(std::string_view text, std::int64_t number, LogContents& contents) {
  const bool whole = text.find(vllm_lines.front()) != text.npos;
  const bool rest = text.find(positions_label) != text.npos && final_percent(text);
  return whole || rest ? read_window(text, number, contents) : read_engine(text, number, contents);
}

bool VllmReader::read_engine(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<VllmEngineLine> engine = vllm_engine_line(text, number);
  if (!engine) return false;
  windows_.engine(*engine, contents);
  has_engine_lines_ = true;
  return true;
}

/// Reads what the line has that nothing completed.
void VllmReader::settle(LogContents& contents) {
  const std::int64_t number = std::exchange(broken_line_, -1);
  if (number >= 0 && has_any(broken_, std::span(vllm_lines).first(1))) read_window(broken_, number, contents, true);
}

bool VllmReader::read_window(std::string_view text, std::int64_t number, LogContents& contents, bool cut) {
  const std::optional<Metrics> metrics = read_metrics(text, cut);
  std::optional<Observation> shortened = metrics ? std::nullopt : shortened_window(text, number, cut);
  if (!metrics && !shortened) return false;
  read_engine(text, number, contents);  // LMDeploy logs both in one line
  windows_.speculates();
  const std::optional<VllmEngineLine> engine = windows_.take(clock_in(text), contents);
  if (shortened) {
    if (engine && cut) shortened->acceptance = counts_of_tokens(*engine, *shortened->acceptance_length);
    if (shortened->acceptance) shortened->acceptance_length = std::nullopt;
    if (cut) note(shortened->gamma, gamma_);
    if (engine) set_engine_line(*engine, *shortened);
    contents.observations.push_back(*std::move(shortened));
    return true;
  }
  if (metrics->drafted == 0 && metrics->accepted == 0) {
    windows_.no_draft(engine, contents);
    return true;
  }
  const auto gamma = drafts_each(*metrics, cut && !contents.settings.gamma ? gamma_ : contents.settings.gamma);
  if (!cut) gamma_ = gamma;
  Observation observation{.line = number,
                          .decoding = Decoding::speculative,
                          .gamma = gamma,
                          .acceptance = counts_of(*metrics, gamma, number),
                          .acceptance_length = std::nullopt};
  if (!gamma && !metrics->rates.empty()) {
    observation.gamma = static_cast<std::int64_t>(metrics->rates.size());
    if (varies(*metrics, observation.acceptance)) observation.adaptive = true;
  }
  if (gamma && static_cast<std::size_t>(*gamma) < metrics->rates.size()) {
    warn_once(
        contents, "W08", number,
        fmt::format("{} positions are logged, {} were drafted: ignored the others", metrics->rates.size(), *gamma));
  }
  if (!observation.acceptance) {
    observation.acceptance_length = metrics->length;
    if (!metrics->length) {
      warn_once(
          contents, "W08", number,
          "no positions and no mean length: the number of steps is unknown without the number of speculative tokens");
    }
  }
  const AcceptanceCounts logged{.drafted_tokens = metrics->drafted, .accepted_tokens = metrics->accepted};
  check_counts(observation.acceptance.value_or(logged), gamma, number, contents);
  if (metrics->drafted_per_s && *metrics->drafted_per_s > 0.0) {
    observation.times.duration_s = static_cast<double>(metrics->drafted) / *metrics->drafted_per_s;
    if (!throughput_line_) throughput_line_ = number;
  }
  if (engine) set_engine_line(*engine, observation);
  contents.observations.push_back(std::move(observation));
  return true;
}

void note_text(std::optional<std::string>& setting, std::optional<std::string_view> text) {
  if (text) setting = std::string(*text);
}

/// Settings by which the engine itself varies its drafts, in the arguments of a server. A schedule by batch size is
/// none: it drafts a fixed number of tokens at each load.
bool sets_adaptive(std::string_view text) {
  constexpr std::array<std::string_view, 5> settings{"enable_adaptive_verification", "enable_adaptive_k",
                                                     "disable_by_batch_size", "draft_confidence_threshold",
                                                     "adaptive_draft"};
  return std::ranges::any_of(settings, [&](std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return false;
    const std::string_view value = text.substr(std::min(at + name.size(), text.size()), 8);
    return value.find("False") == std::string_view::npos && value.find("false") == std::string_view::npos &&
           value.find("None") == std::string_view::npos;
  });
}

/// The lines with a server's settings.
bool VllmReader::configure(std::string_view text, std::int64_t number, LogContents& contents) {
  std::optional<std::string_view> version = text_after(text, "LLM engine (v", ")");
  if (sets_adaptive(text)) windows_.adapts();
  // A denoising step of a diffusion model emits several tokens.
  if (text.find("DiffusionDecoding metrics: ") != text.npos) windows_.speculates();
  if (version) {
    windows_.begin_server(number, contents);
  } else if (const std::size_t at = text.find("vLLM API server version "); at != std::string_view::npos) {
    version = trimmed(text.substr(at + std::string_view("vLLM API server version ").size()));
  }
  if (version) contents.version = *version;
  note_text(contents.settings.target, text_after(text, "with config: model='", "'"));
  if (const auto speculation = text_after(text, "SpeculativeConfig(", ")")) {
    note_text(contents.settings.method, text_after(*speculation, "method='", "'"));
    note_text(contents.settings.draft, text_after(*speculation, "model='", "'"));
    contents.settings.gamma = count_after(*speculation, "num_spec_tokens=");
    windows_.speculates();
  }
  constexpr std::string_view sizes = "cudagraph_capture_sizes";
  if (const std::size_t at = text.find(sizes); at != std::string_view::npos) {
    const std::string_view list = text.substr(std::min(text.find('[', at), text.size() - 1) + 1);
    contents.settings.graph_sizes.clear();
    for (const double size : take_numbers(list)) {
      if (const auto tokens = whole(size)) contents.settings.graph_sizes.push_back(*tokens);
    }
  }
  return true;
}

}  // namespace

LineFormat vllm_metrics_format() {
  return lines_of<VllmReader>(
      R"(SpecDecoding metrics:|Avg generation throughput: |Avg thr \(in/out\): |SpeculativeConfig\()"
      R"(|DiffusionDecoding metrics: |LLM engine \(v|vLLM API server version |'?speculative_config'?: ?\{)"
      R"(|\b(?:Mean acceptance length|(?:Accepted|Drafted)(?: throughput)?|Per-position acceptance rate|Avg Draft acceptance rate): \d)"
      R"(|Running: \d+ reqs)",
      vllm_lines);
}

}  // namespace foredraft::logs
