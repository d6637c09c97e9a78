// SPDX-License-Identifier: Apache-2.0
#include "sim/system/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "foredraft/errors.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/system/row_acceptance.hpp"
#include "sim/system/serving_simulator.hpp"

namespace foredraft::sim {

namespace {

constexpr double ns_per_s = 1e9;
constexpr double ns_per_us = 1e3;

}  // namespace

ArrivalStream::ArrivalStream(const Arrivals& distribution, const RunKey& key, std::uint64_t block)
    : distribution_(distribution),
      random_(key.seed, {.purpose = Purpose::arrival, .point = key.point, .block = block}) {
  if (distribution.kind == ArrivalKind::closed) {
    closed_.assign(static_cast<std::size_t>(distribution.clients), 0);
  } else {
    draw_interval();
  }
}

std::int64_t ArrivalStream::next_ns() const {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  if (distribution_.kind == ArrivalKind::closed) return closed_.empty() ? never : closed_.front();
  return open_ns_ < static_cast<double>(never) ? static_cast<std::int64_t>(open_ns_) : never;
}

void ArrivalStream::pop() {
  if (distribution_.kind == ArrivalKind::closed) return closed_.pop_front();
  draw_interval();
}

void ArrivalStream::answered(std::int64_t now_ns) {
  if (distribution_.kind == ArrivalKind::closed) closed_.push_back(now_ns);
}

void ArrivalStream::draw_interval() {
  const double intervals = distribution_.kind == ArrivalKind::poisson ? -std::log(1.0 - random_.uniform()) : 1.0;
  open_ns_ += intervals * ns_per_s / distribution_.rate_per_s;
}

std::int64_t draw_length(const TokenCount& count, RandomStream& random) {
  if (count.geometric) return draw_length(SequenceLength{.tokens = count.tokens, .geometric = true}, random);
  const auto middle = static_cast<std::int64_t>(count.tokens);
  if (count.spread == 0) return middle;
  // The high word of a product: uniform to 2^-32 of a length's probability.
  const auto lengths = static_cast<std::uint64_t>(2 * count.spread + 1);
  return middle - count.spread + static_cast<std::int64_t>((Uint128{lengths} * random.next_u64()) >> 64U);
}

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

namespace {

/// Maximum of the sums of a replica, so that products of them fit the 127 bits of the moments: 2 years in ns.
constexpr std::int64_t largest_sum = std::int64_t{1} << 56U;

std::int64_t checked_sum(Int128 value) {
  if (value > largest_sum) {
    throw DomainError("the times of a replica add up to more than 2 years (use fewer requests, or shorter steps)");
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t step_ns(double us, const StepShape& shape) {
  constexpr double longest_us = 1e12;
  if (!(us >= 0.0 && us <= longest_us)) {
    throw DomainError(fmt::format("invalid step time={} us at batch {}, tokens {}, context {} (must lie in 0 to {})",
                                  us, shape.batch, shape.tokens, shape.context, longest_us));
  }
  return std::llround(us * ns_per_us);
}

/// Survival thresholds of the longest draft, or what sequences with a memory draw from.
using PreparedAcceptance = std::variant<std::shared_ptr<const SurvivalByState>, RunsDistribution, RecordedOutcomes>;

/// What all replicas share.
struct PreparedServer {
  foredraft::Server server;
  std::shared_ptr<const ForwardPassTimes> times;  ///< null: the server's own steps
  std::vector<IterationShape> shapes;             ///< [batch]
  IterationShape longest;                         ///< longest of these
  PreparedAcceptance acceptance;
  std::uint64_t requests;         ///< measured, of a replica
  std::uint64_t warmup_requests;  ///< served before these

  [[nodiscard]] std::int64_t target_ns(const StepShape& shape) const {
    return step_ns(times ? times->target_us(shape, longest.convention) : server.target_step(shape), shape);
  }
  [[nodiscard]] std::int64_t drafter_ns(const StepShape& shape) const {
    return step_ns(times ? times->drafter_us(shape) : server.drafter_step(shape), shape);
  }
};

RowAcceptance rows_of(const PreparedServer& prepared, const RunKey& key, std::uint64_t block) {
  if (const auto* distribution = std::get_if<RunsDistribution>(&prepared.acceptance))
    return RunsOfRows(*distribution, key, block, prepared.longest.gamma);
  if (const auto* recorded = std::get_if<RecordedOutcomes>(&prepared.acceptance))
    return ReplayedRows(*recorded, key, block);
  return IndependentRows(std::get<std::shared_ptr<const SurvivalByState>>(prepared.acceptance), key, block);
}

/// One replica: clock, batch and counts.
class ServedReplica {
 public:
  ServedReplica(const PreparedServer& prepared, const RunKey& key, std::uint64_t block)
      : prepared_(prepared),
        server_(prepared.server),
        block_(block),
        queue_(server_.arrivals, key, block),
        doors_(queue_),
        prompts_(key.seed, {.purpose = Purpose::prompt_length, .point = key.point, .block = block}),
        outputs_(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block}),
        acceptance_(rows_of(prepared, key, block)),
        stop_(key.stop),
        measured_left_(prepared.requests),
        counts_(prepared.longest) {
    rows_.reserve(static_cast<std::size_t>(server_.max_batch));
    pass_time(0);  // for requests that are there from the start
  }

  /// Serves until the last measured request is answered.
  [[nodiscard]] Tally run() {
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
    tally.serving = {.latency = std::move(latency_.counts),
                     .first_token = std::move(first_token_.counts),
                     .per_token = std::move(per_token_.counts),
                     .tpot = std::move(tpot_.counts),
                     .replicas = {replica}};
    return tally;
  }

 private:
  struct Row {
    std::int64_t arrival_ns;
    std::int64_t first_token_ns;
    std::int64_t prompt;
    std::int64_t output;
    std::int64_t remaining;  ///< 0: finished, padding of a static batch
    bool measured;
    RowMemory memory;
  };

  /// A duration of measured requests.
  struct Durations {
    DurationHistogram counts;
    Int128 sum_ns = 0;

    void add(std::int64_t duration_ns) {
      counts.add(duration_ns);
      sum_ns += duration_ns;
    }
  };

  void admit() {
    if (closed_to_others()) return;
    const std::size_t first_new = rows_.size();
    const auto places = static_cast<std::size_t>(server_.max_batch);
    while (rows_.size() < places && queue_.next_ns() <= now_ns_) {
      const std::int64_t prompt = draw_length(server_.prompt, prompts_);
      const std::int64_t output = draw_length(server_.output, outputs_);
      const std::uint64_t measured_from = prepared_.warmup_requests;
      const bool measured = admitted_ >= measured_from && admitted_ - measured_from < prepared_.requests;
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

  /// The current static batch.
  [[nodiscard]] bool closed_to_others() const { return server_.batching != Batching::continuous && !rows_.empty(); }

  /// Whether requests that arrived during the last prefill pass are prefilled before the next iteration.
  [[nodiscard]] bool admits_more() const {
    return server_.admission == Admission::all && !closed_to_others() &&
           rows_.size() < static_cast<std::size_t>(server_.max_batch) && queue_.next_ns() <= now_ns_;
  }

  void read_prompts(std::size_t first_new) {
    StepShape pass{.batch = 0, .tokens = 0, .context = 0.0, .prompt = true};
    for (std::size_t i = first_new; i < rows_.size(); ++i) {
      if (rows_[i].prompt == 0) continue;
      ++pass.batch;
      pass.tokens = std::max(pass.tokens, rows_[i].prompt);
    }
    if (pass.batch == 0) return;
    std::int64_t duration_ns = prepared_.target_ns(pass);
    if (prepared_.longest.draft_passes() > 0) duration_ns += prepared_.drafter_ns(pass);
    pass_time(duration_ns);
    for (std::size_t i = first_new; i < rows_.size(); ++i) {
      if (rows_[i].prompt > 0) emit(rows_[i], 1);
    }
    leave_batch();
  }

  [[nodiscard]] std::int64_t iteration_ns(const IterationShape& shape) const {
    const auto batch = static_cast<std::int64_t>(rows_.size());
    const double context = static_cast<double>(context_) / static_cast<double>(batch);
    const std::int64_t verify_ns =
        prepared_.target_ns({.batch = batch, .tokens = shape.max_tokens(), .context = context});
    if (shape.gamma == 0) return verify_ns;
    const std::int64_t rest_ns = verify_ns + std::llround(server_.overhead_us * ns_per_us);
    const std::int64_t draft_passes = shape.draft_passes();
    // The KV cache grows between the passes of an autoregressive drafter: each is charged at the mean context length.
    const StepShape draft{.batch = batch,
                          .tokens = shape.drafting == Drafting::block ? shape.gamma : 1,
                          .context = context + 0.5 * static_cast<double>(draft_passes - 1)};
    return rest_ns + draft_passes * prepared_.drafter_ns(draft);
  }

  /// Draws steps_; returns the minimum over the unfinished sequences.
  [[nodiscard]] std::int64_t draw_steps(std::int64_t gamma) {
    steps_.clear();
    std::int64_t minimum = gamma;
    std::visit(
        [&](auto& acceptance) {
          for (Row& row : rows_) {
            steps_.push_back(row.remaining > 0 ? acceptance.accepted(draws_++, row.memory, gamma) : gamma);
            minimum = std::min(minimum, steps_.back());
          }
        },
        acceptance_);
    return minimum;
  }

  void iterate() {
    stop_.spend(static_cast<std::int64_t>(rows_.size()));
    const IterationShape& shape = prepared_.shapes[rows_.size()];
    pass_time(iteration_ns(shape));
    if (open_) {
      ++passes_;
      rows_passed_ += static_cast<std::int64_t>(rows_.size());
    }
    const std::int64_t min_steps = draw_steps(shape.gamma);
    const std::int64_t max_steps = server_.batching == Batching::lockstep ? min_steps : shape.gamma;
    const std::int64_t max_tokens = iteration_outcome(shape, max_steps).tokens;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      if (row.remaining == 0) continue;
      Outcome outcome = outcome_in_text(shape, steps_[i], row.remaining);
      outcome.tokens = std::min(outcome.tokens, max_tokens);
      if (row.measured) counts_.add({.gamma = shape.gamma, .outcome = outcome});
      emit(row, outcome.tokens);
    }
    leave_batch();
  }

  void pass_time(std::int64_t duration_ns) {
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

  void emit(Row& row, std::int64_t tokens) {
    if (row.remaining == row.output) row.first_token_ns = now_ns_;
    row.remaining -= tokens;
    row.memory.emitted += static_cast<std::uint64_t>(tokens);
    context_ += tokens;
    account_.emitted_tokens += tokens;
    if (open_) window_tokens_ += tokens;
    if (row.remaining == 0) depart(row);
  }

  void depart(const Row& row) {
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
    latency_.add(latency_ns);
    first_token_.add(first_token_ns);
    per_token_.add(latency_ns / row.output);
    if (row.output > 1) tpot_.add((latency_ns - first_token_ns) / (row.output - 1));
    measured_tokens_ += row.output;
    const auto& goal_us = server_.latency_goal_us;
    if (!goal_us || static_cast<double>(latency_ns) <= *goal_us * ns_per_us) tokens_in_goal_ += row.output;
  }

  /// Finished sequences leave a continuous batch at once, a static one all together.
  void leave_batch() {
    if (server_.batching == Batching::continuous) {
      std::erase_if(rows_, [this](const Row& row) {
        if (row.remaining > 0) return false;
        context_ -= row.prompt + row.output;
        return true;
      });
    } else if (unfinished_ == 0) {
      rows_.clear();
      context_ = 0;
    }
  }

  [[nodiscard]] Replica record() const {
    Replica replica{.number = block_, .values = {}};
    auto& values = replica.values;
    values[measured_requests] = static_cast<std::int64_t>(prepared_.requests);
    values[wait_ns] = checked_sum(wait_sum_ns_);
    values[tpot_requests] = static_cast<std::int64_t>(tpot_.counts.count());
    values[window_ns] = now_ns_ - opened_ns_;
    values[window_tokens] = checked_sum(window_tokens_);
    values[good_tokens] = static_cast<std::int64_t>(window_tokens_ * tokens_in_goal_ / measured_tokens_);
    values[passes] = passes_;
    values[rows] = rows_passed_;
    values[in_system_ns] = checked_sum(account_.in_system_ns - in_system_before_ns_);
    const auto set = [&](const Durations& durations, ServingQuantity sum, std::size_t first_quantile) {
      values[sum] = checked_sum(durations.sum_ns);
      values[first_quantile] = durations.counts.quantile(0.50);
      values[first_quantile + 1] = durations.counts.quantile(0.95);
      values[first_quantile + 2] = durations.counts.quantile(0.99);
    };
    set(latency_, latency_ns, latency_p50_ns);
    set(first_token_, first_token_ns, first_token_p50_ns);
    set(per_token_, per_token_ns, per_token_p50_ns);
    set(tpot_, tpot_ns, tpot_p50_ns);
    return replica;
  }

  void close_account() {
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

  const PreparedServer& prepared_;
  const foredraft::Server& server_;
  std::uint64_t block_;
  ArrivalStream queue_;  // next to be admitted
  ArrivalStream doors_;  // next to arrive
  RandomStream prompts_;
  RandomStream outputs_;
  RowAcceptance acceptance_;
  StopMeter stop_;

  std::int64_t now_ns_ = 0;
  std::int64_t in_system_ = 0;
  std::uint64_t admitted_ = 0;
  std::uint64_t measured_left_;
  std::uint64_t draws_ = 0;
  std::vector<Row> rows_;
  std::vector<std::int64_t> steps_;  // drafts accepted in this iteration, by sequence
  std::int64_t unfinished_ = 0;      // sequences
  std::int64_t context_ = 0;         // cached tokens of all sequences

  RunAccount account_;  // from the start

  // Since the window opened.
  bool open_ = false;
  std::int64_t opened_ns_ = 0;
  Int128 in_system_before_ns_ = 0;
  std::int64_t window_tokens_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t rows_passed_ = 0;

  // For measured requests.
  OutcomeCounts counts_;
  Durations latency_;
  Durations first_token_;
  Durations per_token_;
  Durations tpot_;
  Int128 wait_sum_ns_ = 0;
  Int128 measured_tokens_ = 0;
  Int128 tokens_in_goal_ = 0;
};

constexpr std::uint64_t max_replicas = 4096;
constexpr std::uint64_t max_requests = std::uint64_t{1} << 40U;

void check_count(std::string_view name, std::uint64_t value, std::uint64_t least, std::uint64_t maximum) {
  if (value >= least && value <= maximum) return;
  throw DomainError(fmt::format("invalid {}={} (must lie in {} to {})", name, value, least, maximum));
}

/// `requests`, rounded up to whole batches if they are static.
std::uint64_t whole_batches(std::uint64_t requests, const foredraft::Server& server) {
  if (server.batching == Batching::continuous) return requests;
  const auto batch = static_cast<std::uint64_t>(server.max_batch);
  return (requests + batch - 1) / batch * batch;
}

PreparedAcceptance prepared_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest) {
  if (const auto* runs = std::get_if<Runs>(&acceptance)) return RunsDistribution(*runs, longest);
  if (const auto* trace = std::get_if<Trace>(&acceptance)) return RecordedOutcomes(trace->recording);
  return survival_by_state(acceptance, longest);
}

}  // namespace

std::unique_ptr<Simulator> make_serving_simulator(const Scenario& scenario, const SimulationPlan& plan) {
  check_count("requests", plan.requests, 1, max_requests);
  check_count("warmup_requests", plan.warmup_requests, 0, max_requests);
  check_count("replicas", plan.replicas, 1, max_replicas);
  const auto& server = std::get<foredraft::Server>(scenario.fidelity);
  const LookedUpTimes* cost = scenario::looked_up(scenario.cost);
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const std::vector<std::int64_t> gamma = scenario::gamma_by_batch(scenario::gamma_of_batches(server, scenario.gamma),
                                                                   server.max_batch, scenario.convention);
  const std::int64_t longest = *std::max_element(gamma.begin(), gamma.end());
  PreparedServer prepared{.server = server,
                          .times = cost != nullptr ? cost->times : nullptr,
                          .shapes = {},
                          .longest = {longest, scenario.convention, drafting},
                          .acceptance = prepared_acceptance(server.acceptance, longest),
                          .requests = whole_batches((plan.requests + plan.replicas - 1) / plan.replicas, server),
                          .warmup_requests = whole_batches(plan.warmup_requests, server)};
  for (const std::int64_t drafts : gamma) prepared.shapes.push_back({drafts, scenario.convention, drafting});
  const BlockPlan replicas{.total = plan.replicas, .per_block = 1};
  return make_block_simulator(
      replicas, [prepared = std::move(prepared)](const RunKey& key, std::uint64_t block, std::uint64_t /*replicas*/) {
        return ServedReplica(prepared, key, block).run();
      });
}

}  // namespace foredraft::sim
