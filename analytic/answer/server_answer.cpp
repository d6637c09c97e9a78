// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <utility>
#include <variant>
#include <vector>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/load_equilibrium.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"

namespace foredraft::analytic {
namespace {

/// Maximum output length: closed forms here take quadratic time.
constexpr double longest_answer = 4096.0;

/// Standard deviation of the logarithm of a length; 0 unless it is lognormal.
double log_deviation(const TokenCount& count) {
  if (count.p95 == 0.0) return 0.0;
  // p95 / mean = exp(z sigma - sigma^2 / 2) has two solutions; the smaller sigma is used.
  constexpr double z = 1.6448536269514722;  // 95 % of a normal variate lie below
  return z - std::sqrt(std::max(z * z - 2.0 * std::log(count.p95 / count.tokens), 0.0));
}

/// Variance of a fixed or lognormal length, divided by its squared mean.
double squared_variation(const TokenCount& count) {
  const double sigma = log_deviation(count);
  return std::expm1(sigma * sigma);
}

/// Mean maximum of `count` independent lognormal lengths, divided by the mean length; by the midpoint rule.
double longest_of(std::int64_t count, double sigma) {
  if (sigma == 0.0) return 1.0;
  constexpr double step = 0.125;  // in standard deviations, from 8 below the mean to 8 above
  constexpr int half = 64;
  const auto shorter = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  double mean = 0.0;
  for (int i = -half; i < half; ++i) {
    const double z = step * i;
    const double share = std::pow(shorter(z + step), count) - std::pow(shorter(z), count);
    mean += share * std::exp(sigma * (z + 0.5 * step - 0.5 * sigma));
  }
  return mean;
}

/// Times of passes, looked up on a grid of batch and chunk sizes and interpolated.
class PassGrid {
 public:
  using Time = std::function<double(std::int64_t batch, std::int64_t chunk)>;

  PassGrid(std::int64_t max_batch, std::int64_t max_chunk, Time time)
      : max_batch_(max_batch), max_chunk_(max_chunk), time_(std::move(time)) {}

  double operator()(std::int64_t batch, double chunk) {
    const auto of_batch = [this](std::int64_t row) { return known(row, 0); };
    const double us = interpolated(between_batches(batch, true), of_batch);
    if (chunk <= 0.0) return us;
    // Time that a chunk adds.
    const Between tokens = between_chunks(chunk);
    return us + interpolated(between_batches(batch, false), [&](std::int64_t row) {
             return interpolated(tokens, [&](std::int64_t token) { return known(row, token); }) - known(row, 0);
           });
  }

 private:
  struct Between {
    std::int64_t low, high;
    double share;  ///< weight of the higher one
  };

  static Between between(std::int64_t low, std::int64_t high, double at) {
    const auto width = static_cast<double>(high - low);
    return {low, high, high > low ? (at - static_cast<double>(low)) / width : 0.0};
  }
  template <typename At>
  static double interpolated(const Between& ends, const At& at) {
    const double low = ends.share < 1.0 ? (1.0 - ends.share) * at(ends.low) : 0.0;
    return ends.share > 0.0 ? low + ends.share * at(ends.high) : low;
  }
  /// 0, 1, 2, 4, 8, 16, ... and the largest; if `fine` 3, 6, 12, 24, ... too.
  [[nodiscard]] Between between_batches(std::int64_t batch, bool fine) const {
    if (batch < 3) return {batch, batch, 0.0};
    std::int64_t power = 2;
    while (2 * power <= batch) power *= 2;
    if (!fine) return between(power, std::min(2 * power, max_batch_), static_cast<double>(batch));
    const std::int64_t middle = power + power / 2;
    const std::int64_t low = batch < middle ? power : middle;
    return between(low, std::min(batch < middle ? middle : 2 * power, max_batch_), static_cast<double>(batch));
  }
  /// 0, 32, 48, 64, 96, ..., 512, 1024, 2048, ... and the largest: finer where a pass changes from memory-bound to
  /// compute-bound.
  [[nodiscard]] Between between_chunks(double chunk) const {
    if (chunk <= 0.0) return {0, 0, 0.0};
    constexpr std::int64_t finer_below = 512;
    std::int64_t low = 0;
    std::int64_t high = 32;
    while (static_cast<double>(high) <= chunk) {
      const bool power = (high & (high - 1)) == 0;
      low = high;
      if (high >= finer_below) {
        high *= 2;
      } else {
        high += power ? high / 2 : high / 3;
      }
    }
    const auto most = static_cast<double>(max_chunk_);
    return between(std::min(low, max_chunk_), std::min(high, max_chunk_), std::min(chunk, most));
  }
  double known(std::int64_t batch, std::int64_t chunk) {
    const auto found = known_.find({batch, chunk});
    if (found != known_.end()) return found->second;
    return known_.emplace(std::pair{batch, chunk}, time_(batch, chunk)).first->second;
  }

