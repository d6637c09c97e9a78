// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// Drafters that read their target's hidden states (Architecture::head): from their own config.json, or from the
/// target's.
namespace foredraft::latency {

/// True if the config describes such a drafter. Recognized by its architecture, speculators_model_type, specific keys
/// (dflash_config, draft_vocab_size, medusa_num_heads, n_predict) or a single LLaMA layer.
[[nodiscard]] bool is_head(const ConfigObject& config);

/// Reads EAGLE, EAGLE-3, DFlash, DSpark, Domino, P-EAGLE, Medusa and MLP speculators. reading.config describes the
/// layers; `outer` has the head's own keys and may be the same object.
void read_head(FamilyReading& reading, const ConfigObject& outer);

/// The head that consists of one of the target's layers for multi-token prediction, with two norms, the projection of
/// embedding and hidden state, and the target's embedding and vocabulary projection. One pass per token. Its name is
/// "mtp-TARGET". Throws DomainError for a target without such layers.
[[nodiscard]] ModelShape mtp_head(const ModelShape& target);

}  // namespace foredraft::latency
