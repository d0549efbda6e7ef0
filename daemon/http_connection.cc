#include "daemon/http_connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <array>
#include <utility>

#include "daemon/http_routes.h"
#include "daemon/ws_session.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLinger{1000};

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<NetState> net, asio::ip::tcp::socket socket)
    : net_(std::move(net)), socket_(std::move(socket)), timer_(socket_.get_executor()) {}

void HttpConnection::start() {
  net_->connections.insert(shared_from_this());
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->run(); }, asio::detached);
}

void HttpConnection::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  ++deadline_;
  timer_.cancel();
}

void HttpConnection::set_deadline(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), mine = ++deadline_](const auto& error) {
    if (!error && mine == self->deadline_) self->close();
  });
}

asio::awaitable<void> HttpConnection::run() {
  while (co_await serve_one() == Next::request) {
  }
  close();
  net_->connections.erase(shared_from_this());
}

asio::awaitable<HttpConnection::Next> HttpConnection::serve_one() {
  if (buffer_.empty()) {
    set_deadline(net_->options.http.idle);
    const auto [error] = co_await socket_.async_wait(asio::socket_base::wait_read, kTuple);
    if (error) co_return Next::end;
  }
  set_deadline(net_->options.http.header);
  const auto [error, size] = co_await asio::async_read_until(
      socket_, asio::dynamic_buffer(buffer_, kMaxHeadBytes), "\r\n\r\n", kTuple);
  if (error == asio::error::not_found) {
    co_await refuse(buffer_.find('\n') == std::string::npos ? 414 : 431);
    co_return Next::end;
  }
  if (error) co_return Next::end;

  const auto parsed = parse_request(std::string_view(buffer_).substr(0, size));
  buffer_.erase(0, size);
  if (const int* status = std::get_if<int>(&parsed)) {
    co_await refuse(*status);
    co_return Next::end;
  }
  const auto& request = std::get<HttpRequest>(parsed);
  const auto reply = answer(*net_, request);
  net_->counters.count_reply(reply.status);
  if (reply.status == 101) {
    upgrade(request);
    co_return Next::end;
  }
  const bool keep_alive = request.keep_alive && !net_->closing;
  const bool sent = co_await send(reply, request.method == "HEAD", keep_alive);
  if (sent && !keep_alive) co_await linger();
  co_return sent && keep_alive ? Next::request : Next::end;
}

asio::awaitable<void> HttpConnection::refuse(int status) {
  net_->counters.count_reply(status);
  const auto reply = error_reply(status);
  if (co_await send(reply, false, false)) co_await linger();
}

asio::awaitable<bool> HttpConnection::send(const HttpReply& reply, bool head_only,
                                           bool keep_alive) {
  const std::string bytes = serialize(reply, head_only, keep_alive);
  std::size_t done = 0;
  while (done < bytes.size()) {
    set_deadline(net_->options.http.write);
    const auto [error, n] =
        co_await socket_.async_write_some(asio::buffer(bytes.data() + done, bytes.size() - done),
                                          kTuple);
    if (error) co_return false;
    done += n;
  }
  co_return true;
}

// Closing with unread input would reset the connection, and the client could lose our answer.
asio::awaitable<void> HttpConnection::linger() {
  boost::system::error_code failed;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  set_deadline(kLinger);
  std::array<char, 4096> thrown_away;
  std::size_t left = 16 * thrown_away.size();
  while (!failed && left > 0) {
    const auto [error, n] = co_await socket_.async_read_some(asio::buffer(thrown_away), kTuple);
    failed = error;
    left -= std::min(left, n);
  }
}

void HttpConnection::upgrade(const HttpRequest& request) {
  ++deadline_;
  timer_.cancel();
  // A client may not talk before it has our answer.
  if (!buffer_.empty()) return;
  start_ws_session(net_, std::move(socket_), request);
}

}  // namespace trainwatch
