// SPDX-License-Identifier: Apache-2.0
#include "logs/file_names.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/launches.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

/// The draft length in the name of a file without its ending: 4 of "nmax4", none of "k2_k4" and "rank2".
std::optional<std::int64_t> length_in(const std::string& stem) {
  static const RE2 length(
      R"((?i)(?:^|[^a-z])(?:mtp|nextn|k|gamma|n[-_]?max|draft[-_]?(?:n|max|tokens)|(?:num[-_])?spec[-_]?tokens)[-_=]?([1-9]\d?)(?:[^\da-z]|$))",
      byte_options());
  std::int64_t gamma = 0;
  re2::StringPiece rest = stem;
  const bool one = RE2::FindAndConsume(&rest, length, &gamma) && !RE2::PartialMatch(rest, length);
  return one ? std::optional(gamma) : std::nullopt;
}

std::string stem_of(const ObservedLog& log) { return std::filesystem::path(log.file).stem().string(); }

bool drafts(const Observation& one) { return one.decoding == Decoding::speculative; }

bool fits(const Observation& one, std::int64_t gamma) {
  const auto& counts = one.acceptance;
  // Steps that follow from the tokens of an answer may be one fewer than there were.
  const bool few = !counts || counts->steps == 0 || counts->drafted_tokens.value_or(0) <= (counts->steps + 1) * gamma;
  return one.gamma.value_or(gamma) == gamma && few &&
         one.acceptance_length.value_or(1.0) <= static_cast<double>(gamma) + 1.0;
}

void set_length(std::int64_t gamma, ObservedLog& log) {
  const auto lacks = [](const Observation& one) { return drafts(one) && !one.gamma; };
  auto& runs = log.contents.observations;
  const auto first = std::ranges::find_if(runs, lacks);
  const auto contradicts = [&](const Observation& one) { return drafts(one) && !fits(one, gamma); };
  if (first == runs.end() || std::ranges::any_of(runs, contradicts)) return;
  for (Observation& run : runs) {
    if (!lacks(run)) continue;
    run.gamma = gamma;
    if (run.acceptance && drafts_vary(*run.acceptance, gamma)) run.adaptive = true;
  }
  std::erase_if(log.contents.warnings, [](const LogWarning& one) { return one.code == "W23"; });
  tell_rates(log.contents);
  log.contents.warnings.push_back({.code = "W22",
                                   .line = first->line,
                                   .message = fmt::format("K = {} is that of the name \"{}\"", gamma, stem_of(log))});
}

/// A file, its arm by its name, and the other words of it.
struct NamedFile {
  ObservedLog* log = nullptr;
  std::optional<Arm> arm = {};
  std::string words = {};
};

/// "eagle3_k3" names an arm, "8b" is that of "8b-mtp" without it.
std::vector<NamedFile> named_files(std::vector<ObservedLog>& logs) {
  static const RE2 joint("[-_. ]+");
  std::vector<NamedFile> files;
  for (ObservedLog& log : logs) {
    std::string words = stem_of(log);
    RE2::GlobalReplace(&words, joint, " ");
    files.push_back({.log = &log, .arm = arm_in_caption(words), .words = without_arm(words)});
  }
  for (NamedFile& one : files) {
    const auto drafts = [&](const NamedFile& other) {
      return other.arm && !other.arm->plain && other.words == one.words && !one.words.empty();
    };
    if (!one.arm && std::ranges::any_of(files, drafts)) one.arm = Arm{.plain = true};
  }
  return files;
}

/// Whether the runs of a log are plain only because it has no acceptance.
bool lacks_all_acceptance(const ObservedLog& log) {
  return std::ranges::all_of(log.contents.observations, [&](const Observation& one) {
    return one.decoding == Decoding::plain && lacks_acceptance(one, log.contents);
  });
}

void set_arm(const Arm& arm, ObservedLog& log) {
  std::vector<Observation>& runs = log.contents.observations;
  const bool drafts = !arm.plain && lacks_all_acceptance(log);
  const auto is_unknown = [&](const Observation& one) { return drafts || one.decoding == Decoding::unknown; };
  const auto first = std::ranges::find_if(runs, is_unknown);
  if (first == runs.end()) return;
  log.contents.warnings.push_back(
      {.code = "W22",
       .line = first->line,
       .message = fmt::format("{} speculation, by the name \"{}\"", arm.plain ? "without" : "with", stem_of(log))});
  for (Observation& run : runs) {
    if (!is_unknown(run)) continue;
    run.decoding = Decoding::plain;
    if (arm.plain) continue;
    draft_uncounted(run);
    note_arm(run, arm);
  }
}

}  // namespace

void draft_beside_plain(std::vector<ObservedLog>& logs) {
  const auto is_of_client = [](const ObservedLog& log) {
    return log.contents.format == "bench-serving" && lacks_all_acceptance(log);
  };
  if (!std::ranges::all_of(logs, is_of_client)) return;
  for (ObservedLog& log : logs) {
    std::vector<Observation>& runs = log.contents.observations;
    for (Observation& run : runs) run.decoding = Decoding::speculative;
    if (!runs.empty())
      log.contents.warnings.push_back({.code = "W22",
                                       .line = runs.front().line,
                                       .message = "prints no acceptance: with speculation, as the other one is plain"});
  }
}

void name_by_files(std::vector<ObservedLog>& logs) {
  const std::vector<NamedFile> files = named_files(logs);
  const auto is = [&](bool plain) {
    return std::ranges::any_of(files, [&](const NamedFile& one) { return one.arm && one.arm->plain == plain; });
  };
  for (const NamedFile& one : files) {
    if (one.arm && is(true) && is(false)) set_arm(*one.arm, *one.log);
  }
  std::set<std::int64_t> lengths;
  for (const ObservedLog& log : logs) {
    if (const auto gamma = length_in(stem_of(log))) lengths.insert(*gamma);
  }
  if (lengths.size() < 2) return;  // "mtp1" alone may be the first run
  for (ObservedLog& log : logs) {
    if (const auto gamma = length_in(stem_of(log))) set_length(*gamma, log);
  }
}

}  // namespace foredraft::logs
