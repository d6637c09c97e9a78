# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ source that holds every file of FOLDER with this EXTENSION as the entries {name, text} of
# `const std::vector<TYPE>& FUNCTION()` of NAMESPACE, as declared in HEADER:
# cmake -DFOLDER=... -DEXTENSION=csv -DHEADER=... -DNAMESPACE=... -DTYPE=... -DFUNCTION=... -DOUTPUT=... -P embedded_files.cmake
file(GLOB paths "${FOLDER}/*.${EXTENSION}")
list(SORT paths)
set(entries "")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME_WLE)
  file(READ "${path}" content)
  string(APPEND entries "      {\"${name}\", R\"file(${content})file\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from *.${EXTENSION} files.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

const std::vector<${TYPE}>& ${FUNCTION}() {
  static const std::vector<${TYPE}> files{
${entries}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
