// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/ws_session.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket.hpp>
#include <optional>
#include <utility>

#include "daemon/net/immediate_frames.h"
#include "daemon/net/liveness.h"
#include "daemon/net/stream_feed.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

// Clients are looked after at least this often, however rare heartbeats are.
constexpr std::chrono::milliseconds kTick{5'000};

Disconnect reason_of(const error_code& error) {
  if (error == websocket::error::closed) return Disconnect::client;
  if (error == websocket::condition::protocol_violation ||
      error == websocket::error::message_too_big || error == websocket::error::bad_frame_payload) {
    return Disconnect::protocol;
  }
  return Disconnect::network;
}

class Session final : public WsSession, public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<NetState> net, ClientStream stream, ClientAddress from,
          const Subscription& subscription)
      : net_(std::move(net)),
        from_(std::move(from)),
        limits_(net_->options.limits.ws),
        ws_(std::move(stream)),
        timer_(ws_.get_executor()),
        feed_(net_->hub, net_->names, subscription) {
    feed_.offer_status(net_->snapshot);
  }

  void accept(const HttpRequest& request);

  void alerts_published() override { pump(); }
  void provisional_alerts(const std::vector<PublishedAlertPtr>& alerts) override {
    for (const auto& alert : alerts) {
      if (!feed_.offer_provisional(alert)) ++net_->counters.provisional_dropped;
    }
    pump();
  }
  void status_changed() override {
    if (feed_.offer_status(net_->snapshot)) pump();
  }
  void steps_closed(const std::shared_ptr<const Snapshot>& snapshot) override {
    if (feed_.offer_steps(snapshot)) pump();
  }
  void tensors_saved(const std::shared_ptr<const TensorNews>& news) override {
    if (feed_.offer_tensors(news)) pump();
  }
  bool wants_tensors() const override { return open_ && !ending_ && feed_.wants_tensors(); }
  bool needs_store() const override {
    const bool stuck = writing_ && Clock::now() - write_start_ > limits_.close;
    return open_ && !ending_ && !stuck && feed_.needs_store();
  }
  void shut_down() override;

 private:
  void configure(bool answer_protocol);
  void accepted(const error_code& error);
  void read();
  void received();
  void apply(const Subscription& subscription);
  void heard();
  void refuse_close_code();
  void pump();
  void send();
  std::optional<Frame> send_at_once();
  void request_page();
  void page_received(AlertStoreClient::Page page);
  void written(const error_code& error);
  void note_lag();
  void arm_tick();
  void tick();
  void ping();
  void end(websocket::close_code code, Disconnect why);
  void break_off();
  void finish(Disconnect why);

  std::shared_ptr<NetState> net_;
  ClientAddress from_;
  WsLimits limits_;
  websocket::stream<ClientStream, false> ws_;
  asio::steady_timer timer_;  // the tick, then the timeout of draining and closing
  StreamFeed feed_;
  beast::flat_buffer input_;
  ImmediateFrames immediate_;
  Frame frame_;        // being written while writing_
  bool open_ = false;  // the handshake is done
  bool writing_ = false;
  bool pinging_ = false;
  bool store_rests_ = false;  // it failed; retried at the next tick
  bool draining_ = false;     // the server is stopping: published alerts go out before the close
  bool ending_ = false;
  bool finished_ = false;
  Liveness liveness_{Clock::now()};
  Clock::time_point write_start_{};
  Clock::time_point next_heartbeat_{};
  std::optional<Clock::time_point> behind_since_;
};

void Session::configure(bool answer_protocol) {
  ws_.set_option(websocket::stream_base::timeout{std::chrono::seconds(5),
                                                 websocket::stream_base::none(), false});
  ws_.set_option(websocket::stream_base::decorator([answer_protocol,
                                                    access = net_->access](auto& response) {
    response.set(beast::http::field::server, "trainwatch");
    for (const auto& [name, value] : security_headers()) response.set(name, value);
    for (const auto& [name, value] : access->headers) {
      value.empty() ? void(response.erase(name)) : response.set(name, value);
    }
    if (answer_protocol) {
      response.set(beast::http::field::sec_websocket_protocol, beast::string_view(kStreamProtocol));
    }
  }));
  ws_.read_message_max(limits_.message_bytes);
  ws_.auto_fragment(false);
  ws_.text(true);
  ws_.control_callback([this](websocket::frame_type type, beast::string_view) {
    if (type == websocket::frame_type::close) refuse_close_code();
    ClientStream& stream = ws_.next_layer();
    if (stream.tls() == nullptr) immediate_.before_answer(stream.socket());
    heard();
  });
}