  std::int64_t max_batch_;
  std::int64_t max_chunk_;
  Time time_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> known_;
};

/// Times of a server's forward passes, looked up or given, and of its engine.
class ServedPasses {
 public:
  ServedPasses(const Server& server, const Scenario& scenario, double context = 0.0)
      : server_(server),
        scenario_(scenario),
        looked_up_(scenario::looked_up(scenario.cost)),
        context_(context),
        schedule_(scenario::gamma_of_batches(server, scenario.gamma)),
        longest_(std::ranges::max(schedule_, {}, &GammaRange::gamma).gamma),
        prompt_(static_cast<std::int64_t>(server.prompt.tokens)),
        cached_(static_cast<std::int64_t>(server.prefix_hit * server.prompt.tokens)) {}

  [[nodiscard]] std::int64_t gamma_at(std::int64_t batch) const {
    return std::ranges::lower_bound(schedule_, std::max<std::int64_t>(batch, 1), {}, &GammaRange::to_batch)->gamma;
  }
  [[nodiscard]] std::int64_t verified_tokens(std::int64_t batch) const {
    return max_tokens(gamma_at(batch), scenario_.convention);
  }
  /// Tokens of a prompt that are not in the prefix cache.
  [[nodiscard]] std::int64_t unread() const { return prompt_ > 0 ? std::max<std::int64_t>(prompt_ - cached_, 1) : 0; }

  /// Time of each pass of an iteration.
  struct Passes {
    std::function<double(std::int64_t batch, std::int64_t gamma, double chunk)> verify_us;
    std::function<double(std::int64_t batch, std::int64_t gamma)> draft_us;  ///< all draft passes
    std::function<double(double chunk)> draft_prompt_us;
  };

  [[nodiscard]] double verify_us(std::int64_t batch, std::int64_t gamma, std::int64_t chunk) const {
    return target_us({.batch = batch,
                      .tokens = batch > 0 ? max_tokens(gamma, scenario_.convention) : 0,
                      .context = batch > 0 ? context_ : 0.0,
                      .chunk = chunk,
                      .chunk_context = chunk > 0 ? chunk_context() : 0.0});
  }
  [[nodiscard]] double draft_us(std::int64_t batch, std::int64_t gamma) const {
    const std::int64_t passes = draft_passes(gamma, drafting_);
    if (passes == 0) return 0.0;
    const double halfway = 0.5 * static_cast<double>(passes - 1);
    return static_cast<double>(passes) *
           drafter_us(
               {.batch = batch, .tokens = drafting_ == Drafting::block ? gamma : 1, .context = context_ + halfway});
  }
  [[nodiscard]] double draft_prompt_us(std::int64_t chunk) const {
    return drafts_prompts() ? drafter_us({.batch = 1, .tokens = chunk, .context = chunk_context(), .prompt = true})
                            : 0.0;
  }

  [[nodiscard]] Passes looked_up_passes() const {
    return {.verify_us = [this](std::int64_t batch, std::int64_t gamma,
                                double chunk) { return verify_us(batch, gamma, std::llround(chunk)); },
            .draft_us = [this](std::int64_t batch, std::int64_t gamma) { return draft_us(batch, gamma); },
            .draft_prompt_us = [this](double chunk) { return draft_prompt_us(std::llround(chunk)); }};
  }

