// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/profile.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "latency/surfaces/pass_work.hpp"
#include "latency/surfaces/step_model.hpp"
#include "latency/surfaces/step_table.hpp"

namespace foredraft::latency {

/// t(batch, tokens, context) of one kind of pass by step_us(). A value.
class SheetSurface {
 public:
  /// Passes that a program computes (fp32, bf16 or fp16 on one device, no mixtures and the like) are counted from it,
  /// other decoder passes and drafting one by one by step_operations(). Throws DomainError for the rest.
  SheetSurface(const ModelShape& shape, Role role, std::int64_t source_length, const Deployment& deployment,
               DevicePeaks peaks);

  [[nodiscard]] double us(const PassPoint& point, const Attained& attained) const;

 private:
  ModelShape shape_;
  Role role_;
  Deployment deployment_;
  DevicePeaks peaks_;
  std::optional<PassWork> work_;  ///< of passes that have a program
};

// ---- t(batch, tokens, context) of a pass on a device, from its profile.

using Origin = TimeOrigin;
/// The spread of a measured time is that of spread_of().
using Latency = PassTime;

/// One kind of pass.
struct PassKind {
  std::string model;
  Role role = Role::decoder_pass;
  std::int64_t source_length = 0;  ///< 0: the usual one of a model with an encoder
  Setting setting;
};

/// How a data sheet answers for one kind of pass; other profiles do not look at it.
struct SheetPass {
  std::optional<Deployment> deployment = {};  ///< nothing: on one device, all in the dtype of the setting
  std::optional<Attained> attained = {};      ///< nothing: the floor
  std::optional<double> spread = {};          ///< half width of the interval of a time over it; nothing: no interval
};

/// Prepared for one kind of pass: a time is found in the table of the profile, else by the fit; of a data sheet it is
/// that of its operators (SheetSurface).
///
/// Between its points the table has the shape of a model, the profile's fit or the roofline of its limits: what is
/// interpolated is how far measured times lie above it. A pass hardly takes longer for more rows until its arithmetic
/// takes as long as its weights; straight lines between a batch of 1 and one of 4 would cut that corner.
class CostSurface {
 public:
  /// `shapes`: the models whose passes can be counted. Uses the profile's fit of this setting, or makes it when a model
  /// is asked for of which the profile has no times. Throws DomainError for a model that neither of them knows, and
  /// for times that cannot be (StepTable).
  CostSurface(const Profile& profile, const std::vector<ModelShape>& shapes, PassKind kind,
              const SheetPass& sheet = {});

  /// Throws DomainError where none of the three answers, and for positions that the model does not have.
  [[nodiscard]] Latency at(const PassPoint& point) const;

  /// From the table alone; nothing outside of it.
  [[nodiscard]] std::optional<Latency> measured_at(const PassPoint& point) const;

  [[nodiscard]] const PassKind& kind() const { return kind_; }

 private:
  [[nodiscard]] bool inside(const PassPoint& point) const;

  PassKind kind_;
  bool spread_known_ = true;
  std::optional<StepTable> table_;     ///< of times, or of times over those of `shape_`
  std::optional<LatencyModel> shape_;  ///< of the table
  std::optional<PassWork> work_;
  std::optional<LatencyFit> fit_;
  std::optional<SheetSurface> sheet_;
  SheetPass sheet_pass_;
};

/// Half width of the 95 % interval of a time over it: that of its own samples, or the one that A/A leaves for any row
/// where this is wider, or the error that a profile of an engine or of operators states. Two halves of a step's visits
/// differ by twice the error of all of them, or sqrt(2) times that of one half, which a verification is taken as: it is
/// timed in one visit.
[[nodiscard]] double spread_of(const StepRow& row, const Profile& profile);
[[nodiscard]] double spread_of(const VerificationRow& row, const Profile& profile);

/// The setting that answers for a target: that of its first plain pass in the profile, else that of the profile's first
/// step; of a data sheet fp16, cold, graph.
[[nodiscard]] Setting setting_for(const Profile& profile, std::string_view target);

}  // namespace foredraft::latency
