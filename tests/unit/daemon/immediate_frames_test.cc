// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/immediate_frames.h"

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <string>

#include "tests/support/patience.h"

namespace trainwatch::immediate_frames_test {

using Sent = ImmediateFrames::Sent;
using Tcp = boost::asio::ip::tcp;

// A connection whose client reads only in receive().
class ImmediateFramesTest : public testing::Test {
 protected:
  ImmediateFramesTest() {
    Tcp::acceptor acceptor(context_, {boost::asio::ip::address_v4::loopback(), 0});
    client_.connect(acceptor.local_endpoint());
    acceptor.accept(server_);
  }

  // Until the kernel may hold too much. Returns how many were sent.
  std::size_t send_many(std::size_t size) {
    const std::string body(size, 'x');
    for (std::size_t sent = 0; sent < 100'000; ++sent) {
      if (frames_.send(server_, "", body) != Sent::whole) return sent;
    }
    return 0;
  }
  void receive(std::size_t frames, std::size_t size) {
    const std::size_t header = size > 125 ? 4 : 2;
    std::string bytes(frames * (header + size), '\0');
    boost::asio::read(client_, boost::asio::buffer(bytes));
    for (std::size_t frame = 0; frame < frames; ++frame) {
      const std::string one = bytes.substr(frame * (header + size), header + size);
      ASSERT_EQ(one[0], '\x81');
      ASSERT_EQ(one.substr(header), std::string(size, 'x'));
    }
  }

  boost::asio::io_context context_;
  Tcp::socket server_{context_};
  Tcp::socket client_{context_};
  ImmediateFrames frames_;
};

TEST_F(ImmediateFramesTest, NeverSplitsOneOfAClientThatDoesNotRead) {
  for (const std::size_t size : {1U, 125U, 126U, 1200U, 4000U}) {
    const std::size_t sent = send_many(size);
    ASSERT_GT(sent, 0U) << size;
    EXPECT_EQ(frames_.send(server_, "", std::string(size, 'x')), Sent::nothing) << size;
    receive(sent, size);
    // What was read is acknowledged soon.
    Sent again = Sent::nothing;
    ASSERT_TRUE(becomes([&] {
      again = frames_.send(server_, "", std::string(size, 'x'));
      return again != Sent::nothing;
    }));
    ASSERT_EQ(again, Sent::whole) << size;
    receive(1, size);
  }
}

// What Beast has written counts, too.
TEST_F(ImmediateFramesTest, AsksTheKernelAfterAnotherWrite) {
  const std::string body(100, 'x');
  ASSERT_EQ(frames_.send(server_, body, ""), Sent::whole);
  server_.non_blocking(true);
  boost::system::error_code full;
  while (!full) server_.write_some(boost::asio::buffer(std::string(65'536, 'y')), full);
  frames_.before_write();
  EXPECT_EQ(frames_.send(server_, body, ""), Sent::nothing);
}

}  // namespace trainwatch::immediate_frames_test