  /// `chunk`: prompt tokens in the pass.
  [[nodiscard]] IterationParts iteration(const Passes& passes, std::int64_t batch, double chunk) const {
    const EngineTerms& engine = server_.engine;
    const std::int64_t gamma = gamma_at(batch);
    const bool drafts = batch > 0 && gamma > 0;
    const bool slots = drafts && engine.slot_by_slot;
    const std::int64_t rows = slots ? 1 : batch;
    const double times = slots ? static_cast<double>(batch) : 1.0;
    const auto verified = static_cast<double>(rows * max_tokens(gamma, scenario_.convention));
    const auto launch_us = [&engine](double tokens, double us) {
      const bool captured = engine.graph_tokens == 0 || tokens <= static_cast<double>(engine.graph_tokens);
      return captured ? 0.0 : std::max(engine.eager_us - us, 0.0);
    };
    IterationParts parts;
    if (batch > 0) parts.verification = times * passes.verify_us(rows, gamma, 0.0);
    if (drafts) parts.overhead = times * server_.overhead_us;
    if (drafts) parts.drafting = times * passes.draft_us(rows, gamma);
    const bool apart = slots || batch == 0;  // prompts have a separate pass
    if (chunk > 0.0) {
      parts.prompts =
          apart ? passes.verify_us(0, gamma, chunk) : passes.verify_us(rows, gamma, chunk) - parts.verification;
    }
    if (!apart) {
      parts.engine = launch_us(verified + chunk, parts.verification + parts.prompts);
    } else {
      if (slots) parts.engine = times * launch_us(verified, parts.verification / times);
      if (chunk > 0.0) parts.engine += launch_us(chunk, parts.prompts);
    }
    if (chunk > 0.0) parts.prompts += passes.draft_prompt_us(chunk);
    const double requests = static_cast<double>(batch);
    const double host_us = engine.host_us + engine.host_request_us * requests +
                           (drafts ? engine.draft_host_us + engine.draft_host_request_us * requests : 0.0);
    parts.engine += engine.asynchronous ? std::max(host_us - parts.total(), 0.0) : host_us;
    return parts;
  }

  [[nodiscard]] double iteration_us(std::int64_t batch) const {
    return iteration(looked_up_passes(), batch, 0.0).total();
  }

  /// Time of a pass that only prefills this many prompts.
  [[nodiscard]] double prompt_us(std::int64_t prompts) const {
    const double longest = longest_of(prompts, log_deviation(server_.prompt));
    const StepShape pass{.batch = prompts,
                         .tokens = std::llround(longest * static_cast<double>(unread())),
                         .context = static_cast<double>(prompt_ - unread()),
                         .prompt = true};
    const double launched_us = server_.engine.graph_tokens > 0 ? server_.engine.eager_us : 0.0;
    return std::max(target_us(pass), launched_us) + (drafts_prompts() ? drafter_us(pass) : 0.0);
  }

  /// The batch sizes after which the draft length changes or passes are no longer captured.
  [[nodiscard]] std::vector<std::int64_t> jumps() const {
    std::vector<std::int64_t> jumps;
    for (const GammaRange& range : schedule_) {
      jumps.push_back(range.to_batch);
      const std::int64_t captured = server_.engine.graph_tokens / max_tokens(range.gamma, scenario_.convention);
      if (captured >= range.from_batch && captured < range.to_batch) jumps.push_back(captured);
    }
    return jumps;
  }

  /// Prompt tokens that fit into a pass.
  [[nodiscard]] double room(std::int64_t batch) const {
    return static_cast<double>(server_.engine.pass_tokens - batch * verified_tokens(batch));
  }

 private:
  /// Mean context length of the prompt tokens in a pass: cached tokens and the tokens read in earlier passes.
  [[nodiscard]] double chunk_context() const {
    const std::int64_t pass = std::max<std::int64_t>(server_.engine.pass_tokens, 1);
    const std::int64_t whole = unread() / pass;
    const std::int64_t rest = unread() % pass;
    const auto before = static_cast<double>(pass * whole);
    const double read = before * (0.5 * static_cast<double>(pass * (whole - 1))) + before * static_cast<double>(rest);
    return static_cast<double>(prompt_ - unread()) + std::max(read, 0.0) / static_cast<double>(unread());
  }
  [[nodiscard]] bool drafts_prompts() const { return draft_passes(longest_, drafting_) > 0; }
  [[nodiscard]] double target_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.target_step(shape)
                                 : looked_up_->times->target_us(shape, scenario_.convention);
  }
  [[nodiscard]] double drafter_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.drafter_step(shape) : looked_up_->times->drafter_us(shape);
  }

  const Server& server_;
  const Scenario& scenario_;
  const LookedUpTimes* looked_up_;
  double context_;
  std::vector<GammaRange> schedule_;
  std::int64_t longest_;
  std::int64_t prompt_;
  std::int64_t cached_;
  Drafting drafting_ = scenario::drafting(scenario_.drafter);
};

