// SPDX-License-Identifier: Apache-2.0
// Gzip: contents and end are those that zlib finds in one shot, whatever the cuts and restarts.
// Each header byte by byte with restarts is in inflate_stream_test: a restart costs most here.
#include "pipeline/decode/gzip_stream.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {
namespace {

enum class GzipEnd : std::uint8_t { whole, too_short, damaged };

struct Inflated {
  std::string contents;
  GzipEnd end = GzipEnd::whole;
  bool operator==(const Inflated&) const = default;
};

// One member, which is taken off `input`.
GzipEnd inflate_member(std::string_view& input, std::string& contents) {
  z_stream stream{};
  expect(inflateInit2(&stream, 15 + 16) == Z_OK, "zlib works");
  std::string out(1U << 16U, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    result = inflate(&stream, Z_NO_FLUSH);
    contents.append(out, 0, out.size() - stream.avail_out);
  }
  input.remove_prefix(input.size() - stream.avail_in);
  inflateEnd(&stream);
  if (result == Z_STREAM_END) return GzipEnd::whole;
  return result == Z_BUF_ERROR ? GzipEnd::too_short : GzipEnd::damaged;
}

Inflated in_one_shot(std::string_view input) {
  Inflated out;
  do {
    out.end = inflate_member(input, out.contents);
    input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));  // padding
  } while (out.end == GzipEnd::whole && input.starts_with("\x1f\x8b"));
  // The first half of a member's magic: the file may be about to grow.
  if (out.end == GzipEnd::whole && input == "\x1f") out.end = GzipEnd::too_short;
  return out;
}

Inflated in_pieces(std::string_view input, std::size_t most, bool restarts) {
  Inflated out;
  InflateStream stream;
  for (std::size_t at = 0; at < input.size(); at += most) {
    stream.push(input.substr(at, most));
    for (auto part = stream.pull(); !part.empty(); part = stream.pull()) out.contents += part;
    if (!restarts) continue;
    StateIo saving = StateIo::saving();
    stream.state(saving);
    const std::string saved = saving.take();
    stream = InflateStream();
    StateIo loading = StateIo::loading(saved);
    stream.state(loading);
    expect(loading.complete(), "a saved stream loads");
  }
  const GzipEnd unfinished = stream.damaged() ? GzipEnd::damaged : GzipEnd::too_short;
  out.end = stream.at_end() ? GzipEnd::whole : unfinished;
  return out;
}

bool one_begins_the_other(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

}  // namespace

void inflate_gzip(std::string_view input) {
  if (!input.starts_with("\x1f\x8b")) return;
  const Inflated expected = in_one_shot(input);
  const Inflated whole = in_pieces(input, input.size(), false);
  const bool good = expected.end == GzipEnd::whole;
  if (good) expect(whole == expected, "what is whole for zlib is whole, with the same contents");
  // Where zlib misses a code that is never used, ISA-L leaves it to the checksum.
  const bool reserved = input.size() > 3 && (input[3] & '\xe0') != 0;
  if (reserved) expect(whole.end != GzipEnd::whole, "a reserved flag is damage");
  // Of a member that is cut off or damaged, either may give back more.
  expect(one_begins_the_other(whole.contents, expected.contents), "nothing is made up");
  for (const std::size_t most : {1U, 7U, 64U}) {
    const Inflated cut = in_pieces(input, most, most > 1);
    expect(cut.end == whole.end, "the end does not depend on the cuts");
    expect(one_begins_the_other(cut.contents, whole.contents), "nor do the contents");
    if (good) expect(cut == whole, "of a whole file, both are equal");
  }
}

}  // namespace trainwatch::fuzz
