// SPDX-License-Identifier: Apache-2.0
#include "logs/file_names.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "logs/acceptance.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {

void name_by_file(ObservedLog& log) {
  static const RE2 length(
      R"((?i)(?:^|[^a-z])(?:mtp|nextn|k|gamma|n[-_]?max|draft[-_]?(?:n|max|tokens)|(?:num[-_])?spec[-_]?tokens)[-_=]?([1-9]\d?)(?:[^\da-z]|$))",
      byte_options());
  const std::string stem = std::filesystem::path(log.file).stem().string();
  std::int64_t gamma = 0;
  re2::StringPiece rest = stem;
  if (!RE2::FindAndConsume(&rest, length, &gamma) || RE2::PartialMatch(rest, length)) return;
  const auto drafts = [](const Observation& one) { return one.decoding == Decoding::speculative; };
  const auto lacks = [&](const Observation& one) { return drafts(one) && !one.gamma; };
  const auto fits = [&](const Observation& one) {
    const auto& counts = one.acceptance;
    // Steps that follow from the tokens of an answer may be one fewer than there were.
    const bool few = !counts || counts->drafted_tokens.value_or(0) <= (counts->steps + 1) * gamma;
    return one.gamma.value_or(gamma) == gamma && few &&
           one.acceptance_length.value_or(1.0) <= static_cast<double>(gamma) + 1.0;
  };
  auto& runs = log.contents.observations;
  const auto first = std::ranges::find_if(runs, lacks);
  if (first == runs.end() ||
      !std::ranges::all_of(runs, [&](const Observation& one) { return !drafts(one) || fits(one); }))
    return;
  for (Observation& run : runs) {
    if (!lacks(run)) continue;
    run.gamma = gamma;
    if (run.acceptance && drafts_vary(*run.acceptance, gamma)) run.adaptive = true;
  }
  std::erase_if(log.contents.warnings, [](const LogWarning& one) { return one.code == "W23"; });
  tell_rates(log.contents);
  log.contents.warnings.push_back(
      {.code = "W22", .line = first->line, .message = fmt::format("K = {} is that of the name \"{}\"", gamma, stem)});
}

}  // namespace foredraft::logs