bool has_one_length(const TokenCount& count) { return count.spread == 0 && !count.geometric && count.p95 == 0.0; }

/// The closed forms of a server with fixed or geometric lengths, if all iterations take the same time.
class ServerForms {
 public:
  ServerForms(const Server& server, const Scenario& scenario, StopToken stop)
      : server_(server), scenario_(scenario), stop_(stop), passes_(server, scenario) {}

  [[nodiscard]] ClosedForm answer() const {
    ClosedForm answer;
    if (!scenario::has_independent_iterations(server_.acceptance)) return answer;
    if (server_.arrivals.kind == ArrivalKind::recorded) return answer;
    if (!server_.gamma_schedule.empty() || !answers_are_simple() || !prompts_are_simple()) return answer;
    const bool lockstep = server_.batching == Batching::lockstep && server_.max_batch > 1;
    // Sequences in lockstep with the same start and length behave like one sequence that accepts the minimum of all.
    const bool one_row = lockstep && full() && !server_.output.geometric;
    if (lockstep && !one_row) return answer;
    const std::vector<double> pmf = tokens_of_iteration(one_row ? static_cast<double>(server_.max_batch) : 1.0);
    const double iterations = mean_iterations(pmf);
    if (iterations > 0.0) {
      answer.tokens_per_iteration = decoded_tokens() / iterations;
      answer.memory_access_factor = iterations / decoded_tokens();
    }
    // If acceptance depends on the position, the ends of outputs matter: they reduce the tests of later drafts.
    const auto* iid = std::get_if<Iid>(&server_.acceptance);
    if (scenario_.gamma > 0 && iid != nullptr) answer.per_token = iid->alpha;
    if (full()) add_full_server(pmf, iterations, answer);
    if (server_.max_batch == 1 && server_.arrivals.kind == ArrivalKind::poisson) add_queue(pmf, answer);
    return answer;
  }

 private:
  [[nodiscard]] bool answers_are_simple() const {
    return server_.output.spread == 0 && server_.output.p95 == 0.0 && server_.output.tokens <= longest_answer;
  }
  /// True if there are no prompts, or each is read in a prefill pass that yields a token.
  [[nodiscard]] bool prompts_are_simple() const {
    const TokenCount& prompt = server_.prompt;
    return !has_prompt() || prompt.geometric || prompt.tokens - static_cast<double>(prompt.spread) >= 1.0;
  }
  /// True if each prompt is read in a separate pass and all take the same time.
  [[nodiscard]] bool prompts_are_alike() const {
    const bool alone = server_.engine.prefill == Prefill::alone || !has_prompt();
    return alone && has_one_length(server_.prompt);
  }
  [[nodiscard]] bool has_prompt() const { return server_.prompt.tokens > 0.0; }

  /// True if the batch is always full.
  [[nodiscard]] bool full() const {
    return server_.arrivals.kind == ArrivalKind::closed && server_.arrivals.clients >= server_.max_batch;
  }

  [[nodiscard]] bool context_is_free() const {
    const bool given = scenario::looked_up(scenario_.cost) == nullptr;
    return given && server_.target_step.context_us == 0.0 && server_.drafter_step.context_us == 0.0;
  }

  /// Distribution of the tokens that all of `rows` sequences accept, each independently.
  [[nodiscard]] std::vector<double> tokens_of_iteration(double rows) const {
    if (const auto* iid = std::get_if<Iid>(&server_.acceptance)) {
      return tokens_pmf({std::pow(iid->alpha, rows), scenario_.gamma, scenario_.convention});
    }
    std::vector<double> marginal = marginal_of(server_.acceptance, scenario_.gamma).value();
    for (double& entry : marginal) entry = std::pow(entry, rows);
    return tokens_pmf(marginal, scenario_.gamma, scenario_.convention);
  }

  /// Output tokens emitted by iterations: all except the one of prefill.
  [[nodiscard]] double decoded_tokens() const { return server_.output.tokens - (has_prompt() ? 1.0 : 0.0); }

  [[nodiscard]] double mean_iterations(const std::vector<double>& pmf) const {
    if (!server_.output.geometric) {
      return expected_iterations(pmf, static_cast<std::int64_t>(decoded_tokens()), stop_);
    }
    // After its first token, the remaining length of a geometric output has the same distribution.
    const double goes_on = decoded_tokens() / server_.output.tokens;
    return goes_on * expected_iterations_geometric(pmf, server_.output.tokens);
  }

