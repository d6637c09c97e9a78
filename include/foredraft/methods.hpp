// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/models.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/tree.hpp"
#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// Methods of speculative decoding side by side: pairs of models, one cost, one answer for each method and pair.
namespace foredraft {

/// The methods that are compared by default, by name; `foredraft list methods` says what each is.
[[nodiscard]] std::vector<std::string> compared_methods();

/// True if the method copies or drafts text, which synthetic models do not have. Throws DomainError for an unknown name
/// and for a method that is not compared.
[[nodiscard]] bool method_needs_text(const std::string& method);

/// A pair of models, and the name by which rows refer to it.
struct MethodsPair {
  std::string name;
  std::variant<SyntheticModels, NgramModels> models;  ///< n-gram models must be trained by read_inputs()
  /// For n-gram models: number of contexts, 2 to 4096. They are positions of the target's own text at temperature 1.
  std::int64_t pool = 256;
};

/// Values of a parameter of a rule, policy or drafter that replace its default, with a row for each. With several
/// parameters of one method, there is a row for every combination of their values, at most 1024.
struct MethodParameter {
  std::string method;     ///< name or alias
  std::string parameter;  ///< as in the configuration of a sweep: "rule.lenience"
  std::vector<double> values;
};

struct MethodsQuestion {
  std::vector<std::string> methods = {};  ///< names or aliases; empty: compared_methods()
  /// The pair of models. `alpha` is its acceptance at temperature 1. Its contexts are a pool that is drawn from `seed`.
  SyntheticModels models = {.vocabulary = 1000, .alpha = 0.8, .pool = 64};  ///< pool: 2 to 4096 contexts
  std::vector<MethodsPair> pairs = {};                                      ///< in place of `models`, if not empty
  std::vector<MethodParameter> parameters = {};
  std::vector<double> temperatures = {0.0, 0.7, 1.0};  ///< of both models
  /// Drafts of an iteration for every method, 1 to max_methods_gamma, or as many as `price` has times for, if these are
  /// fewer. Empty: the fastest number for each method.
  std::optional<std::int64_t> gamma = {};
  /// Times of forward passes, with c <= 1 and a drafter that drafts token by token. A pass verifies at most as many
  /// positions as `verification` has entries, 2 to 4096. Empty: 64 positions, of which each after the first adds 0.01
  /// decode steps.
  TreePrice price = {.verification = {}, .c = 0.05, .drafting = Drafting::autoregressive};
  std::int64_t width = 10;   ///< of trees: maximum candidates of a node and expanded nodes of a depth; 1 to 1024
  std::int64_t servers = 7;  ///< copies of the target that DSI may use, 2 to 10^6
  std::uint64_t iterations = 50'000;  ///< to simulate for each row
  std::uint64_t seed = 1;
};
inline constexpr std::int64_t max_methods_gamma = 32;

/// What a method yields for one pair at one temperature. Costs are in decode steps of the target, speedups over
/// autoregressive decoding.
struct MethodRow {
  std::string pair;    ///< name; empty: the only one
  std::string method;  ///< name
  double temperature;
  std::string setting;  ///< what was simulated: "gamma 5, 2 candidates"; h is the threshold of a policy, the fastest
                        ///< one of a grid
  std::vector<std::pair<std::string, double>> parameters;  ///< those of MethodsQuestion::parameters, with their values
  std::int64_t gamma;      ///< drafts of an iteration on one path; of a policy the maximum; of trees the depth
  std::int64_t positions;  ///< verified in a pass of the target, including the last known token
  /// Simulated, like the speedup. NaN for methods that draft while the target verifies, which have no iterations.
  Estimate tokens_per_iteration;
  double iteration_cost;  ///< mean over iterations; NaN likewise
  Estimate speedup;
  double closed_form;  ///< of the speedup, by formulas that the simulation does not use; NaN: none
  /// (speedup - closed_form) / standard error; NaN without a closed form or a standard error above 0.
  double deviation_in_se;
  bool exact;    ///< the output has the target's distribution
  double loss;   ///< total variation of a tested position's emitted distribution from the target's; 0 if exact
  double bound;  ///< upper bound of the speedup of methods of this kind (docs/methods.md); NaN: none is known
};

struct MethodsAnswer {
  MethodsQuestion question;
  /// [pair * temperatures + temperature]: sum min(p, q), mean over the contexts.
  std::vector<double> acceptances;
  std::vector<MethodRow> rows;  ///< in the order of pairs, then temperatures, then by descending speedup
};

/// Simulates each method for each pair at each temperature. Methods that copy or draft text (method_needs_text) are
/// simulated only for n-gram models at temperatures 0 and 1. Neither `threads` (0: one per hardware thread) nor the
/// other methods change a row. Throws DomainError for an unknown method, for values outside of the ranges above and as
/// simulate() does, Interrupted when `stop` is set.
[[nodiscard]] MethodsAnswer compare_methods(const MethodsQuestion& question, unsigned threads = 0,
                                            const std::atomic<bool>* stop = nullptr);

}  // namespace foredraft

#pragma GCC visibility pop
