// SPDX-License-Identifier: Apache-2.0
#include "logs/spoken_options.hpp"

#include <re2/re2.h>

#include "logs/draft_options.hpp"
#include "logs/launches.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The drafter and the draft length that options state.
Arm arm_of_options(const std::string& options) {
  static const RE2 typed("--spec-type|-(?:md|model-draft|draft-model)\\b");
  DraftOptions read;
  read.read(options);
  LlamaOptions llama;  // a length alone is that of MTP, as in words: "n-max 2"
  llama.read((RE2::PartialMatch(options, typed) ? "llama-server" : "llama-server --spec-type draft-mtp") + options);
  Arm arm{
      .tree = read.sglang.tree(), .drafter = read.drafter, .speculative = true, .adaptive = ends_drafts_early(options)};
  if (const auto length = read.gamma() ? read.gamma() : llama.gamma()) arm.gamma = static_cast<double>(*length);
  return arm;
}

}  // namespace

SpokenOptions spoken_options(std::string_view text) {
  static const RE2 command(
      std::string(launch_anchor) + R"re(|\b(?:llama|ik)-[a-z-]+(?:\.exe)?["']?[ \t]+-|^[$>] |^\./)re", byte_options());
  constexpr const char* value =  // the end of a text may cut off an object
      R"re((?:(?:=|[ \t]+)(?:'[^']*'?|"[^"]*"?|\{[^{}]*\}?|[^\s`'"{(-][^\s`,;)]*))?)re";
  static const RE2 option(std::string(R"re((?i)(?:^|[\s`(*])(--?[a-z][\w.-]*)re") + value +
                              R"re(|speculative_config["']?[ =:]+\{[^{}]*\}?))re",
                          byte_options());
  static const RE2 drafts(
      R"re((?i)(?:--?)?(?:[a-z]+[-_])*(?:spec(?:ulat(?:e|ive))?|draft(?:model|amount)?|mtp|nextn|md)(?:[-_=\s].*)?)re",
      byte_options());
  static const RE2 off(
      R"re((?i)--(?:no|disable)[-_].*|--?[\w-]*(?:type|algorithm|algo|method|config|model|max|tokens|steps|draft|mtp|md)(?:=|\s+)["']?(?:none|off|false|null|0)["']?|.*num_speculative_tokens["']?[ :=]+0\b.*)re",
      byte_options());
  SpokenOptions spoken{.words = std::string(text)};
  if (text.find_first_of("-{") == std::string_view::npos || RE2::PartialMatch(piece(text), command)) return spoken;
  std::string words, options;
  bool turns_off = false, in_row = false;
  std::size_t at = 0;
  const re2::StringPiece all = piece(text);
  re2::StringPiece groups[2];
  while (option.Match(all, at, all.size(), RE2::UNANCHORED, groups, 2)) {
    const auto begin = static_cast<std::size_t>(groups[1].data() - text.data());
    const std::string_view between = text.substr(at, begin - at);
    in_row = in_row && between.find_first_not_of(" \t`") == std::string_view::npos;
    words += between;
    at = begin + groups[1].size();
    if (!RE2::FullMatch(groups[1], drafts)) continue;
    turns_off = turns_off || RE2::FullMatch(groups[1], off);
    options += " " + std::string(groups[1]);
    if (!in_row) {
      words += "speculation";
      ++spoken.mentions;
    }
    in_row = true;
  }
  if (spoken.mentions == 0) return spoken;
  words += text.substr(at);
  std::erase(words, '`');
  if (turns_off) RE2::GlobalReplace(&words, "speculation", "no speculation");
  spoken.words = std::move(words);
  spoken.arm = arm_of_options(options);
  return spoken;
}

}  // namespace foredraft::logs
