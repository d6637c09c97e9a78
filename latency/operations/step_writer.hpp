// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "latency/operations/step_operations.hpp"

namespace foredraft::latency {

inline constexpr double state_bytes = 4.0;  ///< of one element of a state of linear attention, kept in fp32

inline constexpr double id_bytes = 4.0;  ///< of one token id

/// Number of tokens with logits.
[[nodiscard]] std::int64_t drafted_vocabulary(const ModelShape& shape);

/// An operator with the bytes of its weights on one device.
struct WeightedOperator {
  StepOperator step;
  double weights_read = 0.0;    ///< by a pass over these tokens, part of step.bytes; rows of tables do not count
  double weights_stored = 0.0;  ///< in memory: all experts, whole tables
};

/// Writes the operators of a forward pass, the same ones in the same order as the programs of passes.hpp if there is
/// one. Checks nothing.
class StepWriter {
 public:
  StepWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point);

  [[nodiscard]] std::vector<WeightedOperator> write() &&;

 private:
  /// in [rows, inputs] times weight [inputs, outputs], sizes on one device.
  struct Product {
    std::string_view name;
    double count, inputs, outputs;
    bool bias = false;
    bool accumulate = false;  ///< adds to its output, which it reads
  };

  void write_inputs();
  void write_norms();
  /// Layers with the same kind of attention: with a window or without; their key-value heads may differ (Gemma 4).
  struct AttentionLayers {
    std::string_view name;  ///< of the attention operator
    double layers;
    std::int64_t window;        ///< tokens; 0: none
    double kv_heads, head_dim;  ///< on one device
    bool values;                ///< has a value projection; else values are the keys
  };

  void write_attention(const AttentionLayers& group);
  void write_latent_attention();
  void write_attend(std::string_view name, double layers, std::int64_t window, double key_width, double value_width,
                    double cached_values);
  void write_linear_attention();
  void write_feed_forward();
  void write_dense_block(std::string_view up, std::string_view activation, std::string_view down, double layers,
                         double d_ff);
  void write_experts(double layers);
  void write_outputs();

  void product(const Product& product) { product_in(deployment_.weights, product); }
  void product_in(NumberFormat format, const Product& product);
  void norm(std::string_view name, double count, double width, bool add);
  void other(std::string_view name, double count, double bytes, double flop);
  void add(const WeightedOperator& one) {
    if (one.step.count > 0.0) operators_.push_back(one);
  }

  const ModelShape& shape_;
  const Deployment& deployment_;
  const StepPoint& point_;
  double devices_, rows_, d_model_;
  double attention_layers_, feed_forward_layers_;
  double heads_;  ///< on one device
  NumberFormat unquantized_;
  double value_bytes_, weight_bytes_, cache_bytes_;  ///< of one activation, one weight of a matrix, one cached value
  std::vector<WeightedOperator> operators_;
};

}  // namespace foredraft::latency
