// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/cell_program.hpp"

#include <fmt/format.h>

#include "foredraft/errors.hpp"
#include "latency/operations/passes.hpp"

namespace foredraft::latency {

Program program_of(const ModelShape& shape, const Cell& cell) {
  const PassRequest pass{
      .tokens = cell.tokens, .batch = cell.batch, .context = cell.context, .source_length = cell.source_length};
  PassRequest start = pass;  // drafting begins with one token
  start.tokens = 1;
  switch (cell.role) {
    case Role::decoder_pass:
      return decoder_pass(shape, pass);
    case Role::autoregressive_drafting:
      return autoregressive_drafting(shape, start, cell.tokens);
    case Role::block_drafting:
      return block_drafting(shape, start, cell.tokens);
    case Role::head_drafting:
      return head_drafting(shape, start, cell.tokens);
    case Role::encoder_pass:
      return encoder_pass(shape, start);
  }
  throw DomainError(fmt::format("no pass for {}", to_text(cell)));
}

DataType data_type_of(std::string_view name) {
  for (const DataType type : {DataType::fp16, DataType::bf16, DataType::fp32}) {
    if (name == to_string(type)) return type;
  }
  throw DomainError(fmt::format("unknown dtype {} (not supported here) - known: fp16, bf16, fp32", name));
}

}  // namespace foredraft::latency
