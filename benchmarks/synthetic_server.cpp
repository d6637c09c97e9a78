// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/synthetic_server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "analytic/observed/acceptance_counts.hpp"

namespace foredraft::benchmarks {
namespace {

constexpr double window_s = 10.0;
constexpr double ms = 1000.0;

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double logit(double p) { return std::log(p / (1.0 - p)); }

/// [i]: share of the steps whose first i + 1 drafts are accepted, with log odds changed by `shift`.
std::vector<double> shares_of(const Text& text, std::int64_t gamma, double shift) {
  if (!text.by_position) {
    Runs runs = text.runs;
    runs.a = logistic(logit(runs.a) + shift);
    runs.b = logistic(logit(runs.b) + shift);
    return analytic::accepted_shares(runs, gamma);
  }
  std::vector<double> shares;
  double reached = 1.0;
  for (std::int64_t i = 0; i < gamma; ++i) {
    reached *= logistic(logit(text.runs.a) + shift - text.fall * static_cast<double>(i));
    shares.push_back(reached);
  }
  return shares;
}

/// Of a window at `level` standard deviations. Kinds of traffic are mixed by their share of the text, which no K
/// changes: the longer an iteration of a kind, the fewer steps and request-seconds it takes.
std::vector<double> shares_at(const Server& server, std::int64_t gamma, double level) {
  const double shift = server.acceptance_spread * level;
  if (server.traffic != Traffic::mixture) return shares_of(server.easy, gamma, shift);
  std::vector<double> shares = shares_of(server.easy, gamma, 0.0);
  const std::vector<double> hard_shares = shares_of(server.hard, gamma, 0.0);
  const double easy_text = logistic(logit(server.easy_share) + shift);
  const double easy_steps = easy_text / std::accumulate(shares.begin(), shares.end(), 1.0);
  const double hard_steps = (1.0 - easy_text) / std::accumulate(hard_shares.begin(), hard_shares.end(), 1.0);
  const double easy = easy_steps / (easy_steps + hard_steps);
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = easy * shares[i] + (1.0 - easy) * hard_shares[i];
  return shares;
}

Text drawn_text(Draws& draws, bool by_position, bool is_eagle, double mean_logit) {
  Text text{.by_position = by_position, .runs = {}, .fall = draws.between(0.0, 0.15)};
  text.runs.b = logistic(mean_logit - draws.between(0.0, 0.8));
  text.runs.a = logistic(mean_logit + draws.between(0.0, 0.8));
  text.runs.spread = draws.between(0.3, 0.9);
  text.runs.rho = is_eagle ? std::exp(std::log(1.4) + 0.15 * draws.normal()) : 1.0;
  return text;
}

/// Writes the log of one arm.
class ArmLog {
 public:
  ArmLog(const Server& server, std::int64_t gamma, Draws& draws)
      : server_(server), draws_(draws), acceptance_(draws.normal()), time_(draws.normal()) {
    arm_.gamma = gamma;
    const std::string speculation =
        gamma == 0 ? "None"
                   : fmt::format("SpeculativeConfig(method='{}', model='acme/drafter', num_spec_tokens={})",
                                 server.is_eagle ? "eagle3" : "draft_model", gamma);
    arm_.text = fmt::format(
        "INFO 03-04 09:58:11 [core.py:93] Initializing a V1 LLM engine (v0.19.1) with config: "
        "model='acme/target-8b', speculative_config={}, tokenizer='acme/target-8b'\n",
        speculation);
  }

  /// Windows at one load, `count` of which decode throughout or in part.
  void add_load(double batch, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const bool gap = server_.idle == Idle::between && draws_.chance(0.5 * server_.idle_rate);
      if (gap) {
        add_window(batch, {.busy = draws_.between(0.1, 0.9), .running = 0.0, .clean = false});
        for (std::int64_t idle = draws_.whole(1, 3); idle > 0; --idle) add_idle();
        add_window(batch, {.busy = draws_.between(0.1, 0.9), .running = batch, .clean = false});
      }
      add_decoding(batch);
    }
  }

  Arm take() { return std::move(arm_); }

 private:
  struct Part {
    double busy;     ///< share of the window in which requests decode
    double running;  ///< requests at its end
    bool clean;
    double prompt_tokens_per_s = 0.0;
  };

