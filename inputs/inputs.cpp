// SPDX-License-Identifier: Apache-2.0
#include "inputs/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "answers/load_server.hpp"
#include "core/check.hpp"
#include "core/csv.hpp"
#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/inputs.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/corpus.hpp"
#include "inputs/devices.hpp"
#include "inputs/read_model.hpp"
#include "inputs/requests.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/processes.hpp"
#include "scenario/resolve.hpp"
#include "scenario/server.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::inputs {
namespace {

/// User corpora larger than this are sampled evenly, so that n-gram counts fit into memory.
constexpr std::uint64_t max_corpus_bytes = 256'000'000;

Corpus read_named_corpus(const std::vector<std::string>& names) {
  try {
    if (names == std::vector<std::string>{"prose"}) return default_corpus(DefaultCorpus::prose);
    if (names == std::vector<std::string>{"code"}) return default_corpus(DefaultCorpus::code);
    return read_corpus(std::vector<std::filesystem::path>(names.begin(), names.end()), max_corpus_bytes);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("models.corpus: {}: {}", fmt::join(names, " "), error.what()));
  }
}

/// Key of a roofline's options that affect the times of the same models.
std::string deployment_key(const Roofline& asked) {
  const auto text = [](const auto& stated) { return stated ? fmt::format("{}", *stated) : std::string("-"); };
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", text(asked.assume), text(asked.target_format),
                     text(asked.draft_format), text(asked.kv_format), asked.target_tp, asked.draft_tp, asked.target_pp,
                     text(asked.expert_skew), text(asked.bandwidth_efficiency), text(asked.compute_efficiency),
                     text(asked.step_overhead_us), text(asked.iteration_us), asked.memory_utilization,
                     asked.ignore_memory, asked.allow_vocabulary_mismatch);
}

template <typename Format>
std::optional<Format> read_format(std::string_view key, const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  if (auto format = latency::format_named<Format>(*word)) return format;
  throw DomainError(fmt::format("{}: unknown format \"{}\" - {}", key, *word, format_suggestion(*word)));
}

AskedDeployment asked_deployment(const Roofline* asked) {
  if (asked == nullptr) return {};
  return {.assume = asked->assume.value_or(""),
          .target_format = read_format<latency::WeightFormats>("cost.target_format", asked->target_format),
          .draft_format = read_format<latency::WeightFormats>("cost.draft_format", asked->draft_format),
          .kv_format = read_format<latency::NumberFormat>("cost.kv_format", asked->kv_format),
          .target_tp = asked->target_tp,
          .draft_tp = asked->draft_tp,
          .target_pp = asked->target_pp,
          .expert_skew = asked->expert_skew};
}

latency::TimedPair timed_pair(const DeployedPair& pair, const latency::Profile& profile, const Roofline* asked) {
  latency::TimedPair timed{.target = pair.target,
                           .draft = pair.draft,
                           .models = pair.models,
                           .sheet = {.attainable = latency::attainable_of(profile)},
                           .host = pair.host};
  if (asked == nullptr) return timed;
  if (pair.head_problem) throw DomainError("cost.draft: " + *pair.head_problem);
  if (pair.vocabulary_problem && !asked->allow_vocabulary_mismatch) {
    throw DomainError("cost.draft: " + *pair.vocabulary_problem +
                      " - use a draft of the target's family, or set cost.allow_vocabulary_mismatch = 1");
  }
  const latency::AttainableOverrides known{.bandwidth_efficiency = asked->bandwidth_efficiency,
                                           .compute_efficiency = asked->compute_efficiency,
                                           .step_us = asked->step_overhead_us,
                                           .iteration_us = asked->iteration_us};
  timed.sheet.target = pair.target_deployment;
  timed.sheet.draft = pair.draft_deployment;
  timed.sheet.attainable = latency::with(known, timed.sheet.attainable.value());
  if (!asked->ignore_memory) timed.memory_utilization = asked->memory_utilization;
  return timed;
}

}  // namespace

