// SPDX-License-Identifier: Apache-2.0
#include "python/internal.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "answers/methods.hpp"
#include "app/commands/commands.hpp"
#include "app/texts/texts.hpp"
#include "core/digest.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "foredraft/methods.hpp"
#include "inputs/devices.hpp"
#include "inputs/inputs.hpp"
#include "inputs/methods_file.hpp"
#include "inputs/read_model.hpp"
#include "inputs/table_reader.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "scenario/check.hpp"
#include "scenario/methods.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::python {

using Json = nlohmann::ordered_json;

/// A wrapper, so that users of this header see no internal type.
struct NumberParameter {
  const scenario::Parameter* parameter;
};

namespace {

constexpr std::string_view messages_from = "foredraft";

std::string_view word_of(scenario::ValueType type) {
  switch (type) {
    case scenario::ValueType::real:
      return "real";
    case scenario::ValueType::integer:
      return "integer";
    case scenario::ValueType::choice:
      return "choice";
    case scenario::ValueType::text:
      return "text";
    case scenario::ValueType::reals:
      return "reals";
    case scenario::ValueType::texts:
      return "texts";
    case scenario::ValueType::schedule:
      return "schedule";
  }
  throw std::logic_error("unknown value type");
}

bool takes_number(const scenario::Parameter& parameter) {
  return parameter.type == scenario::ValueType::real || parameter.type == scenario::ValueType::integer;
}

bool whole(double number) { return std::abs(number) <= 0x1p53 && number == std::trunc(number); }

/// The value of a parameter for a legal number.
Value value_of(const scenario::Parameter& parameter, double number) {
  if (parameter.type == scenario::ValueType::integer) return static_cast<std::int64_t>(number);
  return number == 0.0 ? 0.0 : number;  // -0.0 is 0
}

Json figure_json(const std::vector<latency::SheetFigure>& figures) {
  Json json = Json::object();
  for (const latency::SheetFigure& figure : figures) json[std::string(figure.key)] = figure.value;
  return json;
}

template <typename Format>
Format format_of(const std::string& stated, const std::optional<Format>& own, Format otherwise, std::string_view key) {
  if (stated.empty()) return own.value_or(otherwise);
  if (const auto format = latency::format_named<Format>(stated)) return *format;
  throw InputError(
      fmt::format("{}: {}: unknown format \"{}\" - {}", messages_from, key, stated, inputs::format_suggestion(stated)));
}

experiments::SweepConfig config_of(const std::string& json, const std::string& source) {
  return experiments::read_sweep_config(inputs::parse_json_document(json, source), source);
}

/// What resolved_config() reads again. A string of JSON, so that a worker of an executor can be sent it.
std::string resolved(const experiments::SweepConfig& config) {
  Json json = experiments::to_json(config);
  Json figures = experiments::figures_json(config);
  if (!figures.empty()) json["figure"] = std::move(figures);
  return Json{{"config", json.dump()}, {"folder", config.folder}}.dump();
}

experiments::SweepConfig resolved_config(const std::string& document) {
  const Json json = Json::parse(document);
  experiments::SweepConfig config = config_of(json.at("config").get<std::string>(), std::string(messages_from));
  config.folder = json.at("folder").get<std::string>();
  return config;
}

}  // namespace

std::vector<ParameterFacts> parameter_facts() {
  std::vector<ParameterFacts> facts;
  for (const scenario::Parameter& parameter : scenario::parameters()) {
    facts.push_back({parameter.name, std::string(word_of(parameter.type)), parameter.summary});
  }
  return facts;
}

const std::vector<QuantityFacts>& quantity_facts() {
  static const std::vector<QuantityFacts> facts = [] {
    std::vector<QuantityFacts> all;
    for (const scenario::Metric& metric : scenario::metrics()) {
      all.push_back({metric.name, metric.unit, metric.meaning, metric.closed_form, metric.estimate});
    }
    return all;
  }();
  return facts;
}

std::vector<std::tuple<std::string, std::string, std::string>> figure_labels() {
  std::vector<std::tuple<std::string, std::string, std::string>> labels;
  for (const scenario::Metric& metric : scenario::metrics()) {
    labels.emplace_back(metric.name, metric.label, metric.unit);
  }
  for (const scenario::Parameter& parameter : scenario::parameters()) {
    labels.emplace_back(parameter.name, scenario::axis_label(parameter), "");
  }
  return labels;
}

Question::Question(std::vector<Input> inputs, Replacement replacement) : inputs_(std::move(inputs)) {
  ProblemList problems{std::string(messages_from)};
  scenario_ = scenario::scenario_of(inputs_, problems);
  problems.raise();
  if (auto* recording = std::get_if<std::shared_ptr<const Recording>>(&replacement)) {
    std::get<Trace>(std::get<ProcessFidelity>(scenario_.fidelity).acceptance).recording = std::move(*recording);
    return;
  }
  if (auto* given = std::get_if<std::shared_ptr<const GivenDistributions>>(&replacement)) {
    std::get<TokenFidelity>(scenario_.fidelity).models = GivenModels{std::move(*given)};
    scenario::check_scenario(scenario_);
    return;
  }
  for (const Input& input : inputs_) {
    const auto type = scenario::find_parameter(input.parameter)->type;
    names_files_ = names_files_ || type == scenario::ValueType::text || type == scenario::ValueType::texts;
  }
  try {
    inputs::Inputs().attach(scenario_);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

const NumberParameter* find_number(std::string_view name) {
  static const std::vector<NumberParameter> numbers = [] {
    std::vector<NumberParameter> all;
    for (const scenario::Parameter& parameter : scenario::parameters()) {
      if (takes_number(parameter)) all.push_back({&parameter});
    }
    return all;
  }();
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const NumberParameter& number) { return number.parameter->name == name; });
  return found == numbers.end() ? nullptr : &*found;
}

