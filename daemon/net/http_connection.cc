// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/http_connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <utility>

#include "daemon/net/http_routes.h"
#include "daemon/net/ws_session.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
using Phase = ConnectionTable::Phase;
using std::chrono::milliseconds;
constexpr milliseconds kLinger{1000};

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<NetState> net, ClientStream stream,
                               ClientAddress from, ConnectionTable::Id id)
    : net_(std::move(net)),
      limits_(net_->options.limits.http),
      stream_(std::move(stream)),
      from_(std::move(from)),
      id_(id),
      timer_(stream_.get_executor()) {}

void HttpConnection::start() {
  net_->connections.emplace(id_, shared_from_this());
  ErrorCode ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  stream_.tls() != nullptr ? shake_hands() : read_head();
}

void HttpConnection::close() {
  stream_.close();
  ++deadline_;
  timer_.cancel();
  waiting_.reset();
  login_.reset();
  net_->unsent_bytes -= std::exchange(output_, {}).memory();
  net_->table.remove(id_);
  net_->connections.erase(id_);
}

void HttpConnection::enter(Phase phase) {
  net_->table.enter(id_, phase, Clock::now());
}

void HttpConnection::set_deadline(milliseconds time, Limit limit) {
  waits_for_ = limit;
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), mine = ++deadline_](const ErrorCode& error) {
    if (!error && mine == self->deadline_) self->expired();
  });
}

void HttpConnection::expired() {
  if (waits_for_ == Limit::write_time && !reads_too_slowly()) return start_write_period();
  net_->counters.hit(waits_for_);
  const auto waiting = std::exchange(waiting_, nullptr);
  waiting == nullptr ? close() : respond(waiting->instead(), head_only_, false);
}

void HttpConnection::shake_hands() {
  set_deadline(limits_.header, Limit::header_time);
  stream_.tls()->async_handshake(
      asio::ssl::stream_base::server,
      [self = shared_from_this()](const ErrorCode& error) { self->hands_shaken(error); });
}

void HttpConnection::hands_shaken(const ErrorCode& error) {
  if (!stream_.is_open()) return;
  if (!error) {
    enter(Phase::fresh);  // it has come so far: others give way before it
    return read_head();
  }
  ++net_->counters.tls_handshakes_failed;
  const bool speaks_http = error.category() == asio::error::get_ssl_category() &&
                           ERR_GET_REASON(error.value()) == SSL_R_HTTP_REQUEST;
  if (!speaks_http) return close();
  stream_.drop_tls();
  keep_alive_ = false;
  request_end_ = Clock::now() + limits_.request;
  respond(error_response(400, "the server speaks TLS: use https://"), false, false);
}

void HttpConnection::wait_for_request() {
  enter(Phase::idle);
  if (!input_.empty()) return wait_for_turn();  // pipelined
  pipelined_ = 0;
  set_deadline(limits_.idle, Limit::idle_time);
  stream_.async_read_some(asio::buffer(piece_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
                            if (error || !self->stream_.is_open()) return self->close();
                            self->input_.assign(self->piece_.data(), n);
                            self->read_head();
                          });
}

// Pipelined requests of all connections are served one by one, each after what else there is to do:
// they cost a client next to nothing, and must not delay those who ask and wait.
void HttpConnection::wait_for_turn() {
  set_deadline(limits_.idle, Limit::idle_time);
  net_->pipelined.push_back(shared_from_this());
  if (net_->pipelined.size() == 1) {
    asio::post(stream_.get_executor(), [net = net_] { next_turn(net); });
  }
}

void HttpConnection::next_turn(const std::shared_ptr<NetState>& net) {
  const auto self = net->pipelined.front();
  if (self->stream_.is_open()) self->read_head();
  net->pipelined.pop_front();
  if (net->pipelined.empty()) return;
  asio::post(net->pipelined.front()->timer_.get_executor(), [net] { next_turn(net); });
}

void HttpConnection::read_head() {
  set_deadline(limits_.header, Limit::header_time);
  asio::async_read_until(stream_, asio::dynamic_buffer(input_, limits_.head_bytes), "\r\n\r\n",
                         [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                           self->head_received(error, size);
                         });
}

