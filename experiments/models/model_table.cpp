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

/// In millions, with the rounding of the source where it rounds.
std::string published_text(const latency::ModelShape& shape) {
  if (!shape.published_parameters) return "";
  const double millions = *shape.published_parameters / 1e6;
  if (shape.published_rounding == 0.0) return fmt::format("{:.1f}", millions);
  return fmt::format("{} +- {}", millions, shape.published_rounding / 1e6);
}

}  // namespace

Table model_table() {
  Table table;
  table.columns = {{"model", Table::Align::left},          {"what", Table::Align::left},
                   {"layers", Table::Align::right},        {"d_model", Table::Align::right},
                   {"heads/kv", Table::Align::right},      {"d_ff", Table::Align::right},
                   {"vocabulary", Table::Align::right},    {"parameters (M)", Table::Align::right},
                   {"published (M)", Table::Align::right}, {"fp16 step weights (MB)", Table::Align::right}};
  for (const latency::ModelShape& shape : latency::model_registry()) {
    table.rows.push_back({shape.name, shape.summary, layers_text(shape), fmt::format("{}", shape.d_model),
                          heads_text(shape), fmt::format("{}", shape.d_ff), fmt::format("{}", shape.vocabulary),
                          fmt::format("{:.1f}", latency::parameters(shape) / 1e6), published_text(shape),
                          fmt::format("{:.1f}", latency::step_weight_bytes(shape, latency::DataType::fp16) / 1e6)});
  }
  return table;
}

}  // namespace foredraft::experiments
