// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/load_equilibrium.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "analytic/cost/closed_loop.hpp"
#include "analytic/cost/prompt_backlog.hpp"
#include "analytic/cost/served_passes.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double poisson_queue_wait(double arrival_rate, const ServiceTime& service) {
  check_nonnegative("arrival_rate", arrival_rate);
  check_positive("mean", service.mean);
  check_positive("second_moment", service.second_moment);
  // Round-off of a constant service time may make its square slightly smaller.
  constexpr double round_off = 1e-12;
  if (service.second_moment < (1.0 - round_off) * service.mean * service.mean) {
    throw DomainError(fmt::format("invalid second_moment={} (must be at least the square of mean={})",
                                  service.second_moment, service.mean));
  }
  const double load = arrival_rate * service.mean;
  if (load >= 1.0) return std::numeric_limits<double>::infinity();
  return arrival_rate * service.second_moment / (2.0 * (1.0 - load));
}

namespace {

LoadShares shares_of(const IterationParts& parts) {
  const double all = parts.total();
  return {.verification = parts.verification / all,
          .drafting = (parts.overhead + parts.drafting) / all,
          .prompts = parts.prompts / all,
          .engine = parts.engine / all};
}

/// Gauss-Hermite points of a lognormal length, with the same mean.
struct LengthPoint {
  double factor;  ///< relative to the mean
  double probability;
};
std::array<LengthPoint, 3> length_points(double variation) {
  const double far = std::exp(std::numbers::sqrt3 * std::sqrt(std::log1p(variation * variation)));
  const double mean = (1.0 / far + 4.0 + far) / 6.0;
  return {{{1.0 / far / mean, 1.0 / 6.0}, {1.0 / mean, 4.0 / 6.0}, {far / mean, 1.0 / 6.0}}};
}

// ---- Poisson arrivals.

/// State of the server while a given number of sequences decodes.
struct BatchStage {
  IterationParts parts;  ///< of an iteration, including prompts before or in it
  double join_us = 0.0;  ///< time from a request's arrival until it decodes, if there is a place
  /// Additional decode time of a request because more prompts than on average are waiting when its own has been read.
  double extra_us = 0.0;
  double prompt_share = 0.0;  ///< fraction of the time for prompts
};

class PoissonStages {
 public:
  explicit PoissonStages(const ServedLoad& load)
      : load_(load), per_us_(load.requests_per_s / us_per_s), prompts_(load.prompt_us), batches_{0, load.max_batch} {
    for (const std::int64_t last : load.jumps) batches_.insert(batches_.end(), {last, last + 1});
    // 1, 2, 4, 8, ...; also 3, 6, 12, ... unless prompts are chunked: then each batch needs the times of many chunks.
    for (std::int64_t power = 1; power <= load.max_batch; power *= 2) {
      batches_.push_back(power);
      if (!reads_in_chunks(load)) batches_.push_back(power + power / 2);
    }
    std::ranges::sort(batches_);
    std::erase_if(batches_, [&](std::int64_t batch) { return batch < 0 || batch > load.max_batch; });
  }

  /// `batch` >= 0, at most max_batch.
  [[nodiscard]] BatchStage at(std::int64_t batch) {
    if (!reads_in_chunks(load_)) {
      if (batch == 0) return idle();
      if (!load_.prompt_us) {
        const IterationParts parts = checked_iteration(load_, batch, 0.0);
        return {.parts = parts, .join_us = 0.5 * parts.total()};
      }
    }
    const auto above = std::ranges::lower_bound(batches_, batch);
    if (*above == batch) return at_node(batch);
    const std::int64_t low = *std::prev(above);
    const std::int64_t high = *above;
    const double share = static_cast<double>(batch - low) / static_cast<double>(high - low);
    BatchStage stage;
    for (const auto& [end, weight] : {std::pair{low, 1.0 - share}, std::pair{high, share}}) {
      const BatchStage& node = at_node(end);
      add(stage.parts, weight, node.parts);
      stage.join_us += weight * node.join_us;
      stage.extra_us += weight * node.extra_us;
      stage.prompt_share += weight * node.prompt_share;
    }
    return stage;
  }

