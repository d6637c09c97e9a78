// SPDX-License-Identifier: Apache-2.0
// Devices, models, times of passes, and trees.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "foredraft/tree.hpp"
#include "python/bind.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

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

nb::dict speedups_of(const Profile& profile, const Question& question, const std::string& target,
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
  module.def("shipped_models", shipped_models);
  module.def("list_document", list_document);
  module.def("page_text", page_text);
  module.def("device_document", device_document);
  module.def("model_document", model_document);
}

}  // namespace foredraft::python
