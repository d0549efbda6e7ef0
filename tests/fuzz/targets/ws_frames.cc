// SPDX-License-Identifier: Apache-2.0
// WebSocket frames of a client: whatever it sends, the server's frames are well formed, and nothing
// follows a close.
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "fuzz/server_exchange.h"

namespace trainwatch::fuzz {
namespace {

constexpr std::string_view kHandshake =
    "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Takes one frame of the server off `rest`; false if it was cut.
bool take_frame(std::string_view& rest, unsigned& opcode, std::string_view& payload) {
  if (rest.size() < 2) return false;
  expect((byte_at(rest, 0) & 0xf0U) == 0x80, "a frame is whole and has no RSV");
  expect((byte_at(rest, 1) & 0x80U) == 0, "a server does not mask");
  opcode = byte_at(rest, 0) & 0x0fU;
  std::size_t size = byte_at(rest, 1);
  std::size_t head = 2;
  if (size >= 126) {
    const std::size_t digits = size == 126 ? 2 : 8;
    if (rest.size() < head + digits) return false;
    size = 0;
    for (std::size_t i = 0; i < digits; ++i) size = size * 256 + byte_at(rest, head++);
  }
  if (rest.size() < head + size) return false;
  payload = rest.substr(head, size);
  rest.remove_prefix(head + size);
  return true;
}

}  // namespace

void serve_frames(std::string_view input) {
  ClientLimits limits;
  limits.ws.close = std::chrono::milliseconds{1};
  ServerExchange server(limits);
  const std::string heard = server.answer(kHandshake, kHandshake.size(), input);
  std::string_view rest = heard;
  expect(rest.starts_with("HTTP/1.1 101 "), "the handshake is accepted");
  rest.remove_prefix(rest.find("\r\n\r\n") + 4);
  bool closed = false;
  unsigned opcode = 0;
  std::string_view payload;
  while (take_frame(rest, opcode, payload)) {
    expect(!closed, "nothing follows a close");
    expect(opcode == 1 || opcode == 8 || opcode == 10, "a frame is text, pong or close");
    if (opcode == 1) expect(payload.starts_with(R"({"op":")"), "a text is a message");
    closed = opcode == 8;
  }
}

}  // namespace trainwatch::fuzz