void HttpConnection::head_received(const ErrorCode& error, std::size_t size) {
  // A read that completed before close() is reported afterwards.
  if (!stream_.is_open()) return;
  request_end_ = Clock::now() + limits_.request;
  if (error == asio::error::not_found) {
    const bool target = input_.find('\n') == std::string::npos;
    net_->counters.hit(target ? Limit::target_bytes : Limit::head_bytes);
    return refuse(target ? 414 : 431);
  }
  if (error) return close();
  auto parsed = parse_request(std::string_view(input_).substr(0, size), limits_);
  input_.erase(0, size);
  if (const auto* refusal = std::get_if<RequestRefusal>(&parsed)) {
    if (refusal->limit) net_->counters.hit(*refusal->limit);
    return refuse(refusal->status);
  }
  ++pipelined_;
  read_body(std::move(std::get<HttpRequest>(parsed)));
}

void HttpConnection::read_body(HttpRequest request) {
  const std::size_t size = body_size(request);
  if (input_.size() >= size) {
    request.body = input_.substr(0, size);
    input_.erase(0, size);
    return serve(std::move(request));
  }
  // Within the deadline of the head.
  asio::async_read(stream_, asio::dynamic_buffer(input_),
                   asio::transfer_exactly(size - input_.size()),
                   [self = shared_from_this(), request = std::move(request)](const ErrorCode& error,
                                                                             std::size_t) mutable {
                     if (!self->stream_.is_open()) return;
                     if (error) return self->close();
                     self->read_body(std::move(request));
                   });
}

void HttpConnection::serve(HttpRequest request) {
  vital_ = from_.loopback && is_vital(request);
  const auto start = net_->table.start(id_, vital_, Clock::now());
  if (start.gives_way) net_->drop(*start.gives_way);
  if (start.gives_way || !start.allowed) net_->counters.refuse(Limit::connections);
  if (!start.allowed) return refuse(503);
  if (!net_->rate.take(Clock::now())) {
    return respond(error_response(429), request.method == "HEAD", request.keep_alive);
  }
  net_->access->users.empty() ? answer_request(request) : log_in(std::move(request));
}

void HttpConnection::log_in(HttpRequest request) {
  const auto& users = net_->access->users;
  const std::string header(request.count("Authorization") == 1 ? request.header("Authorization")
                                                               : std::string_view{});
  if (const auto known = net_->login.known(users, header)) return logged_in(*known, request);
  enter(Phase::login);
  set_deadline(limits_.request, Limit::request_time);
  // The connection owns the ticket, so this is never called after its end.
  login_ = net_->login.check(users, header, from_.group,
                             [this, request = std::move(request)](LoginAnswer answer) {
                               const auto self = shared_from_this();
                               const auto kept = std::exchange(login_, nullptr);
                               enter(Phase::answering);
                               logged_in(answer, request);
                             });
}

void HttpConnection::logged_in(LoginAnswer login, const HttpRequest& request) {
  if (login == LoginAnswer::allowed) return answer_request(request);
  if (login == LoginAnswer::refused && request.count("Authorization") > 0) {
    ++net_->counters.logins_refused;
  }
  auto response = error_response(login == LoginAnswer::busy ? 503 : 401);
  if (login == LoginAnswer::busy) {
    response.headers.emplace_back("Retry-After", "1");
  } else {
    response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"trainwatch\"");
  }
  respond(std::move(response), request.method == "HEAD", request.keep_alive);
}

void HttpConnection::answer_request(const HttpRequest& request) {
  auto answered = answer(*net_, request);
  if (auto* waiting = std::get_if<std::shared_ptr<DeferredResponse>>(&answered)) {
    return wait_for(std::move(*waiting), request);
  }
  auto& response = std::get<HttpResponse>(answered);
  if (response.status != 101) {
    return respond(std::move(response), request.method == "HEAD", request.keep_alive);
  }
  net_->counters.count_response(response.status);
  upgrade(request);
}

void HttpConnection::wait_for(std::shared_ptr<DeferredResponse> response,
                              const HttpRequest& request) {
  if (net_->table.in(Phase::waiting) >= limits_.waiting) {
    net_->counters.hit(Limit::waiting);
    return respond(response->instead(), request.method == "HEAD", request.keep_alive);
  }
  enter(Phase::waiting);
  head_only_ = request.method == "HEAD";
  set_deadline(response->patience(limits_), Limit::answer_time);
  waiting_ = std::move(response);
  // The connection owns it, so its callback never outlives the connection.
  waiting_->later([this, keep_alive = request.keep_alive](HttpResponse ready) {
    waiting_.reset();
    respond(std::move(ready), head_only_, keep_alive);
  });
}

