// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// Request for the operator times of engines, and the answer as text.
namespace foredraft::app {

/// The script validates names (scripts/operators/aisimulate_steps.py); empty values use its defaults.
struct OperatorsRequest {
  std::string device;
  std::string target;
  std::optional<std::string> engine, engine_version;
  std::optional<std::string> draft;
  std::optional<std::string> target_format, draft_format, kv_format;
  std::optional<std::int64_t> target_tp, draft_tp;
  std::optional<std::int64_t> target_ep, attention_dp;
  std::optional<std::vector<std::int64_t>> batches, contexts;
};

/// One JSON object.
[[nodiscard]] std::string to_json(const OperatorsRequest& request);

/// A table of the target's passes and the drafting, by batch size and context, followed by notes.
[[nodiscard]] std::string operators_text(const latency::Profile& profile);

/// Result of a calibration as text: the device with its limits, and for each pair, batch size and context the decode
/// step, the draft step, their ratio c, and the growth of a pass with the tokens that it verifies.
[[nodiscard]] std::string calibration_text(const latency::Profile& profile,
                                           const std::vector<gpu_bench::PlannedPair>& pairs);

/// Result of the A/A test and its limits; empty if there was none.
[[nodiscard]] std::string noise_text(const latency::Profile& profile);

/// What a command says of an invalid profile. Where the user has accepted the noise, nothing is advised.
[[nodiscard]] std::string noise_message(std::string_view problem, std::string_view advice, bool accepted);

}  // namespace foredraft::app
