// SPDX-License-Identifier: Apache-2.0
#include "latency/models/model_registry.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/model_text.hpp"

namespace foredraft::latency {
namespace {

bool before(const ModelShape& a, const ModelShape& b) { return a.name < b.name; }

std::vector<ModelShape> shipped_models() {
  std::vector<ModelShape> models;
  for (const ModelText& file : model_texts()) {
    std::vector<ModelShape> family = parse_models(file.text, fmt::format("latency/models/{}.toml", file.name));
    std::move(family.begin(), family.end(), std::back_inserter(models));
  }
  std::sort(models.begin(), models.end(), before);
  return models;
}

}  // namespace

const std::vector<ModelShape>& model_registry() {
  static const std::vector<ModelShape> models = shipped_models();
  return models;
}

const ModelShape& find_model(const std::vector<ModelShape>& models, std::string_view name) {
  std::vector<std::string> known;
  for (const ModelShape& model : models) {
    if (model.name == name) return model;
    known.push_back(model.name);
  }
  throw DomainError(fmt::format("unknown model \"{}\" - {}", name, suggestion_for(name, known)));
}

}  // namespace foredraft::latency
