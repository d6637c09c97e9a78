// SPDX-License-Identifier: Apache-2.0
#include "sim/system/serving_simulator.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.hpp"
#include "core/parallel.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/system/arrivals.hpp"
#include "sim/system/measured_window.hpp"
#include "sim/system/prepared_server.hpp"
#include "sim/system/row_acceptance.hpp"

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

namespace {

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
        phased_left_(phased_requests(prepared)),
        window_(prepared.requests, prepared.longest, server_.latency_goal_us) {
    rows_.reserve(static_cast<std::size_t>(server_.max_batch));
    steps_.reserve(static_cast<std::size_t>(server_.max_batch));
    pass_time(0);  // for requests that have arrived at the start
  }

  /// Serves until the last measured request is complete.
  [[nodiscard]] Tally run() {
    while (!window_.complete()) {
      admit();
      if (rows_.empty() && !(chunked_ && is_next_here())) {
        pass_time(std::max<std::int64_t>(queue_.next_ns() - now_ns_, 0));
      } else if (!admits_more()) {
        iterate();
      }
      window_.end_batches(now_ns_, account_.in_system_ns);
    }
    Tally tally = std::move(window_).tally(now_ns_, account_.in_system_ns);
    Replica& replica = tally.serving.replicas.front();
    replica.number = block_;
    replica.warmup_requests = static_cast<std::int64_t>(prepared_.warmup_requests);
    close_account();
    return tally;
  }

 private:
  struct Row {
    std::int64_t arrival_ns;
    std::int64_t wait_ns;
    std::int64_t first_token_ns;
    std::int64_t prompt;
    std::int64_t unread;  ///< prompt tokens that are not yet in the cache
    std::int64_t output;
    std::int64_t remaining;  ///< 0: finished, padding of a static batch
    bool measured;
    RowMemory memory;
  };

  struct Lengths {
    std::int64_t prompt, output;
  };

  /// Number of warm-up outputs that are cut to a uniform fraction of their length: one for each client that a closed
  /// system serves at once, so that equal lengths do not synchronize them.
  static std::uint64_t phased_requests(const PreparedServer& prepared) {
    const foredraft::Server& server = prepared.server;
    if (server.arrivals.kind != ArrivalKind::closed || server.batching != Batching::continuous) return 0;
    const auto served = static_cast<std::uint64_t>(std::min(server.arrivals.clients, server.max_batch));
    return std::min(served, prepared.warmup_requests);
  }

  /// Lengths of the request at the head of the queue.
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

  /// True if there is a next request and a place for it.
  [[nodiscard]] bool can_take_up() const {
    return rows_.size() < static_cast<std::size_t>(server_.max_batch) && is_next_here();
  }

