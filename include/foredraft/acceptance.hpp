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
  /// [i]: probability that drafts 0 to i are all accepted, with the digits that the user typed; empty: computed from
  /// `conditional`.
  std::vector<double> marginal = {};
};

/// Each iteration draws an alpha from Beta(a, b), which all of its drafts share. a, b > 0.
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

/// Acceptance in runs. Logs are fitted with this process (docs/adr/0018). After a rejected position the next one is
/// accepted with probability b and begins a run, which is easy or hard with equal probability. In an easy run the next
/// position is accepted with probability sigmoid(logit(a) + spread), in a hard run with sigmoid(logit(a) - spread). At
/// transitions into and out of a bonus token, the odds that the run continues are multiplied by rho. Requires a
/// bonus token, gamma <= max_runs_gamma, and a < 1 or b > 0; in process fidelity also a constant draft length and
/// endless text, on a server a batching other than lockstep.
struct Runs {
  double a = 0.0;
  double b = 0.0;
  double spread = 0.0;  ///< 0 to 20, in log odds
  double rho = 1.0;     ///< odds ratio, 1e-6 to 1e6; with spread = 0 and rho = 1 the process is the Markov chain
};

/// Recorded outcomes. Each inner vector is one sequence with one entry per token position: 1 if a draft there would be
/// accepted, 0 if rejected, -1 if not observed (the position after a fully accepted draft, where no draft was tested).
/// Each unobserved outcome is drawn once, with the acceptance rate of the observed tokens.
struct Recording {
  std::vector<std::vector<std::int8_t>> sequences;
  /// Instead of `sequences`: [i] is the number of drafts (>= 0) that an iteration starting at position i accepts at any
  /// draft length.
  std::vector<std::vector<std::int32_t>> accepted_from = {};
};

/// A recording. Process fidelity replays it once; on a server, each output replays one of its sequences. gamma may
/// differ from the draft length of the recording.
struct Trace {
  std::shared_ptr<const Recording> recording = {};  ///< read once
  std::string file = {};                            ///< file that it was read from
  std::int64_t recorded_gamma = 0;  ///< draft length of the recording, if the file holds accepted counts; 0: not given
};

/// Counts from an engine's log. read_inputs() replaces it by a Trace if the log recorded single decode steps, else by
/// Runs fitted to the counts. Has the requirements of Runs.
struct Observed {
  std::string file = {};  ///< a log, or an observations file
};

using AcceptanceProcess = std::variant<BetaMixture, Iid, Markov, Observed, Positional, Runs, Trace>;

}  // namespace foredraft

#pragma GCC visibility pop
