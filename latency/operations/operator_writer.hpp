// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/operations/step_writer.hpp"

namespace foredraft::latency {

/// Writes single operators: their bytes, flop and weights over all rows of a pass.
class OperatorWriter {
 protected:
  OperatorWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point)
      : norm_(shape.norm),
        formats_(deployment.weights),
        batch_(as_double(point.batch)),
        rows_(batch_ * as_double(point.tokens)),
        unquantized_(formats_.unquantized()),
        value_bytes_(bits_of(unquantized_) / 8.0) {
    operators_.reserve(max_operators);
  }

  /// in [rows, inputs] times weight [inputs, outputs]; sizes on one device.
  struct Product {
    ModelPart part;
    std::string_view name;
    double count, inputs, outputs;
    bool bias = false;
    bool accumulate = false;  ///< adds to its output, which it reads
  };

  /// Runs `write` for the operators over `tokens` tokens of each sequence; 0: those of the pass.
  template <typename Write>
  void over(std::int64_t tokens, const Write& write) {
    const double all = rows_;
    if (tokens > 0) rows_ = batch_ * as_double(tokens);
    write();
    rows_ = all;
  }

  [[nodiscard]] static Weights weights_of(const WeightFormat& format, double parameters) {
    return {parameters, parameters * format.bits / 8.0};
  }
  [[nodiscard]] Weights weights_of(ModelPart part, double parameters) const {
    return weights_of(formats_.of(part), parameters);
  }
  [[nodiscard]] Weights plain_weights(double parameters) const { return {parameters, parameters * value_bytes_}; }
  [[nodiscard]] NumberFormat compute_of(ModelPart part) const { return compute_format(formats_.of(part).format); }
  /// StepOperator::vector_flop of a product with `flop` over all rows.
  [[nodiscard]] double vector_flop(const WeightFormat& format, double flop) const {
    return is_gguf(format.format) ? flop * std::min(1.0, as_double(max_vector_tokens) / rows_) : 0.0;
  }
  [[nodiscard]] double vector_flop(ModelPart part, double flop) const { return vector_flop(formats_.of(part), flop); }

  void product_in(const WeightFormat& format, const Product& product) {
    const double bias = product.bias ? 1.0 : 0.0;
    Weights weights = weights_of(format, product.inputs * product.outputs);
    weights += plain_weights(bias * product.outputs);
    const double moved = rows_ * (product.inputs + (product.accumulate ? 2.0 : 1.0) * product.outputs) * value_bytes_;
    const double flop = rows_ * product.outputs * (2.0 * product.inputs + bias);
    add({{product.name, OperatorKind::product, compute_format(format.format), product.count, weights.bytes + moved,
          flop, product.inputs, vector_flop(format, flop)},
         weights,
         weights});
  }

  void product(const Product& product) { product_in(formats_.of(product.part), product); }

  /// Adds a product of all rows with `parameters` weights. `moved`: activations read and written; `inputs`: terms of
  /// each sum.
  void product_with(ModelPart part, std::string_view name, double count, double parameters, double moved,
                    double inputs) {
    const Weights weights = weights_of(part, parameters);
    const double flop = 2.0 * rows_ * parameters;
    add({{name, OperatorKind::product, compute_of(part), count, weights.bytes + moved * value_bytes_, flop, inputs,
          vector_flop(part, flop)},
         weights,
         weights});
  }

  /// A product with a separate matrix per head.
  void product_by_head(std::string_view name, double count, double heads, double inputs, double outputs) {
    product_with(ModelPart::attention, name, count, heads * inputs * outputs, rows_ * heads * (inputs + outputs),
                 inputs);
  }

  void norm(std::string_view name, double count, double width, bool add_delta) {
    const bool layer = norm_ == Norm::layer;
    const Weights weights = plain_weights((layer ? 2.0 : 1.0) * width);
    const double passes = add_delta ? 4.0 : 2.0;  // reads stream and delta, writes stream and result
    const double flop = (layer ? 8.0 : 4.0) + (add_delta ? 1.0 : 0.0);
    add({{name, OperatorKind::other, unquantized_, count, weights.bytes + passes * rows_ * width * value_bytes_,
          flop * rows_ * width},
         weights,
         weights});
  }

  void unweighted(OperatorKind kind, std::string_view name, double count, double bytes, double flop) {
    add({{name, kind, unquantized_, count, bytes, flop}, {}, {}});
  }
  void other(std::string_view name, double count, double bytes, double flop) {
    unweighted(OperatorKind::other, name, count, bytes, flop);
  }

  void add(const WeightedOperator& one) {
    if (one.step.count <= 0.0) return;
    operators_.push_back(one);
    operators_.back().step.part = part_;
  }

  Norm norm_;
  const WeightFormats& formats_;
  double batch_, rows_;
  NumberFormat unquantized_;
  double value_bytes_;                ///< per activation
  StepPart part_ = StepPart::layers;  ///< of the operators that are being written
  std::vector<WeightedOperator> operators_;

 private:
  static constexpr std::size_t max_operators = 48;  ///< maximum of any pass, so that the list is allocated once
};

}  // namespace foredraft::latency
