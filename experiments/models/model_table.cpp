// SPDX-License-Identifier: Apache-2.0
#include "experiments/models/model_table.hpp"

#include <fmt/format.h>

#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"

namespace foredraft::experiments {
namespace {

std::string layers_text(const latency::ModelShape& shape) {
  return shape.encoder_layers > 0 ? fmt::format("{}+{}", shape.encoder_layers, shape.layers)
                                  : fmt::format("{}", shape.layers);
}

std::string heads_text(const latency::ModelShape& shape) {
  return shape.heads == shape.kv_heads ? fmt::format("{}", shape.heads)
                                       : fmt::format("{}/{}", shape.heads, shape.kv_heads);
}

std::string experts_text(const latency::ModelShape& shape) {
  if (shape.experts.count == 0) return "";
  return fmt::format("{}/{}", shape.experts.per_token, shape.experts.count);
}

/// In millions.
std::string published_text(const latency::ModelShape& shape) {
  if (!shape.published_parameters) return "";
  const double millions = *shape.published_parameters / 1e6;
  return shape.published_rounding == 0.0 ? fmt::format("{:.1f}", millions) : fmt::format("{}", millions);
}

std::string rounding_text(const latency::ModelShape& shape) {
  if (!shape.published_parameters || shape.published_rounding == 0.0) return "";
  return fmt::format("{}", shape.published_rounding / 1e6);
}

}  // namespace

Table model_table() {
  Table table;
  table.columns = {
      {"model", Table::Align::left},     {"layers", Table::Align::right},    {"d_model", Table::Align::right},
      {"heads/kv", Table::Align::right}, {"experts", Table::Align::right},   {"tokens", Table::Align::right},
      {"params M", Table::Align::right}, {"published", Table::Align::right}, {"step GB", Table::Align::right}};
  for (const latency::ModelShape& shape : latency::model_registry()) {
    table.rows.push_back({shape.name, layers_text(shape), fmt::format("{}", shape.d_model), heads_text(shape),
                          experts_text(shape), fmt::format("{}", shape.vocabulary),
                          fmt::format("{:.1f}", latency::parameters(shape) / 1e6), published_text(shape),
                          fmt::format("{:.3f}", latency::step_weight_bytes(shape, latency::DataType::fp16) / 1e9)});
  }
  return table;
}

Table model_source_table() {
  Table table;
  table.columns = {{"model", Table::Align::left},
                   {"what", Table::Align::left},
                   {"published to +- M", Table::Align::right},
                   {"source", Table::Align::left}};
  for (const latency::ModelShape& shape : latency::model_registry()) {
    table.rows.push_back({shape.name, shape.summary, rounding_text(shape), shape.source});
  }
  return table;
}

}  // namespace foredraft::experiments