void Session::accept(const HttpRequest& request) {
  net_->sessions.add(shared_from_this());
  if (net_->sources.refresh) net_->sources.refresh([] {});
  net_->table.count(from_);
  configure(offers_stream_protocol(request.header("Sec-WebSocket-Protocol")));
  beast::http::request<beast::http::empty_body> head;
  head.method_string(request.method);
  head.target(request.target);
  head.version(request.version);
  for (const auto& [name, value] : request.headers) head.insert(name, value);
  ws_.async_accept(head,
                   [self = shared_from_this()](const error_code& error) { self->accepted(error); });
}

void Session::accepted(const error_code& error) {
  if (ending_) return;
  if (error) return finish(Disconnect::protocol);
  open_ = true;
  ++net_->counters.ws_subscribers;
  liveness_ = Liveness(Clock::now());
  read();
  arm_tick();
  pump();
}

// Not async_read(): between the pieces of a message it assumes that nobody else has read, which
// async_close() does, and aborts (Boost 1.81).
void Session::read() {
  constexpr std::size_t kPiece = 1536;
  ws_.async_read_some(input_.prepare(kPiece),
                      [self = shared_from_this()](const error_code& error, std::size_t size) {
                        if (self->ending_) return;  // whoever set it also finishes
                        if (error == websocket::error::message_too_big) {
                          self->net_->counters.hit(Limit::message_bytes);
                        }
                        if (error) return self->finish(reason_of(error));
                        self->input_.commit(size);
                        self->ws_.is_message_done() ? self->received() : self->read();
                      });
}

void Session::received() {
  if (!ws_.got_text()) return end(websocket::close_code::unknown_data, Disconnect::protocol);
  heard();
  const auto data = input_.cdata();
  const auto message = parse_client_message({static_cast<const char*>(data.data()), data.size()});
  input_.clear();
  if (std::holds_alternative<NotJson>(message)) {
    return end(websocket::close_code::bad_payload, Disconnect::protocol);
  }
  if (const auto* subscription = std::get_if<Subscription>(&message)) {
    const std::string unknown = unknown_rule(net_->options.rules, subscription->filter);
    unknown.empty() ? apply(*subscription) : feed_.refuse(unknown);
  }
  if (const auto* ack = std::get_if<Ack>(&message)) feed_.acknowledge(ack->seq);
  if (const auto* refusal = std::get_if<Refusal>(&message)) feed_.refuse(refusal->message);
  pump();
  if (!ending_) read();
}

void Session::apply(const Subscription& subscription) {
  feed_.subscribe(subscription);
  feed_.offer_status(net_->snapshot);
  behind_since_.reset();
}

void Session::heard() {
  if (!liveness_.heard(Clock::now(), limits_.messages_per_second)) return;
  net_->counters.hit(Limit::message_rate);
  // Not within this call, which may be inside a read.
  asio::post(ws_.get_executor(), [self = shared_from_this()] {
    self->end(websocket::close_code::policy_error, Disconnect::protocol);
  });
}

