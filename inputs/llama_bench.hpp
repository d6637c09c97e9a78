// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "latency/profile/profile.hpp"

/// Times of forward passes printed by llama.cpp's own programs: llama-bench (-o csv, json or jsonl) and
/// llama-batched-bench (--output-format jsonl), and those of drafting by llama-speculative-simple.
namespace foredraft::inputs {

/// The output of one run.
struct BenchFile {
  std::string path = {};   ///< for messages
  std::string text = {};   ///< untrusted
  std::string model = {};  ///< name of its model; empty: that of the model's file, without folder and .gguf
};

/// "NAME=PATH" or "PATH": model and path of a file whose text has not been read.
[[nodiscard]] BenchFile bench_file_of(const std::string& argument);

/// A profile of source `engine`, with every pass of every file as a step `decoder_pass`:
///
/// - llama-bench -p N -d D: a pass over N tokens after D. With -embd 1 it computes the logits of all N, as a
///   verification does, without it those of the last one. Where a model has both, its verifications are those with
///   -embd 1, and the others are left out.
/// - llama-bench -n N -d D: a decode step, at the mean context of the N steps.
/// - llama-batched-bench: decode steps of a batch. Its lines name no model, so that BenchFile::model is required.
/// - the log of llama-speculative-simple -lv 4: a step `autoregressive_drafting` of BenchFile::model, all drafts of an
///   iteration, the weights as far from the processor as the target's pass left them. Runs of a model whose mean
///   contexts differ by at most 8 tokens stand at the smallest of these contexts.
///
/// Where tests state model_n_params, notes say what each token of a pass over 1 to 8 computes (`few_tokens`), from -p
/// 1,2,...,8, and how often attention reads the KV cache (`kv_reread`), from the same at two depths.
///
/// Times of the same pass are combined; the median is used. `loop` is stored as the profile's engine_loop. Throws
/// InputError `file:line: ...` with the problems of all files at once.
[[nodiscard]] latency::Profile parse_llama_bench(std::span<const BenchFile> files, const latency::EngineLoop& loop);

/// The passes as a table, and the times charged to an iteration.
[[nodiscard]] std::string bench_text(const latency::Profile& profile);

}  // namespace foredraft::inputs
