// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/http_client.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cassert>
#include <optional>

#include "daemon/http_client/client_connection.h"

namespace trainwatch {

namespace asio = boost::asio;

// A request keeps it alive; after abandon() nothing is called back.
class HttpClient::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, HostResolver& resolver, HttpClientOptions options)
      : io_(io), resolver_(resolver), options_(std::move(options)), lookup_timer_(io) {}

  bool busy() const { return busy_; }

  void post(HttpPost post, Done done) {
    assert(!busy_);
    busy_ = true;
    asio::co_spawn(
        io_,
        [self = shared_from_this(), post = std::move(post), done = std::move(done)]() mutable {
          return run(std::move(self), std::move(post), std::move(done));
        },
        asio::detached);
  }

  void abandon() {
    abandoned_ = true;
    lookup_timer_.cancel();
    close();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Endpoints = HostResolver::Endpoints;

  static asio::awaitable<void> run(std::shared_ptr<Impl> self, HttpPost post, Done done) {
    Result<ReceivedResponse> reply = co_await self->answer(std::move(post));
    self->busy_ = false;
    if (!self->abandoned_) done(std::move(reply));
  }

  asio::awaitable<Result<ReceivedResponse>> answer(HttpPost post) {
    const Result<ClientConnection::Request> request = request_of(std::move(post));
    if (!request) co_return request.error();
    if (connection_ != nullptr && Clock::now() < usable_until_) {
      const std::shared_ptr<ClientConnection> kept = connection_;
      Exchange again = co_await kept->exchange(*request);
      keep(again.reusable);
      if (!again.no_answer || abandoned_) co_return std::move(again.reply);
    }
    close();
    const Status opened = co_await connect();
    if (!opened) co_return opened.error();
    const std::shared_ptr<ClientConnection> fresh = connection_;
    Exchange first = co_await fresh->exchange(*request);
    keep(first.reusable);
    co_return std::move(first.reply);
  }

  Result<ClientConnection::Request> request_of(HttpPost post) const {
    namespace http = boost::beast::http;
    const Result<std::string> who = authorization(options_.credentials);
    if (!who) return who.error();
    ClientConnection::Request request(http::verb::post, options_.target.path, 11);
    request.set(http::field::host, options_.target.authority());
    if (!options_.user_agent.empty()) request.set(http::field::user_agent, options_.user_agent);
    request.set(http::field::content_type, post.content_type);
    if (!who->empty()) request.set(http::field::authorization, *who);
    for (const auto& [name, value] : post.headers) request.set(name, value);
    request.body() = std::move(post.body);
    request.prepare_payload();
    return request;
  }

  asio::awaitable<Status> connect() {
    const Result<Endpoints> endpoints = co_await look_up();
    if (!endpoints) co_return endpoints.error();
    auto made = make_client_connection(io_, options_);
    if (!made) co_return made.error();
    connection_ = std::move(*made);
    const std::shared_ptr<ClientConnection> connection = connection_;
    Status opened = co_await connection->open(*endpoints);
    if (!opened) close();
    if (opened && abandoned_) co_return Error{"abandoned"};
    co_return opened;
  }

  asio::awaitable<Result<Endpoints>> look_up() {
    const auto found = std::make_shared<std::optional<Result<Endpoints>>>();
    lookup_timer_.expires_after(options_.limits.resolve);
    resolver_.resolve(options_.target.host, options_.target.port,
                      [weak = weak_from_this(), found](const Result<Endpoints>& result) {
                        *found = result;
                        if (const auto self = weak.lock()) self->lookup_timer_.cancel();
                      });
    co_await lookup_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (abandoned_) co_return Error{"abandoned"};
    if (!found->has_value()) {
      co_return Error{"cannot find host " + options_.target.host + ": timed out"};
    }
    co_return std::move(**found);
  }

  void keep(bool reusable) {
    if (!reusable || abandoned_) return close();
    usable_until_ = Clock::now() + options_.limits.idle;
  }

  void close() {
    if (connection_ != nullptr) connection_->close();
    connection_.reset();
  }

  asio::io_context& io_;
  HostResolver& resolver_;
  const HttpClientOptions options_;
  asio::steady_timer lookup_timer_;
  std::shared_ptr<ClientConnection> connection_;  // open, or being opened
  Clock::time_point usable_until_{};
  bool busy_ = false;
  bool abandoned_ = false;
};

HttpClient::HttpClient(asio::io_context& io, HostResolver& resolver, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(io, resolver, std::move(options))) {}

HttpClient::~HttpClient() {
  impl_->abandon();
}

void HttpClient::post(HttpPost request, Done done) {
  impl_->post(std::move(request), std::move(done));
}

bool HttpClient::busy() const {
  return impl_->busy();
}

}  // namespace trainwatch
