// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/client_connection.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "daemon/http_client/tls_context.h"

namespace trainwatch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kMostAddresses = 4;
constexpr std::uint32_t kMostHeaderBytes = 16384;
constexpr int kMostInterim = 8;  // responses before the one that counts

std::string error_text(const error_code& error) {
  if (error == beast::error::timeout) return "timed out";
  if (error == http::error::end_of_stream) return "the connection was closed";
  return error.message();
}

using Parser = http::response_parser<http::string_body>;

// "100 Continue", "103 Early Hints": another response to the same request follows.
bool is_interim(const Parser& parser) {
  return parser.is_header_done() &&
         http::to_status_class(parser.get().result_int()) == http::status_class::informational;
}

ReceivedResponse response_of(Parser& parser) {
  auto& message = parser.get();
  ReceivedResponse reply;
  reply.status = static_cast<int>(message.result_int());
  reply.retry_after = std::string(message[http::field::retry_after]);
  reply.body = std::move(message.body());
  return reply;
}

// `Stream` is a tcp_stream, or TLS over one.
template <class Stream>
class ConnectionOver final : public ClientConnection {
 public:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

  template <class... Arguments>
  explicit ConnectionOver(const HttpClientOptions& options,
                          std::shared_ptr<asio::ssl::context> context, Arguments&&... arguments)
      : options_(options),
        context_(std::move(context)),
        stream_(std::forward<Arguments>(arguments)...) {}

  asio::awaitable<Status> open(const HostResolver::Endpoints& endpoints) override {
    error_code last = asio::error::not_found;
    const std::size_t most = std::min(endpoints.size(), kMostAddresses);
    for (std::size_t i = 0; i < most; ++i) {
      if (i > 0) tcp().socket().close(last);  // refused, and perhaps of another family
      tcp().expires_after(options_.limits.connect);
      const auto [error] = co_await tcp().async_connect(endpoints[i], kAsTuple);
      last = error;
      if (!error || error == asio::error::operation_aborted) break;
    }
    if (last) co_return failed("cannot connect to", error_text(last));
    error_code ignored;
    tcp().socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if constexpr (kTls) {
      if (Status named = name_server(); !named) co_return named;
      tcp().expires_after(options_.limits.handshake);
      const auto [error] =
          co_await stream_.async_handshake(asio::ssl::stream_base::client, kAsTuple);
      if (error) co_return failed("no TLS with", handshake_failure(error));
    }
    co_return success();
  }

  asio::awaitable<Exchange> exchange(const Request& request) override {
    // What has come since the last response answers no request of ours. Before the first one it may
    // be what TLS sends after its handshake.
    error_code unknown;
    if (std::exchange(used_, true) && tcp().socket().available(unknown) > 0)
      co_return Exchange{failed("unasked for data from", "closed"), false, true};
    tcp().expires_after(options_.limits.send);
    const auto [unsent, written] = co_await http::async_write(stream_, request, kAsTuple);
    if (unsent) co_return Exchange{failed("cannot send to", error_text(unsent)), false, true};
    tcp().expires_after(options_.limits.response);
    std::optional<Parser> parser;
    error_code error;
    int interim = 0;
    do {
      parser.emplace();
      parser->header_limit(kMostHeaderBytes);
      parser->body_limit(options_.limits.response_bytes);
      std::tie(error, std::ignore) = co_await http::async_read(stream_, buffer_, *parser, kAsTuple);
    } while (!error && is_interim(*parser) && ++interim <= kMostInterim);
    tcp().expires_never();
    // The status counts even if the rest does not come.
    if (!parser->is_header_done() || is_interim(*parser)) {
      const bool silent = !parser->got_some() && interim == 0;
      const bool no_answer = silent && error != beast::error::timeout;
      const std::string why = error ? error_text(error) : "only interim ones came";
      co_return Exchange{failed("no response from", why), false, no_answer};
    }
    const bool reusable = !error && parser->keep_alive() && buffer_.size() == 0;
    co_return Exchange{response_of(*parser), reusable, false};
  }

  void close() override { tcp().close(); }

 private:
  beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }

  Error failed(const std::string& what, const std::string& why) const {
    return Error{what + " " + options_.target.authority() + ": " + why};
  }

  // The server learns who is wanted, and OpenSSL whom the certificate must name.
  Status name_server() {
    const std::string& chosen = options_.tls.server_name;
    const std::string& name = chosen.empty() ? options_.target.host : chosen;
    error_code is_name;
    asio::ip::make_address(name, is_name);
    if (is_name && SSL_set_tlsext_host_name(stream_.native_handle(), name.c_str()) != 1) {
      return failed("no TLS with", "its name cannot be used");
    }
    if (options_.tls.insecure_skip_verify) return success();
    error_code error;
    stream_.set_verify_callback(asio::ssl::host_name_verification(name), error);
    if (error) return failed("no TLS with", error_text(error));
    return success();
  }

  std::string handshake_failure(const error_code& error) {
    const long verified = SSL_get_verify_result(stream_.native_handle());
    if (error.category() != asio::error::get_ssl_category() || verified == X509_V_OK) {
      return error_text(error);
    }
    // What host_name_verification refuses has no reason of OpenSSL's.
    if (verified == X509_V_ERR_UNSPECIFIED) return "its certificate is for another name";
    return std::string("its certificate is not trusted: ") +
           X509_verify_cert_error_string(verified);
  }

  const HttpClientOptions& options_;
  std::shared_ptr<asio::ssl::context> context_;
  Stream stream_;
  bool used_ = false;
  beast::flat_buffer buffer_{2 * std::size_t{kMostHeaderBytes}};
};

using OverTcp = ConnectionOver<beast::tcp_stream>;
using OverTls = ConnectionOver<beast::ssl_stream<beast::tcp_stream>>;

}  // namespace

Result<std::shared_ptr<ClientConnection>> make_client_connection(asio::io_context& io,
                                                                 const HttpClientOptions& options) {
  if (!options.target.tls) {
    return std::shared_ptr<ClientConnection>(std::make_shared<OverTcp>(options, nullptr, io));
  }
  auto context = make_tls_context(options.tls);
  if (!context) return context.error();
  asio::ssl::context& used = **context;
  return std::shared_ptr<ClientConnection>(
      std::make_shared<OverTls>(options, std::move(*context), io, used));
}

}  // namespace trainwatch
