// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "daemon/net/http_connection.h"
#include "daemon/net/http_routes.h"
#include "daemon/net/net_state.h"
#include "daemon/net/ws_session.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

// How long accepting pauses when the process is out of file descriptors or memory.
constexpr std::chrono::milliseconds kAcceptRest{100};

// Connections accepted before anything else is done. Far fewer than there are places for those that
// have not asked yet, so that each is heard before it has to give way.
constexpr int kAcceptedAtOnce = 16;

// Bytes that the kernel keeps for a connection beyond what its client has room for. A client that
// does not read costs the kernel, and every other client's turn, no more than this.
constexpr int kNotSent = 16 << 10;

// Limits what the kernel keeps for each connection that `acceptor` accepts: they inherit it.
void limit_send_queue(tcp::acceptor& acceptor, std::size_t bytes, error_code& error) {
  using NotSent = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;
  acceptor.set_option(asio::socket_base::send_buffer_size(static_cast<int>(bytes)), error);
  if (!error) acceptor.set_option(NotSent(kNotSent), error);
}

std::optional<asio::ip::address> address_of(std::string host) {
  if (host.empty()) host = "0.0.0.0";
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return std::nullopt;
  return address;
}

// IPv4 in IPv6 counts as IPv4. A client with IPv6 usually has 64 bits of addresses to itself.
ClientAddress client_address(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  if (address.is_v4()) return {address.to_string(), address.is_loopback()};
  const auto bytes = address.to_v6().to_bytes();
  return {std::string(bytes.begin(), bytes.begin() + 8), address.is_loopback()};
}

}  // namespace

struct NetServer::Impl : std::enable_shared_from_this<NetServer::Impl> {
  Impl(asio::io_context& io, NetOptions options, AlertHub& hub, AlertStoreClient alert_store,
       DataSources sources)
      : address(address_of(options.host)),
        net(std::make_shared<NetState>(std::move(options), hub, std::move(alert_store),
                                       std::move(sources), address && address->is_loopback(),
                                       make_hasher(io))),
        acceptor(io),
        rest(io),
        status_timer(io),
        acks_timer(io) {}

  void accept();
  void accepted(const error_code& error, tcp::socket socket);
  void admit(tcp::socket socket);
  void send_status();
  void send_status_later();
  void store_acks_later();

  std::optional<asio::ip::address> address;
  std::shared_ptr<NetState> net;
  tcp::acceptor acceptor;
  asio::steady_timer rest;
  asio::steady_timer status_timer;
  asio::steady_timer acks_timer;
  bool status_waits = false;
  Clock::time_point next_status{};
  AlertHub::Registration registration;
};

void NetServer::Impl::accept() {
  acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    self->accepted(error, std::move(socket));
  });
}

void NetServer::Impl::accepted(const error_code& error, tcp::socket socket) {
  if (net->closing || error == asio::error::operation_aborted) return;
  if (error == asio::error::no_descriptors || error == asio::error::no_memory ||
      error == asio::error::no_buffer_space ||
      error == boost::system::errc::too_many_files_open_in_system) {
    rest.expires_after(kAcceptRest);
    rest.async_wait([self = shared_from_this()](const error_code& stopped) {
      if (!stopped) self->accept();
    });
    return;
  }
  if (!error) admit(std::move(socket));
  // Who waits to be accepted waits for one turn of the loop, not for one per connection.
  for (int more = 0; !error && more < kAcceptedAtOnce; ++more) {
    error_code none;
    tcp::socket next = acceptor.accept(none);
    if (none) break;
    admit(std::move(next));
  }
  accept();
}

void NetServer::Impl::admit(tcp::socket socket) {
  error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  if (gone) return;
  auto from = client_address(peer.address());
  const auto admission = net->table.admit(from, Clock::now());
  if (!admission.id || admission.gives_way) net->counters.refuse(admission.limit);
  if (admission.gives_way) net->drop(*admission.gives_way);
  if (!admission.id) return;
  std::make_shared<HttpConnection>(net, ClientStream(std::move(socket), net->access->tls),
                                   std::move(from), *admission.id)
      ->start();
}

void NetServer::Impl::send_status() {
  status_waits = false;
  next_status = Clock::now() + net->options.limits.ws.status;
  net->sessions.for_each([](WsSession& session) { session.status_changed(); });
}

