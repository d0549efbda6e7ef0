// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/stream_client.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <utility>

#include "daemon/net/client_stream.h"
#include "daemon/net/stream_protocol.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using ClientSocket = websocket::stream<ClientStream, false>;
using boost::system::error_code;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// The server sends a heartbeat every five seconds; silence means that it is gone.
constexpr std::chrono::seconds kSilence{30};
constexpr std::chrono::milliseconds kAckEvery{100};

}  // namespace

class StreamClient::Impl {
 public:
  Impl(const StreamClientOptions& options, StreamReader& reader)
      : options_(options), reader_(reader), wait_(options.first_wait), resolver_(io_) {}

  void run(const std::stop_token& stop) {
    asio::signal_set signals(io_, SIGINT, SIGTERM);
    signals.async_wait([this](const error_code& error, int) {
      if (!error) io_.stop();
    });
    const std::stop_callback on_stop(stop, [this] { io_.stop(); });
    asio::co_spawn(io_, connect_until_done(), [this](const std::exception_ptr&) { io_.stop(); });
    io_.run();
  }

  void acknowledge(std::uint64_t seq);

 private:
  class AckWriter;

  asio::awaitable<void> connect_until_done();
  asio::awaitable<void> serve_connection();
  asio::awaitable<error_code> open(ClientSocket& socket);
  asio::awaitable<error_code> secure(ClientStream::Tls& tls);
  void opening_failed(const error_code& error, unsigned status);

  StreamClientOptions options_;
  StreamReader& reader_;
  std::chrono::milliseconds wait_;
  bool done_ = false;
  asio::io_context io_{1};
  tcp::resolver resolver_;
  std::shared_ptr<AckWriter> acks_;  // of the current connection
};

// Sends at most one acknowledgement per kAckEvery, and always the last.
class StreamClient::Impl::AckWriter : public std::enable_shared_from_this<AckWriter> {
 public:
  explicit AckWriter(std::shared_ptr<ClientSocket> socket)
      : socket_(std::move(socket)), timer_(socket_->get_executor()) {}

  void acknowledge(std::uint64_t seq) {
    seq_ = seq;
    if (!busy_) write();
  }

 private:
  void write() {
    busy_ = true;
    written_ = seq_;
    text_ = R"({"op":"ack","seq":)" + std::to_string(seq_) + "}";
    socket_->async_write(asio::buffer(text_),
                         [self = shared_from_this()](const error_code& error, std::size_t) {
                           if (!error) self->rest();
                         });
  }
  void rest() {
    timer_.expires_after(kAckEvery);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      self->busy_ = false;
      if (!error && self->written_ != self->seq_) self->write();
    });
  }

  std::shared_ptr<ClientSocket> socket_;
  asio::steady_timer timer_;
  std::uint64_t seq_ = 0;
  std::uint64_t written_ = 0;
  bool busy_ = false;
  std::string text_;
};

void StreamClient::Impl::acknowledge(std::uint64_t seq) {
  acks_->acknowledge(seq);
}

asio::awaitable<void> StreamClient::Impl::connect_until_done() {
  asio::steady_timer timer(io_);
  while (true) {
    co_await serve_connection();
    if (done_) co_return;
    timer.expires_after(wait_);
    wait_ = std::min(wait_ * 2, options_.last_wait);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> StreamClient::Impl::serve_connection() {
  const auto socket = std::make_shared<ClientSocket>(
      ClientStream(tcp::socket(io_), options_.url.tls ? options_.tls : nullptr));
  if (co_await open(*socket)) co_return;
  acks_ = std::make_shared<AckWriter>(socket);
  beast::flat_buffer buffer;
  while (true) {
    const auto [error, size] = co_await socket->async_read(buffer, kTuple);
    if (error) {
      acks_.reset();
      reader_.failed("connection lost: " + error.message() + ", reconnecting");
      co_return;
    }
    wait_ = options_.first_wait;
    done_ = !reader_.received(beast::buffers_to_string(buffer.data()));
    if (done_) co_return;
    buffer.consume(buffer.size());
  }
}

asio::awaitable<error_code> StreamClient::Impl::open(ClientSocket& socket) {
  const auto& url = options_.url;
  const auto [unknown, places] = co_await resolver_.async_resolve(url.host, url.port, kTuple);
  if (unknown) {
    opening_failed(unknown, 0);
    co_return unknown;
  }
  ClientStream& stream = socket.next_layer();
  const auto [unreachable, place] = co_await asio::async_connect(stream.socket(), places, kTuple);
  if (unreachable) {
    opening_failed(unreachable, 0);
    co_return unreachable;
  }
  stream.socket().set_option(tcp::no_delay(true));
  if (stream.tls() != nullptr) {
    const error_code untrusted = co_await secure(*stream.tls());
    if (untrusted) {
      opening_failed(untrusted, 0);
      co_return untrusted;
    }
  }
  socket.set_option(websocket::stream_base::timeout{kSilence, kSilence, true});
  socket.read_message_max(4U << 20U);
  socket.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
    request.set(beast::http::field::sec_websocket_protocol, beast::string_view(kStreamProtocol));
    request.set(beast::http::field::origin, options_.url.origin());
    if (!options_.authorization.empty()) {
      request.set(beast::http::field::authorization, options_.authorization);
    }
  }));
  websocket::response_type response;
  const auto [refused] =
      co_await socket.async_handshake(response, url.authority(), reader_.target(), kTuple);
  const bool declined = refused == websocket::error::upgrade_declined;
  if (refused) opening_failed(refused, declined ? response.result_int() : 0);
  co_return refused;
}

// A silent server is given up after kSilence.
asio::awaitable<error_code> StreamClient::Impl::secure(ClientStream::Tls& tls) {
  const std::string& name = options_.server_name.empty() ? options_.url.host : options_.server_name;
  error_code not_a_name;
  asio::ip::make_address(name, not_a_name);
  if (not_a_name) SSL_set_tlsext_host_name(tls.native_handle(), name.c_str());
  if (SSL_get_verify_mode(tls.native_handle()) != SSL_VERIFY_NONE) {
    tls.set_verify_callback(asio::ssl::host_name_verification(name));
  }
  asio::steady_timer silence(io_, kSilence);
  silence.async_wait([&tls](const error_code& stopped) {
    error_code ignored;
    if (!stopped) tls.next_layer().close(ignored);
  });
  const auto [error] = co_await tls.async_handshake(asio::ssl::stream_base::client, kTuple);
  co_return error;
}

// `status` is 0 where the server did not answer with one.
void StreamClient::Impl::opening_failed(const error_code& error, unsigned status) {
  done_ = status >= 400 && status < 500;
  if (done_) {
    reader_.refused(status);
  } else {
    reader_.failed("cannot subscribe: " + error.message() + ", retrying");
  }
}

StreamClient::StreamClient(const StreamClientOptions& options, StreamReader& reader)
    : impl_(std::make_unique<Impl>(options, reader)) {}
StreamClient::~StreamClient() = default;
void StreamClient::run(const std::stop_token& stop) {
  impl_->run(stop);
}
void StreamClient::acknowledge(std::uint64_t seq) {
  impl_->acknowledge(seq);
}

}  // namespace trainwatch
