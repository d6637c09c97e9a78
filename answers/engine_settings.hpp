// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"

/// Advice as settings of each engine, to copy.
namespace foredraft::answers {

/// The acceptance length above which speculation pays at a load.
struct BreakEven {
  double requests;
  double tokens;
};

struct SettingsQuestion {
  std::string method = {}, draft = {};     ///< as logged; empty: unknown
  std::string engine = {};                 ///< engine whose metrics the alerts use; empty: vLLM
  std::string version = {};                ///< of the engine; empty: unknown
  std::optional<std::int64_t> gamma = {};  ///< to set; 0: no speculation; empty: no fixed length is recommended
  std::vector<GammaRange> schedule = {};   ///< empty: one draft length
  std::optional<std::int64_t> replayed_gamma =
      {};                                  ///< draft length of the replayed acceptance: `gamma`, else the logged one
  std::optional<double> tokens = {};       ///< per iteration at this draft length
  std::vector<double> marginal = {};       ///< at this draft length; empty: unknown
  std::vector<BreakEven> break_even = {};  ///< ascending, of distinct requests
};

/// One format of settings. To add one, write its function and add a line to the registry.
struct EngineExport {
  std::string_view name;     ///< value of --for
  std::string_view summary;  ///< for --help and docs/advise.md
  /// The text, without a final line break; empty: the advice has no such settings.
  std::string (*text)(const SettingsQuestion& question);
};

[[nodiscard]] std::span<const EngineExport> engine_exports();

/// The settings of an advice. `version`: empty: as logged.
[[nodiscard]] SettingsQuestion settings_question(const Advice& advice, std::string_view version);

/// Settings in the format of an engine; empty for an engine without a format, and if the advice has no such settings.
[[nodiscard]] std::string settings_for(const Advice& advice, std::string_view engine, std::string_view version);

/// Whether settings for `engine` need its version, because their keys have different meanings in different versions.
[[nodiscard]] bool needs_version(std::string_view engine);

}  // namespace foredraft::answers
