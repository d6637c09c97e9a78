// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// What operators of engines are asked for, and the answer for people.
namespace foredraft::experiments {

/// Names are the script's to judge (scripts/operators/aisimulate_steps.py); what is empty takes its defaults.
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

/// A table of the target's passes and the drafting beside them, by batch and context; its notes below.
[[nodiscard]] std::string operators_text(const latency::Profile& profile);

/// What a calibration found, for people: the device with its limits, and for each pair, batch and context the plain
/// step, the draft step, their ratio c, and how a pass grows with the tokens that it verifies.
[[nodiscard]] std::string calibration_text(const latency::Profile& profile,
                                           const std::vector<gpu_bench::PlannedPair>& pairs);

/// How far rows that were measured twice differ, and what may be; empty where none was.
[[nodiscard]] std::string noise_text(const latency::Profile& profile);

}  // namespace foredraft::experiments
