// SPDX-License-Identifier: Apache-2.0
#include "logs/sglang_options.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>

#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

bool SglangOptions::read(std::string_view text) {
  const auto option = [&](std::string_view spaced, std::string_view equal) {
    const auto value = count_after(text, spaced);
    return value ? value : count_after(text, equal);
  };
  // Of a bench: requests, depth, width and tokens, of one setting; and what it prints of each.
  static const RE2 config(
      R"(--config-list[ =]+["']?\d+,(\d{1,3}),(\d{1,3}),(\d{1,4})["']?(?:[ \t\\]*$|[ \t]+[-#|&>]))");
  static const RE2 printed(R"(\bsteps[ =:]+(\d{1,3}),? +topk[ =:]+(\d{1,3}),? +num_draft_tokens[ =:]+(\d{1,4})\b)");
  std::int64_t steps = 0, topk = 0, drafted = 0;
  if (RE2::PartialMatch(piece(text), config, &steps, &topk, &drafted) ||
      RE2::PartialMatch(piece(text), printed, &steps, &topk, &drafted)) {
    *this = {};
    depth_ = steps;
    width_ = topk;
    tokens_ = drafted;
    return true;
  }
  static const RE2 algorithm(R"(--speculative-algorithm[ =]+["']?(?:eagle3?|[a-z0-9_]*mtp)\b)");
  if (RE2::PartialMatch(piece(text), algorithm)) {
    *this = {};
    of_lmdeploy_ = true;
  }
  const auto depth = option("--speculative-num-steps ", "--speculative-num-steps=");
  const bool adaptive = text.find("--speculative-adaptive") != std::string_view::npos;
  if (depth) {
    const bool before = adaptive_alone_;
    if (depth_) *this = {};
    adaptive_ = before;
    adaptive_alone_ = false;
    depth_ = depth;
  }
  adaptive_ = adaptive_ || adaptive;
  adaptive_alone_ = adaptive_alone_ || (adaptive && !depth);
  note(width_, option("--speculative-eagle-topk ", "--speculative-eagle-topk="));
  note(tokens_, option("--speculative-num-draft-tokens ", "--speculative-num-draft-tokens="));
  return depth.has_value();
}

std::optional<std::int64_t> SglangOptions::gamma() const {
  if (of_lmdeploy_ && !depth_) return tokens_;
  if (adaptive_ || !depth_ || *depth_ == 0 || width_.value_or(1) > 1) return std::nullopt;
  const bool chain = width_ == 1 || tokens_ == *depth_ + 1;  // one token wide, SGLang itself drafts the depth
  return chain ? depth_ : std::nullopt;
}

std::optional<DraftTree> SglangOptions::tree() const {
  return adaptive_ ? std::nullopt : tree_of_sizes(depth_, width_, tokens_);
}

std::optional<DraftTree> tree_of_sizes(std::optional<std::int64_t> steps, std::optional<std::int64_t> width,
                                       std::optional<std::int64_t> tokens) {
  if (steps.value_or(0) <= 0 || width.value_or(1) <= 1 || tokens.value_or(0) <= 1) return std::nullopt;
  return DraftTree{.steps = *steps, .width = *width, .tokens = *tokens};
}

void AcceptRates::Bounds::narrow(double to_low, double to_high) {
  low = std::max(low, to_low);
  high = std::min(high, to_high);
}

std::optional<std::int64_t> AcceptRates::Bounds::whole_number() const {
  const double number = std::ceil(low);
  if (!(number >= 1.0) || number > high || std::floor(high) > number) return std::nullopt;
  return whole(number);
}

void AcceptRates::bound(double length, double rate) {
  constexpr double rounding = 0.005;  // maximum error of a printed length or rate
  const double max_rate = rate + rounding;
  const double min_rate = std::max(rate - rounding, 0.0);  // 0 does not bound the numbers
  verified_.narrow((length - rounding) / max_rate, (length + rounding) / min_rate);
  drafts_.narrow((length - 1.0 - rounding) / max_rate, (length - 1.0 + rounding) / min_rate);
}

std::optional<std::int64_t> AcceptRates::gamma(std::int64_t line, LogContents& contents) const {
  const auto tokens = verified_.whole_number();
  const auto drafts = drafts_.whole_number();
  if (drafts && !tokens) {
    warn_once(contents, "W06", line, fmt::format("the accept rate counts {} drafts in every line", *drafts));
    return drafts;
  }
  if (tokens && !drafts && *tokens > 1) {
    warn_once(contents, "W06", line,
              fmt::format("the accept rate is accept len / {} verified tokens: {} drafts", *tokens, *tokens - 1));
    return *tokens - 1;
  }
  warn_once(contents, "W06", line,
            "the accept rate has several definitions, and the lines do not determine which: draft length unknown");
  return std::nullopt;
}

}  // namespace foredraft::logs
