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

/// The question that closed forms and simulation answer: who drafts, how often drafts are accepted, how long they are,
/// what each forward pass costs. Plain values; scenario/ says which combinations are legal.
namespace foredraft {

// ---- Limits.

/// The longest draft under a policy other than ConstantGamma: iterations are gone through one after another, and the
/// confidence of each drafted token is drawn.
inline constexpr std::int64_t max_policy_gamma = 10'000;
/// The same under OptimalStopping of a BetaMixture, whose closed form takes its square.
inline constexpr std::int64_t max_known_alpha_gamma = 4096;
/// The longest draft under acceptance in Runs.
inline constexpr std::int64_t max_runs_gamma = 4096;
/// The longest draft in token fidelity: every drafted token is drawn, and an n-gram pair writes drafts out as text.
inline constexpr std::int64_t max_token_gamma = 100'000;
/// The longest draft of a server.
inline constexpr std::int64_t max_serving_gamma = 10'000;
/// The lowest temperature above 0: below it, powers of probabilities leave the range of a double.
inline constexpr double min_temperature = 1e-6;
inline constexpr std::int64_t max_vocabulary = 256'000;
/// The longest n-grams; no model looks at more than max_ngram_order - 1 tokens of context.
inline constexpr int max_ngram_order = 5;
/// Drafted tokens that have a head or stage of their own.
inline constexpr int max_ngram_heads = 16;

// ---- Acceptance: which drafts are accepted, in process fidelity.

/// Every draft accepted independently with probability alpha. [Leviathan2023, Sec. 3.1]
struct Iid {
  double alpha = 0.0;
};

/// Draft i accepted with conditional[i] given that all before it were. gamma <= conditional.size().
struct Positional {
  std::vector<double> conditional = {};
  /// [i]: draft i and all before it accepted, digit for digit as given; empty: follows from `conditional`.
  std::vector<double> marginal = {};
};

/// alpha ~ Beta(a, b) afresh for each iteration, shared by its drafts. a, b > 0.
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

/// Acceptance in runs, what is fitted to the counts of a log (docs/adr/0018). After a rejected position the next is
/// accepted with b and begins a run, which is easy or hard with equal chance. An easy run goes on with the probability
/// of logit(a) + spread, a hard one with that of logit(a) - spread. Into a bonus token and out of it the odds of going
/// on are rho times those. With a bonus token, a constant draft length and endless text; gamma at most max_runs_gamma;
/// a < 1 or b > 0.
struct Runs {
  double a = 0.0;
  double b = 0.0;
  double spread = 0.0;  ///< 0 to 20, in log odds
  double rho = 1.0;     ///< odds ratio, 1e-6 to 1e6; with a spread of 0 and 1 it is the Markov chain
};

/// Recorded outcomes, one entry per token position: 1 the draft would be accepted, 0 rejected, -1 not observed (the
/// position after a fully accepted draft, which no draft was tested at). Each inner vector is one sequence.
/// An unobserved outcome is drawn with the trace's own acceptance per observed token, once for its place in the trace.
struct Recording {
  std::vector<std::vector<std::int8_t>> sequences;
  /// Instead of `sequences`: [i] how many drafts of an iteration that begins at position i would be accepted, >= 0,
  /// however many it drafts.
  std::vector<std::vector<std::int32_t>> accepted_from = {};
};

/// A recording, replayed once at any gamma.
struct Trace {
  std::shared_ptr<const Recording> recording = {};  ///< read once
  std::string file = {};                            ///< where it was read from
  std::int64_t recorded_gamma = 0;                  ///< of a file of accepted counts; 0: not given
};

/// What a log of an engine counted. read_inputs() puts a Trace in its place where the log recorded single steps, else
/// Runs that are fitted to its counts; gamma, policy and text as for Runs.
struct Observed {
  std::string file = {};  ///< a log, or an observations file
};

using AcceptanceProcess = std::variant<BetaMixture, Iid, Markov, Observed, Positional, Runs, Trace>;

// ---- Drafter: where drafts come from, what they are charged, how their acceptance falls.

/// A smaller model, token by token: gamma draft passes. [Leviathan2023, Alg. 1]
struct AutoregressiveDrafter {};

/// One parallel pass drafts the whole block. [Xia2023, Sec. 3.1]
struct BlockDrafter {
  double decay = 1.0;  ///< acceptance of a draft over that of the one before it, all before accepted
};

/// Heads on the target, one for each position and each blind to the others' tokens. [Stern2018; Cai2024]
struct Heads {
  double decay = 1.0;
  std::vector<double> accuracies = {};  ///< [i] head i right given that all before it were; instead of alpha and decay
};

/// The draft is the rest of the input. [Sun2021; Xia2023, App. G.2]
struct InputCopy {
  double edit_rate = 0.0;    ///< probability that the next token is not the input's
  std::int64_t realign = 0;  ///< tokens written one by one after each edit
};

/// Small stages one after another, each fed the token before. [Wertheimer2024]
struct MlpSpeculator {
  double decay = 1.0;
  double recovery = 0.5;  ///< share of the decay that the token before gives back: decay^(1 - recovery)
};

/// An n-gram model of the same text, token by token. [Leviathan2023, Sec. 4.3]
struct NgramDrafter {};

/// Copies what followed the last occurrence of the longest matching end of the text. [Saxena2023; Yang2023]
struct PromptLookup {
  std::int64_t match = 3;      ///< longest end of the text that is looked for, 1 to 64 tokens
  std::int64_t window = 1024;  ///< tokens of prompt and text that are looked through, 16 to 65,536
};

using Drafter =
    std::variant<AutoregressiveDrafter, BlockDrafter, Heads, InputCopy, MlpSpeculator, NgramDrafter, PromptLookup>;

// ---- Draft-length policy; `gamma` of the scenario is the longest draft that any of them makes.

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Two drafts more after an iteration that accepted all of its drafts, one less (at least one) after any other
/// [Wagner2024, Sec. 4.1; Wolf2020]. Any process but Observed, Runs and Trace.
struct Plus2Minus1 {
  std::int64_t start = 5;  ///< drafts of the first iteration of a text; `gamma` where that is less
};

/// Drafting stops after the first token whose confidence is below the threshold, which is still verified [Wolf2020].
/// Each token of an Iid process then has an acceptance of its own, from Beta(alpha s, (1 - alpha) s), and a confidence
/// that is this acceptance to the power `bias`.
struct ConfidenceThreshold {
  double threshold = 0.0;      ///< in [0, 1]
  double concentration = 1.0;  ///< s > 0
  double bias = 1.0;           ///< > 0; 1: calibrated
};

/// Drafts while the chance that the next one yields a token exceeds c times the best long-run speedup: a drafter that
/// knows the acceptance of its next draft, for a BetaMixture the alpha of the iteration. Iid, Positional, BetaMixture.
struct OptimalStopping {};

using Policy = std::variant<ConfidenceThreshold, ConstantGamma, OptimalStopping, Plus2Minus1>;

// ---- Verification rule, in token fidelity.

/// Every draft is accepted: the control that shows what a wrong rule does.
struct AcceptAll {};
/// Accept the target's most probable token.
struct GreedyMatch {};
/// Accept with min(1, p / (l q)).
struct Lenient {
  double lenience = 0.5;  ///< l in (0, 1]
  bool residual = true;   ///< a rejection draws from max(0, p - l q), else from max(0, p - q)
};
/// Several candidates a position, tried by recursive rejection.
struct MultiCandidate {
  std::int64_t candidates = 2;  ///< 1 to 1024
  bool replacement = true;      ///< candidates are drawn with replacement
};
/// Accept with min(1, p / q), else draw from max(0, p - q). [Leviathan2023; Chen2023]
struct RejectionSampling {};
/// Rejection sampling on sigmoids instead of softmaxes, in arithmetic of `bits`. [Wagner2024]
struct SigmoidApproximation {
  double scale_low = -10.0;
  double scale_high = 10.0;
  double logit_shift = 0.0;
  std::int64_t bits = 64;  ///< 16, 32 or 64
};
/// Accept one of the target's best tokens that is not much less likely than the best. [Xia2023]
struct TopBeta {
  std::int64_t top_beta = 3;
  double tolerance = 1.0;  ///< nat
  bool judged = false;     ///< by the drafter's probability, as first published, else by the target's
};
/// Accept a token that is not improbable for a row of its entropy. [Cai2024]
struct TypicalAcceptance {
  double epsilon = 0.09;
  double delta = 0.0;  ///< 0: the root of epsilon
};

using Rule = std::variant<AcceptAll, GreedyMatch, Lenient, MultiCandidate, RejectionSampling, SigmoidApproximation,
                          TopBeta, TypicalAcceptance>;

// ---- Cost of a forward pass.

class PassTimes;  // scenario/inputs.hpp

/// A draft pass takes c target steps, a verification of n tokens 1 + verify_growth (n - 1). [Leviathan2023, Thm. 3.8,
/// where verify_growth is 0]
struct ConstantRatio {
  std::optional<double> c = {};  ///< nothing: no speedup
  double verify_growth = 0.0;    ///< >= 0; with a constant draft length
};

/// Measured times, in ms: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead). [Xia2023, Eq. 4]
struct MeasuredTimes {
  double step_ms = 0.0;    ///< a token of plain decoding, the baseline of the speedup; > 0
  double draft_ms = 0.0;   ///< one pass of the drafter
  double verify_ms = 0.0;  ///< one pass of the target over a draft; > 0
  double overhead_ms = 0.0;
  double target_encoder_ms = 0.0;
  double drafter_encoder_ms = 0.0;
  double fixed_ms = 0.0;
  double verify_growth = 0.0;  ///< plain steps for each token of a verification but its first, beyond verify_ms; >= 0
};

/// Times looked up for models on a device.
struct LookedUpTimes {
  std::string source = {};  ///< the device (data sheet) or the profile
  std::string target = {};
  std::string draft = {};
  std::int64_t batch = 1;
  std::int64_t context = 512;
  double overhead_ms = 0.0;
  std::shared_ptr<const PassTimes> times = {};  ///< of these models there, read once
};
struct Measured : LookedUpTimes {};
/// Of a data sheet, whose times follow from how the models are stored and split, and from what engines reach of it
/// (docs/step-times.md) where nothing better is stated.
struct Roofline : LookedUpTimes {
  /// Of the weights and of both KV caches, "fp8"; nothing: as the model's own config says, else fp16.
  std::optional<std::string> target_format = {}, draft_format = {}, kv_format = {};
  std::int64_t target_tp = 1, draft_tp = 1;  ///< devices that share the model
  double expert_skew = 0.0;                  ///< 0: tokens choose their experts independently; 1: all share them
  std::optional<double> bandwidth_efficiency = {}, compute_efficiency = {};  ///< shares of the data sheet's limits
  std::optional<double> step_overhead_us = {};                               ///< of every pass, beside its operators
  std::optional<double> iteration_us = {};  ///< of an iteration of speculation, beside its passes
  double memory_utilization = 0.9;          ///< share of a device's memory for weights and caches
  bool ignore_memory = false;               ///< answer also where it does not fit
  bool allow_vocabulary_mismatch = false;   ///< a draft model with other tokens than the target
};

using Cost = std::variant<ConstantRatio, MeasuredTimes, Roofline, Measured>;

// ---- Fidelity: how much of the process is simulated.

/// Text is produced in sequences of a fixed or geometric number of tokens; the last iteration of a sequence is cut
/// short. gamma tokens are drafted all the same: the drafter does not know where the text ends. Drafts behind the end
/// count as drafted and never as tested, so that acceptance per tested token stays unbiased.
struct SequenceLength {
  double tokens = 1.0;     ///< the length, or its mean; >= 1
  bool geometric = false;  ///< end of sequence with hazard 1 / tokens at every token, instead of after exactly `tokens`
};

/// Only which drafts are accepted.
struct ProcessFidelity {
  AcceptanceProcess acceptance = Iid{};
  Policy policy = ConstantGamma{};
  std::optional<SequenceLength> sequence_length = {};  ///< nothing: one endless text
};

/// Distribution of a synthetic target's next-token distributions.
enum class TargetDistribution {
  zipf,             ///< p(rank r) proportional to r^-parameter, ranks shuffled anew for every context
  gaussian_logits,  ///< softmax of independent Normal(0, parameter^2) logits
  dirichlet,        ///< symmetric Dirichlet(parameter)
};

/// How the draft distribution is made from the target's.
enum class DraftDistribution {
  noise,        ///< independent Normal(0, strength^2) added to the logits
  temperature,  ///< logits divided by 1 + strength
  mixing,       ///< (1 - strength) * p + strength * another context's p
};

/// Where the distributions of a synthetic pair come from.
enum class Contexts {
  pooled,  ///< a pool of prepared (p, q) rows; each position meets a random one. Alias tables: about 1e6 iterations/s
  fresh,   ///< new logits for every position of every iteration; slow, and free of any pool effect
};

/// A synthetic target and its drafter; the strength of the difference is solved so that the expected acceptance
/// sum min(p, q) at temperature 1, averaged over contexts, is `alpha`.
struct SyntheticModels {
  TargetDistribution target = TargetDistribution::gaussian_logits;
  double parameter = 3.0;
  std::int64_t vocabulary = 32'000;  ///< 2 .. 256,000
  DraftDistribution draft = DraftDistribution::noise;
  double alpha = 0.0;       ///< wanted expected acceptance, in (0, 1]
  std::int64_t pool = 256;  ///< contexts in the pool, >= 1
  Contexts contexts = Contexts::pooled;
};

struct TrainedModels;  // sim/ngram

/// n-gram models of one text: the target writes, the drafter drafts.
struct NgramModels {
  std::vector<std::string> corpus = {"prose"};  ///< "prose", "code" or files
  std::int64_t vocabulary = 32'000;
  std::int64_t target_order = 5;
  std::int64_t draft_order = 2;
  std::shared_ptr<const TrainedModels> trained = {};  ///< on the corpus, read once
};

/// Distributions of one's own, a row a context; every position meets one of the contexts at random.
struct GivenDistributions {
  std::vector<std::vector<double>> target = {};  ///< [context][token]: p, each row sums to 1
  std::vector<std::vector<double>> draft = {};   ///< q, likewise
  // A verification rule of one's own in place of `rule`, worked out for these rows; temperature has to be 1.
  std::vector<std::vector<double>> acceptance = {};  ///< [context][token], in [0, 1]: of a drafted token; empty: `rule`
  std::vector<std::vector<double>> replacement = {};  ///< what a token is drawn from after a rejection; rows sum to 1
  std::vector<std::vector<double>> bonus = {};        ///< and after gamma accepted drafts; empty: `target`
};

struct GivenModels {
  std::shared_ptr<const GivenDistributions> distributions = {};
};

using Models = std::variant<SyntheticModels, NgramModels, GivenModels>;

/// Real distributions, drafts and verification.
struct TokenFidelity {
  Rule rule = RejectionSampling{};
  double temperature = 1.0;  ///< applied to both models before the rule; 0: argmax, lowest index on ties
  Models models = SyntheticModels{};
};

/// Drafted tokens per iteration while the batch has so many rows.
struct GammaRange {
  std::int64_t from_batch;
  std::int64_t to_batch;  ///< inclusive
  std::int64_t gamma;     ///< 0: plain decoding, with a bonus token alone
};

/// How requests share a batch. In a static batch (ragged, lockstep) those waiting are taken at once when the server is
/// idle, and nobody joins before the slowest row is done; finished rows are computed all the same, as padding.
enum class Batching {
  continuous,  ///< a finished row gives its place to a waiting request before the next iteration
  ragged,      ///< static; each row advances by its own tokens
  lockstep,    ///< static; all unfinished rows advance by the tokens of the one that accepted fewest
};

/// Who joins a continuous batch between two iterations, as far as there is room. Prompts are read before those who sent
/// them join; meanwhile others may arrive.
enum class Admission {
  one,  ///< those who wait when an iteration ends, read in one prompt pass; later requests wait for an iteration
  all,  ///< prompt passes go on until nobody waits
};

enum class ArrivalKind {
  closed,   ///< so many clients, each of which sends its next request when its last one is answered
  poisson,  ///< independent of the server, exponential intervals
  regular,  ///< one constant interval; the first request comes after it
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  std::int64_t clients = 0;  ///< closed: >= 1
  double rate_per_s = 0.0;   ///< poisson, regular: requests per second, > 0
};

/// Tokens of a prompt or of an answer.
struct TokenCount {
  double tokens = 0.0;      ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric = false;   ///< end with hazard 1 / tokens at every token instead; then tokens >= 1, spread = 0
};

/// One pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< rows
  std::int64_t tokens;  ///< new tokens of each row
  double context;       ///< tokens in the cache of a row, mean over the rows
  bool prompt = false;  ///< reads prompts, before the first iteration of these rows
};

