// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/intervals.hpp"

/// Cost per token of a pass, from measured times of passes over 1 to 8 tokens.
namespace foredraft::latency {

/// A pass over `tokens` new tokens of one sequence with context length `context`.
struct PassTime {
  std::int64_t tokens = 1, context = 0;
  double us = 0.0;
};

/// An estimate from several times; `range`: of leave-one-out estimates.
struct FewTokensFit {
  double value = 0.0;
  Interval range = {0.0, 0.0};
};

/// Fits t(n) = (m^p + (n c)^p)^(1/p), with sharpness p of latency/attainable, memory time m and computing time c per
/// token, by least squares of relative errors of t^p. Returns c in us. Uses the shortest context with at least three
/// numbers of tokens from 1 to 8; nullopt if there is none, or if times do not grow in the fit or a leave-one-out fit.
[[nodiscard]] std::optional<FewTokensFit> computing_us_per_token(std::span<const PassTime> times);

/// Estimates Attained::kv_reread: 0 if the KV cache is read once, 1 if each query reads it. For n queries it is the
/// increase of the time with context, relative to that of one query, minus 1, divided by n - 1; the median over all n
/// and contexts. nullopt unless there are passes over 1 and more tokens at two contexts with decode steps that differ
/// by at least 5 %.
[[nodiscard]] std::optional<FewTokensFit> kv_reread(std::span<const PassTime> times);

}  // namespace foredraft::latency
