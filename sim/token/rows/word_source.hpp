// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/simulator.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {

/// Words of one stream, handed out in order, made many at a time.
class WordSource {
 public:
  WordSource(const RunKey& key, Purpose purpose, std::uint64_t block)
      : seed_(key.seed), id_{.purpose = purpose, .point = key.point, .block = block} {}

  /// The next `count` words; valid until the next call.
  std::span<const std::uint64_t> next(std::size_t count) {
    words_.resize((count + word_granule - 1) / word_granule * word_granule);
    fill_words(seed_, id_, draw_, words_);
    draw_ += words_.size() / 2;
    return std::span(words_).first(count);
  }

 private:
  std::uint64_t seed_;
  StreamId id_;
  std::uint64_t draw_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace foredraft::sim
