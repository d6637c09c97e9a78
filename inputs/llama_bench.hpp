// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "latency/profile/profile.hpp"

/// Times of forward passes from llama.cpp's programs: llama-bench (-o csv, json or jsonl), llama-batched-bench
/// (--output-format jsonl) and, for drafting, llama-speculative-simple.
namespace foredraft::inputs {

/// The output of one run.
struct BenchFile {
  std::string path = {};   ///< in messages
  std::string text = {};   ///< untrusted
  std::string model = {};  ///< name of the model; empty: file name of the model, without folder and .gguf
};

/// Parses "NAME=PATH" or "PATH" into model and path; `text` is empty.
[[nodiscard]] BenchFile bench_file_of(const std::string& argument);

/// A profile of source `engine`. Passes of all files become steps `decoder_pass`:
///
/// - llama-bench -p N -d D: a pass over N tokens at context D. With -embd 1 it computes the logits of all N, as a
///   verification does, otherwise only those of the last token. If a model has both, only tests with
///   -embd 1 are used.
/// - llama-bench -n N -d D: a decode step at the mean context of the N steps.
/// - llama-batched-bench: decode steps of a batch. Requires BenchFile::model, because the output does not name a model.
/// - the log of llama-speculative-simple -lv 4: a step `autoregressive_drafting` of BenchFile::model, all drafts of an
///   iteration, with weights in the cache state that the target's pass left. Runs of a model with mean
///   contexts that differ by at most 8 tokens are assigned to the smallest of these contexts.
///
/// If tests state model_n_params, notes contain estimates of the cost per token of passes over 1 to 8 tokens
/// (`few_tokens`, from -p 1,2,...,8) and of repeated reads of the KV cache (`kv_reread`, from the same at two depths).
///
/// The median of all times of the same pass is used. `loop` becomes the profile's engine_loop. Throws InputError
/// `file:line: ...`, which lists the problems of all files.
[[nodiscard]] latency::Profile parse_llama_bench(std::span<const BenchFile> files, const latency::EngineLoop& loop);

/// Text with a table of the passes and the times charged to an iteration.
[[nodiscard]] std::string bench_text(const latency::Profile& profile);

}  // namespace foredraft::inputs
