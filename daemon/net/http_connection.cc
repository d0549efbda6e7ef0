#include "daemon/net/http_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <utility>

#include "daemon/net/http_routes.h"
#include "daemon/net/ws_session.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
constexpr std::chrono::milliseconds kLinger{1000};

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<NetState> net, asio::ip::tcp::socket socket)
    : net_(std::move(net)), socket_(std::move(socket)), timer_(socket_.get_executor()) {}

void HttpConnection::start() {
  net_->connections.insert(shared_from_this());
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  wait_for_request();
}

void HttpConnection::close() {
  ErrorCode ignored;
  socket_.close(ignored);
  ++deadline_;
  timer_.cancel();
  waiting_.reset();
  net_->connections.erase(shared_from_this());
}

void HttpConnection::set_deadline(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), mine = ++deadline_](const ErrorCode& error) {
    if (!error && mine == self->deadline_) self->expired();
  });
}

void HttpConnection::expired() {
  if (waiting_ == nullptr) return close();
  waiting_.reset();
  refuse(503);
}

void HttpConnection::wait_for_request() {
  if (!input_.empty()) return read_head();  // pipelined
  set_deadline(net_->options.http.idle);
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](const ErrorCode& error) {
                       if (error) return self->close();
                       self->read_head();
                     });
}

void HttpConnection::read_head() {
  set_deadline(net_->options.http.header);
  asio::async_read_until(socket_, asio::dynamic_buffer(input_, kMaxHeadBytes), "\r\n\r\n",
                         [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                           self->head_received(error, size);
                         });
}

void HttpConnection::head_received(const ErrorCode& error, std::size_t size) {
  if (error == asio::error::not_found) {
    return refuse(input_.find('\n') == std::string::npos ? 414 : 431);
  }
  // A read that completed before close() is reported afterwards.
  if (error || !socket_.is_open()) return close();
  const auto parsed = parse_request(std::string_view(input_).substr(0, size));
  input_.erase(0, size);
  if (const int* status = std::get_if<int>(&parsed)) return refuse(*status);
  serve(std::get<HttpRequest>(parsed));
}

void HttpConnection::serve(const HttpRequest& request) {
  auto answered = answer(*net_, request);
  if (auto* waiting = std::get_if<std::shared_ptr<DeferredResponse>>(&answered)) {
    return wait_for(std::move(*waiting), request);
  }
  const auto& response = std::get<HttpResponse>(answered);
  if (response.status != 101)
    return respond(response, request.method == "HEAD", request.keep_alive);
  net_->counters.count_response(response.status);
  upgrade(request);
}

void HttpConnection::wait_for(std::shared_ptr<DeferredResponse> response,
                              const HttpRequest& request) {
  set_deadline(net_->options.http.answer);
  waiting_ = std::move(response);
  // The connection owns it, so its callback never outlives the connection.
  waiting_->later([this, head_only = request.method == "HEAD",
                   keep_alive = request.keep_alive](const HttpResponse& ready) {
    waiting_.reset();
    respond(ready, head_only, keep_alive);
  });
}

void HttpConnection::respond(const HttpResponse& response, bool head_only, bool keep_alive) {
  net_->counters.count_response(response.status);
  send(response, head_only, keep_alive && !net_->closing);
}

void HttpConnection::upgrade(const HttpRequest& request) {
  auto socket = std::move(socket_);
  close();
  // A client may not send before it has our response.
  if (input_.empty()) start_ws_session(net_, std::move(socket), request);
}

void HttpConnection::refuse(int status) {
  respond(error_response(status), false, false);
}

void HttpConnection::send(const HttpResponse& response, bool head_only, bool keep_alive) {
  output_ = serialize(response, head_only, keep_alive);
  sent_ = 0;
  keep_alive_ = keep_alive;
  send_rest();
}

void HttpConnection::send_rest() {
  set_deadline(net_->options.http.write);
  socket_.async_write_some(asio::buffer(output_) + sent_,
                           [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
                             if (error) return self->close();
                             self->sent_ += n;
                             if (self->sent_ < self->output_.size()) return self->send_rest();
                             self->output_ = {};
                             self->keep_alive_ ? self->wait_for_request() : self->linger();
                           });
}

// Closing with unread input would reset the connection, and the client could lose our response.
void HttpConnection::linger() {
  ErrorCode ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  set_deadline(kLinger);
  discard();
}

void HttpConnection::discard() {
  socket_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
                            if (error || n >= self->discard_left_) return self->close();
                            self->discard_left_ -= n;
                            self->discard();
                          });
}

}  // namespace trainwatch