void Inputs::attach(Scenario& scenario) {
  const TimedModels* pair = nullptr;
  if (auto* roofline = std::get_if<Roofline>(&scenario.cost)) {
    pair = &times(*roofline, roofline, scenario.drafter);
    roofline->times = pair->times;
  } else if (auto* measured = std::get_if<Measured>(&scenario.cost)) {
    pair = &times(*measured, nullptr, scenario.drafter);
    measured->times = pair->times;
  }
  if (auto* server = std::get_if<Server>(&scenario.fidelity)) attach(*server, pair, scenario.cost);
  if (AcceptanceProcess* stated = scenario::acceptance_of(scenario)) {
    if (const auto* observed = std::get_if<Observed>(stated)) {
      *stated = acceptance(*observed, scenario.gamma);
    } else if (auto* trace = std::get_if<Trace>(stated)) {
      trace->recording = recording(*trace, scenario);
    }
  } else if (auto* token = std::get_if<TokenFidelity>(&scenario.fidelity)) {
    if (auto* models = std::get_if<NgramModels>(&token->models)) {
      models->trained = trained(*models, scenario.drafter, scenario.gamma);
    }
  }
}

void Inputs::attach(Server& server, const TimedModels* pair, Cost& cost) {
  const std::lock_guard lock(mutex_);
  if (const std::string& named = server.arrivals.file;
      server.arrivals.kind == ArrivalKind::recorded && !named.empty()) {
    std::shared_ptr<const RequestRecording>& held = requests_[named];
    if (!held) {
      const std::string file = located(named, true);
      ReadRequests read = read_requests(file);
      files_[file] = read.digest;
      held = std::move(read.recording);
    }
    server.recorded = held;
  }
  if (server.engine_name.empty()) return;
  const std::string name = std::exchange(server.engine_name, "");
  auto held = engines_.find(name);
  if (held == engines_.end()) {
    const std::string file = latency::find_engine(name) == nullptr ? located(name) : name;
    held = engines_.emplace(name, read_engine(file)).first;
    if (!held->second.shipped) files_[file] = held->second.digest;
  }
  const latency::Engine& engine = held->second.engine;
  server.engine = latency::terms_of(engine, latency::EngineEnd::central, pair == nullptr ? 0.0 : pair->operators);
  if (engine.graph_tokens > 0 && server.engine.eager_us == 0.0 && engine.eager_operator_us.value > 0.0) {
    notes_.insert(
        fmt::format("engine {}: the number of the target's operators is unknown here; a pass over more than "
                    "{} tokens, which exceeds its graphs, is charged no extra time",
                    name, engine.graph_tokens));
  }
  if (pair == nullptr || engine.step.value == 1.0) return;
  LookedUpTimes& timed = std::holds_alternative<Roofline>(cost) ? static_cast<LookedUpTimes&>(std::get<Roofline>(cost))
                                                                : std::get<Measured>(cost);
  timed.times = answers::times_with_error(pair->times, pair->iteration_us, {.step = engine.step.value});
}

std::string Inputs::located(const std::string& name, bool is_file) {
  if (folder_.empty() || std::filesystem::path(name).is_absolute()) return name;
  std::string beside = (std::filesystem::path(folder_) / name).lexically_normal().string();
  std::error_code unknown;
  if (std::filesystem::is_regular_file(beside, unknown)) return beside;
  if (!is_file) return name;
  if (!std::filesystem::exists(name, unknown)) return beside;
  notes_.insert(
      fmt::format("{}: read from the working directory; there is no {} next to the configuration", name, beside));
  return name;
}

void Inputs::note_extrapolation(const std::string& file, std::int64_t recorded_gamma, std::int64_t gamma) {
  if (recorded_gamma == 0 || gamma <= recorded_gamma) return;
  notes_.insert(fmt::format(
      "{}: recorded at gamma {}; longer drafts are extrapolated: what follows {} accepted drafts is drawn with the "
      "acceptance rate of the whole recording",
      file, recorded_gamma, recorded_gamma));
}

std::shared_ptr<const Recording> Inputs::recording(const Trace& trace, const Scenario& scenario) {
  const std::lock_guard lock(mutex_);
  const std::string file = located(trace.file, true);
  note_extrapolation(file, trace.recorded_gamma, scenario.gamma);
  const std::string key = fmt::format("{}|{}|{}", file, trace.recorded_gamma, to_string(scenario.convention));
  std::shared_ptr<const Recording>& held = recordings_[key];
  if (held) return held;
  std::vector<FileDigest> digests;
  const std::string& text = read_input_once(file, texts_, digests);
  files_[file] = digests.front();
  held = std::make_shared<const Recording>(parse_trace(text, file, trace.recorded_gamma, scenario.convention));
  return held;
}

