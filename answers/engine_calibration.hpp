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

/// The answer to `foredraft calibrate --backend log`: the terms of an engine and the efficiency of one device, from
/// logs.
namespace foredraft::answers {

struct CalibrationQuestion {
  std::vector<logs::ObservedLog> logs = {}, plain = {};  ///< plain: without speculation
  ProfileQuestion pair = {};                             ///< models on the device
  bool drafts = true;                                    ///< whether `pair` names the drafter of the logs
  std::string device = {};                               ///< named as a source in the answer
  std::string name = "calibrated";                       ///< of the new engine
  std::optional<latency::Engine> engine =
      {};                  ///< gives the terms that are not fitted; empty: the engine of the logs, else none
  double context = 512.0;  ///< tokens in the KV cache of a request, if logs do not state it
};

/// A fitted term, in words.
struct CalibratedTerm {
  std::string_view what;  ///< with its unit: "ms outside of passes, per iteration"
  double value;
  Interval interval;  ///< 95 %
  std::string basis;  ///< its data: "without speculation at 1, 8 requests"
};

struct EngineCalibration {
  latency::Engine engine;  ///< the base engine with the fitted terms
  std::string base;        ///< name of the base engine
  analytic::EngineFit fit;
  std::vector<CalibratedTerm> terms = {};
  std::size_t left_out = 0;  ///< windows, requests and runs without a steady time, batch or draft length
};

/// Compares the iterations of the logs with the forward passes of the profile. Prompt tokens in shared passes count
/// like those of a prompt of 1,024 tokens. The remaining time is added to the passes, also for an engine that overlaps
/// host time: it is the part that does not overlap. Throws DomainError as fit_engine, for logs of several target
/// models, for times that the profile lacks, and for drafts without a draft model.
[[nodiscard]] EngineCalibration calibrate_engine(const CalibrationQuestion& question, const latency::Profile& profile);

}  // namespace foredraft::answers
