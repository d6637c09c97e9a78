// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// A scenario: the question that closed forms and simulation answer. It holds the drafter, the acceptance, the draft
/// length and the cost of each forward pass. Plain values; scenario/ checks which combinations are legal.
namespace foredraft {

// ---- Limits.

/// Maximum draft length under a policy other than ConstantGamma, which iterates step by step and draws a confidence for
/// each drafted token.
inline constexpr std::int64_t max_policy_gamma = 10'000;
/// Maximum draft length under OptimalStopping of a BetaMixture, whose closed form takes time quadratic in it.
inline constexpr std::int64_t max_known_alpha_gamma = 4096;
/// Maximum draft length when acceptance is Runs.
inline constexpr std::int64_t max_runs_gamma = 4096;
/// Maximum draft length in token fidelity, where every drafted token is drawn and an n-gram pair writes drafts out as
/// text.
inline constexpr std::int64_t max_token_gamma = 100'000;
/// Maximum draft length of a server.
inline constexpr std::int64_t max_serving_gamma = 10'000;
/// Minimum temperature above 0; below it, powers of probabilities leave the range of a double.
inline constexpr double min_temperature = 1e-6;
inline constexpr std::int64_t max_vocabulary = 256'000;
/// Maximum n-gram order: a model looks at no more than max_ngram_order - 1 tokens of context.
inline constexpr int max_ngram_order = 5;
/// Maximum number of drafted tokens that have a head or stage of their own.
inline constexpr int max_ngram_heads = 16;

// ---- Acceptance: which drafts are accepted, in process fidelity.

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

// ---- Drafter: where drafts come from, what they cost, how their acceptance falls with the position.

/// A smaller model that drafts token by token: gamma forward passes. [Leviathan2023, Alg. 1]
struct AutoregressiveDrafter {};

/// One parallel forward pass drafts the whole block. [Xia2023, Sec. 3.1]
struct BlockDrafter {
  double decay = 1.0;  ///< acceptance of a draft divided by that of the one before it, all earlier drafts accepted
};

/// Heads on the target, one per draft position; none sees the tokens of the others. [Stern2018; Cai2024]
struct Heads {
  double decay = 1.0;
  std::vector<double> accuracies = {};  ///< [i]: P(head i is right | all before it were); replaces alpha and decay
};

/// Copies the rest of the input. [Sun2021; Xia2023, App. G.2]
struct InputCopy {
  double edit_rate = 0.0;    ///< probability that the next token differs from the input's
  std::int64_t realign = 0;  ///< tokens generated one by one after each edit
};

/// Small stages run one after another; each reads the token of the previous one. [Wertheimer2024]
struct MlpSpeculator {
  double decay = 1.0;
  double recovery =
      0.5;  ///< how much of the decay the previous token compensates: the decay becomes decay^(1 - recovery)
};

/// An n-gram model of the same text that drafts token by token. [Leviathan2023, Sec. 4.3]
struct NgramDrafter {};

/// Copies what followed the last occurrence of the longest matching suffix of the text. [Saxena2023; Yang2023]
struct PromptLookup {
  std::int64_t match = 3;      ///< maximum length of the matched suffix, 1 to 64 tokens
  std::int64_t window = 1024;  ///< tokens of prompt and text that are searched, 16 to 65,536
};

using Drafter =
    std::variant<AutoregressiveDrafter, BlockDrafter, Heads, InputCopy, MlpSpeculator, NgramDrafter, PromptLookup>;

// ---- Draft-length policy; `gamma` of the scenario is the maximum draft length of every policy.

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Lengthens the draft by two after an iteration that accepted all of its drafts; shortens it by one (to at least one)
/// after any other. [Wagner2024, Sec. 4.1; Wolf2020] Any process but Observed, Runs and Trace.
struct Plus2Minus1 {
  std::int64_t start = 5;  ///< draft length of the first iteration of a text; at most `gamma`
};

/// Stops drafting after the first token whose confidence is below the threshold; that token is still verified.
/// [Wolf2020] Each token of an Iid process gets an acceptance probability of its own, drawn from Beta(alpha s, (1 -
/// alpha) s); its confidence is this probability to the power `bias`.
struct ConfidenceThreshold {
  double threshold = 0.0;      ///< in [0, 1]
  double concentration = 1.0;  ///< s > 0
  double bias = 1.0;           ///< > 0; 1: the confidence is calibrated
};

/// Drafts while the probability that the next draft yields a token exceeds c times the best long-run speedup. An
/// oracle: it knows the acceptance probability of the next draft (for a BetaMixture, the alpha of the iteration). Iid,
/// Positional, BetaMixture.
struct OptimalStopping {};

using Policy = std::variant<ConfidenceThreshold, ConstantGamma, OptimalStopping, Plus2Minus1>;

// ---- Verification rule, in token fidelity.

/// Accepts every draft: the control that shows the effect of a wrong rule.
struct AcceptAll {};
/// Accepts a draft if it is the target's most probable token.
struct GreedyMatch {};
/// Accepts with probability min(1, p / (l q)).
struct Lenient {
  double lenience = 0.5;  ///< l in (0, 1]
  bool residual = true;   ///< after a rejection, draw from max(0, p - l q); false: from max(0, p - q)
};
/// Several candidates per position, tried by recursive rejection sampling.
struct MultiCandidate {
  std::int64_t candidates = 2;  ///< 1 to 1024
  bool replacement = true;      ///< candidates are drawn with replacement
};
/// Accepts with probability min(1, p / q), else draws from max(0, p - q). [Leviathan2023; Chen2023]
struct RejectionSampling {};
/// Rejection sampling on sigmoids instead of softmaxes, with floating-point numbers of `bits` bits. [Wagner2024]
struct SigmoidApproximation {
  double scale_low = -10.0;
  double scale_high = 10.0;
  double logit_shift = 0.0;
  std::int64_t bits = 64;  ///< 16, 32 or 64
};
/// Accepts one of the target's `top_beta` best tokens that is at most `tolerance` less likely than the best. [Xia2023]
struct TopBeta {
  std::int64_t top_beta = 3;
  double tolerance = 1.0;  ///< nat
  bool judged = false;     ///< likelihoods are the drafter's, as first published; false: the target's
};
/// Accepts a token that is likely enough for the entropy of its distribution. [Cai2024]
struct TypicalAcceptance {
  double epsilon = 0.09;
  double delta = 0.0;  ///< 0: sqrt(epsilon)
};

using Rule = std::variant<AcceptAll, GreedyMatch, Lenient, MultiCandidate, RejectionSampling, SigmoidApproximation,
                          TopBeta, TypicalAcceptance>;

// ---- Cost of a forward pass.

class ForwardPassTimes;  // scenario/cost.hpp

/// A draft pass takes c target decode steps, a verification of n tokens 1 + verify_growth (n - 1). [Leviathan2023, Thm.
/// 3.8, where verify_growth is 0]
struct ConstantRatio {
  std::optional<double> c = {};  ///< empty: no speedup is computed
  double verify_growth = 0.0;    ///< >= 0; other than 0 only with a constant draft length
};

/// Measured times, in ms: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead). [Xia2023, Eq. 4]
struct MeasuredTimes {
  double step_ms = 0.0;    ///< one token of autoregressive decoding, the baseline of the speedup; > 0
  double draft_ms = 0.0;   ///< one forward pass of the drafter
  double verify_ms = 0.0;  ///< one forward pass of the target over a draft; > 0
  double overhead_ms = 0.0;
  double target_encoder_ms = 0.0;
  double drafter_encoder_ms = 0.0;
  double fixed_ms = 0.0;
  double verify_growth = 0.0;  ///< decode steps added to verify_ms for each verified token after the first; >= 0
};

/// Times looked up for a model pair on a device.
struct LookedUpTimes {
  std::string source = {};  ///< the device (data sheet) or the profile
  std::string target = {};
  std::string draft = {};
  std::int64_t batch = 1;
  std::int64_t context = 512;
  double overhead_ms = 0.0;
  std::shared_ptr<const ForwardPassTimes> times = {};  ///< of these models on this device, read once
};
struct Measured : LookedUpTimes {};
/// Times from a data sheet: they follow from how the models are stored and split and, unless efficiencies are given,
/// from what engines reach of the device's limits (docs/step-times.md).
struct Roofline : LookedUpTimes {
  /// Number format of the weights and of both KV caches, such as "fp8"; empty: that of the model's config, else fp16.
  std::optional<std::string> target_format = {}, draft_format = {}, kv_format = {};
  std::int64_t target_tp = 1, draft_tp = 1;  ///< tensor-parallel devices of each model
  double expert_skew = 0.0;                  ///< 0: tokens choose their experts independently; 1: all share them
  std::optional<double> bandwidth_efficiency = {}, compute_efficiency = {};  ///< fractions of the data sheet's peaks
  std::optional<double> step_overhead_us = {};  ///< added to every forward pass, beyond its operators
  std::optional<double> iteration_us = {};      ///< added to every iteration, beyond its forward passes
  double memory_utilization = 0.9;              ///< fraction of the device's memory for weights and KV caches
  bool ignore_memory = false;                   ///< answer even if the models do not fit into memory
  bool allow_vocabulary_mismatch = false;       ///< allow a draft model with another vocabulary than the target's
};

using Cost = std::variant<ConstantRatio, MeasuredTimes, Roofline, Measured>;

// ---- Fidelity: how much of the process is simulated.

/// Text in sequences of a fixed or geometrically distributed number of tokens; the last iteration of a sequence is cut
/// short. It still drafts gamma tokens because the drafter does not know where the text ends. Drafts after the end
/// count as drafted but not as tested, so that the acceptance per tested token stays unbiased.
struct SequenceLength {
  double tokens = 1.0;  ///< the length, or its mean; >= 1
  bool geometric =
      false;  ///< the sequence ends with probability 1 / tokens after every token, instead of after exactly `tokens`
};

/// Simulates only which drafts are accepted.
struct ProcessFidelity {
  AcceptanceProcess acceptance = Iid{};
  Policy policy = ConstantGamma{};
  std::optional<SequenceLength> sequence_length = {};  ///< empty: one endless text
};

/// Distribution of a synthetic target's next-token distributions.
enum class TargetDistribution {
  zipf,             ///< p(rank r) proportional to r^-parameter, ranks shuffled anew for every context
  gaussian_logits,  ///< softmax of independent Normal(0, parameter^2) logits
  dirichlet,        ///< symmetric Dirichlet(parameter)
};

/// How the draft distribution is derived from the target's.
enum class DraftDistribution {
  noise,        ///< independent Normal(0, strength^2) added to the logits
  temperature,  ///< logits divided by 1 + strength
  mixing,       ///< (1 - strength) * p + strength * another context's p
};

/// Where the distributions of a synthetic pair come from.
enum class Contexts {
  pooled,  ///< a pool of prepared (p, q) pairs; each position takes a random one. Alias tables: about 1e6 iterations/s
  fresh,   ///< new logits for every position of every iteration; slow, but free of pool effects
};

/// A synthetic target and its drafter. The strength of their difference is solved for such that the expected acceptance
/// sum min(p, q) at temperature 1, averaged over contexts, is `alpha`.
struct SyntheticModels {
  TargetDistribution target = TargetDistribution::gaussian_logits;
  double parameter = 3.0;
  std::int64_t vocabulary = 32'000;  ///< 2 .. 256,000
  DraftDistribution draft = DraftDistribution::noise;
  double alpha = 0.0;       ///< required expected acceptance, in (0, 1]
  std::int64_t pool = 256;  ///< contexts in the pool, >= 1
  Contexts contexts = Contexts::pooled;
};

struct TrainedModels;  // sim/ngram

/// n-gram models of one text: the target of order `target_order`, the drafter of order `draft_order`.
struct NgramModels {
  std::vector<std::string> corpus = {"prose"};  ///< "prose", "code" or files
  std::int64_t vocabulary = 32'000;
  std::int64_t target_order = 5;
  std::int64_t draft_order = 2;
  std::shared_ptr<const TrainedModels> trained = {};  ///< trained on the corpus, read once
};

/// User-defined distributions, one per context; every position takes a random context.
struct GivenDistributions {
  std::vector<std::vector<double>> target = {};  ///< [context][token]: p, each row sums to 1
  std::vector<std::vector<double>> draft = {};   ///< q, likewise
  // A user-defined verification rule that replaces `rule`, tabulated for these contexts; requires temperature 1.
  std::vector<std::vector<double>> acceptance =
      {};  ///< [context][token]: acceptance of a drafted token, in [0, 1]; empty: `rule`
  std::vector<std::vector<double>> replacement = {};  ///< distribution of the token after a rejection; each sums to 1
  std::vector<std::vector<double>> bonus =
      {};  ///< distribution of the token after gamma accepted drafts; empty: `target`
};

struct GivenModels {
  std::shared_ptr<const GivenDistributions> distributions = {};
};

using Models = std::variant<SyntheticModels, NgramModels, GivenModels>;

/// Simulates distributions, drafted tokens and their verification.
struct TokenFidelity {
  Rule rule = RejectionSampling{};
  double temperature = 1.0;  ///< of both models, applied before the rule; 0: argmax, lowest index on ties
  Models models = SyntheticModels{};
};

/// Drafted tokens per iteration for a range of batch sizes.
struct GammaRange {
  std::int64_t from_batch;
  std::int64_t to_batch;  ///< inclusive
  std::int64_t gamma;     ///< 0: autoregressive decoding, only under Convention::bonus
};

/// How requests share a batch. A static batch (ragged, lockstep) takes the waiting requests as soon as the server is
/// idle, and no request joins before the slowest sequence has finished. Finished sequences are still computed, as
/// padding.
enum class Batching {
  continuous,  ///< a waiting request replaces a finished sequence before the next iteration
  ragged,      ///< static; each sequence advances by its own tokens
  lockstep,    ///< static; all unfinished sequences advance by the minimum of their tokens
};

/// Which requests join a continuous batch between two iterations, as far as there is room. They join after prefill;
/// other requests may arrive meanwhile.
enum class Admission {
  one,  ///< those waiting when an iteration ends, in one prefill pass; later requests wait for an iteration
  all,  ///< prefill passes are repeated until no request waits
};

enum class ArrivalKind {
  closed,   ///< a fixed number of clients; each sends its next request when its last one is answered
  poisson,  ///< independent of the server, exponential intervals
  regular,  ///< one constant interval; the first request comes after it
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  std::int64_t clients = 0;  ///< closed: >= 1
  double rate_per_s = 0.0;   ///< poisson, regular: requests per second, > 0
};

/// Length of a prompt or of an output, in tokens.
struct TokenCount {
  double tokens = 0.0;      ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric =
      false;  ///< the text ends with probability 1 / tokens after every token instead; then tokens >= 1, spread = 0
};

/// One forward pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< sequences
  std::int64_t tokens;  ///< new tokens of each sequence
  double context;       ///< tokens in the KV cache of a sequence, mean over the batch
  bool prompt = false;  ///< prefill, before the first iteration of these sequences
};