void HttpConnection::upgrade(const HttpRequest& request) {
  auto stream = std::move(stream_);
  const bool sent_early = !input_.empty();  // a client may not send before it has our response
  close();
  if (!sent_early) start_ws_session(net_, std::move(stream), from_, request);
}

void HttpConnection::refuse(int status) {
  respond(error_response(status), false, false);
}

void HttpConnection::respond(HttpResponse response, bool head_only, bool keep_alive) {
  const bool too_many = pipelined_ >= limits_.pipelined && !input_.empty();
  if (too_many) net_->counters.hit(Limit::pipelined);
  keep_alive_ = keep_alive && !too_many && !net_->closing;
  enter(Phase::answering);
  const std::uint64_t size = response.content_size();
  if (!make_room(response.stored_body ? SerializedResponse::kPieceBytes : size)) {
    net_->counters.hit(Limit::unsent_bytes);
    response = error_response(503);
  }
  net_->counters.count_response(response.status);
  if (response.stored_body) request_end_ = Clock::now() + time_to_send(size);
  const auto& configured = net_->access->headers;
  response.headers.insert(response.headers.end(), configured.begin(), configured.end());
  output_ = SerializedResponse(std::move(response), head_only, keep_alive_);
  net_->unsent_bytes += output_.memory();
  sent_ = 0;
  start_write_period();
  send_rest();
}

// Whether a response of this size may wait for its client. Responses that are not read give way.
bool HttpConnection::make_room(std::size_t bytes) {
  const auto full = [&] {
    return net_->unsent_bytes > 0 && net_->unsent_bytes + bytes > limits_.unsent_bytes;
  };
  while (full()) {
    const auto reader = net_->table.drop_reader(vital_, id_, Clock::now());
    if (!reader) return false;
    net_->counters.hit(Limit::unsent_bytes);
    net_->drop(*reader);
  }
  return true;
}

void HttpConnection::start_write_period() {
  sent_before_ = sent_;
  const auto left = std::chrono::ceil<milliseconds>(request_end_ - Clock::now());
  if (left <= limits_.write)
    return set_deadline(std::max(left, milliseconds{0}), Limit::request_time);
  set_deadline(limits_.write, Limit::write_time);
}

bool HttpConnection::reads_too_slowly() const {
  const auto wanted = limits_.min_rate * static_cast<std::uint64_t>(limits_.write.count()) / 1000;
  return sent_ - sent_before_ < std::max<std::uint64_t>(wanted, 1);
}

// Stored bodies may be large, and hold little memory while they are sent.
std::chrono::milliseconds HttpConnection::time_to_send(std::uint64_t bytes) const {
  return limits_.request + milliseconds(1000 * bytes / HttpLimits::kStoredRate);
}

void HttpConnection::send_rest() {
  const auto next = output_.after(sent_);
  if (!next) return close();
  const std::array rest{asio::buffer((*next)[0]), asio::buffer((*next)[1])};
  stream_.async_write_some(rest,
                           [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
                             if (error || !self->stream_.is_open()) return self->close();
                             self->sent_ += n;
                             if (self->sent_ < self->output_.size()) return self->send_rest();
                             self->sent();
                           });
}

void HttpConnection::sent() {
  net_->unsent_bytes -= std::exchange(output_, {}).memory();
  keep_alive_ ? wait_for_request() : linger();
}

// Closing with unread input would reset the connection, and the client could lose our response.
void HttpConnection::linger() {
  enter(Phase::closing);
  set_deadline(kLinger, Limit::idle_time);
  if (stream_.tls() != nullptr) {
    return stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) { self->close(); });
  }
  ErrorCode ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  discard();
}

void HttpConnection::discard() {
  stream_.async_read_some(asio::buffer(piece_),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
                            if (error || n >= self->discard_left_) return self->close();
                            self->discard_left_ -= n;
                            self->discard();
                          });
}

}  // namespace trainwatch
