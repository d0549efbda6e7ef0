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

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