 private:
  /// The stage without decoding sequences: idle, or reading the prompt of the first request.
  [[nodiscard]] BatchStage idle() {
    if (!load_.prompt_us) return {};
    const double first_us = prompts_.us(1);
    const double reading = per_us_ * first_us / (1.0 + per_us_ * first_us);
    return {.parts = {},
            .join_us = first_us + reading * (0.5 * first_us + checked_iteration(load_, 1, 0.0).total()),
            .extra_us = at_node(1).extra_us};
  }

  [[nodiscard]] const BatchStage& at_node(std::int64_t batch) {
    const auto known = nodes_.find(batch);
    if (known != nodes_.end()) return known->second;
    BatchStage& node = nodes_.emplace(batch, reads_in_chunks(load_) ? chunked(batch) : alone(batch)).first->second;
    if (batch == 0) node.extra_us = at_node(1).extra_us;
    return node;
  }

  /// Sums over the passes of a stage, weighted by their probabilities.
  struct Reading {
    BatchStage stage = {};
    double idle_us = 0.0;
    double unread_us = 0.0;  ///< prompts times the time until they are read
    double unread = 0.0;     ///< prompts at the start of a pass
    double ended = 0.0;      ///< prompts that are completely read by the end of a pass
    double left = 0.0;       ///< the same times the prompts that are then waiting

    void add_pass(double share, const IterationParts& parts) { add(stage.parts, share, parts); }

    BatchStage result(double per_us) {
      const double all_us = idle_us + stage.parts.total();
      stage.join_us = unread_us / (all_us * per_us);
      stage.prompt_share = stage.parts.prompts / all_us;
      if (ended > 0.0) {
        const double prompt_us = stage.prompt_share / per_us;
        stage.extra_us = prompt_us / (1.0 - stage.prompt_share) * (left / ended - unread);
      }
      return stage;
    }
  };

  /// Prompts that arrive during a prefill pass and the following iteration are read together in the next prefill pass.
  [[nodiscard]] BatchStage alone(std::int64_t batch) {
    const IterationParts iteration = checked_iteration(load_, batch, 0.0);
    const double iteration_us = iteration.total();
    const auto prompts_us = [&](std::int64_t prompts) {
      return prompts > 0 ? prompts_.us(static_cast<std::size_t>(prompts)) : 0.0;
    };
    const auto lengths = length_points(load_.prompt_variation);
    const auto backlog = prompt_backlog(1.0, max_together(iteration_us), 1, [&](std::int64_t prompts, double tokens) {
      if (load_.prompt_variation == 0.0 || prompts == 0) {
        return BacklogPass{.room = tokens, .arrivals = poisson_pmf(per_us_ * (iteration_us + prompts_us(prompts)))};
      }
      std::vector<double> arrivals;
      for (const auto& [factor, probability] : lengths) {
        const auto at_length = poisson_pmf(per_us_ * (iteration_us + factor * prompts_us(prompts)));
        arrivals.resize(std::max(arrivals.size(), at_length.size()));
        for (std::size_t n = 0; n < at_length.size(); ++n) arrivals[n] += probability * at_length[n];
      }
      return BacklogPass{.room = tokens, .arrivals = std::move(arrivals)};
    });
    Reading reading;
    for (const BacklogShare& state : backlog) {
      if (state.share < rare_pass) continue;
      IterationParts pass = iteration;
      const double read_us = prompts_us(state.prompts);
      pass.prompts += read_us;
      reading.add_pass(state.share, pass);
      const auto prompts = static_cast<double>(state.prompts);
      for (const auto& [factor, probability] : lengths) {
        const double us = iteration_us + factor * read_us;
        reading.unread_us += state.share * probability * (prompts * factor * read_us + 0.5 * per_us_ * us * us);
      }
      reading.unread += state.share * prompts;
      reading.ended += state.share * prompts;
      reading.left += state.share * prompts * per_us_ * read_us;
    }
    return reading.result(per_us_);
  }

  /// Practical maximum of prompts that are read together.
  [[nodiscard]] std::int64_t max_together(double iteration_us) {
    constexpr int steps = 20;
    constexpr double least = 12.0, most = 120.0, deviations = 8.0;
    double mean = 0.0;
    for (int step = 0; step < steps; ++step) {
      const auto prompts = static_cast<std::size_t>(std::min(std::ceil(mean), most));
      const double each_us = prompts > 0 ? prompts_.us(prompts) / static_cast<double>(prompts) : 0.0;
      mean = std::min(per_us_ * (iteration_us + mean * each_us), most);
    }
    return static_cast<std::int64_t>(std::min(least + mean + deviations * std::sqrt(mean), most));
  }

