// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/reference.hpp"

/// `top_beta`: Spec-Verification [Xia2023, Eq. 8-10], see row_rules.hpp.
///
/// One launch (row_verification.hpp). Reads the target's rows once, the draft's logit of each before it, and no draft
/// logits; writes the outputs, 16 bytes for each share of a row and 8 for each row. Needs no sorting: only the number
/// of logits larger than the draft's matters. Lower bound: (gamma + 1) V s bytes per request.
namespace foredraft::gpu_bench {

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
  [[nodiscard]] static latency::Work row_work(unsigned /*vocabulary*/, unsigned splits, unsigned logit_bytes) {
    return {.read_bytes = (splits + 1.0) * logit_bytes, .written_bytes = 0.0, .flop = 0.0};
  }

 private:
  template <class Storage>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static float draft_logit(const TargetRow<Storage>& row) {
    return row.draft == no_token ? -std::numeric_limits<float>::infinity()
                                 : clean_logit(to_float(row.logits[row.draft]));
  }
};

[[nodiscard]] inline WorkspaceSize top_beta_workspace(const VerificationShape& shape) {
  return row_workspace<TopBetaRule::Part>(shape.batch, shape.gamma + 1, shape.vocabulary);
}

/// Throws DomainError: see check_rule().
template <class Storage, class Launcher>
void top_beta(const TopBeta& rule, const VerificationInput<Storage>& input, const VerificationOutput& output,
              const Workspace& workspace, Launcher& launcher) {
  check_rule(rule);
  if (rule.beta == 1 || rule.tolerance == 0.0) return greedy_match(input, output, workspace, launcher);
  const std::int64_t beta = rule.beta < input.vocabulary ? rule.beta : input.vocabulary;
  verify_rows(TopBetaRule{.beta = static_cast<std::uint32_t>(beta), .tolerance = static_cast<float>(rule.tolerance)},
              ChainPath<Storage>{input}, output, workspace, launcher);
}

}  // namespace foredraft::gpu_bench
