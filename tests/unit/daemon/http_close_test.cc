// SPDX-License-Identifier: Apache-2.0
// Closing the server at every point of a request: nothing is left to wait for.
#include <gtest/gtest.h>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::http_close_test {

// Until the client's bytes are there and every handler of the request has run, and some more.
constexpr int kHandlers = 20;

TEST(HttpClose, EndsAtEveryPointOfARequest) {
  for (int handlers = 0; handlers < kHandlers; ++handlers) {
    boost::asio::io_context io{1};
    MemoryAlertStore store;
    store.last_seq = 5;  // none of which the window has: the store is asked, and does not answer
    AlertHub hub(store.epoch, 1, store.last_seq);
    NetOptions options;
    options.port = 0;
    options.limits.http.answer = std::chrono::hours(1);
    NetServer server(io, options, hub, store.api());
    ASSERT_TRUE(server.listen());
    Wire wire(server.port());
    wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for (int done = 0; done < handlers; ++done) io.poll_one();
    server.close();
    io.restart();
    io.run_for(kPatience);  // far less than HttpLimits::answer
    EXPECT_TRUE(io.stopped()) << "closed after " << handlers << " handlers";
  }
}

}  // namespace trainwatch::http_close_test
