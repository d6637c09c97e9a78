// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu_bench/loop/loop_run.hpp"

/// Cells and rows of a loop as CSV files: input and output of programs that run loops.
namespace foredraft::gpu_bench {

/// target,drafter,drafting,dtype,launch,gamma,alpha,batch,context
[[nodiscard]] std::string loop_cells_csv(const std::vector<LoopCell>& cells);

/// The columns of cells, and plain_us,plain_ci95_low_us,plain_ci95_high_us,plain_samples, the same for iteration_us,
/// tokens_per_iteration,between_runs (empty for a single run).
[[nodiscard]] std::string loop_rows_csv(const std::vector<LoopRow>& rows);

/// Parses the output of the function above; `name` is the file in messages. Throws DomainError `name:line: ...`.
[[nodiscard]] std::vector<LoopCell> read_loop_cells(std::string_view csv, const std::string& name);
[[nodiscard]] std::vector<LoopRow> read_loop_rows(std::string_view csv, const std::string& name);

}  // namespace foredraft::gpu_bench
