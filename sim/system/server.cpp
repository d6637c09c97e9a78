// SPDX-License-Identifier: Apache-2.0
#include "sim/system/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
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

ArrivalStream::ArrivalStream(const Arrivals& distribution, const RunKey& key, std::uint64_t block,
                             const RequestRecording* recorded)
    : distribution_(distribution),
      recorded_(recorded),
      random_(key.seed, {.purpose = Purpose::arrival, .point = key.point, .block = block}) {
  if (distribution.kind == ArrivalKind::closed) {
    closed_.assign(static_cast<std::size_t>(distribution.clients), 0);
  } else {
    advance();
  }
}

std::int64_t ArrivalStream::next_ns() const {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  if (distribution_.kind == ArrivalKind::closed) return closed_.empty() ? never : closed_.front();
  return open_ns_ < static_cast<double>(never) ? static_cast<std::int64_t>(open_ns_) : never;
}

void ArrivalStream::pop() {
  if (distribution_.kind == ArrivalKind::closed) return closed_.pop_front();
  advance();
}

void ArrivalStream::answered(std::int64_t now_ns) {
  if (distribution_.kind == ArrivalKind::closed) closed_.push_back(now_ns);
}

void ArrivalStream::advance() {
  if (distribution_.kind == ArrivalKind::recorded) {
    const std::uint64_t size = recorded_->requests.size();
    const std::uint64_t repeats = sent_ / size;
    open_ns_ = ns_per_s * (static_cast<double>(repeats) * recording_period_s(*recorded_) +
                           recorded_->requests[sent_ % size].arrival_s);
    ++sent_;
    return;
  }
  const double intervals = distribution_.kind == ArrivalKind::poisson ? -std::log(1.0 - random_.uniform()) : 1.0;
  open_ns_ += intervals * ns_per_s / distribution_.rate_per_s;
}

double recording_period_s(const RequestRecording& recording) {
  const double first_s = recording.requests.front().arrival_s;
  const double last_s = recording.requests.back().arrival_s;
  return last_s + (last_s - first_s) / static_cast<double>(recording.requests.size() - 1);
}

