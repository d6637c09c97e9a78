// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <boost/random/binomial_distribution.hpp>
#include <boost/random/normal_distribution.hpp>

#include "core/random_stream.hpp"
#include "foredraft/acceptance.hpp"

/// Simulated servers with known parameters, and their logs in the format of vLLM.
namespace foredraft::benchmarks {

constexpr double least_busy = 0.5, most_busy = 0.9;  ///< share of time with requests, in a window that is idle in part

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

/// Acceptance at one draft length over all windows that could have been logged.
struct TrueTokens {
  double mean = 0.0;           ///< per iteration
  double window_spread = 0.0;  ///< standard deviation between windows
  double step_spread = 0.0;    ///< between the steps of a window
};

[[nodiscard]] TrueTokens true_tokens(const Server& server, std::int64_t gamma);

[[nodiscard]] double true_iteration_ms(const Server& server, std::int64_t gamma, double batch);

[[nodiscard]] double true_speedup(const Server& server, std::int64_t gamma, double batch);

[[nodiscard]] Server drawn_server(Draws& draws, std::uint64_t number);

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

/// The arms of a server, the plain one first.
[[nodiscard]] std::vector<Arm> drawn_arms(const Server& server, Draws& draws);

}  // namespace foredraft::benchmarks
