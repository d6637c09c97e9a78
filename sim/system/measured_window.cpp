// SPDX-License-Identifier: Apache-2.0
#include "sim/system/measured_window.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/system/prepared_server.hpp"

namespace foredraft::sim {

void MeasuredWindow::begin(std::int64_t now_ns, Int128 in_system_sum_ns, std::int64_t served) {
  open_ = true;
  opened_ns_ = now_ns;
  in_system_before_ns_ = in_system_sum_ns;
  // A batch has at least twice the requests served at once; 16 batches are enough.
  constexpr std::uint64_t max_batches = 16;
  batch_requests_ = std::max(2 * static_cast<std::uint64_t>(served), (requests_ + max_batches - 1) / max_batches);
  batch_end_ = requests_ - std::min(requests_, batch_requests_);
}

void MeasuredWindow::add_request(const CompletedRequest& request) {
  --requests_left_;
  wait_sum_ns_ += request.wait_ns;
  latency_.add(request.latency_ns);
  first_token_.add(request.first_token_ns);
  per_token_.add(request.latency_ns / request.tokens);
  if (request.tokens > 1) tpot_.add((request.latency_ns - request.first_token_ns) / (request.tokens - 1));
  measured_tokens_ += request.tokens;
  if (!latency_goal_us_ || static_cast<double>(request.latency_ns) <= *latency_goal_us_ * ns_per_us) {
    tokens_in_goal_ += request.tokens;
  }
}

ServingValues MeasuredWindow::sums(std::int64_t now_ns, Int128 in_system_sum_ns) const {
  ServingValues values{};
  values[measured_requests] = static_cast<std::int64_t>(requests_ - requests_left_);
  values[latency_ns] = checked_sum(latency_.sum_ns);
  values[wait_ns] = checked_sum(wait_sum_ns_);
  values[first_token_ns] = checked_sum(first_token_.sum_ns);
  values[per_token_ns] = checked_sum(per_token_.sum_ns);
  values[tpot_requests] = static_cast<std::int64_t>(tpot_.counts.count());
  values[tpot_ns] = checked_sum(tpot_.sum_ns);
  values[window_ns] = now_ns - opened_ns_;
  values[window_tokens] = checked_sum(tokens_);
  values[good_tokens] = checked_sum(tokens_in_goal_);
  values[passes] = passes_;
  values[rows] = rows_;
  values[in_system_ns] = checked_sum(in_system_sum_ns - in_system_before_ns_);
  return values;
}

void MeasuredWindow::end_batch(const ServingValues& until) {
  const std::uint64_t ended = (batch_end_ - requests_left_) / batch_requests_ + 1;
  batch_end_ -= std::min(batch_end_, ended * batch_requests_);
  ServingValues& batch = batches_.emplace_back(until);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] -= batch_start_[i];
  const std::int64_t measured_tokens = checked_sum(measured_tokens_ - tokens_before_batch_);
  if (measured_tokens > 0) {
    batch[good_tokens] = static_cast<std::int64_t>(Int128{batch[window_tokens]} * batch[good_tokens] / measured_tokens);
  }
  tokens_before_batch_ = measured_tokens_;
  batch_start_ = until;
}

Tally MeasuredWindow::tally(std::int64_t now_ns, Int128 in_system_sum_ns) && {
  Replica replica{.number = 0, .values = sums(now_ns, in_system_sum_ns)};
  replica.values[good_tokens] = static_cast<std::int64_t>(tokens_ * tokens_in_goal_ / measured_tokens_);
  const auto add_quantiles = [&](const Durations& durations, ServingQuantity first) {
    replica.values[first] = durations.counts.quantile(0.50);
    replica.values[first + 1U] = durations.counts.quantile(0.95);
    replica.values[first + 2U] = durations.counts.quantile(0.99);
  };
  add_quantiles(latency_, latency_p50_ns);
  add_quantiles(first_token_, first_token_p50_ns);
  add_quantiles(per_token_, per_token_p50_ns);
  add_quantiles(tpot_, tpot_p50_ns);
  replica.batches = std::move(batches_);
  counts_.end_unit();
  Tally tally = counts_.tally();
  tally.serving = {.latency = std::move(latency_.counts),
                   .first_token = std::move(first_token_.counts),
                   .per_token = std::move(per_token_.counts),
                   .tpot = std::move(tpot_.counts),
                   .replicas = {std::move(replica)}};
  return tally;
}

}  // namespace foredraft::sim
