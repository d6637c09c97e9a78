// SPDX-License-Identifier: Apache-2.0
// Whether the answers of `advise` hold on servers whose truth is known: their logs are made up, printed as vLLM prints
// them, read and judged as those of a user. Prints a table of goals; exit status 1 if one is missed.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/binomial_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "answers/advice.hpp"
#include "core/random_stream.hpp"
#include "logs/log_reader.hpp"

namespace foredraft::benchmarks {
namespace {

using nlohmann::ordered_json;

constexpr double window_s = 10.0;
constexpr double ms = 1000.0;
constexpr double normal_95 = 1.959963984540054;
constexpr double least_busy = 0.5, most_busy = 0.9;  ///< share of a window that is idle in part
constexpr std::int64_t longest = 8;                  ///< draft length whose tokens are judged

// ---- random draws

/// Draws of one server, in order.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t server)
      : random_(seed, {.purpose = Purpose::test, .point = 0, .block = server}) {}

  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  double between_logs(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  bool chance(double probability) { return random_.uniform() < probability; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(static_cast<double>(high - low + 1) * random_.uniform());
  }
  double normal() { return boost::random::normal_distribution<double>()(random_); }
  std::int64_t binomial(std::int64_t trials, double probability) {
    if (trials <= 0 || !(probability > 0.0)) return 0;
    if (probability >= 1.0) return trials;
    return boost::random::binomial_distribution<std::int64_t>(trials, probability)(random_);
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[whole(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

 private:
  RandomStream random_;
};

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double logit(double p) { return std::log(p / (1.0 - p)); }

// ---- the truth

enum class Traffic { runs, positions, mixture };
enum class Loads { one, two, differ };
enum class Idle { never, between, within };

/// Acceptance of one kind of traffic: runs of easy and hard text, or a chance that falls with depth.
struct Text {
  bool by_position;
  Runs runs;
  double fall;  ///< of the log odds at each position, where by_position
};

/// Everything that a server's logs are drawn from.
struct Server {
  double correlation;  ///< of acceptance and iteration time from window to window
  Traffic traffic;
  Text easy, hard;           ///< hard: in a mixture only
  double easy_share;         ///< of the steps, at the mean
  double acceptance_spread;  ///< standard deviation of a window's log odds, or of those of its share of easy traffic
  double time_spread;        ///< standard deviation of the logarithm of a window's iteration time
  double base_ms, token_ms;  ///< a decode step of an empty batch, and what each token of the batch adds
  double draft_ms, host_ms;  ///< of each draft, and of each iteration that drafts
  std::vector<std::int64_t> gammas;  ///< logged, ascending
  Loads loads;
  std::vector<double> batches;  ///< of the speculative arms
  double plain_batch;           ///< where loads differ
  Idle idle;
  double idle_rate;
  double prefill_rate, prefill_time;  ///< share of windows with prompts, and of their time
  double turnover;                    ///< chance that a window ends with one request fewer
  bool is_eagle;
};

/// [i]: share of the steps whose first i + 1 drafts are accepted, with log odds off by `shift`.
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

/// Acceptance at one draft length over all windows that could have been logged.
struct TrueTokens {
  double mean = 0.0;           ///< per iteration
  double window_spread = 0.0;  ///< standard deviation between windows
  double step_spread = 0.0;    ///< between the steps of a window
};

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

Text drawn_text(Draws& draws, bool by_position, bool is_eagle, double mean_logit) {
  Text text{.by_position = by_position, .runs = {}, .fall = draws.between(0.0, 0.15)};
  text.runs.b = logistic(mean_logit - draws.between(0.0, 0.8));
  text.runs.a = logistic(mean_logit + draws.between(0.0, 0.8));
  text.runs.spread = draws.between(0.3, 0.9);
  text.runs.rho = is_eagle ? std::exp(std::log(1.4) + 0.15 * draws.normal()) : 1.0;
  return text;
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

// ---- the logs

/// One window of an arm.
struct Window {
  double batch = 0.0;
  double running = 0.0;  ///< requests at its end
  std::int64_t steps = 0, tokens = 0;
  bool clean = false;  ///< decodes throughout: no prompts, no edge to an idle server
};

/// What one arm logged, at one or two loads.
struct Arm {
  std::int64_t gamma = 0;
  std::vector<Window> windows;  ///< all in order, the idle ones with 0 steps
  std::string text;
};

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

  /// Windows at one load, of which `count` decode throughout or in part.
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

/// The arms of a server, the plain one first.
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

logs::ObservedLog observed(const Arm& arm) {
  const std::string name = fmt::format("k{}.log", arm.gamma);
  logs::LogReader reader(name);
  reader.add(arm.text);
  return {
      .file = name, .sha256 = fmt::format("{:064}", arm.gamma), .contents = reader.finish(), .bytes = arm.text.size()};
}

ordered_json advice_of(std::span<const Arm> arms) {
  answers::AdviceQuestion question;
  for (const Arm& arm : arms) (arm.gamma == 0 ? question.plain : question.logs).push_back(observed(arm));
  return answers::to_json(answers::advise(question), "0.19.1");
}

// ---- the sampling error that these windows have, known from the truth

/// Variance of a mean over windows with these weights (0: left out), in units of the variance of one window.
double variance_of_mean(const std::vector<double>& weights, double correlation) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double variance = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j < weights.size() && weights[i] > 0.0; ++j) {
      const double lag = std::abs(static_cast<double>(i) - static_cast<double>(j));
      const double shared = i == j ? 1.0 : correlation == 0.0 ? 0.0 : std::pow(correlation, lag);
      variance += weights[i] * weights[j] * shared;
    }
  }
  return variance / (all * all);
}

/// Steps of the windows at `batch`, or 0: of all, or of those that decode throughout.
std::vector<double> weights_of(const Arm& arm, std::optional<double> batch, bool clean) {
  std::vector<double> weights;
  for (const Window& window : arm.windows) {
    const bool counts = (!batch || window.batch == *batch) && (window.clean || !clean);
    weights.push_back(counts ? static_cast<double>(window.steps) : 0.0);
  }
  return weights;
}

double error_of_tokens(const Server& server, const Arm& arm, std::optional<double> batch, bool clean) {
  const std::vector<double> weights = weights_of(arm, batch, clean);
  const TrueTokens tokens = true_tokens(server, arm.gamma);
  const double steps = std::accumulate(weights.begin(), weights.end(), 0.0);
  return std::sqrt(tokens.window_spread * tokens.window_spread * variance_of_mean(weights, server.correlation) +
                   tokens.step_spread * tokens.step_spread / steps);
}

/// Relative error of an arm's time per token at one load; NaN without a window that decodes throughout.
double relative_error_of_time(const Server& server, const Arm& arm, double batch) {
  const std::vector<double> weights = weights_of(arm, batch, true);
  if (std::ranges::none_of(weights, [](double one) { return one > 0.0; })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double of_tokens =
      arm.gamma == 0 ? 0.0 : error_of_tokens(server, arm, batch, true) / true_tokens(server, arm.gamma).mean;
  const double of_time = server.time_spread * std::sqrt(variance_of_mean(weights, server.correlation));
  // Requests that end and windows that are idle in part are independent from window to window.
  double independent = server.turnover * (1.0 - server.turnover) / (batch * batch);
  if (server.idle == Idle::within) {
    const double mean = 1.0 - server.idle_rate * (1.0 - 0.5 * (least_busy + most_busy));
    const double square =
        1.0 -
        server.idle_rate * (1.0 - (least_busy * least_busy + least_busy * most_busy + most_busy * most_busy) / 3.0);
    independent += (square - mean * mean) / (mean * mean);
  }
  const auto windows = static_cast<double>(std::ranges::count_if(weights, [](double one) { return one > 0.0; }));
  return std::sqrt(of_tokens * of_tokens + of_time * of_time + independent / windows);
}

// ---- the judgment

/// Counts of one quantity at one autocorrelation.
struct Tally {
  std::int64_t number = 0, held = 0;
  std::vector<double> widths = {};  ///< over that of the known sampling error
};

struct Results {
  std::map<std::string, std::map<double, Tally>> intervals;  ///< by quantity and autocorrelation
  std::int64_t sign_claims = 0, wrong_signs = 0;
  std::vector<double> losses, losses_of_measured;
  std::int64_t clear = 0, withheld = 0;
  std::int64_t uncompared = 0, compared_anyway = 0;
  std::int64_t refused = 0;
};

/// Prints single servers that miss, where asked for.
struct Report {
  std::string_view listed;
  std::uint64_t server;
  std::string_view circumstances;

  void miss(std::string_view kind, const std::string& what) const {
    if (listed == "all" || listed == kind) fmt::print("{} {} {}: {}\n", kind, server, circumstances, what);
  }
};

void judge_interval(const ordered_json& low, const ordered_json& high, double truth, double error, Tally& tally,
                    const Report& report, const std::string& what) {
  if (!low.is_number() || !high.is_number()) return;
  ++tally.number;
  const bool holds = low.get<double>() <= truth && truth <= high.get<double>();
  tally.held += holds ? 1 : 0;
  const double width = (high.get<double>() - low.get<double>()) / (2.0 * normal_95 * error);
  if (std::isfinite(width)) tally.widths.push_back(width);
  if (!holds) {
    report.miss("interval", fmt::format("{} {:.4f} to {:.4f}, truth {:.4f}, known error {:.4f}", what,
                                        low.get<double>(), high.get<double>(), truth, error));
  }
}

const Arm* arm_of(std::span<const Arm> arms, std::int64_t gamma) {
  const auto found = std::ranges::find(arms, gamma, &Arm::gamma);
  return found == arms.end() ? nullptr : &*found;
}

void judge_tokens(const Server& server, std::span<const Arm> arms, const ordered_json& advice, const Report& report,
                  Results& results) {
  for (const ordered_json& row : advice["tokens_per_iteration_by_gamma"]) {
    const auto gamma = row["gamma"].get<std::int64_t>();
    if (gamma > longest || row["value"].is_null()) continue;
    const Arm* arm = arm_of(arms, gamma);
    const double truth = true_tokens(server, gamma).mean;
    const double error =
        arm == nullptr ? std::numeric_limits<double>::quiet_NaN() : error_of_tokens(server, *arm, std::nullopt, false);
    Tally& tally = results.intervals[arm == nullptr ? "tokens at another K" : "tokens"][server.correlation];
    judge_interval(row["low"], row["high"], truth, error, tally, report, fmt::format("tokens K={}", gamma));
  }
}

/// The load of a row: that of the nearest batch.
double batch_of(const Server& server, const ordered_json& load) {
  const double batch = load["batch"].is_number() ? load["batch"].get<double>() : server.batches.front();
  return *std::ranges::min_element(server.batches, {},
                                   [&](double one) { return std::abs(std::log(one / std::max(batch, 0.5))); });
}

void judge_speedups(const Server& server, std::span<const Arm> arms, const ordered_json& advice, const Report& report,
                    Results& results) {
  const bool certain = advice["sign_certain"].get<bool>();
  bool wrong = false;
  bool claims = false;
  for (const ordered_json& load : advice["loads"]) {
    const double batch = batch_of(server, load);
    if (server.loads == Loads::differ) {
      ++results.uncompared;
      if (load["speedup"].is_object()) {
        ++results.compared_anyway;
        report.miss("compared", load["speedup"].dump());
      }
      continue;
    }
    const auto error_at = [&](std::int64_t gamma) {
      return true_speedup(server, gamma, batch) *
             std::hypot(relative_error_of_time(server, *arm_of(arms, gamma), batch),
                        relative_error_of_time(server, arms.front(), batch));
    };
    for (const ordered_json& row : load["speedup_by_gamma"]) {
      const auto gamma = row["gamma"].get<std::int64_t>();
      if (row["iteration_time"] != "logged" || row["value"].is_null() || arm_of(arms, gamma) == nullptr) continue;
      judge_interval(row["low"], row["high"], true_speedup(server, gamma, batch), error_at(gamma),
                     results.intervals["speedup, each K"][server.correlation], report,
                     fmt::format("speedup K={} B={}", gamma, batch));
    }
    if (!load["speedup"].is_object() || !load["gamma"].is_number()) continue;
    const auto gamma = load["gamma"].get<std::int64_t>();
    const double truth = true_speedup(server, gamma, batch);
    const double measured = load["speedup"]["measured"].get<double>();
    claims = true;
    wrong = wrong || (measured - 1.0) * (truth - 1.0) < 0.0;
    if (!load["speedup"]["ci95"].is_array()) continue;
    judge_interval(load["speedup"]["ci95"][0], load["speedup"]["ci95"][1], truth, error_at(gamma),
                   results.intervals["speedup, shown K"][server.correlation], report,
                   fmt::format("shown speedup K={} B={}", gamma, batch));
  }
  if (!certain || !claims) return;
  ++results.sign_claims;
  if (!wrong) return;
  ++results.wrong_signs;
  report.miss("sign", advice["loads"].dump());
}

/// Tokens that the speculative arms logged at a load.
double logged_tokens(const Server& server, std::span<const Arm> arms, double batch) {
  double tokens = 0.0;
  for (const Arm& arm : arms) {
    if (arm.gamma == 0) continue;
    const std::vector<double> steps = weights_of(arm, batch, false);
    tokens += true_tokens(server, arm.gamma).mean * std::accumulate(steps.begin(), steps.end(), 0.0);
  }
  return tokens;
}

/// Request-seconds of the logged tokens of all loads, with a draft length at each.
double time_over_loads(const Server& server, std::span<const Arm> arms, const auto& gamma_at) {
  double time = 0.0;
  for (const double batch : server.batches) {
    const std::int64_t gamma = gamma_at(batch);
    time +=
        logged_tokens(server, arms, batch) * true_iteration_ms(server, gamma, batch) / true_tokens(server, gamma).mean;
  }
  return time;
}

/// The same of one arm, as its windows measured it.
double measured_time(const Server& server, std::span<const Arm> arms, const Arm& arm) {
  double time = 0.0;
  for (const double batch : server.batches) {
    double requests = 0.0;
    double tokens = 0.0;
    for (const Window& window : arm.windows) {
      if (window.batch != batch || !window.clean) continue;
      requests += window.running;
      tokens += static_cast<double>(window.tokens);
    }
    time += logged_tokens(server, arms, batch) * requests / tokens;
  }
  return time;
}

/// The draft length that an answer sets at a batch.
std::int64_t advised_gamma(const ordered_json& recommendation, double batch) {
  if (recommendation["schedule"].is_array()) {
    for (const ordered_json& range : recommendation["schedule"]) {
      const bool open = range["last_batch"].is_null();
      if (batch >= range["first_batch"].get<double>() && (open || batch <= range["last_batch"].get<double>())) {
        return range["gamma"].get<std::int64_t>();
      }
    }
  }
  return recommendation["gamma"].get<std::int64_t>();
}

/// Relative error of the ratio of the times per token of two arms, over the loads the largest.
double error_of_ratio(const Server& server, const Arm& one, const Arm& other) {
  double largest = 0.0;
  for (const double batch : server.batches) {
    const double error =
        std::hypot(relative_error_of_time(server, one, batch), relative_error_of_time(server, other, batch));
    largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
  }
  return largest;
}

void judge_choice(const Server& server, std::span<const Arm> arms, const ordered_json& advice, const Report& report,
                  Results& results) {
  // Where the loads differ, nothing says whether any K beats none.
  std::vector<std::pair<double, const Arm*>> candidates;
  for (const Arm& arm : arms) {
    if (arm.gamma == 0 && server.loads == Loads::differ) continue;
    candidates.emplace_back(time_over_loads(server, arms, [&](double) { return arm.gamma; }), &arm);
  }
  std::ranges::sort(candidates);
  const double best = candidates.front().first;
  const auto& measured = *std::ranges::min_element(
      candidates, {}, [&](const auto& candidate) { return measured_time(server, arms, *candidate.second); });
  results.losses_of_measured.push_back(1.0 - best / measured.first);
  const ordered_json& recommendation = advice["recommendation"];
  const std::string truth = fmt::format("best K={}", candidates.front().second->gamma);
  if (recommendation.is_object()) {
    const double time =
        time_over_loads(server, arms, [&](double batch) { return advised_gamma(recommendation, batch); });
    const double loss = std::max(0.0, 1.0 - best / time);
    results.losses.push_back(loss);
    if (loss > 0.02) {
      report.miss("loss", fmt::format("{:.1f} %, {}, {}", 100.0 * loss, truth, recommendation.dump()));
    }
  }
  if (candidates.size() < 2) return;
  const double gap = std::log(candidates[1].first / best);
  if (!(gap > 3.0 * error_of_ratio(server, *candidates[0].second, *candidates[1].second))) return;
  ++results.clear;
  if (recommendation.is_object()) return;
  ++results.withheld;
  report.miss("withheld", fmt::format("gap {:.1f} %, {}, {}", 100.0 * gap, truth, advice["why_not"].dump()));
}

std::string circumstances_of(const Server& server, std::span<const Arm> arms) {
  constexpr const char* traffics[] = {"runs", "positions", "mixture"};
  constexpr const char* loads[] = {"one load", "two loads", "other load"};
  constexpr const char* idles[] = {"never idle", "idle between", "idle within"};
  std::string counts;
  for (const Arm& arm : arms) {
    counts += fmt::format(" K{}:{}", arm.gamma, std::ranges::count(arm.windows, true, &Window::clean));
  }
  return fmt::format("[rho {}, {}, {}, {}, prompts {:.0f} %,{}]", server.correlation,
                     traffics[static_cast<int>(server.traffic)], loads[static_cast<int>(server.loads)],
                     idles[static_cast<int>(server.idle)], 100.0 * server.prefill_rate, counts);
}

void judge(const Server& server, std::span<const Arm> arms, const Report& report, Results& results) {
  ordered_json advice;
  try {
    advice = advice_of(arms);
  } catch (const std::exception& error) {
    ++results.refused;
    return report.miss("refused", error.what());
  }
  judge_tokens(server, arms, advice, report, results);
  judge_speedups(server, arms, advice, report, results);
  judge_choice(server, arms, advice, report, results);
}

// ---- the table

double quantile(std::vector<double> values, double probability) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto place = static_cast<std::size_t>(std::llround(probability * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
  return values[place];
}

/// Rows of a table with a verdict each.
class Goals {
 public:
  void row(const std::string& what, const std::string& measured, const std::string& goal, bool met) {
    fmt::print("{:<72} {:>16}   {:<12} {}\n", what, measured, goal, met ? "met" : "MISSED");
    all_met_ = all_met_ && met;
  }
  [[nodiscard]] bool all_met() const { return all_met_; }

 private:
  bool all_met_ = true;
};

/// Goals are in whole percent, as is what is compared with them.
bool holds_level(double share, double correlation) {
  share = std::round(100.0 * share) / 100.0;
  return share >= (correlation > 0.5 ? 0.84 : 0.92) && (correlation > 0.5 || share <= 0.98);
}

void print_intervals(const Results& results, Goals& goals) {
  for (const auto& [quantity, by_correlation] : results.intervals) {
    for (const auto& [correlation, tally] : by_correlation) {
      const double share = static_cast<double>(tally.held) / static_cast<double>(tally.number);
      goals.row(fmt::format("95 % intervals that hold: {}, autocorrelation {}", quantity, correlation),
                fmt::format("{:.1f} % of {}", 100.0 * share, tally.number),
                correlation > 0.5 ? ">= 84 %" : "92 to 98 %", holds_level(share, correlation));
    }
  }
  for (const auto& [quantity, by_correlation] : results.intervals) {
    for (const auto& [correlation, tally] : by_correlation) {
      if (tally.widths.empty()) continue;
      const double limit = correlation > 0.5 ? 6.0 : 1.5;
      const double median = quantile(tally.widths, 0.5);
      goals.row(fmt::format("median width over the known one: {}, autocorrelation {}", quantity, correlation),
                fmt::format("{:.2f}", median), fmt::format("<= {}", limit), median <= limit);
    }
  }
}

void print_losses(const Results& results, Goals& goals) {
  const auto percent = [](double value) { return fmt::format("{:.2f} %", 100.0 * value); };
  const double median = quantile(results.losses, 0.5);
  const double most = quantile(results.losses, 0.95);
  const double worst = quantile(results.losses, 1.0);
  goals.row(fmt::format("loss of the recommended K against the best, median of {}", results.losses.size()),
            percent(median), "0", median < 5e-5);
  goals.row("the same, 95th percentile", percent(most), "<= 2 %", most <= 0.02);
  goals.row("the same, worst", percent(worst), "<= 6 %", worst <= 0.06);
  fmt::print("{:<72} {:>16}\n", "  for comparison, the arm with the least measured time: 95th percentile",
             percent(quantile(results.losses_of_measured, 0.95)));
  fmt::print("{:<72} {:>16}\n", "  the same, worst", percent(quantile(results.losses_of_measured, 1.0)));
}

bool print(const Results& results, std::int64_t servers) {
  fmt::print("{} synthetic servers: logs of 0 and 1 to 3 draft lengths K, 6 to 40 windows of 10 s each\n\n", servers);
  fmt::print("{:<72} {:>16}   {:<12}\n", "quantity", "measured", "goal");
  Goals goals;
  print_intervals(results, goals);
  const auto of = [](std::int64_t part, std::int64_t all) { return fmt::format("{} of {}", part, all); };
  goals.row("sign of the speedup called certain, but wrong", of(results.wrong_signs, results.sign_claims),
            "<= 1 in 1,000", 1000 * results.wrong_signs <= results.sign_claims);
  print_losses(results, goals);
  goals.row("no recommendation, though the best K leads by 3 errors", of(results.withheld, results.clear), "<= 5 %",
            20 * results.withheld <= results.clear);
  goals.row("a speedup stated between arms of different load", of(results.compared_anyway, results.uncompared), "0",
            results.compared_anyway == 0);
  goals.row("logs that end in an error", of(results.refused, servers), "0", results.refused == 0);
  return goals.all_met();
}

struct Options {
  std::int64_t servers = 2000;
  std::uint64_t seed = 1;
  std::string_view listed = {};
  std::optional<std::uint64_t> shown = {};
};

constexpr std::string_view usage =
    "usage: benchmark_synthetic_servers [--servers N] [--seed N] [--list KIND] [--show N]\n"
    "  --list  a line for each server that misses: all, interval, sign, loss, withheld, compared, refused\n"
    "  --show  the logs of one server, and nothing else\n";

std::optional<Options> options_of(std::span<const char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--servers") options.servers = std::stoll(value);
    if (name == "--seed") options.seed = std::stoull(value);
    if (name == "--list") options.listed = arguments[i + 1];
    if (name == "--show") options.shown = std::stoull(value);
    if (name != "--servers" && name != "--seed" && name != "--list" && name != "--show") return std::nullopt;
  }
  return arguments.size() % 2 == 0 ? std::optional(options) : std::nullopt;
}

int run(const Options& options) {
  Results results;
  const auto one = [&](std::uint64_t number, bool show) {
    Draws draws(options.seed, number);
    const Server server = drawn_server(draws, number);
    const std::vector<Arm> arms = drawn_arms(server, draws);
    for (const Arm& arm : arms) {
      if (show) fmt::print("{}", arm.text);
    }
    const std::string circumstances = circumstances_of(server, arms);
    if (!show) judge(server, arms, {options.listed, number, circumstances}, results);
  };
  if (options.shown) {
    one(*options.shown, true);
    return 0;
  }
  for (std::int64_t i = 0; i < options.servers; ++i) one(static_cast<std::uint64_t>(i), false);
  return print(results, options.servers) ? 0 : 1;
}

}  // namespace
}  // namespace foredraft::benchmarks

int main(int argument_count, char** arguments) {
  try {
    const std::span<const char* const> all(arguments, static_cast<std::size_t>(argument_count));
    const auto options = foredraft::benchmarks::options_of(all.subspan(1));
    if (options) return foredraft::benchmarks::run(*options);
    fmt::print(stderr, "{}", foredraft::benchmarks::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  return 2;
}
