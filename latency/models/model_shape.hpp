// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/storage.hpp"
#include "latency/words.hpp"

/// Shapes of language models: all properties that determine the cost of a forward pass.
namespace foredraft::latency {

/// Counts of a shape are whole; what follows from them is computed in floating point.
[[nodiscard]] inline double as_double(std::int64_t count) { return static_cast<double>(count); }

enum class Architecture {
  decoder,          ///< decoder-only
  encoder_decoder,  ///< with cross-attention to an encoder's output
  head,             ///< layers that read a target's hidden states and use its embedding and vocabulary (EAGLE)
};
enum class Norm { rms, layer };              ///< root mean square; mean and variance
enum class Activation { silu, gelu, relu };  ///< of the feed-forward block; gelu by the error function
/// relative_bias (T5): the bias table counts as parameters, but its use is not part of forward passes.
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
  std::int64_t shared_d_ff = 0;   ///< of all shared experts of a layer together; 0: none
  std::int64_t dense_layers = 0;  ///< layers with a dense block of ModelShape::d_ff instead
  std::int64_t latent_dim = 0;    ///< dimension in which routed experts operate, with projections from and to d_model
                                  ///< (Nemotron 3); 0: d_model, no projections
  bool operator==(const Experts&) const = default;
};

/// Multi-head latent attention: keys and values of all heads are projected from one vector per token. The KV cache
/// holds that vector and one rotary key that the heads share. [DeepSeek2024]
struct LatentAttention {
  std::int64_t kv_rank = 0;     ///< 0: no latent attention
  std::int64_t query_rank = 0;  ///< 0: queries are projected from d_model directly
  std::int64_t rope_dim = 0;    ///< dimension of the shared rotary key and of the rotary part of each query head
  std::int64_t nope_dim = 0;    ///< dimension of the part of each head's key without rotation
  std::int64_t value_dim = 0;   ///< of each head
  bool operator==(const LatentAttention&) const = default;
};

/// Layers whose attention sees only the last `tokens` positions. Members that are 0 have the value of the other layers.
struct SlidingWindow {
  std::int64_t tokens = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  bool operator==(const SlidingWindow&) const = default;
};

/// Layers without a window whose attention does not read the whole cache: an indexer scores the entries and each query
/// reads the best ones (DeepSeek-V3.2), one entry stands for several tokens (DeepSeek-V4), or both.
struct SparseAttention {
  std::int64_t layers = 0;
  std::int64_t selected_entries = 0;  ///< maximum entries that a query reads; 0: all
  std::int64_t tokens_per_entry = 1;  ///< tokens per cache entry
  std::int64_t local_tokens = 0;      ///< last tokens that are also kept and read uncompressed
  std::int64_t index_heads = 0;       ///< 0: no own indexer; layers may use that of an earlier layer (GLM-5.2)
  std::int64_t index_dim = 0;         ///< dimension of the indexer's key of each entry, stored in fp8
  std::int64_t layer_parameters = 0;  ///< parameters of one layer's indexer and compression
  bool operator==(const SparseAttention&) const = default;
};

/// Layers that keep a state of fixed size instead of a KV cache: gated delta rule, Mamba-2. Rolling back rejected
/// tokens needs a copy of the state for each verified token, or another forward pass.
struct LinearAttention {
  std::int64_t layers = 0;
  std::int64_t layer_parameters = 0;  ///< parameters of one layer's mixer: projections, convolution, gates
  std::int64_t state_elements = 0;    ///< per sequence and layer, stored in fp32
  bool operator==(const LinearAttention&) const = default;
};

/// Inputs and outputs of a head (Architecture::head).
struct HeadInputs {
  std::int64_t hidden_states = 1;     ///< number of the target's hidden states, concatenated; 3 for EAGLE-3
  std::int64_t hidden_width = 0;      ///< width of one hidden state; 0: d_model
  bool wide_attention = false;        ///< EAGLE-3: query, key and value read [embedding; hidden], 2 d_model wide
  std::int64_t draft_vocabulary = 0;  ///< tokens that the head can draft; 0: the vocabulary
  bool own_vocabulary = false;        ///< the head has its own vocabulary projection; false: uses the target's
  std::int64_t block_size = 0;        ///< maximum positions of one pass, including the last known token (DFlash); 0:
                                      ///< one pass per token
  bool anchor_drafts = false;         ///< the position of the last known token also yields a draft (DSpark)
  std::int64_t correction_parameters = 0;  ///< parameters of the module that corrects a block's logits by the previous
                                           ///< draft (DSpark's Markov head, Domino's GRU)
  std::int64_t stages = 0;  ///< stages without attention, one per draft, each with a state of width d_model and a
                            ///< vocabulary projection (MLP speculators, Medusa); 0: layers with attention
  bool operator==(const HeadInputs&) const = default;
};

