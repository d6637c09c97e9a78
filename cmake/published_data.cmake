# Writes OUTPUT, a C++ source that holds every CSV file of FOLDER: cmake -DFOLDER=... -DOUTPUT=... -P published_data.cmake
file(GLOB paths "${FOLDER}/*.csv")
list(SORT paths)
set(entries "")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME_WE)
  file(READ "${path}" content)
  string(APPEND entries "      {\"${name}\", R\"csv(${content})csv\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from experiments/published/*.csv.
#include \"experiments/reproduce/published.hpp\"

namespace foredraft::experiments {

const std::vector<PublishedFile>& published_files() {
  static const std::vector<PublishedFile> files{
${entries}  };
  return files;
}

}  // namespace foredraft::experiments
")
