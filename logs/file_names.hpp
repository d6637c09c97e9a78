// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "logs/observations_file.hpp"

/// What the names of files say of the runs in them.
namespace foredraft::logs {

/// Where names of files state several draft lengths (2 of "nmax2.csv", 4 of "run_mtp-4.log"), runs that draft have that
/// of their file if it states none (W22). Not if a run of the file drafted or emitted more than that allows.
///
/// Where names tell a run without speculation from one with it ("base.txt" and "mtp3.txt", or "8b.txt" and
/// "8b-mtp.txt"), runs that do not tell what drafted have the arm of their file (W22).
void name_by_files(std::vector<ObservedLog>& logs);

/// Of logs beside which another one is given as that without speculation: runs that would be plain only because
/// SGLang's client printed no acceptance draft; it prints none of another version's server.
void draft_beside_plain(std::vector<ObservedLog>& logs);

}  // namespace foredraft::logs
