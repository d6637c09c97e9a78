// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "latency/models/model_shape.hpp"

/// A forward pass of a model as a list of operations on named buffers. The list is used in four ways: counted (bytes,
/// flop), computed in double precision (reference), launched on a GPU, and run on a CPU.
namespace foredraft::latency {

/// Storage type of weights, activations and caches.
enum class DataType { fp16, bf16, fp32 };
template <>
struct WordsOf<DataType> {
  static constexpr std::array<std::string_view, 3> list{"fp16", "bf16", "fp32"};
};
[[nodiscard]] std::int64_t bytes_of(DataType type);

/// "fp16", "bf16", "fp32"; throws DomainError for other words.
[[nodiscard]] DataType data_type_of(std::string_view name);

/// Position of a buffer in Program::buffers.
using BufferId = std::int32_t;
inline constexpr BufferId no_buffer = -1;

enum class BufferKind {
  weight,      ///< read only, random with standard deviation `scale`
  cache,       ///< result of earlier passes, also random: keys and values, hidden states of a target
  activation,  ///< written before it is read in every pass; poisoned before each pass
  input,       ///< result of an operation outside of the program, random with standard deviation `scale`
  tokens,      ///< 32-bit token ids in [0, vocabulary)
};

struct Buffer {
  std::string name;  ///< "layer 3 down"; unique
  BufferKind kind;
  std::int64_t elements;
  double scale;             ///< weights, caches and inputs: standard deviation of the random content
  std::int64_t vocabulary;  ///< for tokens: upper bound of ids (exclusive); else 0
};

/// out[row] = table[tokens[row]] (+ positions[first_position + row % tokens_per_sequence]).
struct Embed {
  BufferId tokens, table, positions, out;  ///< positions may be no_buffer
  std::int64_t rows, width, vocabulary;
  std::int64_t tokens_per_sequence, first_position;
};

/// stream += delta (if given), then out = norm(stream) * gain (+ bias).
struct AddNormalise {
  BufferId stream, delta, gain, bias, out;  ///< delta, bias may be no_buffer
  std::int64_t rows, width;
  Norm norm;
};

/// out[m, n] (+)= in[m, k] weight[n, k]^T (+ bias[n]).
struct Project {
  BufferId in, weight, bias, out;  ///< bias may be no_buffer
  std::int64_t rows, outputs, inputs;
  bool accumulate;
};

/// Normalizes queries and keys of a packed [rows, (heads + 2 kv_heads) head_dim] in place: each head by its root mean
/// square, times the gain [head_dim] of queries or of keys.
struct NormaliseHeads {
  BufferId packed, query_gain, key_gain;
  std::int64_t rows, heads, kv_heads, head_dim;
};

/// Rotates queries and keys of a packed [rows, (heads + 2 kv_heads) head_dim] by their positions (if rotary; queries in
/// place) and appends keys and values to the caches [batch, capacity, kv_heads, head_dim] after `context` entries.
struct StoreKeysValues {
  BufferId packed, keys, values;
  std::int64_t batch, tokens, context, capacity, heads, kv_heads, head_dim;
  bool rotary;
};

/// Attention of `tokens` queries per sequence over the first `length` entries of the caches; causal: query i sees
/// length - tokens + i + 1 of them. Queries are in rows of `query_stride` elements, heads first.
struct Attend {
  BufferId queries, keys, values, out;
  std::int64_t batch, tokens, length, capacity, heads, kv_heads, head_dim, query_stride;
  bool causal;
};

/// out[row, i] = f(in[row, i]), or f(in[row, i]) * in[row, width + i] if gated.
struct Activate {
  BufferId in, out;
  std::int64_t rows, width;
  Activation function;
  bool gated;
};

/// out[row] = argmax of logits[row], smallest index on ties: the drafter's choice of token.
struct PickToken {
  BufferId logits, out;
  std::int64_t rows, vocabulary;
};

using Operation =
    std::variant<Embed, AddNormalise, Project, NormaliseHeads, StoreKeysValues, Attend, Activate, PickToken>;

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Operation> operations;
  BufferId output = no_buffer;  ///< result of the pass: logits, tokens or hidden states
};

/// "project", "attend", ...: the name of an operation in CSV files.
[[nodiscard]] std::string_view name_of(const Operation& operation);

/// Throws std::logic_error for a bug: an operation accesses elements outside a buffer or reads an activation that was
/// not written, or a name is used twice.
void check_program(const Program& program);

/// Builds a program. A buffer is identified by its name: requesting it again returns the same one, so layers share
/// their workspace and repeated passes their weights.
class ProgramBuilder {
 public:
  BufferId weight(const std::string& name, std::int64_t elements, double scale);
  /// Keys, values or hidden states, of standard deviation 1.
  BufferId cache(const std::string& name, std::int64_t elements);
  BufferId activation(const std::string& name, std::int64_t elements);
  BufferId tokens(const std::string& name, std::int64_t elements, std::int64_t vocabulary);

  void add(const Operation& operation) { program_.operations.push_back(operation); }

  /// The program, checked.
  [[nodiscard]] Program finish(BufferId output);

 private:
  BufferId find_or_add(Buffer buffer);

  Program program_;
};

// ---- The operations of a forward pass one by one, so that each can be timed separately.

/// The dimensions that determine the cost of an operation, besides name and storage type: "rows 6 outputs 4096 inputs
/// 4096".
[[nodiscard]] std::string shape_text(const Operation& operation);

struct CountedOperation {
  Operation operation;  ///< first one with its name and shape
  std::int64_t count;
};

/// The distinct operations of a program by name and shape, in the order of their first occurrence.
[[nodiscard]] std::vector<CountedOperation> distinct_operations(const Program& program);

/// A program with a single operation of `program` and the buffers that it uses. Activations that it reads become
/// inputs, because no operation writes them.
[[nodiscard]] Program operation_alone(const Program& program, const Operation& operation);

}  // namespace foredraft::latency
