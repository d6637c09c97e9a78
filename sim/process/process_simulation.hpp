// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/words.hpp"
#include "sim/process/gamma_policy.hpp"
#include "sim/simulator.hpp"

/// Process fidelity: nothing but which drafts are accepted. The registry of acceptance processes is the variant below.
namespace foredraft::sim {

/// Every draft accepted independently with probability alpha.
struct Iid {
  double alpha;
};

/// Draft i accepted with conditional[i] given that all before it were. gamma <= conditional.size().
struct Positional {
  std::vector<double> conditional;
};

/// alpha ~ Beta(a, b) afresh for each iteration, shared by its drafts. a, b > 0.
struct BetaMixture {
  double a;
  double b;
};

/// Stationary two-state chain over token positions; positions emitted as bonus tokens advance it too.
/// a = P(accept | previous accepted), b = P(accept | previous rejected); a < 1 or b > 0.
struct Markov {
  double a;
  double b;
};

/// Recorded outcomes, one entry per token position: 1 the draft would be accepted, 0 rejected, -1 not observed (the
/// position behind a fully accepted draft, which no draft was tested at). Each inner vector is one sequence.
/// An unobserved outcome is drawn with the trace's own acceptance per observed token, once for its place in the trace.
struct Trace {
  std::vector<std::vector<std::int8_t>> sequences;
};

using AcceptanceProcess = std::variant<Iid, Positional, BetaMixture, Markov, Trace>;

/// How the random draws are spent.
enum class Path {
  reference,  ///< one draw per drafted token: what validates the closed forms
  fast,       ///< one draw per iteration where the process allows it; the same law
};

/// Text is produced in sequences of a fixed or geometric number of tokens; the last iteration of a sequence is cut
/// short. gamma tokens are drafted all the same: the drafter does not know where the text ends. Drafts behind the end
/// count as drafted and never as tested, so that acceptance per tested token stays unbiased.
struct SequenceLaw {
  double tokens;   ///< the length, or its mean; >= 1
  bool geometric;  ///< end of sequence with hazard 1 / tokens at every token, instead of after exactly `tokens`
};

struct ProcessSimulation {
  AcceptanceProcess process;
  std::int64_t gamma;  ///< drafted tokens of an iteration; with a policy the most that it may draft, then at least 1
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;  ///< without `sequence`: iterations to run. Ignored by Trace, which is replayed once
  std::optional<SequenceLaw> sequence;  ///< finite sequences ...
  std::uint64_t sequences;              ///< ... and how many of them; ignored without `sequence`
  Path path;
  GammaPolicy policy = ConstantGamma{};
};

/// Throws DomainError on an argument outside its domain.
[[nodiscard]] std::unique_ptr<Simulator> make_process_simulator(ProcessSimulation simulation);

/// One outcome per token position from accepted counts per iteration of a recorded run at `gamma` drafts: k accepted
/// drafts then a rejection; gamma accepted drafts then, with a bonus token, an unobserved position.
[[nodiscard]] std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted,
                                                                  std::int64_t gamma, Convention convention);

/// One line of the inventory of processes.
struct ProcessEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
};
/// Every process, sorted by name.
[[nodiscard]] const std::vector<ProcessEntry>& process_registry();

}  // namespace foredraft::sim