/// Additional layers of a checkpoint for multi-token prediction (MTP); see mtp_head(). They have the attention of
/// layers without a window and, if the model has one, a mixture.
struct DraftingLayers {
  std::int64_t layers = 0;  ///< 0: none
  bool windowed = false;    ///< they have a window (MiMo-V2)
  bool dense = false;       ///< they have a dense block instead of a mixture (MiMo-V2)
  bool operator==(const DraftingLayers&) const = default;
};

/// Shape of one model. Names follow papers and checkpoints: d_model, d_ff, kv_heads.
struct ModelShape {
  std::string name;                       ///< "qwen1.5-7b"; unique
  std::string summary;                    ///< one-line description
  std::string source;                     ///< source of the numbers
  std::vector<std::string> aliases = {};  ///< other checkpoints with this shape: names on the hub without the owner
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
  bool attention_bias = false;  ///< query, key and value projections have a bias
  bool bias = false;            ///< attention output and feed-forward projections have a bias
  Norm norm = Norm::rms;
  Activation activation = Activation::silu;
  Positions positions = Positions::rotary;
  std::int64_t learned_positions = 0;  ///< rows of the decoder's position table
  std::int64_t source_length = 0;      ///< encoder positions of a typical input; encoder_decoder only
  std::int64_t max_context = 0;        ///< maximum positions of the model; 0: unknown
  /// 4 if the outputs of both blocks are normalized too (Gemma 2 to 4); 1 if a layer is one block (Nemotron-H).
  std::int64_t norms_per_layer = 2;
  bool query_key_norm = false;        ///< a norm of head_dim on queries and on keys (Qwen3, Gemma 3)
  bool wide_query_key_norm = false;   ///< that norm is one over all heads together (MiniMax-M2, OLMo 2)
  bool attention_gate = false;        ///< the query projection also yields an output gate (Qwen3-Next)
  bool values_are_keys = false;       ///< no value projection in the layers without a window (Gemma 4)
  bool single_cache = false;          ///< one cached vector per head is both key and value (DeepSeek-V4)
  std::int64_t query_rank = 0;        ///< queries are projected through this many dimensions; 0: directly from d_model
  std::int64_t output_groups = 0;     ///< groups of heads whose outputs are projected to output_rank each, and
  std::int64_t output_rank = 0;       ///< from there to d_model; 0: directly to d_model
  std::int64_t residual_streams = 1;  ///< streams that each block reads from and writes to (hyper-connections)
  Experts experts = {};
  LatentAttention latent = {};
  SlidingWindow window = {};
  std::vector<SparseAttention> sparse = {};  ///< other layers without a window read the whole cache
  LinearAttention linear = {};
  HeadInputs head = {};
  DraftingLayers drafting = {};  ///< not included in layers, parameters and passes of this shape
  /// Numbers of layers with softmax attention and with a feed-forward block, if not every layer has both (Nemotron-H).
  /// linear.layers are additional.
  std::optional<std::int64_t> attention_layers = {}, feed_forward_layers = {};
  std::optional<WeightFormats> native_formats = {};  ///< formats of the published checkpoint, if not 16 bits everywhere
  std::int64_t further_parameters = 0;               ///< such as convolutions; not part of timed passes
  std::optional<double> published_parameters = {};   ///< as printed in the source ...
  double published_rounding = 0.0;                   ///< ... with this rounding error (+-); 0: exact
};

/// Layers with softmax attention, and with a feed-forward block.
[[nodiscard]] std::int64_t attention_layers(const ModelShape& shape);
[[nodiscard]] std::int64_t feed_forward_layers(const ModelShape& shape);

/// Heads of softmax attention, of layers without a window (attention_heads) and with one (window_heads).
struct AttentionHeads {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t key_dim = 0, value_dim = 0;  ///< of one head
};
[[nodiscard]] AttentionHeads attention_heads(const ModelShape& shape);
[[nodiscard]] AttentionHeads window_heads(const ModelShape& shape);

/// Maximum drafts per iteration: drafts of one pass of a block head, or the stages of a head; 0: no limit.
[[nodiscard]] std::int64_t max_drafts(const ModelShape& shape);

/// Why the programs of operations/forward_passes.hpp cannot run this shape, such as "mixtures of experts are not run";
/// nullopt if they can. Costs are known for every shape (step_operations.hpp). Shapes with a window can run, because
/// passes that end within it see every position.
[[nodiscard]] std::optional<std::string> why_not_runnable(const ModelShape& shape);

/// A problem of a shape. `key`: name of the member.
struct ShapeProblem {
  std::string key;
  std::string text;
  std::string why;
};

/// All problems of a shape: dimensions that are not positive (or above 10 million), heads that kv_heads does not
/// divide, an encoder without encoder_decoder, more experts per token than experts, and similar. Keys of nested members
/// are dotted: "experts.per_token".
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const ModelShape& shape);

/// Throws DomainError, which lists all problems.
void check_shape(const ModelShape& shape);

}  // namespace foredraft::latency
