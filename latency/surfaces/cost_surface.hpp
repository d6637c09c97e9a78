// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/forward_pass_time.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "latency/surfaces/step_model.hpp"
#include "latency/surfaces/step_table.hpp"

namespace foredraft::latency {

/// t(batch, tokens, context) of a forward pass on a device, from its profile.

using Origin = TimeOrigin;
/// For measured times the spread is spread_of().
using Latency = ForwardPassTime;

/// One kind of pass.
struct ForwardPassKind {
  std::string model;
  Role role = Role::decoder_pass;
  std::int64_t source_length = 0;  ///< 0: the default of a model with an encoder
  Setting setting;
};

/// Settings of a data sheet for one kind of pass; not used for other profiles.
struct SheetPass {
  std::optional<Deployment> deployment = {};  ///< empty: one device, all weights and caches in the dtype of the setting
  std::optional<Attained> attained = {};      ///< empty: times are lower bounds from the limits
  std::optional<double> spread = {};          ///< relative half width of the interval of times; empty: no interval
};

/// The cost surface of one kind of pass. A time is looked up in the table of the profile or, outside of the table,
/// computed from the fit. For a data sheet it is the sum over operators (pass_us).
///
/// Between points, the ratio of measured time to a reference model (the profile's fit or the roofline) is interpolated.
/// The time of a pass hardly increases with the number of rows until computing takes as long as reading the weights;
/// plain linear interpolation would miss this corner.
class CostSurface {
 public:
  /// `shapes`: models with known operators. Uses the profile's fit of this setting, or fits if the profile has no times
  /// of the model. Throws DomainError for a model that is in neither `shapes` nor profile, and for inconsistent times
  /// (StepTable).
  CostSurface(const Profile& profile, const std::vector<ModelShape>& shapes, ForwardPassKind kind,
              const SheetPass& sheet = {});

  /// Throws DomainError if neither table, fit nor data sheet gives a time, and for positions beyond the model's
  /// maximum. Except for data sheets, passes have logits of all tokens, also for prompts.
  [[nodiscard]] Latency at(const ForwardPassPoint& point) const;

  /// Time of a decoder pass over `decoding` that also prefills `prompt` (one sequence): at(decoding) plus the
  /// additional time of the prompt. For data sheets computed by operators; otherwise the difference between a pass over
  /// the tokens of both and a pass over the decoded tokens. Throws like at().
  [[nodiscard]] Latency mixed_at(const ForwardPassPoint& decoding, const ForwardPassPoint& prompt) const;

  /// Time from the table only; nullopt outside of it.
  [[nodiscard]] std::optional<Latency> measured_at(const ForwardPassPoint& point) const;

  /// The parts of a data sheet's time; nullopt for other profiles.
  [[nodiscard]] std::optional<PassParts> parts_at(const ForwardPassPoint& point) const;

  [[nodiscard]] const ForwardPassKind& kind() const { return kind_; }

  /// Where the profile has times of this kind; if it has none, of which kinds it has times.
  [[nodiscard]] const std::string& covered() const { return covered_; }

  /// For a data sheet: maps formats of operators to the formats they are computed in (computed_in), if these differ.
  [[nodiscard]] std::map<NumberFormat, NumberFormat> computed_in_others() const;

 private:
  [[nodiscard]] bool inside(const ForwardPassPoint& point) const;

  ForwardPassKind kind_;
  bool spread_known_ = true;
  std::string covered_;
  std::optional<StepTable> table_;     ///< times, or times divided by those of `shape_`
  std::optional<LatencyModel> shape_;  ///< reference of the table
  std::optional<ForwardPassOperations> operations_;
  std::optional<LatencyFit> fit_;
  std::optional<DevicePeaks> peaks_;  ///< of a data sheet
  SheetPass sheet_pass_;
};

/// Relative half width of the 95 % interval of a time: the widest of that from its samples, from the A/A test and, for
/// a step, the stated error of an engine or operators profile. Two halves of a step's visits differ by twice the error
/// of all visits, and by sqrt(2) times the error of one half; the latter applies to a verification, which is timed in
/// one visit.
[[nodiscard]] double spread_of(const StepRow& row, const Profile& profile);
[[nodiscard]] double spread_of(const VerificationRow& row, const Profile& profile);

/// The setting used for a target: the setting of its first decoder pass in the profile, else of the profile's first
/// step; for a data sheet fp16, cold, graph.
[[nodiscard]] Setting setting_for(const Profile& profile, std::string_view target);

}  // namespace foredraft::latency
