// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

/// Acceptance processes: which drafts are accepted, in process fidelity and on a server.
namespace foredraft {

/// Maximum draft length when acceptance is Runs.
inline constexpr std::int64_t max_runs_gamma = 4096;

/// Every draft accepted independently with probability alpha. [Leviathan2023, Sec. 3.1]
struct Iid {
  double alpha = 0.0;
};

/// Draft i is accepted with probability conditional[i], given that all drafts before it were. gamma <=
/// conditional.size().
struct Positional {
  std::vector<double> conditional = {};
  /// [i]: probability that drafts 0 to i are all accepted, with the digits as given; empty: follows from `conditional`.
  std::vector<double> marginal = {};
};

/// alpha is drawn from Beta(a, b) anew for each iteration and shared by its drafts. a, b > 0.
struct BetaMixture {
  double a = 1.0;
  double b = 1.0;
};

/// Stationary two-state chain over token positions; positions emitted as bonus tokens advance it too.
/// a = P(accept | previous accepted), b = P(accept | previous rejected); a < 1 or b > 0.
struct Markov {
  double a = 0.0;
  double b = 0.0;
};

/// Acceptance in runs, the process that is fitted to the counts of a log (docs/adr/0018). After a rejected position the
/// next one is accepted with probability b and begins a run, which is easy or hard with equal probability. In an easy
/// run the next position is accepted with probability sigmoid(logit(a) + spread), in a hard one with sigmoid(logit(a) -
/// spread). For transitions into and out of a bonus token the odds of going on are multiplied by rho. Requires a
/// bonus token, a constant draft length, endless text and gamma <= max_runs_gamma; a < 1 or b > 0.
struct Runs {
  double a = 0.0;
  double b = 0.0;
  double spread = 0.0;  ///< 0 to 20, in log odds
  double rho = 1.0;     ///< odds ratio, 1e-6 to 1e6; with spread = 0 and rho = 1 the process is the Markov chain
};

/// Recorded outcomes, one entry per token position: 1 the draft would be accepted, 0 rejected, -1 not observed (the
/// position after a fully accepted draft, where no draft was tested). Each inner vector is one sequence. An unobserved
/// outcome is drawn with the acceptance rate of the trace's observed tokens, once for its place in the trace.
struct Recording {
  std::vector<std::vector<std::int8_t>> sequences;
  /// Instead of `sequences`: [i] how many drafts (>= 0) of an iteration that begins at position i would be accepted,
  /// whatever its draft length.
  std::vector<std::vector<std::int32_t>> accepted_from = {};
};

/// A recording, replayed once at any gamma.
struct Trace {
  std::shared_ptr<const Recording> recording = {};  ///< read once
  std::string file = {};                            ///< file that it was read from
  std::int64_t recorded_gamma = 0;  ///< draft length of the recording, for a file of accepted counts; 0: not given
};

/// What the log of an engine counted. read_inputs() replaces it by a Trace if the log recorded single decode steps,
/// else by Runs that are fitted to its counts. Gamma, policy and text as for Runs.
struct Observed {
  std::string file = {};  ///< a log, or an observations file
};

using AcceptanceProcess = std::variant<BetaMixture, Iid, Markov, Observed, Positional, Runs, Trace>;

}  // namespace foredraft

#pragma GCC visibility pop