  void add_decoding(double batch) {
    Part part{.busy = 1.0, .running = batch, .clean = true};
    if (draws_.chance(server_.turnover)) part.running = batch - 1.0;
    if (server_.idle == Idle::within && draws_.chance(server_.idle_rate))
      part.busy = draws_.between(least_busy, most_busy);
    if (draws_.chance(server_.prefill_rate)) {
      const double time = server_.prefill_time * draws_.between(0.5, 1.5);
      part.prompt_tokens_per_s = ms * time * 256.0 / server_.base_ms;  // a decode step's time for 256 tokens
      part.busy *= 1.0 - time;
      part.clean = false;
    }
    add_window(batch, part);
  }

  void add_idle() {
    engine_line(0.0, {.busy = 0.0, .running = 0.0, .clean = false});
    arm_.windows.push_back({});
    advance();
  }

  void add_window(double batch, const Part& part) {
    const double spread = server_.time_spread;
    const double time =
        true_iteration_ms(server_, arm_.gamma, batch) * std::exp(0.5 * spread * spread - spread * time_);
    const double requests = batch - server_.turnover;
    const std::int64_t steps = std::llround(part.busy * window_s * ms * requests / time);
    std::vector<std::int64_t> accepted_at;
    std::int64_t accepted = 0;
    if (arm_.gamma > 0) {
      double before = 1.0;
      std::int64_t reached = steps;
      for (const double share : shares_at(server_, arm_.gamma, acceptance_)) {
        reached = draws_.binomial(reached, before > 0.0 ? share / before : 0.0);
        before = share;
        accepted_at.push_back(reached);
        accepted += reached;
      }
    }
    engine_line(static_cast<double>(steps + accepted) / window_s, part);
    if (arm_.gamma > 0 && steps > 0) metrics_line(steps, accepted, accepted_at);
    arm_.windows.push_back(
        {.batch = batch, .running = part.running, .steps = steps, .tokens = steps + accepted, .clean = part.clean});
    advance();
  }

