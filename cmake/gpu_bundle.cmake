# SPDX-License-Identifier: Apache-2.0
# Copies PROGRAM, stripped, with the libraries it needs beyond the C library, the models and the script that runs it from
# SOURCE into BUNDLE. Fails above 40 MB.
set(largest_bytes 40000000)
file(REMOVE_RECURSE ${BUNDLE})
file(COPY ${PROGRAM} DESTINATION ${BUNDLE})
cmake_path(GET PROGRAM FILENAME name)
execute_process(COMMAND ${STRIP} ${BUNDLE}/${name} COMMAND_ERROR_IS_FATAL ANY)

file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux")
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${BUNDLE} FOLLOW_SYMLINK_CHAIN)
endforeach()

file(COPY ${SOURCE}/latency/models DESTINATION ${BUNDLE} FILES_MATCHING PATTERN *.toml)
if(EXISTS ${SOURCE}/gpu_bench/run_all.sh)
  file(COPY ${SOURCE}/gpu_bench/run_all.sh ${SOURCE}/gpu_bench/time_transformers.py DESTINATION ${BUNDLE})
endif()

set(bytes 0)
file(GLOB_RECURSE files ${BUNDLE}/*)
foreach(file IN LISTS files)
  if(NOT IS_SYMLINK ${file})
    file(SIZE ${file} size)
    math(EXPR bytes "${bytes} + ${size}")
  endif()
endforeach()
message(STATUS "${BUNDLE}: ${bytes} bytes")
if(bytes GREATER largest_bytes)
  message(FATAL_ERROR "the bundle is larger than ${largest_bytes} bytes")
endif()