bool is_integer(const NumberParameter& parameter) { return parameter.parameter->type == scenario::ValueType::integer; }

bool is_legal(const NumberParameter& parameter, double number) {
  return scenario::contains(parameter.parameter->range, number) && (!is_integer(parameter) || whole(number));
}

void assign(const NumberParameter& parameter, double number, Scenario& scenario) {
  parameter.parameter->assign(scenario, value_of(*parameter.parameter, number));
}

std::string config_of_file(const std::string& path) { return resolved(experiments::load_sweep_config(path)); }

std::string config_of_document(const std::string& json, const std::string& source) {
  return resolved(config_of(json, source));
}

std::uint64_t config_points(const std::string& resolved) { return experiments::point_count(resolved_config(resolved)); }

bool holds_whole_sweep(const std::string& resolved, const std::string& folder) {
  const experiments::SweepConfig config = resolved_config(resolved);
  inputs::Inputs inputs(config.folder);
  experiments::read_inputs(experiments::sweep_of(config), inputs);
  if (!std::filesystem::exists(folder)) return false;
  const WriteLock lock = WriteLock::of_folder(folder);
  const auto before =
      experiments::claim_folder(folder, experiments::new_manifest(config, std::nullopt, inputs.files(), {}, 1));
  return before && before->state == "complete";
}

SweepResult run_config(const std::string& resolved, const std::string& folder, const SweepOptions& options) {
  return experiments::run_sweep(resolved_config(resolved), folder, options).result;
}

std::string device_document(const std::string& name) {
  const inputs::ReadProfile read = inputs::read_device(name);
  return Json{{"name", read.profile.device.name},
              {"sha256", read.digest.sha256},
              {"figures", figure_json(latency::sheet_figures(read.profile))}}
      .dump();
}

std::string model_document(const std::string& name, const std::string& format, const std::string& kv_format,
                           std::int64_t tensor_parallel) {
  const inputs::ReadModel read = inputs::read_model(name);
  const auto weights = format_of<latency::WeightFormats>(format, read.weights, latency::NumberFormat::fp16, "format");
  const latency::Deployment deployment{
      .weights = weights,
      .kv_cache = format_of(kv_format, read.kv_cache, latency::default_cache_format(weights.layers()), "kv_format"),
      .tensor_parallel = tensor_parallel};
  const latency::ModelShape& shape = read.shape;
  return Json{{"name", shape.name},
              {"summary", shape.summary},
              {"source", shape.source},
              {"layers", shape.layers},
              {"d_model", shape.d_model},
              {"heads", shape.heads},
              {"kv_heads", shape.kv_heads},
              {"head_dim", shape.head_dim},
              {"d_ff", shape.d_ff},
              {"vocabulary", shape.vocabulary},
              {"parameters", latency::parameters(shape)},
              {"active_parameters", latency::active_parameters(shape)},
              {"format", to_text(deployment.weights)},
              {"kv_format", to_string(deployment.kv_cache)},
              {"tensor_parallel", tensor_parallel},
              {"weight_bytes", latency::weight_bytes(shape, deployment)},
              {"step_bytes", latency::step_bytes(shape, deployment)},
              {"kv_bytes_per_token", latency::kv_bytes_per_token(shape, deployment)},
              {"notes", read.notes}}
      .dump();
}

std::vector<std::string> shipped_models() {
  std::vector<std::string> names;
  for (const latency::ModelShape& shape : latency::model_registry()) names.push_back(shape.name);
  return names;
}

int run_program(const std::vector<std::string>& arguments) {
  open_standard_streams();
  return app::run_program(arguments);
}

Drafting tree_drafting(const std::string& drafter) {
  if (const auto drafting = parse_drafting(drafter)) return *drafting;
  const std::vector<std::string> known{"autoregressive", "block"};
  throw InputError(fmt::format("{}: drafter: unknown drafter \"{}\" - {}", messages_from, drafter,
                               scenario::method_or_suggestion(drafter, known)));
}

AnswerTexts methods_comparison(const std::string& document, const std::vector<double>& verification, unsigned threads,
                               const std::atomic<bool>* stop) {
  std::vector<FileDigest> files;
  MethodsQuestion question = inputs::parse_methods_document(document, std::string(messages_from)).question;
  question.price.verification = verification;
  inputs::train_pairs(question, "", files);
  const MethodsAnswer answer = compare_methods(question, threads, stop);
  return {.json = experiments::document_text(answers::to_json(answer)), .text = app::to_text(answer)};
}

}  // namespace foredraft::python