  [[nodiscard]] double iteration_us() const { return passes_.iteration_us(server_.max_batch); }

  void add_full_server(const std::vector<double>& pmf, double iterations, ClosedForm& answer) const {
    if (!context_is_free() || has_prompt()) return;
    const bool ragged = server_.batching == Batching::ragged && server_.max_batch > 1;
    if (ragged && server_.output.geometric) return;
    const double iterations_of_batch =
        ragged ? slowest_iterations(iterations_survival(pmf, static_cast<std::int64_t>(server_.output.tokens), stop_),
                                    server_.max_batch)
               : iterations;
    const double rows = static_cast<double>(server_.max_batch);
    const double requests_per_s = rows / (iterations_of_batch * iteration_us() * 1e-6);
    answer.tokens_per_s = requests_per_s * server_.output.tokens;
    if (server_.batching != Batching::continuous) return;
    // Little's law: the number of clients is constant.
    const double latency_ms = 1e3 * static_cast<double>(server_.arrivals.clients) / requests_per_s;
    answer.latency_ms = latency_ms;
    answer.wait_ms = std::max(0.0, latency_ms - 1e-3 * iterations * iteration_us());
  }

  void add_queue(const std::vector<double>& pmf, ClosedForm& answer) const {
    if (!context_is_free() || server_.output.geometric || !prompts_are_alike()) return;
    const double prompt_us = has_prompt() ? passes_.prompt_us(1) : 0.0;
    double mean = 0.0;
    double second_moment = 0.0;
    if (decoded_tokens() > 0.0) {
      const auto survival = iterations_survival(pmf, static_cast<std::int64_t>(decoded_tokens()), stop_);
      mean = slowest_iterations(survival, 1);
      second_moment = iterations_second_moment(survival);
    }
    const double iteration = iteration_us();
    const double service_us = prompt_us + mean * iteration;
    if (service_us == 0.0) return;
    const double square =
        prompt_us * prompt_us + 2.0 * prompt_us * mean * iteration + second_moment * iteration * iteration;
    const double wait_us =
        poisson_queue_wait(1e-6 * server_.arrivals.rate_per_s, {.mean = service_us, .second_moment = square});
    answer.wait_ms = 1e-3 * wait_us;
    answer.latency_ms = 1e-3 * (wait_us + service_us);
    if (std::isfinite(wait_us)) {
      answer.tokens_per_s = server_.arrivals.rate_per_s * server_.output.tokens;
    }
  }

  const Server& server_;
  const Scenario& scenario_;
  StopToken stop_;
  ServedPasses passes_;
};

}  // namespace

ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop) {
  return ServerForms(server, scenario, stop).answer();
}

namespace {

const Server& checked_server(const Scenario& scenario) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  const auto one_or_lognormal = [](const TokenCount& count) { return count.spread == 0 && !count.geometric; };
  const bool answered =
      server != nullptr && server->batching == Batching::continuous &&
      (server->arrivals.kind == ArrivalKind::poisson || server->arrivals.kind == ArrivalKind::closed) &&
      one_or_lognormal(server->prompt) && one_or_lognormal(server->output) && server->output.tokens >= 2.0;
  if (answered) {
    static_cast<void>(scenario::gamma_by_batch(scenario::gamma_of_batches(*server, scenario.gamma), server->max_batch,
                                               scenario.convention));
    return *server;
  }
  throw DomainError(
      "no load equilibrium for this server (must have Poisson arrivals or a closed loop, continuous batching, fixed "
      "or lognormal lengths, and outputs of at least 2 tokens on average)");
}

double mean_tokens(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  const auto distribution = iteration_distribution(
      {.fidelity = ProcessFidelity{.acceptance = acceptance}, .gamma = gamma, .convention = convention},
      unknown<double>);
  if (distribution.mean) return *distribution.mean;
  throw DomainError("no closed form for this acceptance process");
}

}  // namespace

AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  if (scenario::has_independent_iterations(acceptance)) return acceptance;
  // The expected gain of one more draft is the probability that it and all before it are accepted.
  const std::int64_t first = min_gamma(convention);
  double tokens = mean_tokens(acceptance, first, convention);
  double before = 1.0;
  Positional served;
  for (std::int64_t draft = 1; draft <= gamma; ++draft) {
    const double more = mean_tokens(acceptance, first + draft, convention);
    const double accepted = std::clamp(more - tokens, 0.0, before);
    served.conditional.push_back(before > 0.0 ? accepted / before : 0.0);
    before = accepted;
    tokens = more;
  }
  if (served.conditional.empty()) served.conditional.push_back(0.0);
  return served;
}

