// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/scenario.hpp"
#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// How long the forward passes of models take on a device, and what speculative decoding yields there.
namespace foredraft {

/// What a profile rests on; never mixed.
enum class ProfileSource {
  measured,   ///< by `foredraft calibrate`
  datasheet,  ///< what the maker prints
  user,       ///< steps that somebody measured in an engine of their own
  engine,     ///< steps that an engine measured itself while it served
  operators,  ///< steps that are sums of times of operators, each measured in an engine
};

/// Where a time comes from, the best first: a point of the profile; between points of it; the latency model fitted to
/// it; the device's limits.
enum class TimeOrigin { measured, interpolated, fitted, roofline };

[[nodiscard]] std::string_view to_string(ProfileSource source);
[[nodiscard]] std::string_view to_string(TimeOrigin origin);

struct PassTime {
  double time_us = 0.0;
  /// Half width of the 95 % interval over the time, 90 % of data sheets and operators. Of others than measured times,
  /// the error of interpolation or of held-out shapes besides. Nothing where nobody knows: steps of a user, of an
  /// engine or of operators whose error the profile does not say, and the floor of a data sheet.
  std::optional<double> spread = {};
  TimeOrigin origin = TimeOrigin::measured;
  bool inside = true;  ///< the domain of its origin
};

/// Passes of a target and of what drafts for it, over `batch` sequences (>= 1) that each hold `context` tokens (>= 0).
/// A value. All of its functions throw DomainError where the profile cannot answer, for positions that a model does not
/// have and for arguments out of range.
class PairTimes {
 public:
  /// One pass of the target in plain decoding: one new token of each sequence.
  [[nodiscard]] PassTime plain(std::int64_t batch, std::int64_t context) const;

  /// The target's pass over the drafts of an iteration: gamma + 1 tokens of each sequence with a bonus token, gamma
  /// without.
  [[nodiscard]] PassTime verify(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                Convention convention = Convention::bonus) const;

  /// All gamma >= 1 drafts of an iteration: gamma passes of a drafter that drafts one by one.
  [[nodiscard]] PassTime drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// Of an iteration of gamma >= 1 drafts: drawing them and verifying them, from logits to tokens. Nothing where the
  /// profile does not tell.
  [[nodiscard]] std::optional<PassTime> sampling(std::int64_t gamma, std::int64_t batch) const;

  /// Drawing a token of each sequence in plain decoding; nothing likewise.
  [[nodiscard]] std::optional<PassTime> plain_sampling(std::int64_t batch) const;

 private:
  friend class Profile;
  struct Implementation;
  explicit PairTimes(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

/// What `foredraft predict --profile` is asked at one batch and context.
struct SpeedupQuestion {
  std::string target = {};  ///< a shipped model (`foredraft list models`), or one that the profile has times of
  std::string draft = {};   ///< the same; not used by Heads, which stand on the target
  Drafter drafter = AutoregressiveDrafter{};  ///< or BlockDrafter or Heads; their parameters are not used
  AcceptanceProcess acceptance = Iid{};       ///< any but Observed and Trace
  Convention convention = Convention::bonus;
  std::int64_t batch = 1;
  std::int64_t context = 512;
  std::int64_t max_gamma = 8;  ///< the longest draft of the table, 1 to 65,536; at most the entries of a Positional
  double overhead_us = 0.0;    ///< of an iteration, beyond its passes and sampling; >= 0
};

struct SpeedupAtGamma {
  std::int64_t gamma;
  double tokens_per_iteration;
  PassTime verify, drafting;
  std::optional<PassTime> sampling;  ///< nothing: not known, and not charged
  double speedup;                    ///< over plain decoding
  std::optional<double> spread;      ///< half width of its 95 % interval over it; nothing where a time has none
};

struct SpeedupTable {
  PassTime plain;
  std::optional<PassTime> plain_sampling;  ///< nothing: not known, and not charged
  std::vector<SpeedupAtGamma> lengths;     ///< gamma 1, 2, ..., max_gamma
  std::int64_t best_gamma;                 ///< the smallest within 1 % of the best; 0: plain decoding
};

/// What is known of a device. A value; copies share what was read.
class Profile {
 public:
  /// A shipped data sheet by its name (shipped_devices) or another usual one ("A100", "NVIDIA H200"), a data sheet of
  /// one's own by the path of a TOML file (docs/devices.md), or a profile.json by its path. Throws InputError where
  /// none is there and for a file that is neither.
  [[nodiscard]] static Profile read(const std::string& name);

  /// Steps of one's own, CSV with the header `model,role,batch,tokens,context,ms`. Throws InputError with every problem
  /// of the file.
  [[nodiscard]] static Profile read_steps(const std::string& path);

  [[nodiscard]] std::string_view device() const;
  [[nodiscard]] ProfileSource source() const;
  /// Of the bytes that were read, of a shipped data sheet that of its figures as a profile.json: 64 lower-case
  /// hexadecimal digits.
  [[nodiscard]] std::string_view sha256() const;
  /// False where two measurements of the same cells differ by more than the protocol allows: its times mean little.
  [[nodiscard]] bool valid() const;

  /// Times of a pair; `draft` is not used by Heads. Throws DomainError for models that neither the program nor the
  /// profile knows and for drafters other than AutoregressiveDrafter, BlockDrafter and Heads.
  [[nodiscard]] PairTimes times(const std::string& target, const std::string& draft,
                                const Drafter& drafter = AutoregressiveDrafter{}) const;

  /// Speedup by draft length: tokens per iteration [Leviathan2023, Eq. 1; docs/model.md] over the time of an iteration,
  /// against a plain step. Throws DomainError as times() and PairTimes do, and for a Trace.
  [[nodiscard]] SpeedupTable speedups(const SpeedupQuestion& question) const;

 private:
  struct Implementation;
  explicit Profile(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

/// Names that Profile::read knows without a file, sorted.
[[nodiscard]] std::vector<std::string> shipped_devices();

}  // namespace foredraft

#pragma GCC visibility pop
