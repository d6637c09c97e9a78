// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/advise/advice.hpp"

/// Advice in the words of each engine: what to paste.
namespace foredraft::experiments {

/// Acceptance length above which speculation pays at a load.
struct BreakEven {
  double requests;
  double tokens;
};

struct SettingsQuestion {
  std::string method = {}, draft = {};              ///< as logged; empty: unknown
  std::string version = {};                         ///< of the engine; empty: unknown
  std::optional<std::int64_t> gamma = {};           ///< to set; 0: no speculation; nothing: no setting is recommended
  std::vector<ScheduleRange> schedule = {};         ///< empty: one draft length
  std::optional<std::int64_t> replayed_gamma = {};  ///< at which acceptance is replayed: `gamma`, else the logged one
  std::optional<double> tokens = {};                ///< per iteration there
  std::vector<double> marginal = {};                ///< there; empty: not known
  std::vector<BreakEven> break_even = {};           ///< by load, ascending
};

/// One way to write a setting: a new one is a function and its line in the registry.
struct EngineExport {
  std::string_view name;     ///< what --for takes
  std::string_view summary;  ///< for --help and docs/advise.md
  /// The text, without a line end; empty: the advice holds nothing to write.
  std::string (*text)(const SettingsQuestion& question);
};

[[nodiscard]] std::span<const EngineExport> engine_exports();

/// Of an advice; `version` as stated, empty: the log's.
[[nodiscard]] SettingsQuestion settings_question(const Advice& advice, std::string_view version);

/// What advise shows for an engine: by its name, "" for an engine without an export.
[[nodiscard]] std::string settings_for(const Advice& advice, std::string_view engine, std::string_view version);

/// Whether settings for `engine` cannot be written, since they mean different things from version to version.
[[nodiscard]] bool needs_version(std::string_view engine);

}  // namespace foredraft::experiments