namespace {

/// Iterations of an output by draft length.
class AnswerIterations {
 public:
  AnswerIterations(const Server& server, const Scenario& scenario, double decoded, StopToken stop)
      : server_(server), scenario_(scenario), decoded_(decoded), stop_(stop) {}

  RequestIterations operator()(std::int64_t gamma) {
    const auto known = known_.find(gamma);
    if (known != known_.end()) return known->second;
    const auto distribution =
        iteration_distribution({.fidelity = ProcessFidelity{.acceptance = server_.acceptance,
                                                            .sequence_length = SequenceLength{.tokens = decoded_}},
                                .gamma = gamma,
                                .convention = scenario_.convention},
                               unknown<double>, stop_);
    if (!distribution.iterations) throw DomainError("no closed form for this acceptance process");
    // Variance from the renewal process and from the lengths.
    const double of_tokens = distribution.variance.value_or(0.0) / (distribution.mean.value_or(1.0) * decoded_);
    const RequestIterations iterations{.mean = *distribution.iterations,
                                       .variation = std::sqrt(of_tokens + squared_variation(server_.output))};
    return known_.emplace(gamma, iterations).first->second;
  }

 private:
  const Server& server_;
  const Scenario& scenario_;
  double decoded_;
  StopToken stop_;
  std::map<std::int64_t, RequestIterations> known_;
};

}  // namespace

LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop) {
  const Server& server = checked_server(scenario);
  const bool has_prompt = server.prompt.tokens > 0.0;
  const bool chunked = has_prompt && server.engine.prefill == Prefill::chunked;
  const double decoded = server.output.tokens - (has_prompt ? 1.0 : 0.0);
  const ServedPasses passes(
      server, scenario, server.prompt.tokens + 0.5 * server.output.tokens * (1.0 + squared_variation(server.output)));
  AnswerIterations iterations(server, scenario, decoded, stop);
  // By draft length.
  std::map<std::int64_t, PassGrid> verifications;
  std::map<std::int64_t, PassGrid> drafts;
  const std::int64_t most = server.engine.pass_tokens;
  PassGrid draft_prompts(0, most, [&](std::int64_t /*batch*/, std::int64_t chunk) {
    return chunk > 0 ? passes.draft_prompt_us(chunk) : 0.0;
  });
  const ServedPasses::Passes grid{
      .verify_us =
          [&](std::int64_t batch, std::int64_t gamma, double chunk) {
            const auto time = [&passes, gamma](std::int64_t rows, std::int64_t tokens) {
              return rows > 0 || tokens > 0 ? passes.verify_us(rows, gamma, tokens) : 0.0;
            };
            return verifications.try_emplace(gamma, server.max_batch, most, time).first->second(batch, chunk);
          },
      .draft_us =
          [&](std::int64_t batch, std::int64_t gamma) {
            const auto time = [&passes, gamma](std::int64_t rows, std::int64_t /*chunk*/) {
              return passes.draft_us(rows, gamma);
            };
            return drafts.try_emplace(gamma, server.max_batch, 0, time).first->second(batch, 0.0);
          },
      .draft_prompt_us = [&](double chunk) { return draft_prompts(0, chunk); }};
  ServedLoad load{.iterations = [&](std::int64_t batch) { return iterations(passes.gamma_at(batch)); },
                  .tokens = decoded,
                  .max_batch = server.max_batch,
                  .iteration = [&](std::int64_t batch, double chunk) { return passes.iteration(grid, batch, chunk); }};
  load.jumps = passes.jumps();
  if (server.arrivals.kind == ArrivalKind::closed) {
    load.clients = server.arrivals.clients;
  } else {
    load.requests_per_s = server.arrivals.rate_per_s;
  }
  load.prompt_variation = has_prompt ? std::sqrt(squared_variation(server.prompt)) : 0.0;
  if (chunked) {
    load.chunked = {.tokens = static_cast<double>(passes.unread()),
                    .room = [&](std::int64_t batch) { return passes.room(batch); }};
  } else if (has_prompt) {
    load.prompt_us = [&](std::int64_t prompts) { return passes.prompt_us(prompts); };
  }
  return load_equilibrium(load);
}

}  // namespace foredraft::analytic
