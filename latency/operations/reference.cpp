// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/reference.hpp"

#include <algorithm>
#include <cmath>

#include "latency/operations/reference_attention.hpp"

namespace foredraft::latency {
namespace {

/// A buffer as a matrix of `width` columns.
class Matrix {
 public:
  Matrix(BufferContents& contents, BufferId id, std::int64_t width)
      : values_(&contents[static_cast<std::size_t>(id)]), width_(width) {}

  double& operator()(std::int64_t row, std::int64_t column) const {
    return (*values_)[static_cast<std::size_t>(row * width_ + column)];
  }

 private:
  std::vector<double>* values_;
  std::int64_t width_;
};

void run_reference_of(const Embed& embed, BufferContents& contents) {
  const Matrix tokens(contents, embed.tokens, 1);
  const Matrix table(contents, embed.table, embed.width);
  const Matrix out(contents, embed.out, embed.width);
  for (std::int64_t row = 0; row < embed.rows; ++row) {
    const auto token = static_cast<std::int64_t>(tokens(row, 0));
    for (std::int64_t i = 0; i < embed.width; ++i) out(row, i) = table(token, i);
    if (embed.positions == no_buffer) continue;
    const Matrix positions(contents, embed.positions, embed.width);
    const std::int64_t position = embed.first_position + row % embed.tokens_per_sequence;
    for (std::int64_t i = 0; i < embed.width; ++i) out(row, i) += positions(position, i);
  }
}

void run_reference_of(const AddNormalise& norm, BufferContents& contents) {
  const Matrix stream(contents, norm.stream, norm.width);
  const Matrix gain(contents, norm.gain, norm.width);
  const Matrix out(contents, norm.out, norm.width);
  const auto width = static_cast<double>(norm.width);
  for (std::int64_t row = 0; row < norm.rows; ++row) {
    if (norm.delta != no_buffer) {
      const Matrix delta(contents, norm.delta, norm.width);
      for (std::int64_t i = 0; i < norm.width; ++i) stream(row, i) += delta(row, i);
    }
    double mean = 0.0;
    if (norm.norm == Norm::layer) {
      for (std::int64_t i = 0; i < norm.width; ++i) mean += stream(row, i) / width;
    }
    double spread = 0.0;
    for (std::int64_t i = 0; i < norm.width; ++i) {
      spread += (stream(row, i) - mean) * (stream(row, i) - mean) / width;
    }
    const double factor = 1.0 / std::sqrt(spread + norm_epsilon);
    for (std::int64_t i = 0; i < norm.width; ++i) {
      out(row, i) = (stream(row, i) - mean) * factor * gain(0, i);
      if (norm.bias != no_buffer) out(row, i) += Matrix(contents, norm.bias, norm.width)(0, i);
    }
  }
}

void run_reference_of(const Project& project, BufferContents& contents) {
  const Matrix in(contents, project.in, project.inputs);
  const Matrix weight(contents, project.weight, project.inputs);
  const Matrix out(contents, project.out, project.outputs);
  for (std::int64_t row = 0; row < project.rows; ++row) {
    for (std::int64_t n = 0; n < project.outputs; ++n) {
      double sum = project.accumulate ? out(row, n) : 0.0;
      for (std::int64_t k = 0; k < project.inputs; ++k) sum += in(row, k) * weight(n, k);
      if (project.bias != no_buffer) sum += Matrix(contents, project.bias, project.outputs)(0, n);
      out(row, n) = sum;
    }
  }
}

double activated(Activation function, double x) {
  switch (function) {
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::relu:
      break;
  }
  return std::max(x, 0.0);
}

void run_reference_of(const Activate& activate, BufferContents& contents) {
  const Matrix in(contents, activate.in, activate.gated ? 2 * activate.width : activate.width);
  const Matrix out(contents, activate.out, activate.width);
  for (std::int64_t row = 0; row < activate.rows; ++row) {
    for (std::int64_t i = 0; i < activate.width; ++i) {
      const double gate = activate.gated ? in(row, activate.width + i) : 1.0;
      out(row, i) = activated(activate.function, in(row, i)) * gate;
    }
  }
}

void run_reference_of(const PickToken& pick, BufferContents& contents) {
  const std::vector<double>& logits = contents[static_cast<std::size_t>(pick.logits)];
  const Matrix out(contents, pick.out, 1);
  for (std::int64_t row = 0; row < pick.rows; ++row) {
    const auto first = logits.begin() + row * pick.vocabulary;
    out(row, 0) = static_cast<double>(std::max_element(first, first + pick.vocabulary) - first);
  }
}

}  // namespace

void run_reference(const Program& program, BufferContents& contents) {
  check_program(program);
  for (const Operation& operation : program.operations) {
    std::visit([&contents](const auto& one) { run_reference_of(one, contents); }, operation);
  }
}

}  // namespace foredraft::latency
