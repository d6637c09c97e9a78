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
/// The spread of a measured time is that of spread_of().
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
  std::optional<Deployment> deployment = {};  ///< empty: on one device, all in the dtype of the setting
  std::optional<Attained> attained = {};      ///< empty: lower bound from the limits
  std::optional<double> spread = {};          ///< relative half width of the interval of a time; empty: no interval
};

/// The cost surface of one kind of pass: a time is looked up in the table of the profile, else computed by the fit; for
/// a data sheet it is the sum over its operators (pass_us).
///
/// Between its points the table follows the shape of a model, the profile's fit or the roofline of its limits; the
/// ratio of measured times to it is interpolated. A pass hardly takes longer for more rows until computing takes as
/// long as reading the weights; linear interpolation between a batch of 1 and one of 4 would miss that corner.
class CostSurface {
 public:
  /// `shapes`: the models whose passes can be counted. Uses the profile's fit of this setting, or makes it if the
  /// profile has no times of the model. Throws DomainError for a model that neither of them knows, and for inconsistent
  /// times (StepTable).
  CostSurface(const Profile& profile, const std::vector<ModelShape>& shapes, ForwardPassKind kind,
              const SheetPass& sheet = {});

  /// Throws DomainError if none of the three has an answer, and for positions that the model does not have. Passes of
  /// other profiles than data sheets have logits of all tokens, prompts included.
  [[nodiscard]] Latency at(const ForwardPassPoint& point) const;

  /// Of a decoder pass over `decoding` that also reads `prompt`, one sequence: at(decoding) and by how much the prompt
  /// makes it longer. Of a data sheet by operators; else the difference of passes over the prompt with and without as
  /// many tokens more as are decoded. Throws likewise.
  [[nodiscard]] Latency mixed_at(const ForwardPassPoint& decoding, const ForwardPassPoint& prompt) const;

  /// Time from the table only; nullopt outside of it.
  [[nodiscard]] std::optional<Latency> measured_at(const ForwardPassPoint& point) const;

  /// What the time of a data sheet is spent on; nullopt for other profiles.
  [[nodiscard]] std::optional<PassParts> parts_at(const ForwardPassPoint& point) const;

  [[nodiscard]] const ForwardPassKind& kind() const { return kind_; }

  /// Where the profile has times: of this kind, else of which kinds.
  [[nodiscard]] const std::string& covered() const { return covered_; }

  /// Of a data sheet: the formats of its operators that are computed in another one (computed_in), with that.
  [[nodiscard]] std::map<NumberFormat, NumberFormat> computed_in_others() const;

 private:
  [[nodiscard]] bool inside(const ForwardPassPoint& point) const;

  ForwardPassKind kind_;
  bool spread_known_ = true;
  std::string covered_;
  std::optional<StepTable> table_;     ///< of times, or of times over those of `shape_`
  std::optional<LatencyModel> shape_;  ///< reference of the table
  std::optional<ForwardPassOperations> operations_;
  std::optional<LatencyFit> fit_;
  std::optional<DevicePeaks> peaks_;  ///< of a data sheet
  SheetPass sheet_pass_;
};

/// Relative half width of the 95 % interval of a time: that of its own samples; that of the A/A test if it is wider; or
/// the error that a profile of an engine or of operators states. Two halves of a step's visits differ by twice the
/// error of all of them, or sqrt(2) times that of one half, which a verification is taken as: it is timed in one visit.
[[nodiscard]] double spread_of(const StepRow& row, const Profile& profile);
[[nodiscard]] double spread_of(const VerificationRow& row, const Profile& profile);

/// The setting used for a target: that of its first decoder pass in the profile, else that of the profile's first step;
/// for a data sheet fp16, cold, graph.
[[nodiscard]] Setting setting_for(const Profile& profile, std::string_view target);

}  // namespace foredraft::latency
