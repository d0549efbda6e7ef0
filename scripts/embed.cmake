# Makes a source file that holds files as bytes, for web_assets() (daemon/net/web_assets.h):
#   cmake -DOUT=FILE.cc "-DFILES=a.html;b.css" -P embed.cmake
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  file(SIZE ${file} size)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 etag)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char k${index}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", \"\\\"${etag}\\\"\", {k${index}, ${size}}},\n")
  math(EXPR index "${index} + 1")
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
