// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#pragma GCC visibility push(default)

/// Costs of forward passes.
namespace foredraft {

class ForwardPassTimes;  // scenario/cost.hpp

/// A draft pass takes c target decode steps, a verification of n tokens takes 1 + verify_growth (n - 1).
/// [Leviathan2023, Thm. 3.8, where verify_growth is 0]
struct ConstantRatio {
  std::optional<double> c = {};  ///< empty: no speedup is computed
  double verify_growth = 0.0;    ///< >= 0; must be 0 unless the draft length is constant
};

/// Measured times, in ms: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead). [Xia2023, Eq. 4]
struct MeasuredTimes {
  double step_ms = 0.0;    ///< one token of autoregressive decoding, the baseline of the speedup; > 0
  double draft_ms = 0.0;   ///< one forward pass of the drafter
  double verify_ms = 0.0;  ///< one forward pass of the target over a draft; > 0
  double overhead_ms = 0.0;
  double target_encoder_ms = 0.0;
  double drafter_encoder_ms = 0.0;
  double fixed_ms = 0.0;
  double verify_growth = 0.0;  ///< decode steps added to verify_ms for each verified token after the first; >= 0
};

/// Times looked up for a model pair on a device.
struct LookedUpTimes {
  std::string source = {};  ///< the device (data sheet) or the profile
  std::string target = {};
  std::string draft = {};
  std::int64_t batch = 1;
  std::int64_t context = 512;
  double overhead_ms = 0.0;
  std::shared_ptr<const ForwardPassTimes> times = {};  ///< times of these models on this device, read once
};
struct Measured : LookedUpTimes {};
/// Times estimated from a data sheet and from how the models are stored and split. Without efficiencies, the fractions
/// of the peaks that engines attain are used (docs/step-times.md).
struct Roofline : LookedUpTimes {
  /// Architecture (model_type) to read the target's config.json as; empty: its own.
  std::optional<std::string> assume = {};
  /// Format of the weights of each model and of both KV caches, such as "fp8". Empty: for weights that of the model's
  /// config or checkpoint, else fp16; for KV caches that of the weights, or bf16 if that is narrower.
  std::optional<std::string> target_format = {}, draft_format = {}, kv_format = {};
  std::int64_t target_tp = 1, draft_tp = 1;  ///< tensor-parallel devices of each model
  std::int64_t target_pp = 1;                ///< pipeline stages of the target, each of target_tp devices
  /// 0: tokens choose their experts independently; 1: all share them; empty: the measured skew
  std::optional<double> expert_skew = {};
  std::optional<double> bandwidth_efficiency = {}, compute_efficiency = {};  ///< fractions of the data sheet's peaks
  std::optional<double> step_overhead_us = {};  ///< added to every forward pass, beyond its operators
  std::optional<double> iteration_us = {};      ///< added to every iteration, beyond its forward passes
  double memory_utilization = 0.9;              ///< fraction of the device's memory for weights and KV caches
  bool ignore_memory = false;                   ///< answer even if the models do not fit into memory
  bool allow_vocabulary_mismatch = false;       ///< allow a draft model whose vocabulary differs from the target's
};

using Cost = std::variant<ConstantRatio, MeasuredTimes, Roofline, Measured>;

}  // namespace foredraft

#pragma GCC visibility pop