void NetServer::Impl::send_status_later() {
  if (std::exchange(status_waits, true)) return;
  status_timer.expires_at(next_status);
  status_timer.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->send_status();
  });
}

void NetServer::Impl::store_acks_later() {
  acks_timer.expires_after(net->options.limits.ws.acks);
  acks_timer.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->net->names.store();
  });
}

NetServer::NetServer(asio::io_context& io, NetOptions options, AlertHub& hub,
                     AlertStoreClient alert_store, DataSources sources)
    : impl_(std::make_shared<Impl>(io, std::move(options), hub, std::move(alert_store),
                                   std::move(sources))) {
  auto net = impl_->net;
  net->names.when_due([impl = std::weak_ptr(impl_)] {
    if (const auto self = impl.lock()) self->store_acks_later();
  });
  impl_->registration = hub.listen({
      [net] { net->sessions.for_each([](WsSession& session) { session.alerts_published(); }); },
      [net](const std::vector<PublishedAlertPtr>& alerts) {
        net->sessions.for_each([&](WsSession& session) { session.provisional_alerts(alerts); });
      },
  });
}

NetServer::~NetServer() {
  close();
  impl_->registration = {};
  // Their pending handlers keep them alive until the io_context has run, or is gone.
  impl_->net->connections.clear();
  impl_->net->sessions.clear();
}

Status NetServer::listen() {
  const auto& options = impl_->net->options;
  if (!impl_->address) return Error{"cannot listen on " + options.host + ": not an IP address"};
  const tcp::endpoint endpoint(*impl_->address, options.port);
  error_code error;
  auto& acceptor = impl_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) limit_send_queue(acceptor, options.limits.http.send_buffer, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{"cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " +
                 error.message()};
  }
  impl_->accept();
  return success();
}

std::uint16_t NetServer::port() const {
  error_code error;
  const auto endpoint = impl_->acceptor.local_endpoint(error);
  return error ? std::uint16_t{0} : endpoint.port();
}

void NetServer::show(std::shared_ptr<const Snapshot> snapshot) {
  impl_->net->snapshot = std::move(snapshot);
  impl_->net->shown = Clock::now();
  impl_->net->pages.forget_old(Clock::now());
  if (impl_->net->closing) return;
  impl_->net->sessions.for_each(
      [&](WsSession& session) { session.steps_closed(impl_->net->snapshot); });
  if (Clock::now() < impl_->next_status) return impl_->send_status_later();
  impl_->send_status();
}

void NetServer::publish_tensors(TensorNews news) {
  if (impl_->net->closing) return;
  const auto shared = std::make_shared<const TensorNews>(std::move(news));
  impl_->net->sessions.for_each([&](WsSession& session) { session.tensors_saved(shared); });
}

bool NetServer::wants_tensors() const {
  return impl_->net->sessions.any_of(
      [](const WsSession& session) { return session.wants_tensors(); });
}

std::vector<MetricFamily> NetServer::metrics() const {
  return own_families(*impl_->net);
}

bool NetServer::has_subscribers() const {
  return impl_->net->sessions.size() > 0;
}

bool NetServer::needs_store() const {
  return impl_->net->sessions.any_of(
      [](const WsSession& session) { return session.needs_store(); });
}

void NetServer::set_access(std::shared_ptr<const Access> access) {
  auto& net = *impl_->net;
  if (net.rate.limit() != access->rate) net.rate = TokenBucket(access->rate);
  net.access = std::move(access);
}

bool NetServer::checks_password() const {
  return impl_->net->login.busy();
}

void NetServer::store_acknowledged() {
  impl_->net->names.store();
}

void NetServer::close() {
  auto& net = *impl_->net;
  if (std::exchange(net.closing, true)) return;
  error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->rest.cancel();
  impl_->status_timer.cancel();
  impl_->acks_timer.cancel();
  net.names.store();
  net.login.close();
  const auto sessions = net.sessions;  // sessions leave the list during the loop
  sessions.for_each([](WsSession& session) { session.shut_down(); });
  const auto connections = net.connections;
  for (const auto& [id, connection] : connections) connection->close();
}

}  // namespace trainwatch
