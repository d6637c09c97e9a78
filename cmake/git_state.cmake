# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT (a header) with the commit of the repository at SOURCE, at every build, but touches it only when the
# content changes. Without git or outside a repository both say "unknown".
set(commit unknown)
set(changes unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain
                    OUTPUT_VARIABLE status RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND status STREQUAL "")
      set(changes none)
    elseif(NOT failed)
      set(changes uncommitted)
    endif()
  endif()
endif()
set(content "#define FOREDRAFT_GIT_COMMIT \"${commit}\"\n#define FOREDRAFT_GIT_CHANGES \"${changes}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT content STREQUAL before)
  file(WRITE ${OUTPUT} "${content}")
endif()
