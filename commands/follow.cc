#include <simdjson.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <iostream>

#include "commands/commands.h"
#include "daemon/net/stream_protocol.h"
#include "daemon/net/url.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using Socket = websocket::stream<tcp::socket, false>;
using boost::system::error_code;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// The server sends a heartbeat every five seconds; silence means that it is gone.
constexpr std::chrono::seconds kSilence{30};
constexpr std::chrono::milliseconds kAckEvery{100};
constexpr std::string_view kAlertHead = R"({"op":"alert",)";

// Acknowledges what was printed: the server accepts 20 messages a second, so at most one per
// kAckEvery, and always the last.
class AckWriter : public std::enable_shared_from_this<AckWriter> {
 public:
  explicit AckWriter(std::shared_ptr<Socket> socket)
      : socket_(std::move(socket)), timer_(socket_->get_executor()) {}

  void printed(std::uint64_t seq) {
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

  std::shared_ptr<Socket> socket_;
  asio::steady_timer timer_;
  std::uint64_t seq_ = 0;
  std::uint64_t written_ = 0;
  bool busy_ = false;
  std::string text_;
};

class FollowClient {
 public:
  FollowClient(asio::io_context& io, const FollowOptions& options, StreamUrl url)
      : options_(options),
        url_(std::move(url)),
        out_(options.out != nullptr ? *options.out : std::cout),
        err_(options.err != nullptr ? *options.err : std::cerr),
        resolver_(io),
        after_(options.after) {}

  // Ends with a failure that a retry cannot fix.
  asio::awaitable<void> run();
  int exit_code() const { return exit_code_; }

 private:
  asio::awaitable<void> serve_connection();
  asio::awaitable<error_code> open(Socket& socket);
  void opening_failed(const error_code& error, int status);
  bool take(const std::string& message);
  void greeted(std::string_view epoch, std::uint64_t last_seq);
  bool print_alert(const std::string& message, std::uint64_t seq);
  std::string target() const;
  void fail(const std::string& why);