  [[nodiscard]] BatchStage chunked(std::int64_t batch) {
    constexpr double per_pass = 4.0, finest = 6.0;
    const std::int64_t parts = parts_of_prompt(load_.chunked, per_pass, finest);
    const double room = load_.chunked.room(batch);
    const auto pass_at = [&](double tokens) { return checked_iteration(load_, batch, std::clamp(room, 0.0, tokens)); };
    // Maximum of waiting prompts: `spare` in addition to twice those that arrive in a full pass, at most `most`.
    constexpr double spare = 16.0, most = 200.0;
    const double coming = batch > 0 || room > 0.0 ? per_us_ * pass_at(std::max(room, 0.0)).total() : 0.0;
    const auto max_prompts = static_cast<std::int64_t>(std::min(spare + 2.0 * coming, most));
    const auto is_idle = [&](std::int64_t prompts) { return batch == 0 && prompts == 0; };
    const auto backlog = prompt_backlog(
        load_.chunked.tokens, max_prompts, parts, [&](std::int64_t prompts, double tokens) -> BacklogPass {
          if (is_idle(prompts)) return {.room = room, .arrivals = {0.0, 1.0}};
          return {.room = room, .arrivals = poisson_pmf(per_us_ * pass_at(tokens).total())};
        });
    Reading reading;
    for (const BacklogShare& state : backlog) {
      if (state.share < rare_pass) continue;
      if (is_idle(state.prompts)) {
        reading.idle_us += state.share / per_us_;
        continue;
      }
      const IterationParts pass = pass_at(state.tokens);
      reading.add_pass(state.share, pass);
      const double us = pass.total();
      const auto prompts = static_cast<double>(state.prompts);
      const double left = std::ceil((state.tokens - std::clamp(room, 0.0, state.tokens)) / load_.chunked.tokens);
      reading.unread_us += state.share * (prompts * us + 0.5 * per_us_ * us * us);
      reading.unread += state.share * prompts;
      reading.ended += state.share * (prompts - left);
      reading.left += state.share * (prompts - left) * (left + per_us_ * us);
    }
    BatchStage stage = reading.result(per_us_);
    const double variance = load_.prompt_variation * load_.prompt_variation;
    if (variance > 0.0 && room >= 1.0) {
      // Random prompt lengths increase the wait [Pollaczek1930].
      const double full = std::floor(load_.chunked.tokens / room);
      const double rest = load_.chunked.tokens - full * room;
      const double alone_us = full * pass_at(room).total() + (rest > 0.0 ? pass_at(rest).total() : 0.0);
      stage.join_us += variance * std::max(stage.join_us - alone_us, 0.0);
    }
    return stage;
  }

  const ServedLoad& load_;
  double per_us_;
  PromptPasses prompts_;
  std::vector<std::int64_t> batches_;  ///< between which stages are interpolated
  std::map<std::int64_t, BatchStage> nodes_;
};

/// Requests whose prompts are read one after the other join the batch as a cluster, because others arrive while a
/// prompt is read [Borel1942]. [n - 1]: P(a cluster has at least n requests), times clusters per request. `dispersion`:
/// E[N^2] / E[N] of the size N of a cluster. `alike`: 1 for exponential output lengths, 2 for equal lengths, which keep
/// a cluster together.
std::vector<double> clusters_of(double dispersion, double alike) {
  constexpr double negligible = 1e-9;
  constexpr int most = 200;
  // A request has E[N^2] / E[N] - 1 others in its cluster, each of which decodes during alike / 2 of its time.
  const double meets = 0.5 * alike * (dispersion - 1.0);
  const double share = 1.0 - 1.0 / std::sqrt(1.0 + 2.0 * meets);
  std::vector<double> at_least{1.0};
  double log_factorial = 0.0;
  double sum = 1.0;
  for (int n = 1; n < most && at_least.back() > negligible; ++n) {
    log_factorial += std::log(n);
    const double log_probability = share > 0.0 ? (n - 1) * std::log(share * n) - share * n - log_factorial
                                               : (n == 1 ? 0.0 : -std::numeric_limits<double>::infinity());
    at_least.push_back(std::max(at_least.back() - std::exp(log_probability), 0.0));
    sum += at_least.back();
  }
  for (double& probability : at_least) probability /= sum;
  return at_least;
}

/// Distribution of the number of requests in the batch or waiting for it.
class RequestsAtRate {
 public:
  explicit RequestsAtRate(const ServedLoad& load)
      : load_(load), per_us_(load.requests_per_s / us_per_s), stages_(load) {}

