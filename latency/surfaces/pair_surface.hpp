// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/scenario.hpp"
#include "latency/profile/cell.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "latency/surfaces/step_model.hpp"
#include "latency/surfaces/verification_surface.hpp"

/// How a drafter is named on the command line and in files where times are those of a device.
namespace foredraft::latency {

/// "autoregressive", "block", "heads".
[[nodiscard]] const std::vector<std::string>& drafter_words();

/// Nothing for other words.
[[nodiscard]] std::optional<Role> role_of_drafter(std::string_view word);

/// Throws DomainError for a drafter whose passes nobody times.
[[nodiscard]] Role drafting_role(const Drafter& drafter);

/// Of one of the three drafting roles.
[[nodiscard]] std::string_view drafter_word(Role drafting);

/// How a data sheet answers for a pair; other profiles do not look at it.
struct SheetPair {
  Deployment target = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  Deployment draft = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  /// What engines reach; nothing: the floor, which nobody exceeds.
  std::optional<Attainable> attainable = {};
};

/// What engines reach of a data sheet, and what they take beside the measured operators of a profile; nothing where
/// whole steps were measured.
[[nodiscard]] std::optional<Attainable> attainable_of(const Profile& profile);

/// Times of a target and of what drafts for it.
class PairSurface {
 public:
  /// `drafting`: one of the three drafting roles; heads stand on the target itself. Throws DomainError as CostSurface.
  PairSurface(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
              const std::string& drafter, Role drafting, const SheetPair& sheet = {});

  /// One pass of the target over `tokens` new tokens of each sequence: 1 plain, gamma + 1 to verify with a bonus token.
  [[nodiscard]] Latency target_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context) const;

  /// All drafts of an iteration, gamma >= 1. One by one where that was not measured: gamma passes of the drafter.
  [[nodiscard]] Latency drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// What the drafter passes over besides its drafts, as the profile's engine does; nothing where it does not say so,
  /// or for a drafter that does not draft one by one. It follows the target's pass, so that its weights are in no
  /// cache: where one draft in the loop takes longer than a pass alone, so does this one, less where computing hides
  /// it.
  [[nodiscard]] std::optional<Latency> catch_up(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// Of an iteration: drawing its drafts, one by one or from all of their rows at once, and verifying them. Nothing
  /// where the profile does not tell (VerificationSurface).
  [[nodiscard]] std::optional<Latency> sampling(std::int64_t gamma, std::int64_t batch) const;

  /// Drawing a token of each sequence in plain decoding; nothing likewise.
  [[nodiscard]] std::optional<Latency> plain_sampling(std::int64_t batch) const;

  /// One pass of a drafter that drafts one by one, over `tokens` tokens of each sequence: reading a prompt. Throws
  /// DomainError for another drafter.
  [[nodiscard]] Latency drafter_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context) const;

  [[nodiscard]] const Setting& setting() const { return target_.kind().setting; }

 private:
  /// On the host, one after the other; precondition: the engine's loop says how long one takes.
  [[nodiscard]] Latency draws(std::int64_t positions, std::int64_t batch) const;

  bool one_by_one_;
  CostSurface target_;
  std::optional<CostSurface> drafting_;
  /// Of a drafter that drafts one by one, unless only its drafting is known.
  std::optional<CostSurface> drafter_pass_;
  std::optional<VerificationSurface> sampling_;
  std::optional<EngineLoop> loop_;
};

}  // namespace foredraft::latency
