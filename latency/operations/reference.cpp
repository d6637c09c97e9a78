// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace foredraft::latency {
namespace {

/// A binary format: significant bits (including the hidden one), exponent of the smallest subnormal, largest number.
struct StorageFormat {
  int precision;
  int smallest_exponent;
  double largest;
};

StorageFormat storage_format(DataType type) {
  switch (type) {
    case DataType::fp16:
      return {11, -24, 65504.0};
    case DataType::bf16:
      return {8, -133, 0x1.FEp127};
    case DataType::fp32:
      break;
  }
  return {24, -149, static_cast<double>(std::numeric_limits<float>::max())};
}

constexpr std::size_t words_per_draw = std::tuple_size_v<PhiloxWords>;

template <typename Make>
std::vector<double> content_from_words(const Buffer& buffer, std::uint64_t seed, Make make) {
  std::vector<double> values(static_cast<std::size_t>(buffer.elements));
  const StreamId stream{Purpose::buffer_content, content_point(buffer.name), 0};
  PhiloxWords words{};
  for (std::size_t element = 0; element < values.size(); ++element) {
    const std::size_t word = element % words_per_draw;
    if (word == 0) words = philox4x32_10(philox_counter(stream, element / words_per_draw), philox_key(seed));
    values[element] = make(words[word]);
  }
  return values;
}

std::vector<double> content_of(const Buffer& buffer, DataType type, std::uint64_t seed) {
  switch (buffer.kind) {
    case BufferKind::activation:
      break;
    case BufferKind::tokens:
      return content_from_words(buffer, seed, [&buffer](std::uint32_t word) {
        return static_cast<double>(token_from_word(word, buffer.vocabulary));
      });
    case BufferKind::weight:
    case BufferKind::cache:
    case BufferKind::input:
      return content_from_words(buffer, seed, [type, factor = content_factor(buffer.scale)](std::uint32_t word) {
        return rounded_to(static_cast<double>(static_cast<float>(bell_from_word(word)) * factor), type);
      });
  }
  return std::vector<double>(static_cast<std::size_t>(buffer.elements), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

float content_factor(double scale) {
  constexpr double bell_variance = 21845.0;
  return static_cast<float>(scale / std::sqrt(bell_variance));
}

BufferContents initial_contents(const Program& program, DataType type, std::uint64_t seed) {
  BufferContents contents;
  for (const Buffer& buffer : program.buffers) contents.push_back(content_of(buffer, type, seed));
  return contents;
}

double rounded_to(double value, DataType type) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const StorageFormat format = storage_format(type);
  const int exponent = std::max(std::ilogb(value) - (format.precision - 1), format.smallest_exponent);
  const double rounded = std::scalbn(std::nearbyint(std::scalbn(value, -exponent)), exponent);
  return std::abs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

namespace {

std::vector<double>& at(BufferContents& contents, BufferId id) { return contents[static_cast<std::size_t>(id)]; }

std::span<double> slice(std::vector<double>& values, std::int64_t first, std::int64_t count) {
  return std::span(values).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// Rotates the pairs (i, i + half) of one head by the angles of its position.
void rotate(std::span<double> head, std::int64_t position) {
  const std::size_t half = head.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(position) *
                         std::pow(rotary_base, -2.0 * static_cast<double>(i) / static_cast<double>(head.size()));
    const double first = head[i];
    const double second = head[i + half];
    head[i] = first * std::cos(angle) - second * std::sin(angle);
    head[i + half] = first * std::sin(angle) + second * std::cos(angle);
  }
}

/// First element of an entry of a cache [batch, capacity, kv_heads, head_dim].
template <typename Operation>
std::int64_t entry_of(const Operation& cache, std::int64_t sequence, std::int64_t position) {
  return (sequence * cache.capacity + position) * cache.kv_heads * cache.head_dim;
}

}  // namespace

void run_reference_of(const StoreKeysValues& store, BufferContents& contents) {
  std::vector<double>& packed = at(contents, store.packed);
  const std::int64_t entry = store.kv_heads * store.head_dim;
  const std::int64_t queries = store.heads * store.head_dim;
  for (std::int64_t row = 0; row < store.batch * store.tokens; ++row) {
    const std::int64_t position = store.context + row % store.tokens;
    const std::int64_t first = row * (queries + 2 * entry);
    const std::int64_t target = entry_of(store, row / store.tokens, position);
    const std::span<double> keys = slice(at(contents, store.keys), target, entry);
    const std::span<double> values = slice(at(contents, store.values), target, entry);
    std::ranges::copy(slice(packed, first + queries, entry), keys.begin());
    std::ranges::copy(slice(packed, first + queries + entry, entry), values.begin());
    if (!store.rotary) continue;
    for (std::int64_t head = 0; head < store.heads; ++head) {
      rotate(slice(packed, first + head * store.head_dim, store.head_dim), position);
    }
    for (std::int64_t head = 0; head < store.kv_heads; ++head) {
      rotate(keys.subspan(static_cast<std::size_t>(head * store.head_dim), static_cast<std::size_t>(store.head_dim)),
             position);
    }
  }
}

void run_reference_of(const Attend& attend, BufferContents& contents) {
  const std::int64_t size = attend.head_dim;
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  std::vector<double> weights;
  for (std::int64_t row = 0; row < attend.batch * attend.tokens; ++row) {
    const std::int64_t sequence = row / attend.tokens;
    const std::int64_t seen = attend.causal ? attend.length - attend.tokens + row % attend.tokens + 1 : attend.length;
    for (std::int64_t head = 0; head < attend.heads; ++head) {
      const std::int64_t kv_head = head / (attend.heads / attend.kv_heads);
      const std::span<double> query =
          slice(at(contents, attend.queries), row * attend.query_stride + head * size, size);
      const std::span<double> out = slice(at(contents, attend.out), (row * attend.heads + head) * size, size);
      const auto vector = [&](BufferId cache, std::int64_t position) {
        return slice(at(contents, cache), entry_of(attend, sequence, position) + kv_head * size, size);
      };
      weights.clear();
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t position = 0; position < seen; ++position) {
        const std::span<double> key = vector(attend.keys, position);
        double score = 0.0;
        for (std::size_t i = 0; i < query.size(); ++i) score += query[i] * key[i];
        weights.push_back(score * scale);
        largest = std::max(largest, weights.back());
      }
      double total = 0.0;
      for (double& weight : weights) total += weight = std::exp(weight - largest);
      std::ranges::fill(out, 0.0);
      for (std::int64_t position = 0; position < seen; ++position) {
        const std::span<double> value = vector(attend.values, position);
        const double share = weights[static_cast<std::size_t>(position)] / total;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += share * value[i];
      }
    }
  }
}

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

void run_reference_of(const NormaliseHeads& norm, BufferContents& contents) {
  const std::int64_t normed = norm.heads + norm.kv_heads;
  for (std::int64_t head = 0; head < norm.rows * normed; ++head) {
    const std::int64_t first = (head / normed * (normed + norm.kv_heads) + head % normed) * norm.head_dim;
    const std::span<double> values = slice(at(contents, norm.packed), first, norm.head_dim);
    const std::vector<double>& gain = at(contents, head % normed < norm.heads ? norm.query_gain : norm.key_gain);
    double square = 0.0;
    for (const double value : values) square += value * value / static_cast<double>(norm.head_dim);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= gain[i] / std::sqrt(square + norm_epsilon);
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
