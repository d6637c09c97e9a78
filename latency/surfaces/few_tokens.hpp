// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/intervals.hpp"

/// What the tokens of a pass cost one by one, from measured times of passes over 1 to 8 of them.
namespace foredraft::latency {

/// One pass over `tokens` new tokens of one sequence after `context`.
struct PassTime {
  std::int64_t tokens = 1, context = 0;
  double us = 0.0;
};

/// A number from several times; `range`: of the numbers without one of them.
struct FewTokensFit {
  double value = 0.0;
  Interval range = {0.0, 0.0};
};

/// t(n) = (m^p + (n c)^p)^(1/p) with the sharpness p of latency/attainable: all that a pass moves takes m, and
/// computing c a token. Least squares of relative errors of t^p. Returns c in us; nullopt for fewer than three numbers
/// of tokens from 1 to 8 after one context (the shortest that has them), or if times do not grow, also without any one
/// of them.
[[nodiscard]] std::optional<FewTokensFit> computing_us_per_token(std::span<const PassTime> times);

/// Attained::kv_reread: how much longer n queries take after a longer context than one query does, over n - 1: 0 if the
/// KV cache is read once, 1 if each query reads it. The median over all n and contexts; nullopt without passes over 1
/// and over more tokens after two contexts whose decode steps differ by at least 5 %.
[[nodiscard]] std::optional<FewTokensFit> kv_reread(std::span<const PassTime> times);

}  // namespace foredraft::latency