/// A pass that first reads the weights and the cache and computes meanwhile: it takes the longer of the two.
/// [Williams2009]
struct RooflineStep {
  double launch_us = 0.0;   ///< paid whatever the pass does
  double weights_us = 0.0;  ///< reading the weights
  double context_us = 0.0;  ///< reading one cached token of one row
  double token_us = 0.0;    ///< computing one new token of one row

  /// In us.
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
  std::vector<GammaRange> gamma_schedule = {};  ///< empty: gamma whatever the batch
  Batching batching = Batching::continuous;
  Admission admission = Admission::one;  ///< of a continuous batch
  std::int64_t max_batch = 1;
  Arrivals arrivals = {};
  TokenCount prompt = {};
  TokenCount output = {.tokens = 1.0};
  RooflineStep target_step = {};  ///< under ConstantRatio; other costs look passes up
  RooflineStep drafter_step = {};
  double overhead_us = 0.0;  ///< of an iteration that drafts, beyond its passes
  std::optional<double> latency_goal_us = {};
};

using Fidelity = std::variant<ProcessFidelity, TokenFidelity, Server>;

/// Rows [from, to, gamma]: gamma from batch `from` to batch `to`.
using Schedule = std::vector<std::array<std::int64_t, 3>>;

/// What a parameter takes: a number, a word, a list.
using Value = std::variant<double, std::int64_t, std::string, std::vector<double>, std::vector<std::string>, Schedule>;

/// A parameter by its name in configurations, and its value: {"alpha", 0.8}.
struct Input {
  std::string parameter;
  Value value;
};

/// One question. What a combination does not use is not there: a server has no policy, a trace no alpha.
struct Scenario {
  /// From the names of TOML: Scenario::from({{"alpha", 0.8}, {"gamma", 5}, {"c", 0.05}}). Files that it names are read.
  /// Throws InputError with every problem, one a line.
  [[nodiscard]] static Scenario from(const std::vector<Input>& inputs);

  Fidelity fidelity = ProcessFidelity{};
  std::int64_t gamma = 0;  ///< drafted tokens per iteration; under a policy the most
  Convention convention = Convention::bonus;
  Drafter drafter = AutoregressiveDrafter{};
  Cost cost = ConstantRatio{};
  std::optional<double> operations_ratio = {};  ///< operations of one draft step over one target step
};

}  // namespace foredraft

#pragma GCC visibility pop
