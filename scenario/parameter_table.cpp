// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {
namespace {

using Used = bool (*)(const Usage&);
using Table = std::vector<Parameter>;

constexpr double longest_draft = 1e6;  // each simulated block counts every position
constexpr double us_per_ms = 1e3;
constexpr double longest_step_ms = 1e9;
constexpr double max_text_tokens = 1e9;

// ---- Where a parameter is used.

bool always(const Usage& /*usage*/) { return true; }
bool in_token(const Usage& usage) { return usage.takes("fidelity", "token"); }
bool in_process(const Usage& usage) { return usage.takes("fidelity", "process"); }
bool in_server(const Usage& usage) { return usage.takes("fidelity", "system"); }
/// One text or sequence after another: costs are those of an iteration, not of a batch.
bool not_in_server(const Usage& usage) { return in_process(usage) || in_token(usage); }
bool with_sequences(const Usage& usage) { return in_process(usage) && usage.states("sequence_length"); }
bool in_continuous_batch(const Usage& usage) { return in_server(usage) && usage.takes("batching", "continuous"); }
bool with_rate(const Usage& usage) {
  return in_server(usage) && (usage.takes("arrivals", "poisson") || usage.takes("arrivals", "regular"));
}
bool with_clients(const Usage& usage) { return in_server(usage) && usage.takes("arrivals", "closed"); }
bool with_recording(const Usage& usage) { return in_server(usage) && usage.takes("arrivals", "recorded"); }
/// A recording has the lengths of its requests.
bool with_lengths(const Usage& usage) { return with_rate(usage) || with_clients(usage); }
bool with_prompt_spread(const Usage& usage) { return with_lengths(usage) && usage.takes("prompt_lengths", "uniform"); }
bool with_output_spread(const Usage& usage) { return with_lengths(usage) && usage.takes("output_lengths", "uniform"); }
bool with_prompt_p95(const Usage& usage) { return with_lengths(usage) && usage.takes("prompt_lengths", "lognormal"); }
bool with_output_p95(const Usage& usage) { return with_lengths(usage) && usage.takes("output_lengths", "lognormal"); }
bool with_schedule(const Usage& usage) { return in_server(usage) && usage.states("gamma_schedule"); }
bool with_given_steps(const Usage& usage) {
  return in_server(usage) && usage.takes("cost", name_of(Cost(ConstantRatio{})));
}
bool with_measured_times(const Usage& usage) {
  return not_in_server(usage) && usage.takes("cost", name_of(Cost(MeasuredTimes{})));
}
/// A server's is Iid where it is not stated, and then not among its inputs.
bool with_process(const Usage& usage) { return in_process(usage) || (in_server(usage) && usage.states("process")); }
/// A mean and a correlation in place of the two parameters of a process.
bool states_moments(const Usage& usage) { return usage.states("process.mean") || usage.states("process.correlation"); }
bool by_moments(const Usage& usage) {
  return with_process(usage) && states_moments(usage) &&
         (usage.takes("process", name_of(AcceptanceProcess(BetaMixture{}))) ||
          usage.takes("process", name_of(AcceptanceProcess(Markov{}))));
}
bool not_by_moments(const Usage& usage) { return with_process(usage) && !states_moments(usage); }
/// A schedule takes the place of gamma.
bool with_gamma(const Usage& usage) { return !(in_server(usage) && usage.states("gamma_schedule")); }

/// Whether some drafter that is taken fits.
bool some_drafter(const Usage& usage, const auto& fits) {
  return std::ranges::any_of(drafters(), [&](const DrafterMember& member) {
    return usage.takes("drafter", member.name) && fits(member.value);
  });
}

/// Whether alpha is the acceptance of some drafter's drafts: not where a copy or given accuracies take its place.
bool with_alpha(const Usage& usage) {
  if (in_server(usage)) return usage.takes("process", "iid");
  return in_process(usage) && usage.takes("process", "iid") && some_drafter(usage, [&](const Drafter& drafter) {
           return !std::holds_alternative<InputCopy>(drafter) &&
                  !(std::holds_alternative<Heads>(drafter) && usage.states("drafter.accuracies"));
         });
}

bool with_synthetic(const Usage& usage) { return in_token(usage) && usage.takes("models.kind", "synthetic"); }
bool with_ngram(const Usage& usage) { return in_token(usage) && usage.takes("models.kind", "ngram"); }
/// Whether a second model drafts: text that is looked up needs none.
bool with_draft_model(const Usage& usage) {
  return with_ngram(usage) &&
         some_drafter(usage, [](const Drafter& drafter) { return !std::holds_alternative<PromptLookup>(drafter); });
}

// ---- What is stored where.

/// The part of a scenario; null where it is not there.
template <class Part>
Part* part(Scenario& scenario) {
  auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  if constexpr (std::is_same_v<Part, Scenario>) return &scenario;
  if constexpr (std::is_same_v<Part, Drafter>) return &scenario.drafter;
  if constexpr (std::is_same_v<Part, Cost>) return &scenario.cost;
  if constexpr (std::is_same_v<Part, AcceptanceProcess>) return acceptance_of(scenario);
  if constexpr (std::is_same_v<Part, Iid>) return std::get_if<Iid>(acceptance_of(scenario));
  if constexpr (std::is_same_v<Part, Policy>) return process == nullptr ? nullptr : &process->policy;
  if constexpr (std::is_same_v<Part, SequenceLength>) {
    if (process == nullptr) return nullptr;
    return process->sequence_length ? &*process->sequence_length : &process->sequence_length.emplace();
  }
  if constexpr (std::is_same_v<Part, TokenFidelity>) return token;
  if constexpr (std::is_same_v<Part, Rule>) return token == nullptr ? nullptr : &token->rule;
  if constexpr (std::is_same_v<Part, SyntheticModels> || std::is_same_v<Part, NgramModels>) {
    return token == nullptr ? nullptr : std::get_if<Part>(&token->models);
  }
  if constexpr (std::is_same_v<Part, Server>) return std::get_if<Server>(&scenario.fidelity);
}

/// Calls `set` with a member of a part, or a member of that; where the part is not there, nothing uses the value.
template <auto Field, auto Inner = nullptr>
void change(Scenario& to, const auto& set) {
  auto* found = part<detail::OwnerOf<Field>>(to);
  if (found == nullptr) return;
  if constexpr (Inner == nullptr) {
    set(found->*Field);
  } else {
    set(found->*Field.*Inner);
  }
}

template <auto Field, auto Inner = nullptr>
void store(Scenario& to, const Value& value) {
  change<Field, Inner>(to, [&](auto& field) { detail::store(field, value); });
}
template <auto Field, auto Inner = nullptr>
void store_us(Scenario& to, const Value& value) {
  change<Field, Inner>(to, [&](auto& field) { field = us_per_ms * std::get<double>(value); });
}
void store_nothing(Scenario& /*to*/, const Value& /*value*/) {}

/// The word at `index` of a choice stands for the meaning at it.
template <auto Field, auto... Meanings>
void choose(Scenario& to, std::size_t index) {
  change<Field>(to, [&](auto& field) { field = std::array{Meanings...}.at(index); });
}
template <auto Field, auto Inner, auto... Meanings>
void choose_in(Scenario& to, std::size_t index) {
  change<Field, Inner>(to, [&](auto& field) { field = std::array{Meanings...}.at(index); });
}

void choose_fidelity(Scenario& to, std::size_t index) {
  if (index == 0) to.fidelity.emplace<ProcessFidelity>();
  if (index == 1) to.fidelity.emplace<TokenFidelity>();
  if (index == 2) to.fidelity.emplace<Server>();
}
void choose_models(Scenario& to, std::size_t index) {
  auto* token = part<TokenFidelity>(to);
  if (token == nullptr) return;
  if (index == 0) token->models.emplace<SyntheticModels>();
  if (index == 1) token->models.emplace<NgramModels>();
}

// ---- Parameters of no family.

/// What holds where a parameter is not given: by default it has no value.
struct Otherwise {
  bool required = false;  ///< it must be given wherever it is used
  bool implied = false;   ///< the default is not written among the resolved inputs
  std::optional<double> number = {};
  std::string_view word = {};
};

struct Row {
  std::string_view name;
  ValueType type;
  ValueRange range;
  std::string_view summary;
  Used used;
  void (*assign)(Scenario&, const Value&);
  Otherwise otherwise = {};
  std::array<std::string_view, 4> words = {};  ///< of a choice
  void (*choose)(Scenario&, std::size_t) = nullptr;
};

constexpr Row real(std::string_view name, const ValueRange& range, std::string_view summary, Used used,
                   void (*assign)(Scenario&, const Value&), const Otherwise& otherwise = {}) {
  return {name, ValueType::real, range, summary, used, assign, otherwise};
}
constexpr Row integer(std::string_view name, double minimum, double maximum, std::string_view summary, Used used,
                      void (*assign)(Scenario&, const Value&), const Otherwise& otherwise = {}) {
  return {name, ValueType::integer, {.minimum = minimum, .maximum = maximum}, summary, used, assign, otherwise};
}
/// The first word by default.
constexpr Row choice(std::string_view name, const std::array<std::string_view, 4>& words, std::string_view summary,
                     Used used, void (*choose)(Scenario&, std::size_t), Otherwise otherwise = {}) {
  if (otherwise.word.empty()) otherwise.word = words[0];
  return {name, ValueType::choice, {}, summary, used, nullptr, otherwise, words, choose};
}

constexpr std::array question{
    choice("fidelity", {"process", "token", "system"},
           "accept/reject process only, real distributions, or requests and batches of a server", always,
           choose_fidelity),
    integer("gamma", 0, longest_draft, "drafted tokens per iteration", with_gamma, store<&Scenario::gamma>,
            {.required = true}),
    choice("convention", {"bonus", "no_bonus"},
           "whether a fully accepted draft yields one more token (1 to gamma + 1, or 1 to gamma)", always,
           choose<&Scenario::convention, Convention::bonus, Convention::no_bonus>)};

constexpr std::array operations_ratio{
    real("operations_ratio", {},
         "operations of one draft step over one target step (c-hat); without it no operations factor", always,
         store<&Scenario::operations_ratio>)};

/// Stands in the rows and changes nothing.
constexpr std::array baseline{
    Row{"cost.baseline",
        ValueType::text,
        {},
        "block: how autoregressive decoding was timed for cost.step_ms; a label, e.g. \"beam 5\"",
        with_measured_times,
        store_nothing,
        {.word = "greedy"}}};

constexpr std::array alpha{real("alpha", {.maximum = 1.0}, "probability that a draft is accepted", with_alpha,
                                store<&Iid::alpha>, {.required = true})};

constexpr std::array sequences{
    real("process.mean", {.maximum = 1.0},
         "beta_mixture, markov: mean acceptance of a draft; with process.correlation in place of a and b", by_moments,
         [](Scenario& to, const Value& value) {
           if (auto* process = part<AcceptanceProcess>(to)) {
             *process = with_moments(*process, std::get<double>(value), std::nullopt);
           }
         },
         {.required = true}),
    real("process.correlation", {.minimum = -1.0, .maximum = 1.0},
         "beta_mixture, markov: correlation of the acceptances of two successive drafts: 1 / (a + b + 1), "
         "a - b",
         by_moments,
         [](Scenario& to, const Value& value) {
           if (auto* process = part<AcceptanceProcess>(to)) {
             *process = with_moments(*process, std::nullopt, std::get<double>(value));
           }
         },
         {.required = true}),
    real("sequence_length", {.minimum = 1.0, .maximum = 1e9},
         "tokens of one sequence, or their mean; without it one endless text", in_process,
         store<&SequenceLength::tokens>),
    choice("end_of_sequence", {"fixed", "geometric"},
           "length of a sequence: the same for all, or geometric with that mean", with_sequences,
           choose<&SequenceLength::geometric, false, true>)};

template <Truncation TokenFidelity::*truncation>
constexpr Row top_k(std::string_view name, std::string_view summary) {
  return integer(name, 0, static_cast<double>(max_vocabulary), summary, with_synthetic,
                 store<truncation, &Truncation::top_k>, {.implied = true, .number = 0});
}
template <Truncation TokenFidelity::*truncation>
constexpr Row top_p(std::string_view name, std::string_view summary) {
  return real(name, {.maximum = 1.0, .excludes_minimum = true}, summary, with_synthetic,
              store<truncation, &Truncation::top_p>, {.implied = true, .number = 1.0});
}

constexpr std::array sampling{
    real("temperature", {.maximum = 1000.0}, "applied to both models before the rule; 0: argmax", in_token,
         store<&TokenFidelity::temperature>, {.number = 1.0}),
    real("draft_temperature", {.maximum = 1000.0},
         "applied to the drafter in place of temperature; 0: it drafts its most probable token", with_synthetic,
         store<&TokenFidelity::draft_temperature>),
    top_k<&TokenFidelity::truncation>("top_k", "target: only its most probable tokens, after the temperature; 0: all"),
    top_p<&TokenFidelity::truncation>("top_p",
                                      "target: after top_k, the fewest best tokens of this probability in total"),
    top_k<&TokenFidelity::draft_truncation>("draft_top_k", "the same of the drafter"),
    top_p<&TokenFidelity::draft_truncation>("draft_top_p", "the same of the drafter")};

constexpr std::array models{
    choice("models.kind", {"synthetic", "ngram"}, "synthetic distributions, or n-gram models of a text", in_token,
           choose_models),
    choice("contexts", {"pooled", "fresh"}, "a pool of prepared distributions, or new ones every time", with_synthetic,
           choose<&SyntheticModels::contexts, Contexts::pooled, Contexts::fresh>),
    choice("models.target", {"gaussian_logits", "zipf", "dirichlet"}, "family of the target's distributions",
           with_synthetic,
           choose<&SyntheticModels::target, TargetDistribution::gaussian_logits, TargetDistribution::zipf,
                  TargetDistribution::dirichlet>),
    // Its default depends on the target law: target_parameter_default() in check.cpp.
    real("models.parameter", {.maximum = 1e6, .excludes_minimum = true},
         "zipf: exponent; gaussian_logits: standard deviation; dirichlet: concentration", with_synthetic,
         store<&SyntheticModels::parameter>),
    integer("models.vocabulary", 2, static_cast<double>(max_vocabulary), "tokens of the vocabulary", in_token,
            [](Scenario& to, const Value& value) {
              store<&SyntheticModels::vocabulary>(to, value);
              store<&NgramModels::vocabulary>(to, value);
            },
            {.number = 32000}),
    choice("models.draft", {"noise", "temperature", "mixing"}, "how the draft is made from the target", with_synthetic,
           choose<&SyntheticModels::draft, DraftDistribution::noise, DraftDistribution::temperature,
                  DraftDistribution::mixing>),
    real("models.alpha", {.maximum = 1.0, .excludes_minimum = true}, "expected acceptance that the draft is solved for",
         with_synthetic, store<&SyntheticModels::alpha>, {.required = true}),
    integer("models.pool", 1, 65536, "prepared contexts", with_synthetic, store<&SyntheticModels::pool>,
            {.number = 256}),
    Row{"models.corpus",
        ValueType::texts,
        {},
        "\"prose\" (license texts, manuals of CMake), \"code\" (headers of Boost) or a list of text files",
        with_ngram,
        store<&NgramModels::corpus>,
        {.word = "prose"}},
    integer("models.target_order", 1, max_ngram_order, "order of the target's n-gram model", with_ngram,
            store<&NgramModels::target_order>, {.number = 5}),
    integer("models.draft_order", 1, max_ngram_order,
            "order of the drafter's n-gram model; heads and mlp_speculator see order - 1 tokens of text",
            with_draft_model, store<&NgramModels::draft_order>, {.number = 2})};

template <TokenCount Server::*count>
constexpr Row lengths(std::string_view name) {
  return choice(name, {"uniform", "geometric", "lognormal"},
                "uniform within the spread, ending with one chance at every token, or lognormal by mean and p95",
                with_lengths, choose_in<count, &TokenCount::geometric, false, true, false>);
}
template <TokenCount Server::*count>
constexpr Row percentile(std::string_view name, Used used) {
  return real(name, {.minimum = 1.0, .maximum = max_text_tokens},
              "tokens: one lognormal length in twenty is longer; above the mean, at most 3.86 times as much", used,
              store<count, &TokenCount::p95>, {.required = true});
}
template <TokenCount Server::*count>
constexpr Row spread(std::string_view name, Used used) {
  return integer(name, 0, max_text_tokens,
                 "tokens: lengths are uniform on the whole numbers up to this far from the mean", used,
                 store<count, &TokenCount::spread>, {.number = 0});
}
template <RooflineStep Server::*step, double RooflineStep::*part>
constexpr Row step_time(std::string_view name, std::string_view summary, const Otherwise& otherwise = {.number = 0.0}) {
  return real(name, {.maximum = longest_step_ms}, summary, with_given_steps, store_us<step, part>, otherwise);
}

constexpr std::array server_rows{
    Row{"gamma_schedule",
        ValueType::schedule,
        {},
        "drafted tokens by batch size, instead of gamma, e.g. [[1, 16, 4], [17, 64, 0]]",
        in_server,
        [](Scenario& to, const Value& value) {
          change<&Server::gamma_schedule>(to, [&](auto& held) { held = gamma_ranges(std::get<Schedule>(value)); });
        }},
    real("switch_ms", {.maximum = longest_step_ms},
         "gamma_schedule: what the first iteration of another gamma adds (ms)", with_schedule,
         store_us<&Server::switch_us>, {.implied = true, .number = 0.0}),
    integer("switch_margin", 0, 65'536,
            "gamma_schedule: gamma changes where the batch is more than this many requests outside its range",
            with_schedule, store<&Server::switch_margin>, {.implied = true, .number = 0}),
    choice("batching", {"continuous", "ragged", "lockstep"},
           "a finished row is replaced at once; or a static batch, each row at its own pace, or all at that of the "
           "slowest",
           in_server, choose<&Server::batching, Batching::continuous, Batching::ragged, Batching::lockstep>),
    choice("admission", {"one", "all"},
           "continuous: one prompt pass between two iterations, or as many as it takes until no request waits",
           in_continuous_batch, choose<&Server::admission, Admission::one, Admission::all>, {.implied = true}),
    integer("max_batch", 1, 65'536, "maximum batch size", in_server, store<&Server::max_batch>, {.required = true}),
    choice("arrivals", {"closed", "poisson", "regular", "recorded"},
           "requests come at random, at one interval, from clients that wait for their answer, or as recorded",
           in_server,
           choose_in<&Server::arrivals, &Arrivals::kind, ArrivalKind::closed, ArrivalKind::poisson,
                     ArrivalKind::regular, ArrivalKind::recorded>,
           {.word = "poisson"}),
    Row{"arrivals.file",
        ValueType::text,
        {},
        "CSV or JSONL of prompt_tokens, output_tokens, arrival_s; a relative path as that of process.file",
        with_recording,
        store<&Server::arrivals, &Arrivals::file>,
        {.required = true}},
    real("arrivals.rate_per_s", {.maximum = 1e9, .excludes_minimum = true}, "requests per second", with_rate,
         store<&Server::arrivals, &Arrivals::rate_per_s>, {.required = true}),
    integer("arrivals.clients", 1, 16'777'216, "clients that send a request when answered", with_clients,
            store<&Server::arrivals, &Arrivals::clients>, {.required = true}),
    real("prompt_tokens", {.maximum = max_text_tokens},
         "tokens of a prompt, or their mean; one pass reads it and yields the first token", with_lengths,
         store<&Server::prompt, &TokenCount::tokens>, {.number = 0.0}),
    lengths<&Server::prompt>("prompt_lengths"),
    spread<&Server::prompt>("prompt_spread", with_prompt_spread),
    percentile<&Server::prompt>("prompt_p95", with_prompt_p95),
    real("prefix_hit", {.maximum = 1.0, .excludes_maximum = true},
         "share of each prompt that is in the cache already and not read again", in_server, store<&Server::prefix_hit>,
         {.implied = true, .number = 0.0}),
    real("output_tokens", {.minimum = 1, .maximum = max_text_tokens}, "tokens of an answer, or their mean",
         with_lengths, store<&Server::output, &TokenCount::tokens>, {.required = true}),
    lengths<&Server::output>("output_lengths"),
    spread<&Server::output>("output_spread", with_output_spread),
    percentile<&Server::output>("output_p95", with_output_p95),
    step_time<&Server::target_step, &RooflineStep::weights_us>(
        "target_step.weights_ms", "target: reading the weights in a forward pass (ms)", {.required = true}),
    step_time<&Server::target_step, &RooflineStep::launch_us>("target_step.launch_ms",
                                                              "target: fixed cost of a forward pass (ms)"),
    step_time<&Server::target_step, &RooflineStep::context_us>(
        "target_step.context_ms", "target: reading one token of one sequence's KV cache (ms)"),
    step_time<&Server::target_step, &RooflineStep::token_us>("target_step.token_ms",
                                                             "target: computing one new token of one sequence (ms)"),
    step_time<&Server::drafter_step, &RooflineStep::weights_us>(
        "drafter_step.weights_ms", "drafter: reading the weights in a forward pass (ms)", {.required = true}),
    step_time<&Server::drafter_step, &RooflineStep::launch_us>("drafter_step.launch_ms",
                                                               "drafter: fixed cost of a forward pass (ms)"),
    step_time<&Server::drafter_step, &RooflineStep::context_us>(
        "drafter_step.context_ms", "drafter: reading one token of one sequence's KV cache (ms)"),
    step_time<&Server::drafter_step, &RooflineStep::token_us>("drafter_step.token_ms",
                                                              "drafter: computing one new token of one sequence (ms)"),
    real("overhead_us", {.maximum = us_per_ms * longest_step_ms},
         "what an iteration that drafts costs beyond its forward passes (us)", in_server, store<&Server::overhead_us>,
         {.implied = true, .number = 0.0}),
    Row{"engine",
        ValueType::text,
        {},
        "what it adds to the passes of an iteration: one of foredraft list engines, or a TOML file; without it nothing",
        in_server,
        store<&Server::engine_name>},
    real("latency_goal_ms", {.maximum = longest_step_ms},
         "goodput counts requests answered within it; without it no goodput", in_server,
         store_us<&Server::latency_goal_us>)};

std::optional<Value> default_of(const Row& row) {
  const auto& [required, implied, number, word] = row.otherwise;
  if (number && row.type == ValueType::integer) return static_cast<std::int64_t>(*number);
  if (number) return *number;
  if (word.empty()) return std::nullopt;
  if (row.type == ValueType::texts) return std::vector<std::string>{std::string(word)};
  return std::string(word);
}

void add(Table& table, std::span<const Row> rows) {
  for (const Row& row : rows) {
    Parameter& added = table.emplace_back(Parameter{.name = std::string(row.name),
                                                    .type = row.type,
                                                    .range = row.range,
                                                    .default_value = default_of(row),
                                                    .summary = std::string(row.summary),
                                                    .used = row.used,
                                                    .assign = row.assign,
                                                    .required = row.otherwise.required,
                                                    .implied = row.otherwise.implied});
    if (row.choose == nullptr) continue;
    for (const std::string_view word : row.words) {
      if (!word.empty()) added.choices.emplace_back(word);
    }
    added.assign = [&row](Scenario& to, const Value& value) {
      const auto word = std::ranges::find(row.words, std::get<std::string>(value));
      row.choose(to, static_cast<std::size_t>(word - row.words.begin()));
    };
  }
}

// ---- Parameters of families.

/// The choice among a family's members, `first` before the others.
template <class Entry>
Parameter& add_choice(Table& table, std::string_view name, const std::vector<Entry>& registry, std::string_view first,
                      std::string_view summary, Used used) {
  using Family = decltype(Entry::value);
  std::vector<std::string> choices = names_of(registry);
  const auto found = std::ranges::find(choices, first);
  std::rotate(choices.begin(), found, found + 1);
  const auto assign = [&registry](Scenario& to, const Value& value) {
    if (auto* place = part<Family>(to)) *place = find_entry(registry, std::get<std::string>(value))->value;
  };
  return table.emplace_back(Parameter{.name = std::string(name),
                                      .type = ValueType::choice,
                                      .choices = std::move(choices),
                                      .default_value = std::string(first),
                                      .summary = std::string(summary),
                                      .used = used,
                                      .assign = assign});
}

ValueRange union_of(const ValueRange& one, const ValueRange& other) {
  ValueRange all = one;
  if (other.minimum < one.minimum || (other.minimum == one.minimum && !other.excludes_minimum)) {
    all.minimum = other.minimum;
    all.excludes_minimum = other.excludes_minimum;
  }
  if (other.maximum > one.maximum || (other.maximum == one.maximum && !other.excludes_maximum)) {
    all.maximum = other.maximum;
    all.excludes_maximum = other.excludes_maximum;
  }
  all.whole = one.whole && other.whole;
  return all;
}

/// Members of a family may share a parameter by its name, each with a range of its own. Type and default must be the
/// same: a member must not change what another one does.
void add_shared(Table& table, Parameter parameter) {
  const auto known = std::ranges::find(table, parameter.name, &Parameter::name);
  if (known == table.end()) {
    table.push_back(std::move(parameter));
    return;
  }
  if (known->type != parameter.type || known->default_value != parameter.default_value ||
      known->implied != parameter.implied || known->required != parameter.required) {
    throw std::logic_error(fmt::format("{}: {} and {} differ in its type or default - name one of the two otherwise",
                                       parameter.name, known->members.front().member,
                                       parameter.members.front().member));
  }
  known->used = [one = std::move(known->used), other = std::move(parameter.used)](const Usage& usage) {
    return one(usage) || other(usage);
  };
  known->range = union_of(known->range, parameter.range);
  known->assign = [one = std::move(known->assign), other = std::move(parameter.assign)](Scenario& to,
                                                                                        const Value& value) {
    one(to, value);
    other(to, value);
  };
  known->members.insert(known->members.end(), parameter.members.begin(), parameter.members.end());
}

/// A parameter of a member; `where` says where the family is looked at.
template <class Family>
void add_parameter(Table& table, std::string_view family, std::string_view member,
                   const MemberParameter<Family>& parameter, Used where) {
  add_shared(table, {.name = std::string(parameter.name),
                     .type = parameter.type,
                     .range = parameter.range,
                     .default_value = parameter.default_value(),
                     .summary = std::string(parameter.summary),
                     .used = [where, family,
                              member](const Usage& usage) { return where(usage) && usage.takes(family, member); },
                     .assign =
                         [set = parameter.set](Scenario& to, const Value& value) {
                           if (auto* place = part<Family>(to)) set(*place, value);
                         },
                     .required = parameter.given == Given::always,
                     .implied = parameter.given == Given::implied,
                     .members = {{family, member, parameter.range}}});
}
template <class Entry>
void add_member(Table& table, std::string_view family, const Entry& entry, Used where) {
  for (const auto& parameter : entry.parameters) add_parameter(table, family, entry.name, parameter, where);
}

void add_cost(Table& table, const Member<Cost>& cost) {
  for (const MemberParameter<Cost>& parameter : cost.parameters) {
    const Used where = parameter.paid == Paid::each_iteration    ? not_in_server
                       : parameter.paid == Paid::once_a_sequence ? with_sequences
                                                                 : always;
    add_parameter(table, "cost", cost.name, parameter, where);
  }
}

/// The order of the table is the order of columns in results.
Table all_parameters() {
  Table table;
  add(table, question);
  add_choice(table, "drafter", drafters(), name_of(Drafter(AutoregressiveDrafter{})),
             "where drafts come from and what they cost; foredraft list drafters", always);
  const std::span<const Member<Cost>> all_costs = costs();
  add_cost(table, all_costs.front());
  add(table, operations_ratio);
  add_choice(table, "cost", costs(), all_costs.front().name,
             "what an iteration takes; of a server roofline or measured, in place of steps; foredraft list costs",
             always)
      .implied = true;
  for (const Member<Cost>& cost : all_costs.subspan(1)) add_cost(table, cost);
  add(table, baseline);
  add_choice(table, "process", processes(), name_of(AcceptanceProcess(Iid{})),
             "acceptance process; foredraft list processes", with_process);
  add(table, alpha);
  for (const Member<AcceptanceProcess>& process : processes()) {
    const bool has_moments =
        std::holds_alternative<BetaMixture>(process.value) || std::holds_alternative<Markov>(process.value);
    add_member(table, "process", process, has_moments ? not_by_moments : with_process);
  }
  add(table, sequences);
  // In process fidelity a drafter's parameters say how often its drafts are accepted; those of a drafter of token
  // fidelity alone say how it drafts. Lists come last.
  for (const bool lists : {false, true}) {
    for (const DrafterMember& drafter : drafters()) {
      for (const MemberParameter<Drafter>& parameter : drafter.parameters) {
        if ((parameter.type == ValueType::reals) != lists) continue;
        add_parameter(table, "drafter", drafter.name, parameter, drafter.process ? in_process : in_token);
      }
    }
  }
  Parameter& policy = add_choice(table, "policy", policies(), name_of(Policy(ConstantGamma{})),
                                 "how long drafts are, gamma at most; foredraft list policies", in_process);
  policy.implied = true;
  for (const PolicyMember& member : policies()) {
    if (!member.alias.empty()) policy.aliases.emplace(member.alias, member.name);
  }
  // policy.start came first.
  for (const bool sees_confidence : {false, true}) {
    for (auto member = policies().rbegin(); member != policies().rend(); ++member) {
      if (token_concentration(member->value).has_value() == sees_confidence) {
        add_member(table, "policy", *member, in_process);
      }
    }
  }
  add_choice(table, "rule", rules(), name_of(Rule(RejectionSampling{})), "verification rule; foredraft list rules",
             in_token);
  // k_seq shares its parameter with multi_candidate, whose place in results it must not change.
  for (const bool shares : {false, true}) {
    for (const RuleMember& rule : rules()) {
      if (std::holds_alternative<KSeq>(rule.value) == shares) add_member(table, "rule", rule, in_token);
    }
  }
  add(table, sampling);
  add(table, models);
  add(table, server_rows);
  return table;
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = all_parameters();
  return table;
}

}  // namespace foredraft::scenario
