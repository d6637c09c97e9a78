// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/shared_library.hpp"

#include <dlfcn.h>

namespace foredraft::gpu_bench {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) continue;
    name_ = name;
    return;
  }
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::find(const char* symbol) const { return handle_ == nullptr ? nullptr : dlsym(handle_, symbol); }

}  // namespace foredraft::gpu_bench
