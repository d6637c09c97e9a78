// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/reference.hpp"
#include "gpu_bench/verify/row_verification.hpp"

namespace foredraft::gpu_bench {

/// Drafts in a chain. The walk ends at the first row that does not accept its draft. The row after the last draft has
/// no draft to accept, nor does one whose draft is outside the vocabulary.
template <class StorageType>
struct ChainPath {
  using Storage = StorageType;

  VerificationInput<Storage> input;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return input.gamma + 1; }

  /// Rows after a draft outside the vocabulary are read unnecessarily: looking for one first would delay all others.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows_read(unsigned request) const {
    return static_cast<unsigned>(input.draft_counts[request]) + 1;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int32_t draft(unsigned request, unsigned position) const {
    if (position + 1 == rows_read(request)) return no_token;
    const std::int32_t token = input.drafts[request * input.gamma + position];
    return static_cast<std::uint32_t>(token) < input.vocabulary ? token : no_token;
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void walk(Block& block, unsigned request, const RowVerdict* verdicts,
                                  const VerificationOutput& output, std::byte* scratch) const {
    Firsts firsts;
    for (unsigned i = block.thread(); i < rows_read(request); i += block.threads()) {
      firsts = merged(firsts, {.rejecting = verdicts[i].accepted ? none : i,
                               .without_draft = draft(request, i) != no_token ? none : i,
                               .faulty = verdicts[i].fault ? i : none});
    }
    firsts = block_merged(block, firsts, reinterpret_cast<Firsts*>(scratch));
    std::int32_t* tokens = output.tokens + request * rows();
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      tokens[i] = i < firsts.rejecting ? draft(request, i) : i == firsts.rejecting ? verdicts[i].token : no_token;
    }
    if (block.thread() == 0) {
      output.emitted_counts[request] = static_cast<std::int32_t>(firsts.rejecting + 1);
      output.faults[request] = firsts.faulty <= firsts.without_draft ? 1U : 0U;
    }
  }

  [[nodiscard]] static unsigned scratch_bytes(unsigned threads) {
    return threads / warp_lanes * static_cast<unsigned>(sizeof(Firsts));
  }

  [[nodiscard]] Traffic traffic() const {
    const double drafts = static_cast<double>(input.batch) * input.gamma;
    const double counts = input.batch;
    return {.read_bytes = 4 * (2 * drafts + counts), .written_bytes = 4 * (drafts + 3 * counts)};
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;

  struct Firsts {
    std::uint32_t rejecting = none;
    std::uint32_t without_draft = none;
    std::uint32_t faulty = none;

    FOREDRAFT_HOST_DEVICE friend Firsts merged(const Firsts& a, const Firsts& b) {
      return {.rejecting = a.rejecting < b.rejecting ? a.rejecting : b.rejecting,
              .without_draft = a.without_draft < b.without_draft ? a.without_draft : b.without_draft,
              .faulty = a.faulty < b.faulty ? a.faulty : b.faulty};
    }
  };
};

// ---- `greedy_match`: accept drafts while they are the target's most probable token, then emit that token [Stern2018].
//
// One launch (row_verification.hpp). Reads the target's rows once and no draft logits; writes the outputs, 12 bytes for
// each share of a row and 8 for each row. Lower bound: (gamma + 1) V s bytes per request.

template <class Storage, class Launcher>
void greedy_match(const VerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
                  Launcher& launcher) {
  verify_rows(GreedyRule<false>{}, ChainPath<Storage>{input}, output, cutter, launcher);
}

// ---- `top_beta`: Spec-Verification [Xia2023, Eq. 8-10], see reference.hpp.
//
// One launch (row_verification.hpp). Reads the target's rows once, the draft's logit of each before it, and no draft
// logits; writes the outputs, 16 bytes for each share of a row and 8 for each row. Needs no sorting: only the number
// of logits larger than the draft's matters. Lower bound: (gamma + 1) V s bytes per request.

struct TopBetaRule {
  struct Part {
    Pick pick;
    std::uint32_t larger = 0;  ///< logits above the draft's

    FOREDRAFT_HOST_DEVICE friend Part merged(const Part& a, const Part& b) {
      return {.pick = gpu_bench::merged(a.pick, b.pick), .larger = a.larger + b.larger};
    }
  };

