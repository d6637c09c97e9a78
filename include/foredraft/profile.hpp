// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/forward_pass_time.hpp"
#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// Times of forward passes on a device, and the speedup of speculative decoding that follows from them.
namespace foredraft {

/// Times of forward passes of a target and its drafter, over `batch` sequences (>= 1) with a context of `context`
/// tokens each (>= 0). A value type. All functions throw DomainError for times that the profile cannot provide, for
/// positions beyond a model's context length and for arguments out of range.
class PairTimes {
 public:
  /// One decode step of the target without speculation: one new token of each sequence.
  [[nodiscard]] ForwardPassTime plain(std::int64_t batch, std::int64_t context) const;

  /// The target's forward pass over the drafts of an iteration: gamma + 1 tokens of each sequence with a bonus token,
  /// gamma without.
  [[nodiscard]] ForwardPassTime verify(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                       Convention convention = Convention::bonus) const;

  /// Time to draft gamma >= 1 tokens: gamma forward passes for an autoregressive drafter.
  [[nodiscard]] ForwardPassTime drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// Sampling time of one iteration, gamma >= 1: drawing the drafts and verifying them, from logits to tokens. Empty if
  /// the profile has none.
  [[nodiscard]] std::optional<ForwardPassTime> sampling(std::int64_t gamma, std::int64_t batch) const;

  /// Sampling time of one token of each sequence without speculation. Empty if the profile has none.
  [[nodiscard]] std::optional<ForwardPassTime> plain_sampling(std::int64_t batch) const;

 private:
  friend class Profile;
  struct Implementation;
  explicit PairTimes(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

/// The question that `foredraft predict --profile` answers, at one batch size and context length.
struct SpeedupQuestion {
  std::string target = {};                    ///< a shipped model (`foredraft list models`) or a model of the profile
  std::string draft = {};                     ///< likewise; not used by Heads, which are part of the target
  Drafter drafter = AutoregressiveDrafter{};  ///< or BlockDrafter or Heads; their parameters are not used
  AcceptanceProcess acceptance = Iid{};       ///< any but Observed and Trace
  Convention convention = Convention::bonus;
  std::int64_t batch = 1;
  std::int64_t context = 512;
  /// Maximum draft length of the table, 1 to 65,536; at most the number of entries of a Positional.
  std::int64_t max_gamma = 8;
  double overhead_us = 0.0;  ///< added to each iteration besides its forward passes and sampling; >= 0
};

struct SpeedupAtGamma {
  std::int64_t gamma;
  double tokens_per_iteration;
  ForwardPassTime verify, drafting;
  std::optional<ForwardPassTime> sampling;  ///< empty: unknown and not charged
  double speedup;                           ///< over autoregressive decoding
  std::optional<double> spread;             ///< half width of its 95 % interval divided by the speedup; empty: unknown
};

struct SpeedupTable {
  ForwardPassTime plain;
  std::optional<ForwardPassTime> plain_sampling;  ///< empty: unknown and not charged
  std::vector<SpeedupAtGamma> lengths;            ///< gamma 1, 2, ..., max_gamma
  std::int64_t best_gamma;                        ///< the smallest within 1 % of the best; 0: autoregressive decoding
};

/// The known times of a device. A value type; copies share the data.
class Profile {
 public:
  /// Reads a profile. `name` is a shipped data sheet (shipped_devices) or a common alias ("A100", "NVIDIA H200"), the
  /// path of your own data sheet in TOML (docs/devices.md), or the path of a profile.json. Throws InputError if nothing
  /// has that name or the file is neither.
  [[nodiscard]] static Profile read(const std::string& name);

  /// A profile of your own decode steps: CSV with the header `model,role,batch,tokens,context,ms`. Throws InputError,
  /// which lists all problems of the file.
  [[nodiscard]] static Profile read_steps(const std::string& path);

  [[nodiscard]] std::string_view device() const;
  [[nodiscard]] ProfileSource source() const;
  /// SHA-256 of the bytes that were read (for a shipped data sheet, of its profile.json): 64 lower-case hexadecimal
  /// digits.
  [[nodiscard]] std::string_view sha256() const;
  /// False if repeated measurements differ by more than the protocol allows, so that the times are unreliable.
  [[nodiscard]] bool valid() const;

  /// Times of a model pair; `draft` is not used by Heads. Throws DomainError for models that are neither shipped nor in
  /// the profile, and for drafters other than AutoregressiveDrafter, BlockDrafter and Heads.
  [[nodiscard]] PairTimes times(const std::string& target, const std::string& draft,
                                const Drafter& drafter = AutoregressiveDrafter{}) const;

  /// Speedup by draft length over autoregressive decoding: tokens per iteration [Leviathan2023, Eq. 1; docs/model.md]
  /// divided by the time of an iteration in decode steps. Throws DomainError as times() and PairTimes do, and for
  /// Observed and Trace.
  [[nodiscard]] SpeedupTable speedups(const SpeedupQuestion& question) const;

 private:
  struct Implementation;
  explicit Profile(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

/// Device names that Profile::read accepts, sorted.
[[nodiscard]] std::vector<std::string> shipped_devices();

}  // namespace foredraft

#pragma GCC visibility pop