AcceptanceProcess Inputs::acceptance(const Observed& log, std::int64_t gamma) {
  const std::lock_guard lock(mutex_);
  const std::string file = located(log.file, true);
  auto held = observed_.find(file);
  if (held == observed_.end()) {
    held = observed_.emplace(file, read_observed_acceptance(file)).first;
    files_[file] = held->second.file;
  }
  note_extrapolation(file, held->second.recorded_gamma, gamma);
  return held->second.process;
}

const latency::Profile& Inputs::profile(const std::string& name) {
  if (const auto found = profiles_.find(name); found != profiles_.end()) return found->second;
  ReadProfile read = read_profile(name);
  if (!read.shipped) files_[name] = read.digest;
  return profiles_.emplace(name, std::move(read.profile)).first->second;
}

const Inputs::TimedModels& Inputs::times(const LookedUpTimes& asked, const Roofline* roofline, const Drafter& drafter) {
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("{}|{}|{}|{}|{}", asked.source, asked.target, asked.draft,
                                      scenario::name_of(drafter), roofline == nullptr ? "" : deployment_key(*roofline));
  TimedModels& held = times_[key];
  if (held.times) return held;
  const latency::Profile& read = profile(located(asked.source));
  // Roofline requires a data sheet, Measured a measured profile.
  if ((read.source == latency::Source::datasheet) != (roofline != nullptr)) {
    throw DomainError(fmt::format("{}: a profile of source {} - use cost = \"{}\"", asked.source,
                                  to_string(read.source),
                                  scenario::name_of(roofline != nullptr ? Cost(Measured{}) : Cost(Roofline{}))));
  }
  const DeployedPair pair = read_pair({.target = located(asked.target),
                                       .draft = located(asked.draft),
                                       .heads = std::holds_alternative<Heads>(drafter),
                                       .deployment = asked_deployment(roofline)},
                                      read, &texts_);
  for (const FileDigest& file : pair.files) files_[file.path] = file;
  notes_.insert(pair.notes.begin(), pair.notes.end());
  const latency::TimedPair timed = timed_pair(pair, read, roofline);
  const auto shape = std::ranges::find(timed.models, timed.target, &latency::ModelShape::name);
  if (shape != timed.models.end()) held.operators = latency::operators_of_step(*shape, timed.sheet.target);
  if (timed.sheet.attainable) held.iteration_us = timed.sheet.attainable->iteration_us.value;
  held.times = latency::surface_times(read, asked.source, timed, drafter);
  return held;
}

Inputs::TrainedCorpus& Inputs::corpus(const std::vector<std::string>& names, std::int64_t vocabulary) {
  const std::string key = fmt::format("{}|{}", fmt::join(names, "|"), vocabulary);
  const auto found = corpora_.find(key);
  if (found != corpora_.end()) return found->second;
  const Corpus read = read_named_corpus(texts_of(names, [&](const std::string& name) { return located(name); }));
  for (const FileDigest& file : read.files) files_[file.path] = file;
  TrainedCorpus trained{ngram::Vocabulary::build(read.texts, vocabulary), {}, {}};
  for (const std::string& text : read.texts) trained.documents.push_back(trained.vocabulary.encode(text));
  return corpora_.emplace(key, std::move(trained)).first->second;
}

std::shared_ptr<const ngram::Model> Inputs::model(TrainedCorpus& trained, const ngram::Window& window) {
  std::shared_ptr<const ngram::Model>& held = trained.models[window.distances];
  if (!held) held = ngram::Model::train(trained.documents, trained.vocabulary.size(), window);
  return held;
}

std::shared_ptr<const TrainedModels> Inputs::trained(const NgramModels& models, const Drafter& drafter,
                                                     std::int64_t gamma) {
  const std::lock_guard lock(mutex_);
  TrainedCorpus& text = corpus(models.corpus, models.vocabulary);
  auto result = std::make_shared<TrainedModels>();
  result->target = model(text, ngram::adjacent_window(static_cast<int>(models.target_order)));
  if (std::holds_alternative<PromptLookup>(drafter)) return result;
  const auto order = static_cast<int>(models.draft_order);
  const bool heads = std::holds_alternative<Heads>(drafter);
  if (!heads && !std::holds_alternative<MlpSpeculator>(drafter)) {
    result->drafter = ngram::ngram_drafter(model(text, ngram::adjacent_window(order)));
    return result;
  }
  std::vector<std::shared_ptr<const ngram::Model>> by_position;
  // At least one model is needed, which is unused without drafts.
  for (int position = 1; position <= std::max(1, static_cast<int>(gamma)); ++position) {
    by_position.push_back(
        model(text, heads ? ngram::head_window(order, position) : ngram::stage_window(order, position)));
  }
  result->drafter = heads ? ngram::heads(std::move(by_position)) : ngram::stages(std::move(by_position));
  return result;
}