  std::uint32_t beta;
  float tolerance;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE Part scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    Part part;
    const float own = draft_logit(row);
    scan_row<width>(block, row.logits, span, [&part, own](const float(&logits)[width], unsigned first, bool faulty) {
      part.pick.take(logits, first, faulty);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < width; ++j) {
        if (logits[j] > own) ++part.larger;
      }
    });
    return part;
  }

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& /*block*/, const TargetRow<Storage>& row, const Part& part,
                                          std::byte* /*scratch*/) const {
    const float own = draft_logit(row);
    const bool is_finite = own > -std::numeric_limits<float>::infinity();
    return part.pick.verdict(is_finite && part.larger < beta && part.pick.logit - own <= tolerance);
  }

  [[nodiscard]] static unsigned scratch_bytes() { return 0; }
  [[nodiscard]] static Traffic row_traffic(unsigned splits, unsigned logit_bytes) {
    return {.read_bytes = (splits + 1.0) * logit_bytes, .written_bytes = 0.0};
  }

 private:
  template <class Storage>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static float draft_logit(const TargetRow<Storage>& row) {
    return row.draft == no_token ? -std::numeric_limits<float>::infinity()
                                 : clean_logit(to_float(row.logits[row.draft]));
  }
};

/// Throws DomainError: see check_rule().
template <class Storage, class Launcher>
void top_beta(const TopBeta& rule, const VerificationInput<Storage>& input, const VerificationOutput& output,
              WorkspaceCutter& cutter, Launcher& launcher) {
  check_rule(rule);
  if (rule.top_beta == 1 || rule.tolerance == 0.0) return greedy_match(input, output, cutter, launcher);
  const std::int64_t beta = rule.top_beta < input.vocabulary ? rule.top_beta : input.vocabulary;
  verify_rows(TopBetaRule{.beta = static_cast<std::uint32_t>(beta), .tolerance = static_cast<float>(rule.tolerance)},
              ChainPath<Storage>{input}, output, cutter, launcher);
}

// ---- `typical_acceptance`: accept a draft if p(x) > min(epsilon, delta exp(-H)) [Cai2024], see reference.hpp.
//
// One launch (row_verification.hpp). Reads the target's rows once and no draft logits: with z the distance of a logit
// from the largest so far, running sums of exp(z) and z exp(z) give the entropy in the same pass. Writes the outputs,
// 20 bytes for each share of a row and 8 for each row. Lower bound: (gamma + 1) V s bytes per request; one exponential
// per logit.

struct TypicalAcceptanceRule {
  struct Part {
    Pick pick;
    float sum = 0.0F;       ///< of exp(z)
    float weighted = 0.0F;  ///< of z exp(z)

    /// The sums with distances from `top`, which is at least the largest logit so far.
    FOREDRAFT_HOST_DEVICE void move_to(float top) {
      const float shift = below(pick.logit, top);
      const float factor = exp_below(shift, 0.0F);
      weighted = (weighted + shift * sum) * factor;
      sum *= factor;
    }

    FOREDRAFT_HOST_DEVICE friend Part merged(Part a, Part b) {
      const Pick both = gpu_bench::merged(a.pick, b.pick);
      a.move_to(both.logit);
      b.move_to(both.logit);
      return {.pick = both, .sum = a.sum + b.sum, .weighted = a.weighted + b.weighted};
    }
  };

  float epsilon;
  float delta;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE Part scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    Part part;
    scan_row<width>(block, row.logits, span, [&part](const float(&logits)[width], unsigned first, bool faulty) {
      Pick pick = part.pick;
      pick.take(logits, first, faulty);
      part.move_to(pick.logit);
      part.pick = pick;
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < width; ++j) {
        const float z = below(logits[j], pick.logit);
        const float weight = exp_below(z, 0.0F);
        part.sum += weight;
        part.weighted += z * weight;
      }
    });
    return part;
  }

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& /*block*/, const TargetRow<Storage>& row, const Part& part,
                                          std::byte* /*scratch*/) const {
    if (row.draft == no_token) return part.pick.verdict(false);
    const float own = clean_logit(to_float(row.logits[row.draft]));
    const float probability = exp_below(below(own, part.pick.logit), 0.0F) / part.sum;
    const float entropy = std::log(part.sum) - part.weighted / part.sum;
    return part.pick.verdict(probability > std::fmin(epsilon, delta * std::exp(-entropy)));
  }

  [[nodiscard]] static unsigned scratch_bytes() { return 0; }
  [[nodiscard]] static Traffic row_traffic(unsigned /*splits*/, unsigned logit_bytes) {
    return {.read_bytes = 1.0 * logit_bytes, .written_bytes = 0.0};
  }

 private:
  /// logit - top, bounded below where exp() is 0, so that 0 times it is 0; also if both are -inf.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static float below(float logit, float top) {
    constexpr float lowest = -200.0F;
    return std::fmax(logit - top, lowest);
  }
};

/// Throws DomainError: see check_rule().
template <class Storage, class Launcher>
void typical_acceptance(const TypicalAcceptance& rule, const VerificationInput<Storage>& input,
                        const VerificationOutput& output, WorkspaceCutter& cutter, Launcher& launcher) {
  check_rule(rule);
  verify_rows(
      TypicalAcceptanceRule{.epsilon = static_cast<float>(rule.epsilon), .delta = static_cast<float>(delta_of(rule))},
      ChainPath<Storage>{input}, output, cutter, launcher);
}

}  // namespace foredraft::gpu_bench