/// Roofline time of a forward pass: the maximum of reading (weights and KV cache) and computing, plus a launch time.
/// [Williams2009]
struct RooflineStep {
  double launch_us = 0.0;   ///< constant part of every forward pass
  double weights_us = 0.0;  ///< reading the weights
  double context_us = 0.0;  ///< reading one cached token of one sequence
  double token_us = 0.0;    ///< computing one new token of one sequence

  /// Time in us.
  double operator()(const StepShape& shape) const {
    const auto batch = static_cast<double>(shape.batch);
    const double reading = weights_us + context_us * batch * shape.context;
    const double computing = token_us * batch * static_cast<double>(shape.tokens);
    return launch_us + std::max(reading, computing);
  }
};

/// A server that decodes batches of requests.
struct Server {
  AcceptanceProcess acceptance = Iid{};         ///< of each sequence; BetaMixture, Iid or Positional
  std::vector<GammaRange> gamma_schedule = {};  ///< gamma by batch size; empty: the same gamma for all
  Batching batching = Batching::continuous;
  Admission admission = Admission::one;  ///< for continuous batching
  std::int64_t max_batch = 1;
  Arrivals arrivals = {};
  TokenCount prompt = {};
  TokenCount output = {.tokens = 1.0};
  RooflineStep target_step = {};  ///< used with ConstantRatio; other costs look forward passes up
  RooflineStep drafter_step = {};
  double overhead_us = 0.0;  ///< added to an iteration that drafts, beyond its forward passes
  std::optional<double> latency_goal_us = {};
};

