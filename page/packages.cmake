# SPDX-License-Identifier: Apache-2.0
# The libraries of the program for WebAssembly, under their names from find_package(): Debian's headers, and RE2 and
# zlib from its source packages, which scripts/page.sh unpacks into FOREDRAFT_PAGE_SOURCES.
enable_language(C)
set(FOREDRAFT_PAGE_SOURCES ${PROJECT_BINARY_DIR}/sources CACHE PATH "Folders re2 and zlib with the distribution's sources")

# /usr/include also has the C library of the host, so only these are linked into the include path.
set(includes ${PROJECT_BINARY_DIR}/include)
foreach(path IN ITEMS boost fmt eigen3/Eigen eigen3/unsupported toml++ Random123 nlohmann hwy)
  get_filename_component(name ${path} NAME)
  if(NOT EXISTS /usr/include/${path})
    message(FATAL_ERROR "/usr/include/${path}: not found - scripts/setup.sh installs it")
  endif()
  file(MAKE_DIRECTORY ${includes})
  file(CREATE_LINK /usr/include/${path} ${includes}/${name} SYMBOLIC)
endforeach()

include_directories(SYSTEM ${includes})

function(foredraft_headers target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()
foredraft_headers(fmt::fmt FMT_HEADER_ONLY)
foredraft_headers(nlohmann_json::nlohmann_json)
foredraft_headers(Eigen3::Eigen)
foredraft_headers(hwy::hwy HWY_COMPILE_ONLY_SCALAR)
foredraft_headers(tomlplusplus::tomlplusplus TOML_HEADER_ONLY=1)
foredraft_headers(OpenSSL::Crypto)  # page/sha256.cpp replaces it
foredraft_headers(Threads::Threads)
foredraft_headers(Boost::context)  # only needed for measuring
set(Boost_INCLUDE_DIRS ${includes})
set(RANDOM123_INCLUDE_DIR ${includes})

file(GLOB zlib ${FOREDRAFT_PAGE_SOURCES}/zlib/*.c)
list(FILTER zlib EXCLUDE REGEX "/gz[a-z]+[.]c$")
add_library(foredraft_zlib STATIC ${zlib})
target_include_directories(foredraft_zlib SYSTEM PUBLIC ${FOREDRAFT_PAGE_SOURCES}/zlib)
set_target_properties(foredraft_zlib PROPERTIES UNITY_BUILD OFF)
add_library(ZLIB::ZLIB ALIAS foredraft_zlib)

file(GLOB re2 ${FOREDRAFT_PAGE_SOURCES}/re2/re2/*.cc)
add_library(foredraft_re2 STATIC ${re2} ${FOREDRAFT_PAGE_SOURCES}/re2/util/rune.cc ${FOREDRAFT_PAGE_SOURCES}/re2/util/strutil.cc)
target_include_directories(foredraft_re2 SYSTEM PUBLIC ${FOREDRAFT_PAGE_SOURCES}/re2)
set_target_properties(foredraft_re2 PROPERTIES UNITY_BUILD OFF)
set(RE2_LIBRARY foredraft_re2)
set(RE2_INCLUDE_DIR ${FOREDRAFT_PAGE_SOURCES}/re2)

# Sources that the page omits: page/ replaces those of the first line, and the page has no measuring, results folders or
# papers.
set(FOREDRAFT_LEFT_OUT
    core/sha256[.] app/scripts[.] app/commands/registry[.]
    app/calibrate_log app/calibration_texts app/validation "app/commands/(sweep|reproduce|calibrate|validate|page)[.]"
    answers/validation experiments/reproduce/ "experiments/sweep/(repeat|run_|summary|sweep_folder)"
    "gpu_bench/(cpu|cuda|kernels|loop|measure|verify)/" "gpu_bench/run/[^h]")

add_compile_options(-fwasm-exceptions
                    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/page/standard_library.hpp>")
add_link_options(-fwasm-exceptions)
