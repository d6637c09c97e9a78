// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foredraft::gpu_bench {

/// A library looked for at run time, so that the program starts, and says what is missing, without it.
class SharedLibrary {
 public:
  /// The first of `names`, file names or paths, that can be opened.
  explicit SharedLibrary(const std::vector<std::string>& names);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  SharedLibrary(SharedLibrary&&) = delete;
  SharedLibrary& operator=(SharedLibrary&&) = delete;

  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Address of a symbol; null where the library or the symbol is missing.
  [[nodiscard]] void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace foredraft::gpu_bench