  /// True if a full batch keeps up with the request rate.
  [[nodiscard]] bool keeps_up() { return per_us_ < rate(load_.max_batch); }

  /// Probabilities of 0, 1, ... requests times a common factor.
  [[nodiscard]] std::vector<double> weights(const std::vector<double>& clusters) {
    constexpr double negligible = 1e-15, large = 1e200;
    constexpr std::size_t most = 200'000;
    std::vector<double> weights{1.0};
    double largest = 1.0;
    while (weights.size() < most) {
      const std::size_t requests = weights.size();
      double enters = 0.0;
      for (std::size_t n = 0; n < std::min(clusters.size(), requests); ++n) {
        enters += clusters[n] * weights[requests - 1 - n];
      }
      weights.push_back(per_us_ * enters / rate(static_cast<std::int64_t>(requests)));
      largest = std::max(largest, weights.back());
      if (weights.back() < negligible * largest && weights.back() <= weights[requests - 1]) break;
      if (largest < large) continue;
      for (double& weight : weights) weight /= large;
      largest /= large;
    }
    return weights;
  }

  [[nodiscard]] const BatchStage& stage(std::int64_t requests) {
    const auto batch = static_cast<std::size_t>(std::min(requests, load_.max_batch));
    while (known_.size() <= batch) known_.push_back(stages_.at(static_cast<std::int64_t>(known_.size())));
    return known_[batch];
  }

 private:
  /// Completion rate with this number of requests.
  double rate(std::int64_t requests) {
    const std::int64_t batch = std::min(requests, load_.max_batch);
    return static_cast<double>(batch) / (checked_iterations(load_, batch).mean * stage(batch).parts.total());
  }

  const ServedLoad& load_;
  double per_us_;
  PoissonStages stages_;
  std::vector<BatchStage> known_;
};

/// Sums over the number of requests in the system. The weights are probabilities times a common factor.
struct LoadSums {
  double all = 0.0;           ///< sum of weights
  double decoding = 0.0;      ///< weights times requests in the batch
  double waiting = 0.0;       ///< weights times requests waiting for the batch
  double iterations = 0.0;    ///< weights divided by the time of an iteration: iterations in a unit of time
  double rows = 0.0;          ///< weights times the sequences of each iteration
  double join_us = 0.0;       ///< weights times BatchStage::join_us
  double extra_us = 0.0;      ///< weights times BatchStage::extra_us
  double prompt_share = 0.0;  ///< weights times BatchStage::prompt_share
  IterationParts parts = {};  ///< times the parts of a unit of time
};

LoadSums sums_of(RequestsAtRate& requests, std::int64_t max_batch, const std::vector<double>& clusters) {
  LoadSums sums;
  const std::vector<double> weights = requests.weights(clusters);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    const auto there = static_cast<std::int64_t>(i);
    const auto batch = static_cast<double>(std::min(there, max_batch));
    const BatchStage& stage = requests.stage(there);
    sums.all += weight;
    sums.decoding += weight * batch;
    sums.waiting += weight * (static_cast<double>(there) - batch);
    sums.join_us += weight * stage.join_us;
    sums.extra_us += weight * stage.extra_us;
    sums.prompt_share += weight * stage.prompt_share;
    if (there == 0) continue;
    const double time_us = stage.parts.total();
    sums.iterations += weight / time_us;
    sums.rows += weight * batch / time_us;
    add(sums.parts, weight / time_us, stage.parts);
  }
  return sums;
}

