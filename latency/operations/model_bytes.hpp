// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// Parameters of a model and bytes of its weights, caches and states, summed over the operators of its forward passes.
namespace foredraft::latency {

/// Parameters of the whole model, with the embedding once and further_parameters. For a head: only its own.
[[nodiscard]] double parameters(const ModelShape& shape);

/// The same with only the experts of one token in each mixture ("activated" parameters).
[[nodiscard]] double active_parameters(const ModelShape& shape);

/// Parameters that one decode step of one token reads: layers (of a mixture, the experts of one token) and vocabulary
/// projection. Excludes the embedding table, positions, encoder and the cross-attention's key and value projections.
[[nodiscard]] double step_parameters(const ModelShape& shape);

/// Weights of the whole model as stored, all devices together (copies counted once), in bytes. For a head: its own,
/// without the target's embedding and vocabulary projection.
[[nodiscard]] double weight_bytes(const ModelShape& shape, const Deployment& deployment);

/// Weights on the device with the most bytes, including copies, in bytes.
[[nodiscard]] double weight_bytes_per_device(const ModelShape& shape, const Deployment& deployment);

/// Weights that one decode step of one sequence reads, all devices together (copies counted once), in bytes: all except
/// the embedding's table and experts that the token does not use.
[[nodiscard]] double step_bytes(const ModelShape& shape, const Deployment& deployment);

/// KV cache of one token of one sequence, all layers without a window, all devices together (copies counted once).
[[nodiscard]] double kv_bytes_per_token(const ModelShape& shape, const Deployment& deployment);

/// KV cache and states of one sequence of `context` tokens on one device, in bytes, including windows and copies.
[[nodiscard]] double sequence_bytes_per_device(const ModelShape& shape, const Deployment& deployment,
                                               std::int64_t context);

/// States of linear attention that a verification of `tokens` tokens stores to roll back any number of drafts, per
/// sequence, all devices together, in bytes. One for each token after the first, in addition to the state of a decode
/// step; 0 without linear attention.
[[nodiscard]] double rollback_bytes(const ModelShape& shape, std::int64_t tokens);

}  // namespace foredraft::latency