  [[nodiscard]] std::string clock() const {
    const std::int64_t seconds = 36000 + std::llround(window_s) * std::ssize(arm_.windows);
    return fmt::format("INFO 03-04 {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }

  void engine_line(double tokens_per_s, const Part& part) {
    arm_.text += fmt::format(
        "{} [loggers.py:259] Engine 000: Avg prompt throughput: {:.1f} tokens/s, Avg generation throughput: {:.1f} "
        "tokens/s, Running: {:.0f} reqs, Waiting: 0 reqs, GPU KV cache usage: 3.4%, Prefix cache hit rate: 0.0%\n",
        clock(), part.prompt_tokens_per_s, tokens_per_s, part.running);
  }

  void metrics_line(std::int64_t steps, std::int64_t accepted, std::span<const std::int64_t> accepted_at) {
    const auto all = static_cast<double>(steps);
    const std::int64_t drafted = steps * arm_.gamma;
    std::string rates;
    for (const std::int64_t one : accepted_at) rates += fmt::format("{:.3f}, ", static_cast<double>(one) / all);
    arm_.text += fmt::format(
        "{} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {:.2f}, Accepted throughput: {:.2f} "
        "tokens/s,"
        " Drafted throughput: {:.2f} tokens/s, Accepted: {} tokens, Drafted: {} tokens, Per-position acceptance rate: "
        "{}Avg Draft acceptance rate: {:.1f}%\n",
        clock(), 1.0 + static_cast<double>(accepted) / all, static_cast<double>(accepted) / window_s,
        static_cast<double>(drafted) / window_s, accepted, drafted, rates,
        100.0 * static_cast<double>(accepted) / static_cast<double>(drafted));
  }

  void advance() {
    const double rest = std::sqrt(1.0 - server_.correlation * server_.correlation);
    acceptance_ = server_.correlation * acceptance_ + rest * draws_.normal();
    time_ = server_.correlation * time_ + rest * draws_.normal();
  }

  const Server& server_;
  Draws& draws_;
  double acceptance_, time_;  ///< levels of the window, in standard deviations
  Arm arm_;
};

}  // namespace

TrueTokens true_tokens(const Server& server, std::int64_t gamma) {
  if (gamma == 0) return {.mean = 1.0};
  constexpr double reach = 5.0;
  constexpr int nodes = 41;
  double weights = 0.0;
  double means = 0.0;
  double squares = 0.0;
  double step_squares = 0.0;
  for (int i = 0; i < nodes; ++i) {
    const double level = reach * (2.0 * i / (nodes - 1) - 1.0);
    const double weight = std::exp(-0.5 * level * level);
    const std::vector<double> shares = shares_at(server, gamma, level);
    double accepted = 0.0;
    double square = 0.0;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      accepted += shares[k];
      square += static_cast<double>(2 * k + 1) * shares[k];
    }
    weights += weight;
    means += weight * accepted;
    squares += weight * accepted * accepted;
    step_squares += weight * (square - accepted * accepted);
  }
  const double mean = means / weights;
  return {.mean = 1.0 + mean,
          .window_spread = std::sqrt(std::max(0.0, squares / weights - mean * mean)),
          .step_spread = std::sqrt(step_squares / weights)};
}

double true_iteration_ms(const Server& server, std::int64_t gamma, double batch) {
  const auto drafts = static_cast<double>(gamma);
  const double speculation = gamma > 0 ? server.host_ms + server.draft_ms * drafts : 0.0;
  return server.base_ms + server.token_ms * batch * (drafts + 1.0) + speculation;
}

double true_speedup(const Server& server, std::int64_t gamma, double batch) {
  return true_tokens(server, gamma).mean * true_iteration_ms(server, 0, batch) /
         true_iteration_ms(server, gamma, batch);
}

Server drawn_server(Draws& draws, std::uint64_t number) {
  Server server{};
  constexpr double correlations[] = {0.0, 0.5, 0.9};
  server.correlation = correlations[number % std::size(correlations)];
  server.traffic = draws.one_of({Traffic::runs, Traffic::positions, Traffic::mixture});
  server.is_eagle = draws.chance(0.7);
  const double mean_logit = draws.between(-1.0, 2.0);
  server.easy = drawn_text(draws, server.traffic == Traffic::positions, server.is_eagle, mean_logit);
  server.hard = drawn_text(draws, false, server.is_eagle, mean_logit - draws.between(0.8, 2.0));
  server.easy_share = draws.between(0.2, 0.8);
  server.acceptance_spread = server.traffic == Traffic::mixture ? draws.between(0.1, 0.2) : draws.between(0.03, 0.1);
  server.time_spread = draws.between(0.003, 0.015);
  server.base_ms = draws.between_logs(5.0, 30.0);
  server.token_ms = server.base_ms / draws.between_logs(64.0, 1024.0);
  server.draft_ms = server.base_ms * draws.between_logs(0.01, 0.25);
  server.host_ms = server.base_ms * draws.between(0.0, 0.15);
  for (std::int64_t arms = draws.whole(1, 3); std::ssize(server.gammas) < arms;) {
    const auto gamma = draws.one_of<std::int64_t>({1, 2, 3, 4, 5, 6, 8});
    if (std::ranges::find(server.gammas, gamma) == server.gammas.end()) server.gammas.push_back(gamma);
  }
  std::ranges::sort(server.gammas);
  const double layout = draws.between(0.0, 1.0);
  server.loads = layout < 0.75 ? Loads::one : layout < 0.88 ? Loads::two : Loads::differ;
  const double batch = draws.one_of({1.0, 2.0, 4.0, 8.0, 16.0});
  server.batches = {batch};
  if (server.loads == Loads::two) server.batches.push_back(4.0 * batch);
  server.plain_batch = server.loads == Loads::differ ? 4.0 * batch : batch;
  server.idle = draws.one_of({Idle::never, Idle::between, Idle::within});
  server.idle_rate = draws.between(0.05, 0.15);
  server.prefill_rate = draws.chance(0.3) ? draws.between(0.1, 0.3) : 0.0;
  server.prefill_time = draws.between(0.1, 0.4);
  server.turnover = batch >= 8.0 && draws.chance(0.25) ? draws.between(0.05, 0.3) : 0.0;
  return server;
}

std::vector<Arm> drawn_arms(const Server& server, Draws& draws) {
  std::vector<std::int64_t> gammas{0};
  gammas.insert(gammas.end(), server.gammas.begin(), server.gammas.end());
  std::vector<Arm> arms;
  for (const std::int64_t gamma : gammas) {
    ArmLog log(server, gamma, draws);
    const bool elsewhere = gamma == 0 && server.loads == Loads::differ;
    for (const double batch : elsewhere ? std::vector{server.plain_batch} : server.batches) {
      log.add_load(batch, draws.whole(6, 40));
    }
    arms.push_back(log.take());
  }
  return arms;
}

}  // namespace foredraft::benchmarks
