// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// Drafters that read their target's hidden states (Architecture::head): from their own config.json, or from the
/// target's.
namespace foredraft::latency {

/// Whether the config is that of such a drafter: its architecture, its speculators_model_type, its own keys
/// (dflash_config, draft_vocab_size, medusa_num_heads, n_predict) or one layer of LLaMA say so.
[[nodiscard]] bool is_head(const ConfigObject& config);

/// EAGLE and EAGLE-3, DFlash, DSpark, Domino and P-EAGLE, Medusa and MLP speculators. The layers are in reading.config,
/// the head's own keys in `outer`, which may be the same.
void read_head(FamilyReading& reading, const ConfigObject& outer);

/// The head that a target's own layers for multi-token prediction are: one of them, with two norms and the projection
/// of the embedding and the hidden state, the target's embedding and vocabulary projection; one pass a token. Named
/// "mtp-TARGET". Throws DomainError for a target without such layers.
[[nodiscard]] ModelShape mtp_head(const ModelShape& target);

}  // namespace foredraft::latency
