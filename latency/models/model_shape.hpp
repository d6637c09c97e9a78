// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/storage.hpp"
#include "latency/words.hpp"

/// Shapes of language models: everything that determines the cost of a forward pass, without the values of the weights.
namespace foredraft::latency {

enum class Architecture {
  decoder,          ///< decoder-only
  encoder_decoder,  ///< with cross-attention to an encoder's output
  head,             ///< layers on top of a target's hidden states, with the target's embedding and vocabulary (EAGLE)
};
enum class Norm { rms, layer };              ///< root mean square; mean and variance
enum class Activation { silu, gelu, relu };  ///< of the feed-forward block; gelu by the error function
/// relative_bias (T5): the bias table is a parameter, but its look-up and sum are left out of the forward passes.
enum class Positions { rotary, learned, sinusoidal, relative_bias };

template <>
struct WordsOf<Architecture> {
  static constexpr std::array<std::string_view, 3> list{"decoder", "encoder_decoder", "head"};
};
template <>
struct WordsOf<Norm> {
  static constexpr std::array<std::string_view, 2> list{"rms", "layer"};
};
template <>
struct WordsOf<Activation> {
  static constexpr std::array<std::string_view, 3> list{"silu", "gelu", "relu"};
};
template <>
struct WordsOf<Positions> {
  static constexpr std::array<std::string_view, 4> list{"rotary", "learned", "sinusoidal", "relative_bias"};
};

/// Feed-forward blocks that are mixtures of experts: every token uses the shared experts and `per_token` of `count`.
struct Experts {
  std::int64_t count = 0;  ///< routed experts of a layer; 0: no mixture
  std::int64_t per_token = 0;
  std::int64_t d_ff = 0;          ///< of one routed expert
  std::int64_t shared_d_ff = 0;   ///< of the shared experts of a layer together; 0: none
  std::int64_t dense_layers = 0;  ///< layers that have the dense block of ModelShape::d_ff instead
  std::int64_t latent_dim = 0;    ///< of the space to which a layer projects the inputs of its routed experts and from
                                  ///< which it projects their sum (Nemotron 3); 0: d_model, without projections
  bool operator==(const Experts&) const = default;
};

/// Multi-head latent attention: keys and values of all heads are projected from one vector per token. The KV cache
/// holds that vector and one rotary key that the heads share. [DeepSeek2024]
struct LatentAttention {
  std::int64_t kv_rank = 0;     ///< 0: no latent attention
  std::int64_t query_rank = 0;  ///< 0: queries are projected from d_model directly
  std::int64_t rope_dim = 0;    ///< of the shared rotary key, and of each query head's rotary part
  std::int64_t nope_dim = 0;    ///< of each head's key without rotation
  std::int64_t value_dim = 0;   ///< of each head
  bool operator==(const LatentAttention&) const = default;
};

/// Layers whose attention sees only the last `tokens` positions. Members that are 0 are those of the other layers.
struct SlidingWindow {
  std::int64_t tokens = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  bool operator==(const SlidingWindow&) const = default;
};

/// Layers, among those without a window, whose attention does not read the whole cache: an indexer scores its entries
/// and each query reads the best ones (DeepSeek-V3.2), an entry stands for several tokens (DeepSeek-V4), or both.
struct SparseAttention {
  std::int64_t layers = 0;
  std::int64_t selected_entries = 0;  ///< that a query reads at most; 0: all
  std::int64_t tokens_per_entry = 1;  ///< that one entry of the cache stands for
  std::int64_t local_tokens = 0;      ///< the last ones are kept and read as they are besides
  std::int64_t index_heads = 0;       ///< 0: no indexer of their own; layers may use that of a layer before (GLM-5.2)
  std::int64_t index_dim = 0;         ///< of the key that the indexer keeps in fp8 for each entry
  std::int64_t layer_parameters = 0;  ///< of one layer's indexer and compression
  bool operator==(const SparseAttention&) const = default;
};

/// Layers that keep a state of fixed size instead of a KV cache: gated delta rule, Mamba-2. Rolling back rejected
/// tokens needs a copy of the state for each verified token, or another forward pass.
struct LinearAttention {
  std::int64_t layers = 0;
  std::int64_t layer_parameters = 0;  ///< of one such layer's mixer: projections, convolution, gates
  std::int64_t state_elements = 0;    ///< of one sequence and layer, kept in fp32
  bool operator==(const LinearAttention&) const = default;
};

/// Inputs and outputs of a head (Architecture::head) besides its layers.
struct HeadInputs {
  std::int64_t hidden_states = 1;     ///< of the target, concatenated; 3 for EAGLE-3
  std::int64_t hidden_width = 0;      ///< of one of them; 0: d_model
  bool wide_attention = false;        ///< EAGLE-3: query, key and value read [embedding; hidden], 2 d_model wide
  std::int64_t draft_vocabulary = 0;  ///< tokens that the head can draft; 0: the vocabulary
  bool own_vocabulary = false;        ///< the head has a vocabulary projection of its own, else the target's
  std::int64_t block_size = 0;        ///< positions that one pass fills at most, that of the last known token included
                                      ///< (DFlash); 0: one pass a token
  bool anchor_drafts = false;         ///< the position of the known token yields a draft as well (DSpark)
  std::int64_t correction_parameters = 0;  ///< of what corrects the logits of a block, draft after draft, by the token
                                           ///< before (DSpark's Markov head, Domino's GRU)
  std::int64_t stages = 0;  ///< stages in place of layers with attention, one a draft: d_model wide states that follow
                            ///< from those before, and a vocabulary projection (MLP speculators, Medusa); 0: layers
  bool operator==(const HeadInputs&) const = default;
};

/// Layers of multi-token prediction (MTP) that a checkpoint has besides its own, for drafting: mtp_head() is the head
/// that they are. They have the attention of the layers without a window and a mixture where the model has one.
struct DraftingLayers {
  std::int64_t layers = 0;  ///< 0: none
  bool windowed = false;    ///< they have a window (MiMo-V2)
  bool dense = false;       ///< they have a block of d_ff in place of a mixture (MiMo-V2)
  bool operator==(const DraftingLayers&) const = default;
};

/// Shape of one model. Names follow papers and checkpoints: d_model, d_ff, kv_heads.
struct ModelShape {
  std::string name;                       ///< "qwen1.5-7b"; unique
  std::string summary;                    ///< one-line description
  std::string source;                     ///< source of the numbers
  std::vector<std::string> aliases = {};  ///< further checkpoints of this shape: names on the hub, without the owner
  Architecture architecture = Architecture::decoder;
  std::int64_t encoder_layers = 0;
  std::int64_t layers = 0;  ///< of the decoder
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< heads for multi-head, fewer for grouped, 1 for multi-query attention
  std::int64_t head_dim = 0;   ///< heads * head_dim may differ from d_model
  std::int64_t value_dim = 0;  ///< of a head's values; 0: head_dim
  std::int64_t d_ff = 0;
  bool gated = false;  ///< two input projections, one of them a gate
  std::int64_t vocabulary = 0;
  bool tied = false;            ///< vocabulary projection = embedding
  bool attention_bias = false;  ///< query, key and value projections have one
  bool bias = false;            ///< attention output and feed-forward projections have one; the vocabulary's never
  Norm norm = Norm::rms;
  Activation activation = Activation::silu;
  Positions positions = Positions::rotary;
  std::int64_t learned_positions = 0;  ///< rows of the decoder's position table
  std::int64_t source_length = 0;      ///< encoder positions of a typical input; encoder_decoder only
  std::int64_t max_context = 0;        ///< maximum positions of the model; 0: not known
  std::int64_t norms_per_layer =
      2;  ///< 4 if the outputs of both blocks are normalized too (Gemma 2 to 4); 1 if a layer is one block (Nemotron-H)
  bool query_key_norm = false;        ///< a norm of head_dim on queries and on keys (Qwen3, Gemma 3)
  bool attention_gate = false;        ///< the query projection also yields a gate of the output, as wide (Qwen3-Next)
  bool values_are_keys = false;       ///< no value projection in the layers without a window (Gemma 4)
  bool single_cache = false;          ///< one cached vector per head is both key and value (DeepSeek-V4)
  std::int64_t query_rank = 0;        ///< queries are projected through so many dimensions; 0: from d_model directly
  std::int64_t output_groups = 0;     ///< the attention output is projected by groups of heads to output_rank each, and
  std::int64_t output_rank = 0;       ///< these to d_model; 0: directly
  std::int64_t residual_streams = 1;  ///< that each block mixes to its input and its output to (hyper-connections)
  Experts experts = {};
  LatentAttention latent = {};
  SlidingWindow window = {};
  std::vector<SparseAttention> sparse = {};  ///< the other layers without a window read the whole cache
  LinearAttention linear = {};
  HeadInputs head = {};
  DraftingLayers drafting = {};  ///< not part of the layers, parameters and passes of this shape
  /// Numbers of layers with attention and with a feed-forward block, if not every layer has both (Nemotron-H). Softmax
  /// attention only; linear.layers are counted in addition.
  std::optional<std::int64_t> attention_layers = {}, feed_forward_layers = {};
  std::optional<WeightFormats> native_formats = {};  ///< that it is published in, if these are not 16 bits everywhere
  std::int64_t further_parameters = 0;               ///< convolutions and the like, not part of the timed passes
  std::optional<double> published_parameters;        ///< as the source prints them ...
  double published_rounding = 0.0;                   ///< ... known to +- this; 0: printed to the last parameter
};

/// Layers with softmax attention, and with a feed-forward block.
[[nodiscard]] std::int64_t attention_layers(const ModelShape& shape);
[[nodiscard]] std::int64_t feed_forward_layers(const ModelShape& shape);

/// Heads of softmax attention: of the layers without a window, and of those with one.
struct AttentionHeads {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t key_dim = 0, value_dim = 0;  ///< of one head
};
[[nodiscard]] AttentionHeads attention_heads(const ModelShape& shape);
[[nodiscard]] AttentionHeads window_heads(const ModelShape& shape);

/// Drafts of an iteration at most: of one pass of a head that fills a block, or the stages of a head; 0: any number.
[[nodiscard]] std::int64_t max_drafts(const ModelShape& shape);

/// Why the programs of operations/forward_passes.hpp cannot run this shape: "mixtures of experts are not run"; nullopt
/// if they can. Its costs are known either way (step_operations.hpp). A window is no reason: passes that end within it
/// see every position.
[[nodiscard]] std::optional<std::string> why_not_runnable(const ModelShape& shape);

/// One problem of a shape, with the name of the member.
struct ShapeProblem {
  std::string key;
  std::string text;
  std::string why;
};

/// All problems of a shape: dimensions that are not positive (or above 10 million), heads that kv_heads does not
/// divide, an encoder without encoder_decoder, more experts per token than there are and the like. Keys of parts are
/// dotted: "experts.per_token".
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const ModelShape& shape);

/// Throws DomainError that lists all problems.
void check_shape(const ModelShape& shape);

}  // namespace foredraft::latency
