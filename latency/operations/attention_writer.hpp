// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "latency/models/model_shape.hpp"
#include "latency/operations/operator_writer.hpp"
#include "latency/operations/step_writer.hpp"

namespace foredraft::latency {

/// Writes the attention of all layers: projections, cache and attention itself, full, in a window, sparse, latent,
/// linear and to an encoder's output.
class AttentionWriter : protected OperatorWriter {
 protected:
  AttentionWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point);

  /// Key-value heads on one device.
  [[nodiscard]] double kv_heads(std::int64_t heads) const;

  /// Writes projections, cache and attention of the layers with or without a window.
  void write_attention(bool windowed);
  void write_latent_attention();
  void write_linear_attention();
  void write_cross_attention();

  /// The layers of a block head project keys and values of the hidden states with their own weights, as separate
  /// operators.
  void write_context_attention();

  const ModelShape& shape_;
  StepPoint point_;
  double devices_, d_model_;
  double attention_layers_, cross_layers_;
  double cache_bytes_;  ///< per cached value
  bool causal_ = true;  ///< false: tokens of a pass see each other

 private:
  /// Values per query and per cache entry on one device.
  struct Attending {
    double heads, key_dim, value_dim;
    double cached;  ///< per cache entry
  };

  void write_attention_output(double layers, double heads, double value_dim);

  /// Writes attention of the layers without a window: full or sparse.
  void write_attends(double layers, const Attending& attending);

  /// Queries of a sequence choose entries independently; together they read at most the sum of these.
  void write_sparse_attend(const SparseAttention& sparse, const Attending& attending);

  /// Writes attention to all earlier tokens, or to the last `window` of them; 0: no window.
  void write_attend(std::string_view name, double layers, std::int64_t window, const Attending& attending);

  /// Writes attention that reads `read` cache entries per sequence; `seen`: entries seen, summed over queries.
  void write_attend_to(std::string_view name, double layers, double read, double seen, const Attending& attending);

  double heads_;  ///< on one device
};

}  // namespace foredraft::latency
