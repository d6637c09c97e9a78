// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foredraft/tree.hpp"

namespace foredraft::analytic {

using foredraft::TokenTree;
using foredraft::tree_from_paths;
using foredraft::TreeLink;
using foredraft::TreeNode;
using foredraft::TreePath;

/// "0,1,2"
[[nodiscard]] std::string to_string(const TreePath& path);

}  // namespace foredraft::analytic