std::int64_t draw_length(const TokenCount& count, RandomStream& random) {
  if (count.geometric) return draw_length(SequenceLength{.tokens = count.tokens, .geometric = true}, random);
  if (count.p95 > 0.0) {
    // ln(p95 / mean) = z sigma - sigma^2 / 2, of which the smaller sigma is meant.
    constexpr double z = 1.6448536269514722;  // 95 % of a normal variate lie below
    const double sigma = z - std::sqrt(std::max(z * z - 2.0 * std::log(count.p95 / count.tokens), 0.0));
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
    const double tokens = count.tokens * std::exp(sigma * (normal - 0.5 * sigma));
    return std::max<std::int64_t>(std::llround(tokens), 1);
  }
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

std::int64_t ns_of(double us) { return std::llround(us * ns_per_us); }

/// Batches that draft alike.
struct BatchRange {
  std::int64_t from, to;
  IterationShape shape;
};

/// Prompt tokens that an iteration reads.
struct PromptChunk {
  std::int64_t tokens = 0;
  double context = 0.0;       ///< mean over these tokens of what their prompts had in the cache before
  std::size_t completed = 0;  ///< prompts that end in it
};

/// What all replicas share.
struct PreparedServer {
  foredraft::Server server;
  std::shared_ptr<const ForwardPassTimes> times;  ///< null: the server's own steps
  std::vector<BatchRange> ranges;                 ///< in order, from batch 1 to max_batch or beyond
  IterationShape longest;                         ///< longest draft of these
  PreparedAcceptance acceptance;
  std::uint64_t requests;         ///< measured, of a replica
  std::uint64_t warmup_requests;  ///< served before these

  [[nodiscard]] std::int64_t target_ns(const StepShape& shape) const {
    const std::int64_t pass_ns =
        step_ns(times ? times->target_us(shape, longest.convention) : server.target_step(shape), shape);
    const EngineTerms& engine = server.engine;
    const bool captured =
        engine.graph_tokens == 0 || (!shape.prompt && shape.batch * shape.tokens + shape.chunk <= engine.graph_tokens);
    return captured ? pass_ns : std::max(pass_ns, ns_of(engine.eager_us));
  }
  [[nodiscard]] std::int64_t drafter_ns(const StepShape& shape) const {
    return step_ns(times ? times->drafter_us(shape) : server.drafter_step(shape), shape);
  }
  /// Drafting of sequences that are drafted for together, beyond their verification.
  [[nodiscard]] std::int64_t drafting_ns(const IterationShape& shape, std::int64_t batch, double context) const {
    const std::int64_t draft_passes = shape.draft_passes();
    // The KV cache grows between the passes of an autoregressive drafter: each is charged at the mean context length.
    const StepShape draft{.batch = batch,
                          .tokens = shape.drafting == Drafting::block ? shape.gamma : 1,
                          .context = context + 0.5 * static_cast<double>(draft_passes - 1)};
    return ns_of(server.overhead_us) + draft_passes * drafter_ns(draft);
  }

  /// Of the forward passes of an iteration over `batch` sequences with so many cached tokens in the mean.
  [[nodiscard]] std::int64_t passes_ns(const IterationShape& shape, std::int64_t batch, double context,
                                       const PromptChunk& chunk = {}) const {
    StepShape verification{.batch = batch,
                           .tokens = shape.max_tokens(),
                           .context = context,
                           .chunk = chunk.tokens,
                           .chunk_context = chunk.context};
    const StepShape prompts{
        .batch = 0, .tokens = 0, .context = 0.0, .chunk = chunk.tokens, .chunk_context = chunk.context};
    std::int64_t sum_ns = 0;
    if (batch == 0) {
      sum_ns = target_ns(prompts);
    } else if (shape.gamma == 0) {
      sum_ns = target_ns(verification);
    } else if (server.engine.slot_by_slot) {
      verification.batch = 1;
      verification.chunk = 0;
      sum_ns = checked_sum(Int128{batch} * (target_ns(verification) + drafting_ns(shape, 1, verification.context)));
      if (chunk.tokens > 0) sum_ns += target_ns(prompts);
    } else {
      sum_ns = target_ns(verification) + drafting_ns(shape, batch, verification.context);
    }
    if (chunk.tokens > 0 && longest.draft_passes() > 0) {
      sum_ns += drafter_ns({.batch = 1, .tokens = chunk.tokens, .context = chunk.context, .prompt = true});
    }
    return sum_ns;
  }

  /// Of the host, in an iteration.
  [[nodiscard]] std::int64_t host_ns(std::int64_t batch, bool drafts) const {
    const EngineTerms& engine = server.engine;
    const auto decoding = static_cast<double>(batch);
    const double drafting = engine.draft_host_us + engine.draft_host_request_us * decoding;
    return ns_of(engine.host_us + engine.host_request_us * decoding + (drafts ? drafting : 0.0));
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
        chunked_(server_.engine.prefill == Prefill::chunked && server_.batching == Batching::continuous),
        queue_(server_.arrivals, key, block, server_.recorded.get()),
        doors_(queue_),
        prompts_(key.seed, {.purpose = Purpose::prompt_length, .point = key.point, .block = block}),
        outputs_(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block}),
        phases_(key.seed, {.purpose = Purpose::client_phase, .point = key.point, .block = block}),
        acceptance_(rows_of(prepared, key, block)),
        stop_(key.stop),
        measured_left_(prepared.requests),
        phased_left_(phased_requests(prepared)),
        counts_(prepared.longest) {
    rows_.reserve(static_cast<std::size_t>(server_.max_batch));
    steps_.reserve(static_cast<std::size_t>(server_.max_batch));
    pass_time(0);  // for requests that are there from the start
  }

  /// Serves until the last measured request is answered.
  [[nodiscard]] Tally run() {
    while (measured_left_ > 0) {
      admit();
      if (rows_.empty() && !(chunked_ && is_next_here())) {
        pass_time(std::max<std::int64_t>(queue_.next_ns() - now_ns_, 0));
      } else if (!admits_more()) {
        iterate();
      }
      if (measured_left_ <= batch_end_) end_batch();
    }
    Replica replica = record();
    replica.warmup_requests = static_cast<std::int64_t>(prepared_.warmup_requests);
    replica.batches = std::move(batches_);
    close_account();
    counts_.end_unit();
    Tally tally = counts_.tally();
    tally.serving = {.latency = std::move(latency_.counts),
                     .first_token = std::move(first_token_.counts),
                     .per_token = std::move(per_token_.counts),
                     .tpot = std::move(tpot_.counts),
                     .replicas = {std::move(replica)}};
    return tally;
  }

 private:
  struct Row {
    std::int64_t arrival_ns;
    std::int64_t wait_ns;
    std::int64_t first_token_ns;
    std::int64_t prompt;
    std::int64_t unread;  ///< of the prompt: not in the cache yet
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

  struct Lengths {
    std::int64_t prompt, output;
  };

  /// Answers of the warm-up that are cut to a uniform part of their length: one for each client that a closed system
  /// serves at once, so that equal lengths do not keep them in step.
  static std::uint64_t phased_requests(const PreparedServer& prepared) {
    const foredraft::Server& server = prepared.server;
    if (server.arrivals.kind != ArrivalKind::closed || server.batching != Batching::continuous) return 0;
    const auto served = static_cast<std::uint64_t>(std::min(server.arrivals.clients, server.max_batch));
    return std::min(served, prepared.warmup_requests);
  }

  /// Of the request at the head of the queue.
  [[nodiscard]] const Lengths& next_lengths() {
    if (!next_lengths_) {
      if (const auto& recorded = server_.recorded; server_.arrivals.kind == ArrivalKind::recorded) {
        const RecordedRequest& request = recorded->requests[admitted_ % recorded->requests.size()];
        next_lengths_ = {request.prompt_tokens, request.output_tokens};
      } else {
        const std::int64_t prompt = draw_length(server_.prompt, prompts_);
        next_lengths_ = {prompt, draw_length(server_.output, outputs_)};
      }
      if (phased_left_ > 0) {
        --phased_left_;
        std::int64_t& output = next_lengths_->output;
        output = static_cast<std::int64_t>(phases_.uniform() * static_cast<double>(output)) + 1;
      }
    }
    return *next_lengths_;
  }

  [[nodiscard]] bool is_next_here() const { return queue_.next_ns() <= now_ns_; }

  /// Whether there is a next request, and a place for it.
  [[nodiscard]] bool can_take_up() const {
    return rows_.size() < static_cast<std::size_t>(server_.max_batch) && is_next_here();
  }

  void take_up() {
    const auto [prompt, output] = next_lengths();
    next_lengths_.reset();
    const std::uint64_t measured_from = prepared_.warmup_requests;
    const bool measured = admitted_ >= measured_from && admitted_ - measured_from < prepared_.requests;
    if (admitted_++ == measured_from) {
      open_ = true;
      opened_ns_ = now_ns_;
      in_system_before_ns_ = account_.in_system_ns;
      // A batch has several requests for each that is served at once; 16 of them say as much as any number.
      constexpr std::uint64_t most_batches = 16;
      const auto served = static_cast<std::uint64_t>(std::min(in_system_, server_.max_batch));
      batch_requests_ = std::max(2 * served, (prepared_.requests + most_batches - 1) / most_batches);
      batch_end_ = prepared_.requests - std::min(prepared_.requests, batch_requests_);
    }
    const auto cached = static_cast<std::int64_t>(server_.prefix_hit * static_cast<double>(prompt));
    rows_.push_back({.arrival_ns = queue_.next_ns(),
                     .wait_ns = now_ns_ - queue_.next_ns(),
                     .first_token_ns = -1,
                     .prompt = prompt,
                     .unread = prompt > 0 ? std::max<std::int64_t>(prompt - cached, 1) : 0,
                     .output = output,
                     .remaining = output,
                     .measured = measured,
                     .memory = std::visit([&](auto& rows) { return rows.begin(admitted_ - 1); }, acceptance_)});
    queue_.pop();
    ++unfinished_;
  }

  /// A row without an unread prompt takes part in the iterations.
  void start_decoding() { context_ += rows_[decoding_++].prompt; }

  void admit() {
    if (closed_to_others()) return;
    if (chunked_) {
      // Others take their places as their prompts begin.
      while (decoding_ == rows_.size() && can_take_up() && next_lengths().prompt == 0) {
        take_up();
        start_decoding();
      }
      return;
    }
    const std::size_t first_new = rows_.size();
    while (can_take_up()) {
      take_up();
      start_decoding();
    }
    if (rows_.size() > first_new) read_prompts(first_new);
  }

  /// The current static batch.
  [[nodiscard]] bool closed_to_others() const { return server_.batching != Batching::continuous && !rows_.empty(); }

  /// Whether requests that arrived during the last prefill pass are prefilled before the next iteration.
  [[nodiscard]] bool admits_more() const {
    return server_.admission == Admission::all && !chunked_ && !closed_to_others() && can_take_up();
  }

  void read_prompts(std::size_t first_new) {
    StepShape pass{.batch = 0, .tokens = 0, .context = 0.0, .prompt = true};
    std::int64_t cached = 0;
    for (std::size_t i = first_new; i < rows_.size(); ++i) {
      if (rows_[i].prompt == 0) continue;
      ++pass.batch;
      pass.tokens = std::max(pass.tokens, rows_[i].unread);
      cached += rows_[i].prompt - rows_[i].unread;
      rows_[i].unread = 0;
    }
    if (pass.batch == 0) return;
    pass.context = static_cast<double>(cached) / static_cast<double>(pass.batch);
    std::int64_t duration_ns = prepared_.target_ns(pass);
    if (prepared_.longest.draft_passes() > 0) duration_ns += prepared_.drafter_ns(pass);
    pass_time(duration_ns);
    for (std::size_t i = first_new; i < rows_.size(); ++i) {
      if (rows_[i].prompt > 0) emit(rows_[i], 1);
    }
    leave_batch();
  }

  /// Reads prompts first come, first served, as far as `room` tokens go. At most one remains unfinished.
  PromptChunk read_chunk(std::int64_t room) {
    PromptChunk chunk;
    double context_sum = 0.0;
    for (std::size_t i = decoding_; room > 0; ++i) {
      if (i == rows_.size()) {
        if (!can_take_up() || next_lengths().prompt == 0) break;
        take_up();
      }
      Row& row = rows_[i];
      const std::int64_t read = std::min(room, row.unread);
      context_sum += static_cast<double>(read) * static_cast<double>(row.prompt - row.unread);
      room -= read;
      row.unread -= read;
      chunk.tokens += read;
      if (row.unread > 0) break;
      ++chunk.completed;
    }
    if (chunk.tokens > 0) chunk.context = context_sum / static_cast<double>(chunk.tokens);
    return chunk;
  }

  /// The draft lengths of the next iteration, and whether they change with it.
  bool choose_range(std::int64_t batch) {
    const BatchRange* const last = range_;
    const std::int64_t margin = last != nullptr ? server_.switch_margin : 0;
    if (last == nullptr || batch < last->from - margin || batch > last->to + margin) {
      range_ = &*std::ranges::lower_bound(prepared_.ranges, batch, {}, &BatchRange::to);
    }
    return last != nullptr && last->shape.gamma != range_->shape.gamma;
  }

  /// Draws steps_; returns the minimum over the unfinished sequences.
  [[nodiscard]] std::int64_t draw_steps(std::int64_t gamma) {
    steps_.clear();
    std::int64_t minimum = gamma;
    std::visit(
        [&](auto& acceptance) {
          for (std::size_t i = 0; i < decoding_; ++i) {
            Row& row = rows_[i];
            steps_.push_back(row.remaining > 0 ? acceptance.accepted(draws_++, row.memory, gamma) : gamma);
            minimum = std::min(minimum, steps_.back());
          }
        },
        acceptance_);
    return minimum;
  }

  void iterate() {
    const auto batch = static_cast<std::int64_t>(decoding_);
    stop_.spend(std::max<std::int64_t>(batch, 1));
    const bool switched = batch > 0 && choose_range(batch);
    const IterationShape& shape = batch > 0 ? range_->shape : prepared_.longest;
    const PromptChunk chunk =
        chunked_ ? read_chunk(server_.engine.pass_tokens - batch * shape.max_tokens()) : PromptChunk{};
    const double context = static_cast<double>(context_) / static_cast<double>(std::max<std::int64_t>(batch, 1));
    const std::int64_t device_ns =
        prepared_.passes_ns(shape, batch, context, chunk) + (switched ? ns_of(server_.switch_us) : 0);
    const std::int64_t host_ns = prepared_.host_ns(batch, batch > 0 && shape.gamma > 0);
    pass_time(server_.engine.asynchronous ? std::max(device_ns, host_ns) : device_ns + host_ns);
    if (batch > 0) advance_rows(shape);
    for (std::size_t i = 0; i < chunk.completed; ++i) {
      start_decoding();
      emit(rows_[decoding_ - 1], 1);
    }
    leave_batch();
  }

  void advance_rows(const IterationShape& shape) {
    if (open_) {
      ++passes_;
      rows_passed_ += static_cast<std::int64_t>(decoding_);
    }
    const std::int64_t min_steps = draw_steps(shape.gamma);
    const std::int64_t max_steps = server_.batching == Batching::lockstep ? min_steps : shape.gamma;
    const std::int64_t max_tokens = iteration_outcome(shape, max_steps).tokens;
    for (std::size_t i = 0; i < decoding_; ++i) {
      Row& row = rows_[i];
      if (row.remaining == 0) continue;
      Outcome outcome = outcome_in_text(shape, steps_[i], row.remaining);
      outcome.tokens = std::min(outcome.tokens, max_tokens);
      if (row.measured) counts_.add({.gamma = shape.gamma, .outcome = outcome});
      emit(row, outcome.tokens);
    }
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
    wait_sum_ns_ += row.wait_ns;
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
      decoding_ -= std::erase_if(rows_, [this](const Row& row) {
        if (row.remaining > 0) return false;
        context_ -= row.prompt + row.output;
        return true;
      });
    } else if (unfinished_ == 0) {
      rows_.clear();
      decoding_ = 0;
      context_ = 0;
    }
  }

  /// Sums over the window so far.
  [[nodiscard]] ServingValues sums() const {
    ServingValues values{};
    values[measured_requests] = static_cast<std::int64_t>(prepared_.requests - measured_left_);
    values[latency_ns] = checked_sum(latency_.sum_ns);
    values[wait_ns] = checked_sum(wait_sum_ns_);
    values[first_token_ns] = checked_sum(first_token_.sum_ns);
    values[per_token_ns] = checked_sum(per_token_.sum_ns);
    values[tpot_requests] = static_cast<std::int64_t>(tpot_.counts.count());
    values[tpot_ns] = checked_sum(tpot_.sum_ns);
    values[window_ns] = now_ns_ - opened_ns_;
    values[window_tokens] = checked_sum(window_tokens_);
    values[good_tokens] = checked_sum(tokens_in_goal_);
    values[passes] = passes_;
    values[rows] = rows_passed_;
    values[in_system_ns] = checked_sum(account_.in_system_ns - in_system_before_ns_);
    return values;
  }

  /// Ends a batch of measured requests; several that end at once are one.
  void end_batch() {
    const std::uint64_t ended = (batch_end_ - measured_left_) / batch_requests_ + 1;
    batch_end_ -= std::min(batch_end_, ended * batch_requests_);
    const ServingValues until = sums();
    ServingValues& batch = batches_.emplace_back(until);
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i] -= batch_start_[i];
    const std::int64_t measured_tokens = checked_sum(measured_tokens_ - tokens_before_batch_);
    if (measured_tokens > 0)
      batch[good_tokens] =
          static_cast<std::int64_t>(Int128{batch[window_tokens]} * batch[good_tokens] / measured_tokens);
    tokens_before_batch_ = measured_tokens_;
    batch_start_ = until;
  }

  [[nodiscard]] Replica record() const {
    Replica replica{.number = block_, .values = sums()};
    auto& values = replica.values;
    values[good_tokens] = static_cast<std::int64_t>(window_tokens_ * tokens_in_goal_ / measured_tokens_);
    const auto set = [&](const Durations& durations, std::size_t first_quantile) {
      values[first_quantile] = durations.counts.quantile(0.50);
      values[first_quantile + 1] = durations.counts.quantile(0.95);
      values[first_quantile + 2] = durations.counts.quantile(0.99);
    };
    set(latency_, latency_p50_ns);
    set(first_token_, first_token_p50_ns);
    set(per_token_, per_token_p50_ns);
    set(tpot_, tpot_p50_ns);
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
  bool chunked_;
  ArrivalStream queue_;  // next to be admitted
  ArrivalStream doors_;  // next to arrive
  RandomStream prompts_;
  RandomStream outputs_;
  RandomStream phases_;
  RowAcceptance acceptance_;
  StopMeter stop_;

  std::int64_t now_ns_ = 0;
  std::int64_t in_system_ = 0;
  std::uint64_t admitted_ = 0;
  std::uint64_t measured_left_;
  std::uint64_t phased_left_;
  std::optional<Lengths> next_lengths_;
  std::uint64_t draws_ = 0;
  std::vector<Row> rows_;
  std::size_t decoding_ = 0;           // the first of these; the others read their prompts
  const BatchRange* range_ = nullptr;  // of the last iteration
  std::vector<std::int64_t> steps_;    // drafts accepted in this iteration, by sequence
  std::int64_t unfinished_ = 0;        // sequences
  std::int64_t context_ = 0;           // cached tokens of all sequences that decode

  RunAccount account_;  // from the start

  // Since the window opened.
  bool open_ = false;
  std::int64_t opened_ns_ = 0;
  Int128 in_system_before_ns_ = 0;
  std::int64_t window_tokens_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t rows_passed_ = 0;

  // Batches of the window, as of Replica::batches.
  std::vector<ServingValues> batches_;
  ServingValues batch_start_{};     // sums when the current one began
  Int128 tokens_before_batch_ = 0;  // of measured requests
  std::uint64_t batch_requests_ = 1;
  std::uint64_t batch_end_ = 0;  // measured requests that are left when it ends

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

namespace {

PreparedServer prepared_server(const Scenario& scenario) {
  const auto& server = std::get<foredraft::Server>(scenario.fidelity);
  const LookedUpTimes* cost = scenario::looked_up(scenario.cost);
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const std::vector<GammaRange> schedule = scenario::gamma_of_batches(server, scenario.gamma);
  const std::vector<std::int64_t> gamma = scenario::gamma_by_batch(schedule, server.max_batch, scenario.convention);
  const std::int64_t longest = *std::max_element(gamma.begin(), gamma.end());
  PreparedServer prepared{.server = server,
                          .times = cost != nullptr ? cost->times : nullptr,
                          .ranges = {},
                          .longest = {longest, scenario.convention, drafting},
                          .acceptance = prepared_acceptance(server.acceptance, longest),
                          .requests = 0,
                          .warmup_requests = 0};
  for (const auto& [from, to, drafts] : schedule) {
    prepared.ranges.push_back({.from = from, .to = to, .shape = {drafts, scenario.convention, drafting}});
  }
  return prepared;
}

/// Requests that are sent in a second and the mean lengths of their texts.
struct SentLoad {
  double per_s, prompt, output;
};

SentLoad sent_load(const foredraft::Server& server) {
  if (server.arrivals.kind != ArrivalKind::recorded) {
    return {server.arrivals.rate_per_s, server.prompt.tokens, server.output.tokens};
  }
  SentLoad load{0.0, 0.0, 0.0};
  const auto count = static_cast<double>(server.recorded->requests.size());
  for (const RecordedRequest& request : server.recorded->requests) {
    load.prompt += static_cast<double>(request.prompt_tokens) / count;
    load.output += static_cast<double>(request.output_tokens) / count;
  }
  load.per_s = count / recording_period_s(*server.recorded);
  return load;
}

/// About how many requests are served at once: the clients, or by Little's law at mean lengths where half of the drafts
/// are accepted; at most a full batch.
double served_at_once(const PreparedServer& prepared) {
  const foredraft::Server& server = prepared.server;
  const auto most = static_cast<double>(server.max_batch);
  if (server.arrivals.kind == ArrivalKind::closed) return std::min(static_cast<double>(server.arrivals.clients), most);
  const SentLoad load = sent_load(server);
  const double context = load.prompt + 0.5 * load.output;
  double served = 1.0;
  try {
    const auto prompt = static_cast<std::int64_t>(load.prompt * (1.0 - server.prefix_hit));
    const double prompt_ns =
        prompt == 0
            ? 0.0
            : static_cast<double>(prepared.target_ns({.batch = 1, .tokens = prompt, .context = 0.0, .prompt = true}));
    const double left = 1.0 - load.per_s * prompt_ns / ns_per_s;  // of the time, for iterations
    constexpr int rounds = 64;
    for (int round = 0; round < rounds && served < most; ++round) {
      const auto batch = static_cast<std::int64_t>(std::ceil(served));
      const IterationShape& shape = std::ranges::lower_bound(prepared.ranges, batch, {}, &BatchRange::to)->shape;
      const double iteration_ns =
          static_cast<double>(prepared.passes_ns(shape, batch, context) + prepared.host_ns(batch, shape.gamma > 0));
      const double iterations = load.output / (1.0 + 0.5 * static_cast<double>(shape.gamma));
      const double next = left > 0.0 ? load.per_s * iterations * iteration_ns / (ns_per_s * left) : most;
      if (next <= served) break;
      served = std::min(next, most);
    }
  } catch (const DomainError&) {  // a time that is not known: the simulation meets it, or it does not
  }
  return served;
}

/// Numbers in place of as_load_needs.
SimulationPlan completed_plan(const PreparedServer& prepared, SimulationPlan plan) {
  const bool any_requests = plan.requests == as_load_needs;
  const bool any_replicas = plan.replicas == as_load_needs;
  const bool any_warmup = plan.warmup_requests == as_load_needs;
  if (!any_requests && !any_replicas && !any_warmup) return plan;
  constexpr std::uint64_t least_requests = 2000;
  constexpr std::uint64_t least_share = 8;  // of a replica
  constexpr std::uint64_t least_warmup = 16;
  constexpr std::uint64_t turnovers = 4;
  constexpr std::uint64_t least_replicas = 8;
  constexpr std::uint64_t most_replicas = 32;
  const auto served = static_cast<std::uint64_t>(std::ceil(served_at_once(prepared)));
  const std::uint64_t share = std::max(turnovers * served, least_share);
  if (any_replicas && any_requests) {
    plan.replicas = most_replicas;
  } else if (any_replicas) {
    plan.replicas = std::min(std::clamp(plan.requests / share, least_replicas, most_replicas), plan.requests);
  }
  if (any_requests) plan.requests = std::max(least_requests, share * plan.replicas);
  if (any_warmup) plan.warmup_requests = least_warmup + turnovers * served;
  return plan;
}

}  // namespace

SimulationPlan plan_of_load(const Scenario& scenario, const SimulationPlan& plan) {
  return completed_plan(prepared_server(scenario), plan);
}

std::unique_ptr<Simulator> make_serving_simulator(const Scenario& scenario, const SimulationPlan& asked) {
  PreparedServer prepared = prepared_server(scenario);
  const SimulationPlan plan = completed_plan(prepared, asked);
  check_count("requests", plan.requests, 1, max_requests);
  check_count("warmup_requests", plan.warmup_requests, 0, max_requests);
  check_count("replicas", plan.replicas, 1, max_replicas);
  prepared.requests = whole_batches((plan.requests + plan.replicas - 1) / plan.replicas, prepared.server);
  prepared.warmup_requests = whole_batches(plan.warmup_requests, prepared.server);
  const BlockPlan replicas{.total = plan.replicas, .per_block = 1};
  return make_block_simulator(
      replicas, [prepared = std::move(prepared)](const RunKey& key, std::uint64_t block, std::uint64_t /*replicas*/) {
        return ServedReplica(prepared, key, block).run();
      });
}

}  // namespace foredraft::sim
