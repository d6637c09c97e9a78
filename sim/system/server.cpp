// SPDX-License-Identifier: Apache-2.0
#include "sim/system/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foredraft/errors.hpp"

namespace foredraft::sim {

void check_account(const RunAccount& account) {
  if (account.arrived != account.departed + account.in_service + account.waiting) {
    throw std::logic_error("serving: requests that arrived did not depart and are not there");
  }
  if (account.emitted_tokens != account.departed_tokens + account.in_service_tokens) {
    throw std::logic_error("serving: emitted tokens are not those of the requests");
  }
  if (account.in_system_ns != account.departed_ns + account.remaining_ns) {
    throw std::logic_error("serving: Little's law does not hold");
  }
}

RowMemory ReplayedRows::begin(std::uint64_t /*request*/) {
  // The high word of a product: equal probabilities to 2^-64 of a sequence.
  return {.sequence = static_cast<std::uint64_t>((Uint128{recorded_.sequences()} * choices_.next_u64()) >> 64U)};
}

std::int64_t ReplayedRows::accepted(std::uint64_t /*draw*/, const RowMemory& memory, std::int64_t gamma) const {
  const std::size_t size = recorded_.size(memory.sequence);
  if (size == 0) return 0;
  const auto drafts = static_cast<std::size_t>(gamma);
  std::size_t all = 0;
  for (std::size_t position = memory.emitted % size; all < drafts; position = 0) {
    const std::size_t testable = std::min(drafts - all, size - position);
    const std::size_t accepted = recorded_.accepted(memory.sequence, position, testable, key_);
    all += accepted;
    if (accepted < testable) break;
  }
  return static_cast<std::int64_t>(all);
}

namespace {

constexpr double ns_per_us = 1e3;

/// Maximum of the sums of a replica, so that products of them fit the 127 bits of the moments: 2 years in ns.
constexpr std::int64_t largest_sum = std::int64_t{1} << 56U;

std::int64_t checked_sum(Int128 value) {
  if (value > largest_sum) {
    throw DomainError("the times of a replica add up to more than 2 years (use fewer requests, or shorter steps)");
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t step_ns(const StepTime& time_us, const StepShape& shape) {
  const double us = time_us(shape);
  constexpr double longest_us = 1e12;
  if (!(us >= 0.0 && us <= longest_us)) {
    throw DomainError(fmt::format("invalid step time={} us at batch {}, tokens {}, context {} (must lie in 0 to {})",
                                  us, shape.batch, shape.tokens, shape.context, longest_us));
  }
  return std::llround(us * ns_per_us);
}

}  // namespace

RowAcceptance PreparedServing::rows(const RunKey& key, std::uint64_t block) const {
  if (const auto* law = std::get_if<RunsDistribution>(&acceptance)) return RunsOfRows(*law, key, block, longest.gamma);
  if (const auto* recorded = std::get_if<RecordedOutcomes>(&acceptance)) return ReplayedRows(*recorded, key, block);
  return IndependentRows(std::get<SurvivalByState>(acceptance), key, block);
}

Server::Server(const PreparedServing& prepared, const RunKey& key, std::uint64_t block)
    : prepared_(prepared),
      simulation_(prepared.simulation),
      block_(block),
      queue_(simulation_.arrivals, key, block),
      doors_(queue_),
      prompts_(key.seed, {.purpose = Purpose::prompt_length, .point = key.point, .block = block}),
      outputs_(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block}),
      acceptance_(prepared.rows(key, block)),
      stop_(key.stop),
      measured_left_(simulation_.requests),
      counts_(prepared.longest) {
  rows_.reserve(static_cast<std::size_t>(simulation_.max_batch));
  pass_time(0);  // for requests that are there from the start
}

Tally Server::run() {
  while (measured_left_ > 0) {
    admit();
    if (rows_.empty()) {
      pass_time(std::max<std::int64_t>(queue_.next_ns() - now_ns_, 0));
    } else if (!admits_more()) {
      iterate();
    }
  }
  const Replica replica = record();
  close_account();
  counts_.end_unit();
  Tally tally = counts_.tally();
  serving_.replicas = {replica};
  tally.serving = std::move(serving_);
  return tally;
}

void Server::admit() {
  if (closed_to_others()) return;
  const std::size_t first_new = rows_.size();
  const auto places = static_cast<std::size_t>(simulation_.max_batch);
  while (rows_.size() < places && queue_.next_ns() <= now_ns_) {
    const std::int64_t prompt = draw_length(simulation_.prompt, prompts_);
    const std::int64_t output = draw_length(simulation_.output, outputs_);
    const std::uint64_t measured_from = simulation_.warmup_requests;
    const bool measured = admitted_ >= measured_from && admitted_ - measured_from < simulation_.requests;
    if (admitted_++ == measured_from) {
      open_ = true;
      opened_ns_ = now_ns_;
      in_system_before_ns_ = account_.in_system_ns;
    }
    rows_.push_back({.arrival_ns = queue_.next_ns(),
                     .first_token_ns = -1,
                     .prompt = prompt,
                     .output = output,
                     .remaining = output,
                     .measured = measured,
                     .memory = std::visit([&](auto& rows) { return rows.begin(admitted_ - 1); }, acceptance_)});
    if (measured) wait_sum_ns_ += now_ns_ - queue_.next_ns();
    queue_.pop();
    ++unfinished_;
    context_ += prompt;
  }
  if (rows_.size() > first_new) read_prompts(first_new);
}

bool Server::closed_to_others() const { return simulation_.batching != Batching::continuous && !rows_.empty(); }

bool Server::admits_more() const {
  return simulation_.admission == Admission::all && !closed_to_others() &&
         rows_.size() < static_cast<std::size_t>(simulation_.max_batch) && queue_.next_ns() <= now_ns_;
}

void Server::read_prompts(std::size_t first_new) {
  StepShape pass{.batch = 0, .tokens = 0, .context = 0.0, .prompt = true};
  for (std::size_t i = first_new; i < rows_.size(); ++i) {
    if (rows_[i].prompt == 0) continue;
    ++pass.batch;
    pass.tokens = std::max(pass.tokens, rows_[i].prompt);
  }
  if (pass.batch == 0) return;
  std::int64_t duration_ns = step_ns(simulation_.target_us, pass);
  if (prepared_.longest.draft_passes() > 0) duration_ns += step_ns(simulation_.drafter_us, pass);
  pass_time(duration_ns);
  for (std::size_t i = first_new; i < rows_.size(); ++i) {
    if (rows_[i].prompt > 0) emit(rows_[i], 1);
  }
  leave_batch();
}

std::int64_t Server::iteration_ns(const IterationShape& shape) const {
  const auto batch = static_cast<std::int64_t>(rows_.size());
  const double context = static_cast<double>(context_) / static_cast<double>(batch);
  const std::int64_t verify_ns =
      step_ns(simulation_.target_us, {.batch = batch, .tokens = shape.max_tokens(), .context = context});
  if (shape.gamma == 0) return verify_ns;
  const std::int64_t rest_ns = verify_ns + std::llround(simulation_.overhead_us * ns_per_us);
  const std::int64_t draft_passes = shape.draft_passes();
  if (draft_passes == 0) return rest_ns;
  // The KV cache grows between the passes of an autoregressive drafter: each is charged at the mean context length.
  const StepShape draft{.batch = batch,
                        .tokens = shape.drafting == Drafting::block ? shape.gamma : 1,
                        .context = context + 0.5 * static_cast<double>(draft_passes - 1)};
  return rest_ns + draft_passes * step_ns(simulation_.drafter_us, draft);
}

std::int64_t Server::draw_steps(std::int64_t gamma) {
  steps_.clear();
  std::int64_t fewest = gamma;
  std::visit(
      [&](auto& acceptance) {
        for (Row& row : rows_) {
          steps_.push_back(row.remaining > 0 ? acceptance.accepted(draws_++, row.memory, gamma) : gamma);
          fewest = std::min(fewest, steps_.back());
        }
      },
      acceptance_);
  return fewest;
}

void Server::iterate() {
  stop_.spend(static_cast<std::int64_t>(rows_.size()));
  const IterationShape& shape = prepared_.shapes[rows_.size()];
  pass_time(iteration_ns(shape));
  if (open_) {
    ++passes_;
    rows_passed_ += static_cast<std::int64_t>(rows_.size());
  }
  const std::int64_t min_steps = draw_steps(shape.gamma);
  const std::int64_t max_steps = simulation_.batching == Batching::lockstep ? min_steps : shape.gamma;
  const std::int64_t max_tokens = iteration_outcome(shape, max_steps).tokens;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    if (row.remaining == 0) continue;
    Outcome outcome = row.remaining >= shape.max_tokens() ? iteration_outcome(shape, steps_[i])
                                                          : last_outcome(shape, steps_[i], row.remaining);
    outcome.tokens = std::min(outcome.tokens, max_tokens);
    if (row.measured) counts_.add({.gamma = shape.gamma, .outcome = outcome});
    emit(row, outcome.tokens);
  }
  leave_batch();
}

void Server::pass_time(std::int64_t duration_ns) {
  const std::int64_t until_ns = now_ns_ + duration_ns;
  if (until_ns > largest_sum) checked_sum(until_ns);
  while (doors_.next_ns() <= until_ns) {
    stop_.spend(1);
    account_.in_system_ns += Int128{in_system_} * (doors_.next_ns() - now_ns_);
    now_ns_ = doors_.next_ns();
    doors_.pop();
    ++in_system_;
    ++account_.arrived;
  }
  account_.in_system_ns += Int128{in_system_} * (until_ns - now_ns_);
  now_ns_ = until_ns;
}

void Server::emit(Row& row, std::int64_t tokens) {
  if (row.remaining == row.output) row.first_token_ns = now_ns_;
  row.remaining -= tokens;
  row.memory.emitted += static_cast<std::uint64_t>(tokens);
  context_ += tokens;
  account_.emitted_tokens += tokens;
  if (open_) window_tokens_ += tokens;
  if (row.remaining == 0) depart(row);
}

void Server::depart(const Row& row) {
  const std::int64_t latency_ns = now_ns_ - row.arrival_ns;
  --unfinished_;
  --in_system_;
  ++account_.departed;
  account_.departed_tokens += row.output;
  account_.departed_ns += latency_ns;
  queue_.answered(now_ns_);
  doors_.answered(now_ns_);
  if (!row.measured) return;
  --measured_left_;
  const std::int64_t first_token_ns = row.first_token_ns - row.arrival_ns;
  const std::int64_t per_token_ns = latency_ns / row.output;
  serving_.latency.add(latency_ns);
  serving_.first_token.add(first_token_ns);
  serving_.per_token.add(per_token_ns);
  latency_sum_ns_ += latency_ns;
  first_token_sum_ns_ += first_token_ns;
  per_token_sum_ns_ += per_token_ns;
  if (row.output > 1) {
    const std::int64_t tpot_ns = (latency_ns - first_token_ns) / (row.output - 1);
    serving_.tpot.add(tpot_ns);
    tpot_sum_ns_ += tpot_ns;
  }
  measured_tokens_ += row.output;
  if (static_cast<double>(latency_ns) <= simulation_.latency_goal_us * ns_per_us) tokens_in_goal_ += row.output;
}

/// Finished sequences leave a continuous batch at once, a static one all together.
void Server::leave_batch() {
  if (simulation_.batching != Batching::continuous) {
    if (unfinished_ > 0) return;
    rows_.clear();
    context_ = 0;
    return;
  }
  std::erase_if(rows_, [this](const Row& row) {
    if (row.remaining > 0) return false;
    context_ -= row.prompt + row.output;
    return true;
  });
}

Replica Server::record() const {
  Replica replica{.number = block_, .values = {}};
  auto& values = replica.values;
  values[measured_requests] = static_cast<std::int64_t>(simulation_.requests);
  values[latency_ns] = checked_sum(latency_sum_ns_);
  values[wait_ns] = checked_sum(wait_sum_ns_);
  values[first_token_ns] = checked_sum(first_token_sum_ns_);
  values[per_token_ns] = checked_sum(per_token_sum_ns_);
  values[tpot_requests] = static_cast<std::int64_t>(serving_.tpot.count());
  values[tpot_ns] = checked_sum(tpot_sum_ns_);
  values[window_ns] = now_ns_ - opened_ns_;
  values[window_tokens] = checked_sum(window_tokens_);
  values[good_tokens] = static_cast<std::int64_t>(window_tokens_ * tokens_in_goal_ / measured_tokens_);
  values[passes] = passes_;
  values[rows] = rows_passed_;
  values[in_system_ns] = checked_sum(account_.in_system_ns - in_system_before_ns_);
  const auto set_quantiles = [&](std::size_t first, const DurationHistogram& durations) {
    values[first] = durations.quantile(0.50);
    values[first + 1] = durations.quantile(0.95);
    values[first + 2] = durations.quantile(0.99);
  };
  set_quantiles(latency_p50_ns, serving_.latency);
  set_quantiles(first_token_p50_ns, serving_.first_token);
  set_quantiles(per_token_p50_ns, serving_.per_token);
  set_quantiles(tpot_p50_ns, serving_.tpot);
  return replica;
}

void Server::close_account() {
  pass_time(0);  // for clients that were answered just now
  for (const Row& row : rows_) {
    if (row.remaining == 0) continue;
    ++account_.in_service;
    account_.in_service_tokens += row.output - row.remaining;
    account_.remaining_ns += now_ns_ - row.arrival_ns;
  }
  for (; queue_.next_ns() <= now_ns_; queue_.pop()) {
    stop_.spend(1);
    ++account_.waiting;
    account_.remaining_ns += now_ns_ - queue_.next_ns();
  }
  check_account(account_);
}

}  // namespace foredraft::sim