std::vector<FileDigest> Inputs::files() const {
  const std::lock_guard lock(mutex_);
  std::vector<FileDigest> result;
  for (const auto& [path, file] : files_) result.push_back(file);
  return result;
}

std::set<std::string> Inputs::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

namespace {

struct LongestTexts {
  std::int64_t prompt = 0, output = 0;
};

/// Maximum lengths of a server's requests; for unbounded distributions, a length that few exceed.
LongestTexts longest_texts(const Server& server) {
  const auto longest = [](const TokenCount& count) {
    return static_cast<std::int64_t>(std::ceil(std::max(count.tokens, count.p95))) + count.spread;
  };
  if (server.arrivals.kind != ArrivalKind::recorded) return {longest(server.prompt), longest(server.output)};
  LongestTexts texts;
  for (const RecordedRequest& request : server.recorded->requests) {
    texts.prompt = std::max(texts.prompt, request.prompt_tokens);
    texts.output = std::max(texts.output, request.output_tokens);
  }
  return texts;
}

}  // namespace

void ask_extreme_passes(const Server& server, const Scenario& scenario) {
  const LookedUpTimes* cost = scenario::looked_up(scenario.cost);
  if (cost == nullptr) return;
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const LongestTexts texts = longest_texts(server);
  const double longest = static_cast<double>(texts.prompt + texts.output);
  const double usual_prompt = server.recorded ? 0.0 : server.prompt.tokens;
  const bool chunked = server.engine.prefill == Prefill::chunked;
  const auto ask = [&](std::int64_t gamma, StepShape pass) {
    static_cast<void>(cost->times->target_us(pass, scenario.convention));
    if (draft_passes(gamma, drafting) == 0) return;
    if (pass.chunk > 0) pass = {.batch = 1, .tokens = pass.chunk, .context = pass.chunk_context, .prompt = true};
    if (!pass.prompt) pass.tokens = drafting == Drafting::block ? gamma : 1;
    static_cast<void>(cost->times->drafter_us(pass));
  };
  for (const auto& [from, to, gamma] : scenario::gamma_of_batches(server, scenario.gamma)) {
    const std::int64_t verified = max_tokens(gamma, scenario.convention);
    const std::int64_t held = std::max<std::int64_t>(1, verified);
    cost->times->check_memory({.batch = std::min(to, server.max_batch), .tokens = held, .context = longest});
    for (const std::int64_t batch : {from, std::min(to, server.max_batch)}) {
      for (const double context : {usual_prompt, longest}) {
        ask(gamma, {.batch = batch, .tokens = verified, .context = context});
      }
      if (texts.prompt == 0) continue;
      if (!chunked) ask(gamma, {.batch = batch, .tokens = texts.prompt, .context = 0.0, .prompt = true});
      const std::int64_t room = server.engine.pass_tokens - batch * verified;
      if (!chunked || room <= 0) continue;
      ask(gamma, {.batch = batch, .tokens = verified, .context = longest, .chunk = std::min(room, texts.prompt)});
    }
  }
}

// ---- Recorded acceptance.

namespace {

enum class Shape { outcomes, accepted };

/// Collects the numbers of sequences and converts them to outcomes.
class TraceBuilder {
 public:
  TraceBuilder(std::string file, std::int64_t recorded_gamma, Convention convention)
      : problems_(std::move(file)), recorded_gamma_(recorded_gamma), convention_(convention) {}

  void reject(Problem problem) { problems_.add(std::move(problem)); }

