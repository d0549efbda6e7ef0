// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/host_resolver.h"

#include <netdb.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace trainwatch {
namespace {

using boost::asio::ip::tcp;

// Blocks.
Result<HostResolver::Endpoints> look_up(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (failure != 0) {
    const int code = errno;
    return Error{"cannot find host " + host + ": " +
                 (failure == EAI_SYSTEM ? std::generic_category().message(code)
                                        : std::string(gai_strerror(failure)))};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  HostResolver::Endpoints found;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(endpoint.data()));
    endpoint.resize(each->ai_addrlen);
    found.push_back(endpoint);
  }
  if (found.empty()) return Error{"host " + host + " has no address"};
  return found;
}

}  // namespace

void HostResolver::resolve(const std::string& host, const std::string& port, Done done) {
  const auto answer = [this, &done](Result<Endpoints> found) {
    boost::asio::post(io_, [done = std::move(done), found = std::move(found)] { done(found); });
  };
  boost::system::error_code is_name;
  const auto address = boost::asio::ip::make_address(host, is_name);
  if (!is_name) {
    return answer(Endpoints{{address, static_cast<std::uint16_t>(std::stoul(port))}});
  }
  const std::string name = host + " " + port;
  if (const auto running = lookups_.find(name); running != lookups_.end()) {
    return running->second.waiting.push_back(std::move(done));
  }
  if (lookups_.size() >= kMost) {
    return answer(Error{"cannot find host " + host + ": too many lookups have not returned"});
  }
  Lookup& lookup = lookups_[name];
  lookup.waiting.push_back(std::move(done));
  lookup.thread = std::jthread([this, host, port, name] {
    boost::asio::post(io_, [this, name, found = look_up(host, port)] { finished(name, found); });
  });
}

void HostResolver::finished(const std::string& name, const Result<Endpoints>& found) {
  const auto lookup = lookups_.extract(name);
  for (const Done& done : lookup.mapped().waiting) done(found);
}

}  // namespace trainwatch
