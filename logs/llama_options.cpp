// SPDX-License-Identifier: Apache-2.0
#include "logs/llama_options.hpp"

#include <re2/re2.h>
#include <string>

#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

bool LlamaOptions::read(std::string_view text) {
  static const RE2 any("(?m)" + std::string(llama_options_anchor), RE2::Latin1);
  static const RE2 program(R"re(\bllama-([a-z-]+)(?:\.exe)?["']?[ \t]+(?:--?[a-zA-Z]|[\\^`]))re", RE2::Latin1);
  static const RE2 request(R"re(\bspeculative\.n_max["']?[ :=]+(\d{1,4})\b)re", RE2::Latin1);
  static const RE2 type(R"re((?:^|[ \t])--spec-type[ =\t]+([a-z0-9-]+))re", RE2::Latin1);
  static const RE2 model(
      R"re((?:^|[ \t])--?(?:spec-draft-(?:model|hf)|model-draft|hf-repo-draft|hfr?d|md|mtp)(?:[ =\t\\]|$))re",
      RE2::Latin1);
  static const RE2 implementation(R"re(adding speculative implementation '([a-z0-9_-]+)')re", RE2::Latin1);
  static const RE2 mtp(R"re((?:^|[ \t])-mtp(?:[ \t\\]|$))re", RE2::Latin1);
  static const RE2 maximum(
      R"re((?:(?:^|[ \t])--?(?:spec-draft-n-max|draft-max|draft-n|draft)[ =\t]+|\bn_max=)(\d{1,4})\b)re", RE2::Latin1);
  static const RE2 threshold(R"re((?:(?:^|[ \t])--?(?:spec-draft|draft)-p-min[ =\t]+|\bp_min=)([\d.]+))re",
                             RE2::Latin1);
  const re2::StringPiece line = piece(text);
  if (!RE2::PartialMatch(line, any)) return false;
  std::string word;
  if (std::int64_t most = 0; RE2::PartialMatch(line, request, &most)) {
    *this = {};
    started_ = server_ = drafter_ = true;
    maximum_ = most;
    return true;
  }
  const bool starts = RE2::PartialMatch(line, program, &word);
  if (starts) {
    *this = {};
    server_ = word == "server";
    started_ = server_ || word == "cli";
  }
  if (RE2::PartialMatch(line, type, &word)) {
    drafter_ = word != "none";
    mtp_ = word.ends_with("mtp");
  }
  if (RE2::PartialMatch(line, implementation, &word)) {
    mtp_ = word.ends_with("mtp") && !printed_;  // several draft in turn
    server_ = drafter_ = printed_ = true;
  }
  if (RE2::PartialMatch(line, model)) drafter_ = true;
  if (RE2::PartialMatch(line, mtp)) mtp_ = true;
  if (std::int64_t most = 0; RE2::PartialMatch(line, maximum, &most)) maximum_ = most;
  if (double least = 0.0; RE2::PartialMatch(line, threshold, &least)) unsure_ = least > 0.0;
  return starts;
}

std::optional<std::int64_t> LlamaOptions::gamma() const {
  return drafts() && mtp_ && !unsure_ ? maximum_ : std::nullopt;
}

}  // namespace foredraft::logs
