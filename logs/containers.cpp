// SPDX-License-Identifier: Apache-2.0
#include "logs/containers.hpp"

#include <re2/re2.h>
#include <algorithm>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The words of a name: "bench eagle3" of "bench-eagle3-1". Numbers of replicas and hashes of pods are none.
std::string words_of_container(std::string_view name) {
  static const RE2 part(R"(([^-_/.:]+)[-_/.:]*)"), word("[A-Za-z]+");
  static const RE2 without("(?i)^(no)((?:" + std::string(names_of_drafters) + R"(|spec|draft)\w*)$)");
  static const RE2 arm("(?i)(?:(?:" + std::string(names_of_drafters) + R"()\d{1,2}|[kn]\d{1,2}))");
  re2::StringPiece rest = piece(name);
  std::string words, one;
  while (RE2::Consume(&rest, part, &one)) {
    static const RE2 hash("[bcdfghjklmnpqrstvwxz2-9]{5,10}");  // of Kubernetes
    if (RE2::FullMatch(one, hash) || (!RE2::FullMatch(one, word) && !RE2::FullMatch(one, arm))) continue;
    RE2::Replace(&one, without, "\\1 \\2");  // "nospec"
    words += (words.empty() ? "" : " ") + one;
  }
  return words;
}

}  // namespace

void Containers::add(std::string_view line) {
  constexpr std::size_t most = 64;  // more are no arms
  static const RE2 before(R"((?:([A-Za-z][\w.-]*) +\||\[pod/([^\]\s]+)\] ))", RE2::Latin1);
  ++line_;
  if (too_many_) return;
  std::string service, pod;
  re2::StringPiece rest = piece(line);
  if (!RE2::Consume(&rest, before, &service, &pod)) return;
  const std::string name = service + pod;
  if (!all_.empty() && all_.back().name == name) return;
  too_many_ = all_.size() == most;
  all_.push_back({.line = line_, .name = name});
}

void Containers::caption_runs(RunCaptions& captions) const {
  std::vector<std::string> words;
  bool plain = false, drafts = false;
  for (const ContainerLines& one : all_) {
    const auto again = std::ranges::count(all_, one.name, &ContainerLines::name);
    words.push_back(words_of_container(one.name));
    const auto arm = arm_in_text(words.back());
    if (again > 1 || without_arm(words.back()) != without_arm(words.front())) return;
    plain = plain || !arm || arm->plain;
    drafts = drafts || (arm && !arm->plain);
  }
  if (too_many_ || !plain || !drafts) return;
  for (std::size_t i = 0; i < all_.size(); ++i) captions.note(words[i], all_[i].line, true);
}

}  // namespace foredraft::logs