using Fidelity = std::variant<ProcessFidelity, TokenFidelity, Server>;

/// Entries [from, to, gamma]: gamma for batch sizes `from` to `to`.
using Schedule = std::vector<std::array<std::int64_t, 3>>;

/// Value of a parameter: a number, a word or a list.
using Value = std::variant<double, std::int64_t, std::string, std::vector<double>, std::vector<std::string>, Schedule>;

/// A parameter by its name in configurations, with its value: {"alpha", 0.8}.
struct Input {
  std::string parameter;
  Value value;
};

/// One question. Holds only what its combination uses: a server has no policy, a trace no alpha.
struct Scenario {
  /// The scenario of parameters as in TOML: Scenario::from({{"alpha", 0.8}, {"gamma", 5}, {"c", 0.05}}). Reads the
  /// files that it names. Throws InputError with every problem, one per line.
  [[nodiscard]] static Scenario from(const std::vector<Input>& inputs);

  Fidelity fidelity = ProcessFidelity{};
  std::int64_t gamma = 0;  ///< drafted tokens per iteration; under a policy the maximum
  Convention convention = Convention::bonus;
  Drafter drafter = AutoregressiveDrafter{};
  Cost cost = ConstantRatio{};
  std::optional<double> operations_ratio = {};  ///< operations of one draft step divided by those of one target step
};

}  // namespace foredraft

#pragma GCC visibility pop
