// SPDX-License-Identifier: Apache-2.0
// Devices, models, times of passes, and trees.
#include <nanobind/nanobind.h>

#include <fmt/format.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "app/commands/commands.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "foredraft/tree.hpp"
#include "inputs/devices.hpp"
#include "inputs/read_model.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "python/bind.hpp"
#include "scenario/methods.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

using Json = nlohmann::ordered_json;

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
      fmt::format("foredraft: {}: unknown format \"{}\" - {}", key, stated, inputs::format_suggestion(stated)));
}

std::string device_document(const std::string& name) {
  const inputs::ReadProfile read = inputs::read_device(name);
  return Json{{"name", read.profile.device.name},
              {"sha256", read.digest.sha256},
              {"figures", figure_json(latency::sheet_figures(read.profile))}}
      .dump();
}

/// A model's shape and what its forward passes read. Empty formats: those of its config, else fp16.
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

Drafting tree_drafting(const std::string& drafter) {
  if (const auto drafting = parse_drafting(drafter)) return *drafting;
  const std::vector<std::string> known{"autoregressive", "block"};
  throw InputError(fmt::format("foredraft: drafter: unknown drafter \"{}\" - {}", drafter,
                               scenario::method_or_suggestion(drafter, known)));
}

nb::dict judged_tree(const JudgedTree& judged) {
  std::vector<TreePath> paths;
  for (std::int64_t node = 1; node < judged.tree.size(); ++node) paths.push_back(judged.tree.path(node));
  nb::dict json;
  json["paths"] = nb::cast(paths);
  json["nodes"] = judged.tree.size();
  json["depth"] = judged.tree.depth();
  json["tokens"] = judged.tokens;
  json["variance"] = judged.variance;
  json["iteration_cost"] = nb::cast(judged.iteration_cost);
  json["speedup"] = nb::cast(judged.speedup);
  return json;
}

/// Width, spread, temperature of confidences, iterations and seed of a tree that grows.
using Growth = std::tuple<std::int64_t, double, double, std::uint64_t, std::uint64_t>;

nb::dict dynamic_tree(const DynamicTree& dynamic) {
  nb::dict json;
  json["depth"] = dynamic.depth;
  json["tokens"] = dynamic.tokens;
  json["variance"] = dynamic.variance;
  json["exact"] = nb::cast(dynamic.exact);
  json["bound"] = dynamic.bound;
  json["static_tree"] = judged_tree(dynamic.static_tree);
  json["iteration_cost"] = nb::cast(dynamic.iteration_cost);
  json["speedup"] = nb::cast(dynamic.speedup);
  return json;
}

nb::dict find_tree(const std::vector<std::vector<double>>& accuracies, std::int64_t nodes, std::int64_t depth,
                   const std::optional<std::vector<TreePath>>& given,
                   const std::optional<std::vector<double>>& verification, double c, const std::string& drafter,
                   const std::optional<Growth>& growth) {
  TreeQuestion question{.accuracies = accuracies, .nodes = nodes, .depth = depth};
  if (growth) {
    const auto& [width, spread, temperature, iterations, seed] = *growth;
    question.growth = TreeGrowth{
        .width = width, .spread = spread, .temperature = temperature, .iterations = iterations, .seed = seed};
  }
  if (given) question.given = tree_from_paths(*given);
  if (verification) {
    question.price = TreePrice{.verification = *verification, .c = c, .drafting = tree_drafting(drafter)};
  }
  const TreeAnswer answer = [&] {
    const nb::gil_scoped_release release;
    return best_tree(question);
  }();
  nb::dict json;
  json["chosen"] = judged_tree(answer.chosen);
  if (answer.best) json["best"] = judged_tree(*answer.best);
  json["dense"] = judged_tree(answer.dense);
  json["dense_widths"] = nb::cast(answer.dense_widths);
  json["chain"] = judged_tree(answer.chain);
  json["pmf"] = nb::cast(answer.pmf);
  json["probabilities"] = nb::cast(answer.probabilities);
  json["notes"] = nb::cast(answer.notes);
  if (answer.dynamic) json["dynamic"] = dynamic_tree(*answer.dynamic);
  return json;
}

nb::object pass_time(const ForwardPassTime& time) {
  nb::dict json;
  json["time_us"] = time.time_us;
  json["spread"] = nb::cast(time.spread);
  json["origin"] = std::string(to_string(time.origin));
  json["inside"] = time.inside;
  return json;
}

nb::dict speedups_of(const Profile& profile, const CheckedQuestion& question, const std::string& target,
                     const std::string& draft, std::int64_t batch, std::int64_t context, std::int64_t max_gamma,
                     double overhead_us) {
  const Scenario& scenario = question.scenario();
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) throw InputError("foredraft: fidelity: must be process");
  const SpeedupTable table = [&] {
    const nb::gil_scoped_release release;
    return profile.speedups({.target = target,
                             .draft = draft,
                             .drafter = scenario.drafter,
                             .acceptance = process->acceptance,
                             .convention = scenario.convention,
                             .batch = batch,
                             .context = context,
                             .max_gamma = max_gamma,
                             .overhead_us = overhead_us});
  }();
  nb::list lengths;
  for (const SpeedupAtGamma& at : table.lengths) {
    nb::dict length;
    length["gamma"] = at.gamma;
    length["tokens_per_iteration"] = at.tokens_per_iteration;
    length["drafting_us"] = at.drafting.time_us;
    length["verify_us"] = at.verify.time_us;
    length["sampling_us"] = at.sampling ? nb::cast(at.sampling->time_us) : nb::none();
    length["speedup"] = at.speedup;
    length["spread"] = nb::cast(at.spread);
    lengths.append(length);
  }
  nb::dict json;
  json["plain"] = pass_time(table.plain);
  json["lengths"] = lengths;
  json["best_gamma"] = table.best_gamma;
  return json;
}

}  // namespace

void bind_devices(nb::module_& module) {
  module.def("find_tree", find_tree, nb::arg("accuracies"), nb::arg("nodes"), nb::arg("depth"), nb::arg("given").none(),
             nb::arg("verification").none(), nb::arg("c"), nb::arg("drafter"), nb::arg("growth").none());
  nb::class_<Profile>(module, "ReadProfile")
      .def_static("read", &Profile::read)
      .def_static("read_steps", &Profile::read_steps)
      .def_prop_ro("device", [](const Profile& profile) { return std::string(profile.device()); })
      .def_prop_ro("source", [](const Profile& profile) { return std::string(to_string(profile.source())); })
      .def_prop_ro("sha256", [](const Profile& profile) { return std::string(profile.sha256()); })
      .def_prop_ro("valid", &Profile::valid)
      .def("speedups", speedups_of);
  module.def("shipped_devices", shipped_devices);
  module.def("shipped_models", [] { return texts_of(latency::model_registry(), &latency::ModelShape::name); });
  module.def("list_document",
             [](const std::string& name) { return experiments::document_text(app::list_document(name)); });
  module.def("page_text", [] { return std::string(app::page_text()); });
  module.def("device_document", device_document);
  module.def("model_document", model_document);
}

}  // namespace foredraft::python
