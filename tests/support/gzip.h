// SPDX-License-Identifier: Apache-2.0
// A gzip file of one member.
#pragma once

#include <zlib.h>

#include <cassert>
#include <string>
#include <string_view>

namespace trainwatch::test {

inline std::string gzip(std::string_view text) {
  std::string out(text.size() + text.size() / 100 + 200, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  [[maybe_unused]] const int ended = deflate(&stream, Z_FINISH);
  assert(ended == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace trainwatch::test
