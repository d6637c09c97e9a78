// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

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

/// Kinds of standard_head().
inline constexpr std::array<std::string_view, 3> head_kinds{"eagle3", "eagle", "dflash"};

/// The head of this kind with the widths of its target, as published heads of dense targets have them. EAGLE: a layer
/// of the target, and its vocabulary projection [Li2024]. EAGLE-3: a layer that drafts 32,000 tokens; DFlash: five
/// layers that fill blocks of 16 (sgl-project/SpecForge, configs). Its name is "KIND-TARGET". nullopt for targets with
/// a mixture or latent attention, whose heads have other widths.
[[nodiscard]] std::optional<ModelShape> standard_head(std::string_view kind, const ModelShape& target);

}  // namespace foredraft::latency
