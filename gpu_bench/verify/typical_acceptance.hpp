// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/reference.hpp"
#include "gpu_bench/verify/row_verification.hpp"

/// `typical_acceptance`: accept a draft if p(x) > min(epsilon, delta exp(-H)) [Cai2024], see row_rules.hpp.
///
/// One launch (row_verification.hpp). Reads the target's rows once and no draft logits: with z the distance of a logit
/// from the largest so far, running sums of exp(z) and z exp(z) give the entropy in the same pass. Writes the outputs,
/// 20 bytes for each share of a row and 8 for each row. Lower bound: (gamma + 1) V s bytes per request; one exponential
/// per logit.
namespace foredraft::gpu_bench {

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
  [[nodiscard]] static latency::Work row_work(unsigned vocabulary, unsigned /*splits*/, unsigned logit_bytes) {
    return {.read_bytes = 1.0 * logit_bytes, .written_bytes = 0.0, .flop = 4.0 * vocabulary};
  }

 private:
  /// logit - top, bounded below where exp() is 0, so that 0 times it is 0; also if both are -inf.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static float below(float logit, float top) {
    constexpr float lowest = -200.0F;
    return std::fmax(logit - top, lowest);
  }
};

[[nodiscard]] inline WorkspaceSize typical_acceptance_workspace(const VerificationShape& shape) {
  return row_workspace<TypicalAcceptanceRule::Part>(shape.batch, shape.gamma + 1, shape.vocabulary);
}

/// Throws DomainError: see check_rule().
template <class Storage, class Launcher>
void typical_acceptance(const TypicalAcceptance& rule, const VerificationInput<Storage>& input,
                        const VerificationOutput& output, const Workspace& workspace, Launcher& launcher) {
  check_rule(rule);
  verify_rows(
      TypicalAcceptanceRule{.epsilon = static_cast<float>(rule.epsilon), .delta = static_cast<float>(rule.delta)},
      ChainPath<Storage>{input}, output, workspace, launcher);
}

}  // namespace foredraft::gpu_bench
