// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/program_builder.hpp"

#include <algorithm>
#include <utility>

#include "core/contract.hpp"

namespace foredraft::latency {

BufferId ProgramBuilder::find_or_add(Buffer buffer) {
  const auto known = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                  [&buffer](const Buffer& other) { return other.name == buffer.name; });
  const auto id = static_cast<BufferId>(known - program_.buffers.begin());
  if (known == program_.buffers.end()) {
    program_.buffers.push_back(std::move(buffer));
  } else {
    FOREDRAFT_EXPECT(known->kind == buffer.kind && known->elements == buffer.elements);
  }
  return id;
}

BufferId ProgramBuilder::weight(const std::string& name, std::int64_t elements, double scale) {
  return find_or_add({name, BufferKind::weight, elements, scale, 0});
}

BufferId ProgramBuilder::cache(const std::string& name, std::int64_t elements) {
  return find_or_add({name, BufferKind::cache, elements, 1.0, 0});
}

BufferId ProgramBuilder::activation(const std::string& name, std::int64_t elements) {
  return find_or_add({name, BufferKind::activation, elements, 0.0, 0});
}

BufferId ProgramBuilder::tokens(const std::string& name, std::int64_t elements, std::int64_t vocabulary) {
  return find_or_add({name, BufferKind::tokens, elements, 0.0, vocabulary});
}

Program ProgramBuilder::finish(BufferId output) {
  program_.output = output;
  check_program(program_);
  return std::exchange(program_, {});
}

}  // namespace foredraft::latency
