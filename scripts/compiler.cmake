# How every target is compiled: warnings are errors, hardening on, no fast-math, and the
# speed-ups a machine happens to have (ccache, mold).

add_compile_options(
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wformat=2 -Werror
  -fno-strict-overflow -fno-delete-null-pointer-checks
  -ffp-contract=off)               # replay must be bit-equal, see pipeline/engine/README.md
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fstack-protector-strong>
                    $<$<CXX_COMPILER_ID:GNU>:-fstack-clash-protection>)
add_compile_options($<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

# Invariants are asserts, and they stay on in every build type.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(TRAINWATCH_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")
if(TRAINWATCH_SANITIZE)
  add_compile_options(-fsanitize=${TRAINWATCH_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRAINWATCH_SANITIZE})
  if(TRAINWATCH_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)  # Asio has a fence that TSan cannot follow
  endif()
endif()

# A cache hit must not depend on the folder of the checkout or of the build, nor on the times of the
# headers behind a precompiled one.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

# Libraries are compiled many files at a time, so names in anonymous namespaces are unique in a
# library. OFF gives every file a command of its own in compile_commands.json: for clangd, clang-tidy.
option(TRAINWATCH_UNITY "Compile libraries in batches of files" ON)

# tw_library(NAME SOURCE...): absolute paths; a static library, compiled in batches. Not CMake's own unity build, which
# names the files by their absolute paths, so that ccache misses in every other checkout.
function(tw_library name)
  if(NOT TRAINWATCH_UNITY)
    add_library(${name} STATIC ${ARGN})
    return()
  endif()
  set(batches "")
  set(includes "")
  set(count 0)
  foreach(source ${ARGN} end)
    if(includes AND (source STREQUAL end OR count EQUAL 16))
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
  add_library(${name} STATIC ${batches})
endfunction()
