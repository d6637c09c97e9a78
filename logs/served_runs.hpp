// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "logs/observations_file.hpp"

namespace foredraft::logs {

/// Joins the log of a server with the run that a client timed on it. Where one file has a single run without
/// acceptance, and one other file has windows with it at the same load and throughput, both are of one run: it has the
/// client's times and the server's counts, and these windows are no run of their own (W22).
void join_server_logs(std::vector<ObservedLog>& logs);

}  // namespace foredraft::logs
