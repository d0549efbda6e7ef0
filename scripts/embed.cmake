# SPDX-License-Identifier: Apache-2.0
# Makes a source file that holds files as bytes, for web_assets() (daemon/net/web_assets.h):
#   cmake -DOUT=FILE.cc -DDOCS=docs "-DFILES=a.html;b.css;docs/metrics.md" -P embed.cmake
# FILE.gz beside a file is the same, compressed.

# Where a file is served: scripts and styles under a name that changes with their content, documents
# as in the folder DOCS, Markdown without its ending.
function(path_of variable file hash)
  get_filename_component(name ${file} NAME)
  get_filename_component(stem ${name} NAME_WE)
  get_filename_component(ending ${name} LAST_EXT)
  if(name STREQUAL "index.html")
    set(path "/")
  elseif(ending STREQUAL ".js" OR ending STREQUAL ".css")
    set(path "/assets/${stem}-${hash}${ending}")
  elseif(file MATCHES "\\.(md|yaml)$")
    file(RELATIVE_PATH path ${DOCS} ${file})
    string(REGEX REPLACE "\\.md$" "" path "/docs/${path}")
  else()
    set(path "/${name}")
  endif()
  set(${variable} ${path} PARENT_SCOPE)
endfunction()

set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  set(views "")
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 short_hash)
  foreach(version ${file} ${file}.gz)
    if(NOT EXISTS ${version})
      string(APPEND views ", {}")
      continue()
    endif()
    file(READ ${version} hex HEX)
    file(SIZE ${version} size)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND arrays "constexpr char k${index}[] = {${bytes}};\n")
    string(APPEND views ", {k${index}, ${size}}")
    math(EXPR index "${index} + 1")
  endforeach()
  path_of(path ${file} ${short_hash})
  string(APPEND rows "    {\"${name}\", \"${path}\", \"${hash}\"${views}},\n")
endforeach()
file(WRITE ${OUT} "// Made by scripts/embed.cmake.
#include \"daemon/net/web_assets.h\"

namespace trainwatch {
namespace {
${arrays}
constexpr WebAsset kAssets[] = {
${rows}};
}  // namespace

std::span<const WebAsset> web_assets() { return kAssets; }

}  // namespace trainwatch
")