  void take_up() {
    const auto [prompt, output] = next_lengths();
    next_lengths_.reset();
    const std::uint64_t measured_from = prepared_.warmup_requests;
    const bool measured = admitted_ >= measured_from && admitted_ - measured_from < prepared_.requests;
    if (admitted_++ == measured_from) {
      window_.begin(now_ns_, account_.in_system_ns, std::min(in_system_, server_.max_batch));
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

  /// Starts decoding of the next row, whose prompt has been read.
  void start_decoding() { context_ += rows_[decoding_++].prompt; }

  void admit() {
    if (closed_to_others()) return;
    if (chunked_) {
      // Others join when their prompts begin.
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

  /// True while a static batch is running.
  [[nodiscard]] bool closed_to_others() const { return server_.batching != Batching::continuous && !rows_.empty(); }

  /// True if requests that arrived during the last prefill pass are prefilled before the next iteration.
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

  /// Reads up to `room` prompt tokens, first come, first served. At most one prompt remains unfinished.
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

  /// Chooses the draft length of the next iteration; true if it changes.
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
    window_.add_pass(static_cast<std::int64_t>(decoding_));
    const std::int64_t min_steps = draw_steps(shape.gamma);
    const std::int64_t max_steps = server_.batching == Batching::lockstep ? min_steps : shape.gamma;
    const std::int64_t max_tokens = iteration_outcome(shape, max_steps).tokens;
    for (std::size_t i = 0; i < decoding_; ++i) {
      Row& row = rows_[i];
      if (row.remaining == 0) continue;
      Outcome outcome = outcome_in_text(shape, steps_[i], row.remaining);
      outcome.tokens = std::min(outcome.tokens, max_tokens);
      if (row.measured) window_.add_iteration({.gamma = shape.gamma, .outcome = outcome});
      emit(row, outcome.tokens);
    }
  }

  void pass_time(std::int64_t duration_ns) {
    const std::int64_t until_ns = checked_sum(now_ns_ + duration_ns);
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
    window_.add_tokens(tokens);
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
    window_.add_request({.latency_ns = latency_ns,
                         .wait_ns = row.wait_ns,
                         .first_token_ns = row.first_token_ns - row.arrival_ns,
                         .tokens = row.output});
  }

  /// Removes finished sequences: immediately from a continuous batch, all together from a static one.
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

  void close_account() {
    pass_time(0);  // for clients whose request just completed
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
  ArrivalStream queue_;  // next request to admit
  ArrivalStream doors_;  // next request to arrive
  RandomStream prompts_;
  RandomStream outputs_;
  RandomStream phases_;
  RowAcceptance acceptance_;
  StopMeter stop_;

  std::int64_t now_ns_ = 0;
  std::int64_t in_system_ = 0;
  std::uint64_t admitted_ = 0;
  std::uint64_t phased_left_;
  std::optional<Lengths> next_lengths_;
  std::uint64_t draws_ = 0;
  std::vector<Row> rows_;
  std::size_t decoding_ = 0;           // number of decoding rows, which come first; the others read their prompts
  const BatchRange* range_ = nullptr;  // range of the last iteration
  std::vector<std::int64_t> steps_;    // [row]: drafts accepted in this iteration
  std::int64_t unfinished_ = 0;        // sequences
  std::int64_t context_ = 0;           // total cached tokens of decoding sequences

  RunAccount account_;  // from the start
  MeasuredWindow window_;
};

/// `requests`, rounded up to whole batches if they are static.
std::uint64_t whole_batches(std::uint64_t requests, const foredraft::Server& server) {
  if (server.batching == Batching::continuous) return requests;
  const auto batch = static_cast<std::uint64_t>(server.max_batch);
  return (requests + batch - 1) / batch * batch;
}

}  // namespace

SimulationPlan plan_of_load(const Scenario& scenario, const SimulationPlan& plan) {
  return completed_plan(prepared_server(scenario), plan);
}

std::unique_ptr<Simulator> make_serving_simulator(const Scenario& scenario, const SimulationPlan& asked) {
  PreparedServer prepared = prepared_server(scenario);
  const SimulationPlan plan = completed_plan(prepared, asked);
  constexpr std::int64_t max_replicas = 4096;
  constexpr std::int64_t max_requests = std::int64_t{1} << 40U;
  check_range("requests", static_cast<std::int64_t>(plan.requests), 1, max_requests);
  check_range("warmup_requests", static_cast<std::int64_t>(plan.warmup_requests), 0, max_requests);
  check_range("replicas", static_cast<std::int64_t>(plan.replicas), 1, max_replicas);
  prepared.requests = whole_batches((plan.requests + plan.replicas - 1) / plan.replicas, prepared.server);
  prepared.warmup_requests = whole_batches(plan.warmup_requests, prepared.server);
  const BlockPlan replicas{.total = plan.replicas, .per_block = 1};
  return make_block_simulator(
      replicas, [prepared = std::move(prepared)](const RunKey& key, std::uint64_t block, std::uint64_t /*replicas*/) {
        return ServedReplica(prepared, key, block).run();
      });
}

}  // namespace foredraft::sim
