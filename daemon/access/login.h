// SPDX-License-Identifier: Apache-2.0
// Basic authentication (RFC 7617). A password costs a bcrypt hash of some 60 ms, so it is hashed by
// a thread of its own, one at a time, and remembered: a client that has logged in once is never
// hashed again, whatever others try. A wrong password rests as long as its hash took, so that
// guessing costs half of a core at most, and who has failed often waits behind who has not.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/access.h"

namespace trainwatch {

enum class LoginAnswer : std::uint8_t {
  allowed,
  refused,  // no name and password, or wrong ones
  busy,     // too many wait to be checked
};

// The thread that hashes. Tests have one that does so when they say.
class PasswordHasher {
 public:
  virtual ~PasswordHasher() = default;
  // Calls back later, on the net thread, with whether `password` has the bcrypt hash `hash`.
  virtual void check(const std::string& hash, const std::string& password,
                     std::function<void(bool)> done) = 0;
  // Does not call back any more.
  virtual void stop() = 0;
  // A hash is being made; it cannot be interrupted.
  virtual bool busy() const = 0;
};

// `net` outlives it. Destroying it waits for the hash that is being made.
std::unique_ptr<PasswordHasher> make_hasher(boost::asio::io_context& net);

// Net thread only.
class Login {
 public:
  static constexpr std::size_t kWaiting = 32;   // that wait to be checked
  static constexpr std::size_t kRefused = 256;  // that are remembered
  static constexpr std::size_t kOffenders =
      256;  // whose failures are counted, and users remembered

  explicit Login(std::unique_ptr<PasswordHasher> hasher) : hasher_(std::move(hasher)) {}

  using Users = std::map<std::string, std::string, std::less<>>;
  using Done = std::function<void(LoginAnswer)>;
  // Whoever asked keeps it; dropping it withdraws the question.
  using Ticket = std::shared_ptr<const Done>;

  // The answer if no hash has to be computed, else nullopt. `header` is the value of Authorization,
  // or empty.
  std::optional<LoginAnswer> known(const Users& users, std::string_view header) const;
  // Everything else. `from` is where the client comes from. `done` is called later; the ticket may
  // be dropped then.
  Ticket check(const Users& users, std::string_view header, const std::string& from, Done done);

  // Answers nobody any more.
  void close();
  // A hash is being made; destroying this waits for its end.
  bool busy() const { return hasher_->busy(); }

 private:
  struct Waiting {
    std::string key;  // where from, and for which user
    std::string digest;
    std::string hash;
    std::string user;
    std::string password;
    std::weak_ptr<const Done> done;
  };

  std::string digest_of(std::string_view user, std::string_view hash,
                        std::string_view password) const;
  void make_room();
  void next();
  void checked(const Waiting& asked, bool right);

  std::unique_ptr<PasswordHasher> hasher_;
  std::string secret_ = make_secret();          // of the digests
  std::map<std::string, std::string> allowed_;  // user -> digest of name, hash and password
  std::set<std::string> refused_;
  std::map<std::string, std::uint32_t> failures_;  // by key
  std::vector<Waiting> waiting_;                   // oldest first
  bool hashing_ = false;
  std::minstd_rand random_{std::random_device{}()};

  static std::string make_secret();
};

}  // namespace trainwatch
