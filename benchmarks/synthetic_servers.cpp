// SPDX-License-Identifier: Apache-2.0
// Whether the answers of `advise` are right for simulated servers with known parameters: their logs are generated in
// the format of vLLM, then read and judged like a user's. Prints a table of goals; exit status 1 if one is missed.
#include <fmt/format.h>

#include <algorithm>
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

#include "answers/advice.hpp"
#include "benchmarks/synthetic_server.hpp"
#include "logs/log_reader.hpp"

namespace foredraft::benchmarks {
namespace {

using nlohmann::ordered_json;

constexpr double normal_95 = 1.959963984540054;
constexpr std::int64_t longest = 8;  ///< draft length whose tokens are judged

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

// ---- the sampling error of these windows, from the known parameters

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

/// Steps of the windows at `batch` (0: all), of all windows or of those that decode throughout.
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

/// Prints single servers that miss, if requested.
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
  // If the loads differ, nothing shows whether any K beats plain decoding.
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

/// Rows of a table, each with a verdict.
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

/// Goals and the numbers compared with them are in whole percent.
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