/// nullopt if a full batch does not keep up with the request rate.
std::optional<LoadSums> sums_of(const ServedLoad& load) {
  RequestsAtRate requests(load);
  if (!requests.keeps_up()) return std::nullopt;
  const LoadSums one_by_one = sums_of(requests, load.max_batch, clusters_of(1.0, 1.0));
  const double prompt_share = one_by_one.prompt_share / one_by_one.all;
  // The mean minimum of two lognormal lengths, divided by half the mean length.
  const auto batch = static_cast<std::int64_t>(std::ceil(one_by_one.rows / one_by_one.iterations));
  const double variation = checked_iterations(load, std::min(batch, load.max_batch)).variation;
  const double variance = variation * variation;
  const double alike = 2.0 * std::erfc(0.5 * std::sqrt(std::log1p(variance)));
  // E[N^2] / E[N] of the size N of a cluster [Borel1942] with random prompt lengths.
  const double of_length = prompt_share * load.prompt_variation;
  const double dispersion = (1.0 + of_length * of_length) / ((1.0 - prompt_share) * (1.0 - prompt_share));
  LoadSums sums = sums_of(requests, load.max_batch, clusters_of(dispersion, alike));
  // The wait is taken as proportional to variance / mean of the arrivals plus squared variation of the lengths. The
  // weights assume exponential lengths, and clusters with `alike` times as many other requests.
  sums.waiting *= (dispersion + variance) / (alike * (dispersion - 1.0) + 2.0);
  return sums;
}

void check_load(const ServedLoad& load) {
  if (load.clients == 0) check_positive("requests_per_s", load.requests_per_s);
  check_at_least("clients", load.clients, 0);
  check_positive("tokens", load.tokens);
  check_at_least("max_batch", load.max_batch, 1);
  check_nonnegative("chunked.tokens", load.chunked.tokens);
  check_nonnegative("prompt_variation", load.prompt_variation);
}

}  // namespace

LoadEquilibrium load_equilibrium(const ServedLoad& load) {
  check_load(load);
  const bool has_prompts = load.prompt_us || reads_in_chunks(load);
  const ClosedLoop full = closed_loop(load, load.max_batch);
  LoadEquilibrium equilibrium{
      .capacity_per_s = us_per_s * full.requests_per_us,
      .overloaded = load.clients == 0,
  };
  if (load.clients > 0) {
    const std::int64_t places = std::min(load.clients, load.max_batch);
    const ClosedLoop loop = places == load.max_batch ? full : closed_loop(load, places);
    equilibrium.batch = loop.batch;
    equilibrium.decoding = loop.decoding;
    equilibrium.waiting = static_cast<double>(load.clients - places);
    equilibrium.decode_us = loop.decode_us;
    equilibrium.requests_per_s = us_per_s * loop.requests_per_us;
    equilibrium.in_flight = static_cast<double>(load.clients);
    equilibrium.iteration_us = loop.iteration_us;
    equilibrium.ttft_us = loop.ttft_us + equilibrium.waiting / loop.requests_per_us;
    equilibrium.shares = shares_of(loop.parts);
  } else {
    if (load.requests_per_s >= equilibrium.capacity_per_s) return equilibrium;
    const std::optional<LoadSums> found = sums_of(load);
    if (!found) return equilibrium;
    const LoadSums& sums = *found;
    equilibrium.overloaded = false;
    const double per_us = load.requests_per_s / us_per_s;
    const double join_us = sums.join_us / sums.all;
    equilibrium.batch = sums.rows / sums.iterations;
    equilibrium.decoding = sums.decoding / sums.all + per_us * sums.extra_us / sums.all;
    equilibrium.waiting = sums.waiting / sums.all;
    equilibrium.decode_us = equilibrium.decoding / per_us;
    equilibrium.requests_per_s = load.requests_per_s;
    equilibrium.in_flight = equilibrium.decoding + equilibrium.waiting + per_us * join_us;
    equilibrium.iteration_us = sums.parts.total() / sums.iterations;
    equilibrium.ttft_us = equilibrium.waiting / per_us + join_us + (has_prompts ? 0.0 : equilibrium.iteration_us);
    equilibrium.shares = shares_of(sums.parts);
  }
  equilibrium.tpot_us = equilibrium.decode_us / load.tokens;
  equilibrium.request_us = us_per_s * equilibrium.in_flight / equilibrium.requests_per_s;
  return equilibrium;
}

}  // namespace foredraft::analytic
