// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "logs/observation.hpp"

namespace foredraft::logs {

/// The tree of these sizes; nullopt for a chain, and if one of them is unknown.
[[nodiscard]] std::optional<DraftTree> tree_of_sizes(std::optional<std::int64_t> steps,
                                                     std::optional<std::int64_t> width,
                                                     std::optional<std::int64_t> tokens);

/// The draft options of an SGLang server in a command line, which may span several lines: `--speculative-num-steps`,
/// `--speculative-eagle-topk`, `--speculative-num-draft-tokens`, `--speculative-adaptive`; or the one setting that a
/// bench starts it with, `--config-list 1,3,1,4`, or prints, `steps 3, topk 1, num_draft_tokens 4`. LMDeploy has
/// options of these names, but none of steps, and algorithms in small letters.
class SglangOptions {
 public:
  /// Reads the options of a line. Returns true if it has a depth: a second one begins the options of the next server,
  /// and those before it are forgotten, but not `--speculative-adaptive` on a line of its own, which may be of both.
  bool read(std::string_view text);

  /// The draft length; nullopt if it is unknown, adaptive, or for a tree, which drafts more tokens than its depth.
  [[nodiscard]] std::optional<std::int64_t> gamma() const;

  /// The tree; nullopt for others.
  [[nodiscard]] std::optional<DraftTree> tree() const;

  bool operator==(const SglangOptions&) const = default;

 private:
  std::optional<std::int64_t> depth_ = {}, width_ = {}, tokens_ = {};
  bool adaptive_ = false;
  bool adaptive_alone_ = false;  ///< on a line after that of the depth, or before any
  bool of_lmdeploy_ = false;     ///< whose draft tokens are those that are drafted
};

/// What acceptance lengths of an SGLang server with their rates say of its drafts. A rate is of the drafts or, of some
/// versions, of all verified tokens: the numbers must leave only one of both a whole draft length.
class AcceptRates {
 public:
  /// Both as printed, with at least two digits.
  void bound(double length, double rate);
  /// The draft length of all steps, with a warning (W06) that says how it follows, or that it does not.
  [[nodiscard]] std::optional<std::int64_t> gamma(std::int64_t line, LogContents& contents) const;

 private:
  /// A number that each pair bounds.
  struct Bounds {
    double low = 0.0, high = std::numeric_limits<double>::infinity();
    void narrow(double to_low, double to_high);
    /// The number if the bounds leave one integer, of at least 1.
    [[nodiscard]] std::optional<std::int64_t> whole_number() const;
  };
  Bounds verified_ = {};  ///< length / rate, if the rate is of all verified tokens
  Bounds drafts_ = {};    ///< (length - 1) / rate, if it is of the drafts
};

}  // namespace foredraft::logs
