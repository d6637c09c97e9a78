// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/observed/engine_fit.hpp"
#include "answers/profile_prediction.hpp"
#include "core/intervals.hpp"
#include "latency/engines/engines.hpp"
#include "latency/profile/profile.hpp"
#include "logs/observations_file.hpp"

/// What `foredraft calibrate --backend log` answers: an engine's terms and the efficiency of one card, from logs.
namespace foredraft::answers {

struct CalibrationQuestion {
  std::vector<logs::ObservedLog> logs = {}, plain = {};  ///< plain: those without speculation
  ProfileQuestion pair = {};                             ///< models on the device
  bool drafts = true;                                    ///< `pair` has the drafter of the logs
  std::string device = {};                               ///< for the source of the answer
  std::string name = "calibrated";                       ///< of the engine that is made
  std::optional<latency::Engine> engine = {};            ///< what is not fitted; nothing: that of the logs, else none
  double context = 512.0;                                ///< tokens in the KV cache of a request, where logs lack it
};

/// A fitted term, in words.
struct CalibratedTerm {
  std::string_view what;  ///< with its unit: "ms outside of passes, per iteration"
  double value;
  Interval interval;  ///< 95 %
  std::string basis;  ///< what it rests on: "without speculation at 1, 8 requests"
};

struct EngineCalibration {
  latency::Engine engine;  ///< base with what was fitted
  std::string base;        ///< name of the engine that gives the rest
  analytic::EngineFit fit;
  std::vector<CalibratedTerm> terms = {};
  std::size_t left_out = 0;  ///< windows, requests and runs without a steady time, batch or draft length
};

/// Iterations are those of the logs, passes those of the profile; prompts that share them count as tokens of 1,024
/// read in one pass. What is seen beside the passes is added to them, also of an engine that hides host time: it is
/// what it does not hide. Throws DomainError as fit_engine, for times that the profile does not have, and for drafts
/// without a draft model.
[[nodiscard]] EngineCalibration calibrate_engine(const CalibrationQuestion& question, const latency::Profile& profile);

}  // namespace foredraft::answers
