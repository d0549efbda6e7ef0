// SPDX-License-Identifier: Apache-2.0
// A server for tests of HTTP clients: answers every request as the test says, byte by byte, on a
// thread of its own.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace trainwatch {

// A self-signed certificate for `name` (a DNS name) and 127.0.0.1, and its key, as PEM files in
// `directory`.
struct SelfSigned {
  SelfSigned(const std::string& directory, const std::string& name);
  std::string cert;
  std::string key;
};

inline SelfSigned::SelfSigned(const std::string& directory, const std::string& name)
    : cert(directory + "/cert.pem"), key(directory + "/key.pem") {
  EVP_PKEY* pair = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 86400);
  X509_set_pubkey(made, pair);
  X509_NAME* subject = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(made, subject);
  const std::string names = "DNS:" + name + ",IP:127.0.0.1";
  X509_EXTENSION* also = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(made, also, -1);
  X509_sign(made, pair, EVP_sha256());
  FILE* file = std::fopen(cert.c_str(), "w");
  PEM_write_X509(file, made);
  std::fclose(file);
  file = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_EXTENSION_free(also);
  X509_free(made);
  EVP_PKEY_free(pair);
}

class TinyHttpServer {
 public:
  struct Answer {
    std::string bytes;
    bool close = false;  // the connection, after the bytes
  };
  // The head and body of a request, and how many came before it on its connection. Called on the
  // server's thread.
  using Script = std::function<Answer(const std::string& request, int earlier)>;

  // With a certificate it speaks TLS.
  explicit TinyHttpServer(Script script, const std::string& cert = "", const std::string& key = "")
      : script_(std::move(script)), acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
    if (!cert.empty()) {
      tls_.use_certificate_chain_file(cert);
      tls_.use_private_key_file(key, boost::asio::ssl::context::pem);
    }
    boost::asio::co_spawn(io_, accept(!cert.empty()), boost::asio::detached);
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~TinyHttpServer() { io_.stop(); }

  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  boost::asio::awaitable<void> accept(bool tls) {
    while (true) {
      Socket socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
      if (tls) {
        boost::asio::co_spawn(io_, serve_tls(std::move(socket)), boost::asio::detached);
      } else {
        boost::asio::co_spawn(io_, serve_plain(std::move(socket)), boost::asio::detached);
      }
    }
  }
  boost::asio::awaitable<void> serve_plain(Socket socket) { co_await serve(socket); }
  boost::asio::awaitable<void> serve_tls(Socket socket) {
    boost::asio::ssl::stream<Socket> stream(std::move(socket), tls_);
    co_await stream.async_handshake(boost::asio::ssl::stream_base::server,
                                    boost::asio::use_awaitable);
    co_await serve(stream);
  }

  template <class Stream>
  boost::asio::awaitable<void> serve(Stream& stream) {
    constexpr auto kThrow = boost::asio::use_awaitable;
    std::string input;
    for (int earlier = 0;; ++earlier) {
      const std::size_t head = co_await boost::asio::async_read_until(
          stream, boost::asio::dynamic_buffer(input), "\r\n\r\n", kThrow);
      const auto length = input.find("Content-Length: ");
      const std::size_t body =
          length < head ? std::stoul(input.substr(length + 16)) : std::size_t{0};
      if (input.size() < head + body) {
        const std::size_t missing = head + body - input.size();
        co_await boost::asio::async_read(stream, boost::asio::dynamic_buffer(input),
                                         boost::asio::transfer_exactly(missing), kThrow);
      }
      const std::string request = input.substr(0, head + body);
      input.erase(0, head + body);
      const Answer answer = script_(request, earlier);
      co_await boost::asio::async_write(stream, boost::asio::buffer(answer.bytes), kThrow);
      if (answer.close) co_return;
    }
  }

  Script script_;
  boost::asio::io_context io_{1};
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::jthread thread_;
};

}  // namespace trainwatch