// No code above 4999 is defined (RFC 6455, 7.4.2), but Beast would send it back as a normal close.
// As it is about to do so, this socket ends here; the client gets an error, unless that would
// cut a frame.
void Session::refuse_close_code() {
  constexpr std::uint16_t kLastCode = 4999;
  if (ws_.reason().code <= kLastCode) return;
  error_code ignored;
  ClientStream& stream = ws_.next_layer();
  static constexpr unsigned char kProtocolError[] = {0x88, 0x02, 0x03, 0xEA};
  if (!writing_ && !pinging_ && stream.tls() == nullptr) {
    stream.socket().write_some(asio::buffer(kProtocolError), ignored);
  }
  stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Session::pump() {
  if (!open_ || ending_) return;
  if (!writing_) send();
  note_lag();
}

void Session::send() {
  auto frame = send_at_once();
  if (writing_ || ending_) return;
  if (!frame && draining_) return end(websocket::close_code::going_away, Disconnect::shutdown);
  if (!frame) return request_page();
  frame_ = std::move(*frame);
  writing_ = true;
  immediate_.before_write();
  write_start_ = Clock::now();
  const std::array<asio::const_buffer, 2> parts{asio::buffer(frame_.head),
                                                asio::buffer(frame_.body)};
  ws_.async_write(parts, [self = shared_from_this()](const error_code& error, std::size_t) {
    self->written(error);
  });
}

// Sends frames until the socket is busy. Returns the frame that is left for Beast, if any.
std::optional<Frame> Session::send_at_once() {
  ClientStream& stream = ws_.next_layer();
  while (auto frame = feed_.next()) {
    if (pinging_ || stream.tls() != nullptr) return frame;
    const auto sent = immediate_.send(stream.socket(), frame->head, frame->body);
    if (sent == ImmediateFrames::Sent::nothing) return frame;
    if (sent == ImmediateFrames::Sent::broken) {
      break_off();
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void Session::request_page() {
  const auto after = store_rests_ ? std::nullopt : feed_.ask_page();
  if (!after) return;
  behind_since_.reset();  // now the client waits for us
  net_->alert_store.fetch(*after, kAlertPage,
                          [weak = weak_from_this()](AlertStoreClient::Page page) {
                            if (const auto self = weak.lock()) self->page_received(std::move(page));
                          });
}

void Session::page_received(AlertStoreClient::Page page) {
  store_rests_ = !page.ok();
  feed_.take_page(std::move(page));
  pump();
}

void Session::written(const error_code& error) {
  if (error) return;  // the read fails as well, and knows the reason better
  writing_ = false;
  pump();
}

void Session::note_lag() {
  const bool waits_for_us = feed_.waits_for_page() || store_rests_;
  if (waits_for_us || !feed_.was_live() || feed_.queued_bytes() <= limits_.queue_bytes) {
    behind_since_.reset();
  } else if (!behind_since_) {
    behind_since_ = Clock::now();
  }
}

void Session::arm_tick() {
  timer_.expires_after(std::min(limits_.heartbeat, kTick));
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->ending_ && !self->draining_) self->tick();
  });
}

void Session::tick() {
  const auto now = Clock::now();
  const bool stalled = writing_ && now - write_start_ > limits_.stall;
  const bool behind = behind_since_ && now - *behind_since_ > limits_.lag_time;
  if (stalled || behind) {
    net_->counters.hit(stalled ? Limit::stall_time : Limit::queue_bytes);
    return end(websocket::close_code::try_again_later, Disconnect::slow);
  }
  const auto due = liveness_.due(now, limits_.ping);
  if (due == Liveness::Due::give_up) {
    net_->counters.hit(Limit::ping_interval);
    return finish(Disconnect::timeout);
  }
  if (due == Liveness::Due::ping) ping();
  store_rests_ = false;
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + limits_.heartbeat;
    feed_.offer_heartbeat(net_->snapshot ? net_->snapshot->lag_seconds : 0);
  }
  pump();
  arm_tick();
}

void Session::ping() {
  if (pinging_) return;  // the previous one still waits behind a write
  pinging_ = true;
  immediate_.before_write();
  ws_.async_ping({}, [self = shared_from_this()](const error_code&) { self->pinging_ = false; });
}

void Session::shut_down() {
  if (ending_ || draining_) return;
  if (!open_) return finish(Disconnect::shutdown);
  draining_ = true;
  timer_.expires_after(limits_.close);  // a client that does not read is cut
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->ending_) self->finish(Disconnect::shutdown);
  });
  pump();
}

void Session::end(websocket::close_code code, Disconnect why) {
  if (ending_) return;
  if (!open_) return finish(why);
  ending_ = true;
  timer_.expires_after(limits_.close);
  timer_.async_wait([self = shared_from_this(), why](const error_code& error) {
    if (!error) self->finish(why);
  });
  ws_.async_close(code, [self = shared_from_this(), why](const error_code&) { self->finish(why); });
}

// The connection is of no more use. Not within the call, which may go through all sessions.
void Session::break_off() {
  ending_ = true;
  asio::post(ws_.get_executor(),
             [self = shared_from_this()] { self->finish(Disconnect::network); });
}

void Session::finish(Disconnect why) {
  if (std::exchange(finished_, true)) return;
  ending_ = true;
  timer_.cancel();
  ws_.next_layer().close();
  if (open_) {
    --net_->counters.ws_subscribers;
    net_->counters.count_disconnect(why);
  }
  net_->table.forget(from_);
  const auto self = shared_from_this();  // the list may hold the last reference
  net_->sessions.remove(*this);
}

}  // namespace

void start_ws_session(std::shared_ptr<NetState> net, ClientStream stream, ClientAddress from,
                      const HttpRequest& request) {
  const auto subscription = subscription_from_query(request.query());
  if (!subscription) return;
  std::make_shared<Session>(std::move(net), std::move(stream), std::move(from), *subscription)
      ->accept(request);
}

}  // namespace trainwatch