  const FollowOptions& options_;
  StreamUrl url_;
  std::ostream& out_;
  std::ostream& err_;
  tcp::resolver resolver_;
  simdjson::dom::parser parser_;
  std::optional<std::uint64_t> after_;
  std::string epoch_;
  std::shared_ptr<AckWriter> acks_;  // of the current connection, under a name
  std::chrono::milliseconds wait_{};
  bool done_ = false;
  int exit_code_ = 0;
};

asio::awaitable<void> FollowClient::run() {
  wait_ = options_.first_wait;
  asio::steady_timer timer(resolver_.get_executor());
  while (!done_) {
    co_await serve_connection();
    if (done_) co_return;
    timer.expires_after(wait_);
    wait_ = std::min(wait_ * 2, options_.last_wait);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

void FollowClient::fail(const std::string& why) {
  err_ << "trainwatch follow: " << why << std::endl;
  done_ = true;
  exit_code_ = 1;
}

std::string FollowClient::target() const {
  std::string text = url_.path;
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += text.find('?') == std::string::npos ? '?' : '&';
    text.append(name).append("=").append(value);
  };
  if (after_) add("after", std::to_string(*after_));
  if (!epoch_.empty()) add("epoch", epoch_);
  if (!options_.name.empty()) add("name", options_.name);
  if (!options_.rule.empty()) add("rules", options_.rule);
  return text;
}

void FollowClient::opening_failed(const error_code& error, int status) {
  if (status >= 400 && status < 500) {
    fail("the server refused the subscription with status " + std::to_string(status));
  } else {
    err_ << "trainwatch follow: cannot subscribe: " << error.message() << ", retrying" << std::endl;
  }
}

asio::awaitable<error_code> FollowClient::open(Socket& socket) {
  const auto [unknown, places] = co_await resolver_.async_resolve(url_.host, url_.port, kTuple);
  if (unknown) co_return unknown;
  auto& connection = beast::get_lowest_layer(socket);
  const auto [unreachable, place] = co_await asio::async_connect(connection, places, kTuple);
  if (unreachable) co_return unreachable;
  connection.set_option(tcp::no_delay(true));
  socket.set_option(websocket::stream_base::timeout{kSilence, kSilence, true});
  socket.read_message_max(4U << 20U);
  const std::string origin = "http://" + url_.authority();
  socket.set_option(websocket::stream_base::decorator([origin](websocket::request_type& request) {
    request.set(beast::http::field::sec_websocket_protocol, beast::string_view(kStreamProtocol));
    request.set(beast::http::field::origin, origin);
  }));
  websocket::response_type response;
  const auto [refused] =
      co_await socket.async_handshake(response, url_.authority(), target(), kTuple);
  if (refused == websocket::error::upgrade_declined) {
    opening_failed(refused, static_cast<int>(response.result_int()));
  }
  co_return refused;
}

asio::awaitable<void> FollowClient::serve_connection() {
  const auto socket = std::make_shared<Socket>(resolver_.get_executor());
  if (const auto error = co_await open(*socket)) {
    if (!done_ && error != websocket::error::upgrade_declined) opening_failed(error, 0);
    co_return;
  }
  if (!options_.name.empty()) acks_ = std::make_shared<AckWriter>(socket);
  beast::flat_buffer buffer;
  while (true) {
    const auto [error, size] = co_await socket->async_read(buffer, kTuple);
    if (error) {
      err_ << "trainwatch follow: connection lost: " << error.message() << ", reconnecting"
           << std::endl;
      acks_.reset();
      co_return;
    }
    const bool go_on = take(beast::buffers_to_string(buffer.data()));
    buffer.consume(buffer.size());
    if (!go_on) co_return;
  }
}

// False if following makes no sense any more.
bool FollowClient::take(const std::string& message) {
  simdjson::dom::element document;
  std::string_view op;
  if (parser_.parse(message).get(document) != simdjson::SUCCESS ||
      document["op"].get_string().get(op) != simdjson::SUCCESS) {
    fail("the server does not speak " + std::string(kStreamProtocol));
    return false;
  }
  const auto number = [&document](const char* name) {
    std::uint64_t value = 0;
    return document[name].get_uint64().get(value) == simdjson::SUCCESS ? value : 0;
  };
  if (op == "alert") return print_alert(message, number("seq"));
  if (op == "error") err_ << "trainwatch follow: server error: " << message << std::endl;
  std::string_view epoch;
  if (document["epoch"].get_string().get(epoch) != simdjson::SUCCESS) epoch = {};
  if (op == "hello") {
    greeted(epoch, number("last_seq"));
  } else if (op == "reset") {
    err_ << "trainwatch follow: reset: the server started a new sequence, epoch " << epoch
         << std::endl;
    epoch_ = epoch;
    after_ = 0;
  } else if (op == "gap") {
    err_ << "trainwatch follow: gap: alerts " << number("from") << " to " << number("to")
         << " are no longer available" << std::endl;
    after_ = number("to");
  }
  return true;
}

void FollowClient::greeted(std::string_view epoch, std::uint64_t last_seq) {
  wait_ = options_.first_wait;
  if (epoch_.empty()) epoch_ = epoch;
  // With a name, the server knows the position until something is printed.
  if (!after_ && options_.name.empty()) after_ = last_seq;
}

// A provisional alert has no number, so the position stays.
bool FollowClient::print_alert(const std::string& message, std::uint64_t seq) {
  const std::string_view text = message;
  if (text.starts_with(kAlertHead)) {
    out_ << '{' << text.substr(kAlertHead.size()) << std::endl;
  } else {
    out_ << text << std::endl;
  }
  if (!out_) {
    fail("cannot write the output");
    return false;
  }
  if (seq == 0) return true;
  after_ = seq;
  if (acks_) acks_->printed(seq);
  return true;
}

}  // namespace

int follow(const FollowOptions& options) {
  const auto url = parse_stream_url(options.url);
  if (!url) {
    (options.err != nullptr ? *options.err : std::cerr)
        << "trainwatch follow: " << url.error().message << std::endl;
    return 2;
  }
  asio::io_context io(1);
  FollowClient client(io, options, *url);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&io](const error_code& error, int) {
    if (!error) io.stop();
  });
  const std::stop_callback stop(options.stop, [&io] { io.stop(); });
  asio::co_spawn(io, client.run(), [&io](const std::exception_ptr&) { io.stop(); });
  io.run();
  return client.exit_code();
}

}  // namespace trainwatch