  /// Adds a number; nullopt if it does not fit into 64 bits. `text()`: as written.
  void add(std::int64_t line, Shape shape, const std::optional<std::int64_t>& number, auto&& text) {
    if (shape == Shape::accepted && recorded_gamma_ == 0) {
      if (!gamma_missed_) {
        reject({line, "", "accepted counts without process.recorded_gamma",
                "a count equal to gamma means that no draft was rejected",
                "add \"process.recorded_gamma\" to [fixed]"});
      }
      gamma_missed_ = true;
      return;
    }
    const std::int64_t low = shape == Shape::outcomes ? -1 : 0;
    const std::int64_t high = shape == Shape::outcomes ? 1 : recorded_gamma_;
    if (!number || *number < low || *number > high) {
      reject({line, "", fmt::format("invalid {}={}", shape == Shape::outcomes ? "outcome" : "accepted", text()),
              fmt::format("must lie in {} to {}", low, high)});
      return;
    }
    numbers_.push_back(*number);
  }

  void end_sequence(Shape shape) {
    if (numbers_.empty()) return;
    if (shape == Shape::outcomes) {
      trace_.sequences.emplace_back(numbers_.begin(), numbers_.end());
    } else {
      trace_.sequences.push_back(sim::trace_from_accepted_counts(numbers_, recorded_gamma_, convention_));
    }
    numbers_.clear();
  }

  Recording finish() {
    if (trace_.sequences.empty() && problems_.empty())
      reject({1, "", "holds no outcome", "a trace must have at least one"});
    problems_.raise();
    return std::move(trace_);
  }

 private:
  FirstProblems problems_;
  std::int64_t recorded_gamma_;
  Convention convention_;
  std::vector<std::int64_t> numbers_;
  Recording trace_;
  bool gamma_missed_ = false;
};

void read_json_line(std::string_view line, std::int64_t number, TraceBuilder& builder) {
  ProblemList broken("");
  const auto json = parse_json(line, broken, number);
  if (!broken.empty()) return builder.reject(broken.problems().front());
  const bool outcomes = json.is_object() && json.contains("outcomes");
  if (!outcomes && !(json.is_object() && json.contains("accepted"))) {
    return builder.reject({number, "", "no trace", R"(each line must be {"outcomes": [...]} or {"accepted": [...]})"});
  }
  const Shape shape = outcomes ? Shape::outcomes : Shape::accepted;
  const auto& values = json[outcomes ? "outcomes" : "accepted"];
  if (!values.is_array() || !std::ranges::all_of(values, [](const auto& value) { return value.is_number_integer(); })) {
    return builder.reject({number, "", "wrong type", "must be a list of whole numbers"});
  }
  for (const auto& value : values)
    builder.add(number, shape, whole_number<std::int64_t>(value), [&] { return value.dump(); });
  builder.end_sequence(shape);
}

}  // namespace

Recording parse_trace(std::string_view text, const std::string& file, std::int64_t recorded_gamma,
                      Convention convention) {
  TraceBuilder builder(file, recorded_gamma, convention);
  ProblemList limits(file);
  if (!check_line_limits(text, limits)) limits.raise();
  std::optional<Shape> csv;
  std::string sequence;
  TextLines lines(text);
  while (lines.next()) {
    const std::string_view line = lines.line();
    const std::int64_t number = lines.number();
    if (!csv && line.front() == '{') {
      read_json_line(line, number, builder);
      continue;
    }
    if (!csv) {
      if (line == "sequence,outcome") csv = Shape::outcomes;
      if (line == "sequence,accepted") csv = Shape::accepted;
      if (!csv) {
        builder.reject({number, "", "no trace", "must begin with sequence,outcome or sequence,accepted, or be JSONL"});
        break;
      }
      continue;
    }
    const auto cells = split_csv_line(line);
    const auto value = cells && cells->size() == 2 ? parse_integer((*cells)[1]) : std::nullopt;
    if (!value) {
      builder.reject({number, "", "damaged row", "must be a name and a whole number"});
      continue;
    }
    if ((*cells)[0] != sequence) builder.end_sequence(*csv);
    sequence = (*cells)[0];
    builder.add(number, *csv, value, [&] { return (*cells)[1]; });
  }
  if (csv) builder.end_sequence(*csv);
  return builder.finish();
}

}  // namespace foredraft::inputs

namespace foredraft {

void read_inputs(Scenario& scenario) {
  scenario::check_scenario(scenario);
  inputs::Inputs().attach(scenario);
}

Scenario Scenario::from(const std::vector<Input>& inputs) {
  ProblemList problems("Scenario::from");
  Scenario scenario = scenario::scenario_of(inputs, problems);
  problems.raise();
  try {
    inputs::Inputs().attach(scenario);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
  return scenario;
}

}  // namespace foredraft
