# SPDX-License-Identifier: Apache-2.0
# How every target is compiled: warnings, hardening on, no fast-math, as many compilers at once as there is memory for, and
# the speed-ups a machine happens to have (ccache, mold).

# Warnings are errors of those compilers that CI has: others, and newer ones, warn of other things.
if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 14)\\.")
  set(errors -Werror)
endif()
add_compile_options(
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wformat=2 ${errors}
  -fno-strict-overflow -fno-delete-null-pointer-checks
  -ffp-contract=off)               # replay must be bit-equal, see pipeline/engine/README.md
# How much a translation unit may grow by inlining, percent. The default of 40 is meant for one file.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=inline-unit-growth=5>)
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fstack-protector-strong>
                    $<$<CXX_COMPILER_ID:GNU>:-fstack-clash-protection>)
add_compile_options($<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)  # release: only where input enters
add_compile_options($<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-ftrivial-auto-var-init=zero>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Objects of some hundred bytes are zeroed by plain stores: "rep stos" takes longer to begin than they take.
  add_compile_options(
    $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign>)
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code)

# Invariants are asserts, and they stay on in every build type.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(TRAINWATCH_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")
if(TRAINWATCH_SANITIZE)
  add_compile_options(-fsanitize=${TRAINWATCH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Checks of every pointer for null and for alignment: two thirds of the code and of the time to compile it,
  # while reading through null ends the program anyway.
  add_compile_options(-fno-sanitize=null,alignment)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # GCC 12 sees uses where the instrumentation is
  add_link_options(-fsanitize=${TRAINWATCH_SANITIZE})
  if(TRAINWATCH_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)  # Asio has a fence that TSan cannot follow
  endif()
endif()

option(TRAINWATCH_FUZZ "Build the fuzz targets for libFuzzer; needs clang" OFF)
if(TRAINWATCH_FUZZ)
  # Clang 14 cannot assemble what -fsanitize=function adds to functions in sections of their own.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=function -Wno-error)
endif()

# A cache hit must not depend on the folder of the checkout or of the build, nor on the times of the
# headers behind a precompiled one, but on their comments, too: GCC stores checksums of the headers
# in it, and then takes a header of which only a comment changed for another one.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_COMMENTS=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/compile_jobs.cmake)

# Sources are compiled many at a time, as one file that includes them: the cost of headers and
# templates is paid once. So names in anonymous namespaces are unique in a library, and each rule and
# each test file has a namespace of its own name. OFF gives every file a command of its own in compile_commands.json, for
# clangd and clang-tidy, and recompiles only what changed.
option(TRAINWATCH_UNITY "Compile many files at a time" ON)

# tw_batches(VARIABLE NAME SIZE SOURCE...): sets VARIABLE to what to compile instead of the sources,
# which are absolute paths. Not CMake's own unity build, which names the files by their absolute
# paths, so that ccache misses in every other checkout.
function(tw_batches variable name size)
  if(NOT TRAINWATCH_UNITY)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(batches "")
  set(includes "")
  set(count 0)
  foreach(source ${ARGN} end)
    if(includes AND (source STREQUAL end OR count EQUAL size))
      list(LENGTH batches number)
      set(batch ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cc)
      file(CONFIGURE OUTPUT ${batch} CONTENT "${includes}" @ONLY)  # written only when it changes
      list(APPEND batches ${batch})
      set(includes "")
      set(count 0)
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(APPEND includes "#include \"${path}\"\n")
    math(EXPR count "${count} + 1")
  endforeach()
  set(${variable} ${batches} PARENT_SCOPE)
endfunction()

# tw_library(NAME SOURCE...): a static library, compiled as one file.
function(tw_library name)
  tw_batches(batches ${name} 64 ${ARGN})
  add_library(${name} STATIC ${batches})
endfunction()
