// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/intervals.hpp"
#include "sim/serving_tally.hpp"

/// What a tally of serving says. Means are ratios of totals; standard errors come from the spread of the replicas.
namespace foredraft::sim {

/// A duration over all measured requests. Quantiles are those of all requests together, to within
/// DurationHistogram::resolution; their standard error is that of the mean of the replicas' own quantiles.
struct DurationEstimates {
  Estimate mean_ms;
  Estimate p50_ms;
  Estimate p95_ms;
  Estimate p99_ms;
};

struct ServingEstimates {
  Estimate tokens_per_s;          ///< throughput: tokens emitted in the window over its length
  Estimate goodput_tokens_per_s;  ///< of these, tokens of requests within the latency goal
  Estimate mean_batch;            ///< rows of an iteration, finished rows of a static batch included
  Estimate mean_in_system;        ///< requests waiting or served, over time
  Estimate wait_ms;               ///< arrival to admission
  DurationEstimates latency;      ///< arrival to last token
  DurationEstimates first_token;  ///< arrival to first token
  DurationEstimates per_token;    ///< latency over the request's output tokens
  DurationEstimates tpot;  ///< first to last token over the tokens behind the first; NaN where no request has any
};

/// Standard errors are NaN below two replicas.
[[nodiscard]] ServingEstimates serving_estimates(const ServingTally& tally);

}  // namespace foredraft::sim
