// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// Lists of counters, one per line, as printed by vLLM's spec_decode.py or pasted from elsewhere.
namespace foredraft::logs {
namespace {

/// Rates of positions are printed with two digits.
constexpr double listed_rounding = 0.005;

constexpr std::string_view list_anchor =
    R"((?i)^[ \t*-]*(?:num[ _](?:drafts|draft[ _]tokens|accepted[ _](?:draft[ _])?tokens|spec(?:ulative)?[ _]tokens)"
    R"(|spec[ _]steps)|total_num_output_tokens|(?:mean[ _]|avg[ _]|average[ _])?accept(?:ance)?[ _]length)"
    R"(|acceptance[ _]at[ _](?:token|pos)[ _]\d+)[ \t]*[:=])";

/// spellings of one field; the first is its name
using Spellings = std::array<std::string_view, 5>;
constexpr std::array<Spellings, 5> spellings{{
    {"num_drafts", "num_spec_steps", "", "", ""},
    {"num_draft_tokens", "", "", "", ""},
    {"num_accepted_tokens", "num_accepted_draft_tokens", "", "", ""},
    {"num_spec_tokens", "num_speculative_tokens", "", "", ""},
    {"mean_acceptance_length", "acceptance_length", "accept_length", "avg_acceptance_length",
     "average_acceptance_length"},
}};

/// Normalized to lower case with single underscores between words, and to the first of its spellings.
std::string plain_key(std::string_view key) {
  std::string plain;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (!letter && !plain.empty() && plain.back() != '_') plain += '_';
  }
  for (const Spellings& field : spellings) {
    if (std::find(field.begin(), field.end(), plain) != field.end()) return std::string(field[0]);
  }
  constexpr std::string_view position = "acceptance_at_pos_";
  if (plain.starts_with(position)) plain.replace(0, position.size(), "acceptance_at_token_");
  return plain;
}

class KeyValuesReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::optional<KeyValue> field = key_value(text);
    if (!field || field->value.empty()) return false;
    const std::string key = plain_key(field->key);
    if (!block_.add(key, field->value, number)) {
      close(contents);
      block_.add(key, field->value, number);
    }
    return true;
  }

  void finish(LogContents& contents) override { close(contents); }

 private:
  void close(LogContents& contents);

  KeyValueBlock block_;
};

/// Nullopt if neither the steps nor values that determine them are there.
std::optional<AcceptanceCounts> counts_of(const KeyValueBlock& block) {
  AcceptanceCounts counts{.drafted_tokens = block.count("num_draft_tokens"),
                          .accepted_tokens = block.count("num_accepted_tokens")};
  const auto gamma = block.count("num_spec_tokens");
  if (const auto drafts = block.count("num_drafts")) {
    counts.steps = *drafts;
  } else if (gamma && *gamma > 0 && counts.drafted_tokens && *counts.drafted_tokens % *gamma == 0) {
    counts.steps = *counts.drafted_tokens / *gamma;
  }
  if (counts.steps <= 0) return std::nullopt;
  return counts;
}

void KeyValuesReader::close(LogContents& contents) {
  const KeyValueBlock block = std::exchange(block_, {});
  Observation run{.line = block.line(), .span = Span::run, .decoding = Decoding::speculative};
  run.gamma = block.count("num_spec_tokens");
  if (run.gamma) contents.settings.gamma = run.gamma;
  run.acceptance = counts_of(block);
  if (run.acceptance) {
    AcceptanceCounts& counts = *run.acceptance;
    if (!run.gamma) run.gamma = steady_gamma(counts);
    std::vector<double> rates = block.list("acceptance_at_token_");
    if (run.gamma && static_cast<std::int64_t>(rates.size()) > *run.gamma) {
      rates.resize(static_cast<std::size_t>(*run.gamma));
      warn_once(contents, "W08", block.line(),
                fmt::format("more positions are listed than the {} drafted ones: ignored the others", *run.gamma));
    }
    set_positions(counts, rates, std::nullopt, listed_rounding, block.line());
    check_counts(counts, run.gamma, block.line(), contents);
  } else {
    run.acceptance_length = block.real("mean_acceptance_length");
    if (!run.acceptance_length) return;
  }
  if (block.has("total_num_output_tokens")) contents.engine = "vllm";
  contents.observations.push_back(std::move(run));
}

}  // namespace

LogFormat key_values_format() {
  return {.name = "key-values",
          .summary = "lists such as num_drafts: 4816, as spec_decode.py of vLLM prints them",
          .engine = "",
          .gives = {"yes", "yes", "(yes)", "no", "no"},
          .reads = LineFormat{.anchor = list_anchor, .open = [] { return std::make_unique<KeyValuesReader>(); }}};
}

}  // namespace foredraft::logs
