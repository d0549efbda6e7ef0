// SPDX-License-Identifier: Apache-2.0
// A connection to a client or server, with TLS or without, as one type: what reads and writes it
// does not know which. An AsyncStream as Asio and Beast want it. One thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <memory>
#include <utility>

namespace trainwatch {

class ClientStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;
  using ErrorCode = boost::system::error_code;
  using Tls = boost::asio::ssl::stream<Socket&>;
  using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

  // `context` null: without TLS. With it, async_handshake() comes first.
  ClientStream(Socket socket, TlsContext context)
      : socket_(std::make_unique<Socket>(std::move(socket))), context_(std::move(context)) {
    if (context_) tls_ = std::make_unique<Tls>(*socket_, *context_);
  }

  executor_type get_executor() { return socket_->get_executor(); }
  Socket& socket() { return *socket_; }
  Tls* tls() { return tls_.get(); }  // null: without
  // What is read and written from now on is not encrypted.
  void drop_tls() { tls_.reset(); }

  // Not after it was moved from, nor after close().
  bool is_open() const { return socket_ && socket_->is_open(); }
  void close() {
    ErrorCode ignored;
    if (socket_) socket_->close(ignored);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Token>(token));
    return socket_->async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Token>(token));
    return socket_->async_write_some(buffers, std::forward<Token>(token));
  }
  // Says that nothing more will be sent; with TLS it then waits for the other end to say so, too.
  template <class Handler>
  void async_shutdown(Handler&& handler) {
    tls_->async_shutdown(std::forward<Handler>(handler));
  }

 private:
  std::unique_ptr<Socket> socket_;  // stays where it is when this is moved
  TlsContext context_;              // outlives tls_
  std::unique_ptr<Tls> tls_;
};

// How Beast ends a WebSocket, and what it does when one is silent for too long.
template <class Handler>
void async_teardown(boost::beast::role_type role, ClientStream& stream, Handler&& handler) {
  if (stream.tls() != nullptr) return stream.async_shutdown(std::forward<Handler>(handler));
  boost::beast::websocket::async_teardown(role, stream.socket(), std::forward<Handler>(handler));
}
inline void teardown(boost::beast::role_type role, ClientStream& stream,
                     boost::system::error_code& error) {
  boost::beast::websocket::teardown(role, stream.socket(), error);
}
inline void beast_close_socket(ClientStream& stream) {
  stream.close();
}

}  // namespace trainwatch
