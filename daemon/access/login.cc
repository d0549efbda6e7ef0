// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/login.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "daemon/access/password.h"

namespace trainwatch {
namespace {

struct Credentials {
  std::string user;
  std::string password;
};

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const auto padding = text.size() - 1 - text.find_last_not_of('=');
  if (padding > 2) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::optional<Credentials> parse_basic(std::string_view header) {
  constexpr std::string_view kScheme = "basic ";
  if (header.size() < kScheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = header[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) {
      return std::nullopt;
    }
  }
  const auto text = from_base64(header.substr(kScheme.size()));
  if (!text) return std::nullopt;
  const auto colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{text->substr(0, colon), text->substr(colon + 1)};
}

// The hash of `user`, or one that takes as long.
std::string hash_for(const Login::Users& users, const std::string& user) {
  const auto found = users.find(user);
  return found != users.end() ? found->second : unmatched_bcrypt(users.begin()->second);
}

class Hasher final : public PasswordHasher {
 public:
  explicit Hasher(boost::asio::io_context& net) : net_(net) {}
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() override {
    work_.stop();
    if (thread_.joinable()) thread_.join();
  }

  void check(const std::string& hash, const std::string& password,
             std::function<void(bool)> done) override {
    busy_ = true;
    // Not before it is needed, nor before the sandbox, which threads inherit.
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { work_.run(); });
    }
    boost::asio::post(work_, [this, hash, password, done = std::move(done)]() mutable {
      const auto begin = std::chrono::steady_clock::now();
      const bool right = bcrypt_matches(hash, password);
      const auto took = std::chrono::steady_clock::now() - begin;
      boost::asio::post(net_, [this, right, took, done = std::move(done)]() mutable {
        busy_ = false;
        if (right) return done(true);
        rest_.expires_after(took);
        rest_.async_wait([done = std::move(done)](const boost::system::error_code& stopped) {
          if (!stopped) done(false);
        });
      });
    });
  }
  void stop() override { rest_.cancel(); }
  bool busy() const override { return busy_; }

 private:
  boost::asio::io_context& net_;
  boost::asio::steady_timer rest_{net_};
  bool busy_ = false;
  boost::asio::io_context work_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> more_{
      work_.get_executor()};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<PasswordHasher> make_hasher(boost::asio::io_context& net) {
  return std::make_unique<Hasher>(net);
}

std::string Login::make_secret() {
  std::array<unsigned char, 32> bytes{};
  RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  return {bytes.begin(), bytes.end()};
}

// Lengths keep the parts apart.
std::string Login::digest_of(std::string_view user, std::string_view hash,
                             std::string_view password) const {
  std::string text = secret_;
  for (const std::string_view part : {user, hash, password}) {
    text.append(std::to_string(part.size())).append(":").append(part);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {digest.begin(), digest.begin() + size};
}

std::optional<LoginAnswer> Login::known(const Users& users, std::string_view header) const {
  const auto asked = parse_basic(header);
  if (!asked) return LoginAnswer::refused;
  const auto digest = digest_of(asked->user, hash_for(users, asked->user), asked->password);
  const auto allowed = allowed_.find(asked->user);
  if (allowed != allowed_.end() && allowed->second == digest) return LoginAnswer::allowed;
  if (refused_.contains(digest)) return LoginAnswer::refused;
  return std::nullopt;
}

Login::Ticket Login::check(const Users& users, std::string_view header, const std::string& from,
                           Done done) {
  auto asked = parse_basic(header).value_or(Credentials{});
  const bool exists = users.contains(asked.user);
  const std::string hash = hash_for(users, asked.user);
  const auto ticket = std::make_shared<const Done>(std::move(done));
  Waiting waiting;
  waiting.key = from + ' ' + (exists ? asked.user : std::string());
  waiting.digest = digest_of(asked.user, hash, asked.password);
  waiting.hash = hash;
  waiting.user = std::move(asked.user);
  waiting.password = std::move(asked.password);
  waiting.done = ticket;
  if (waiting_.size() >= kWaiting) make_room();
  waiting_.push_back(std::move(waiting));
  if (!hashing_) next();
  return ticket;
}

// Of the client that asks for most, any: whoever comes again and again gets through.
void Login::make_room() {
  const auto withdrawn = [](const Waiting& each) { return each.done.expired(); };
  if (std::erase_if(waiting_, withdrawn) > 0) return;
  std::map<std::string_view, std::size_t> counts;
  for (const Waiting& each : waiting_) ++counts[each.key];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  std::size_t which = random_() % most->second;
  const auto victim = std::ranges::find_if(
      waiting_, [&](const Waiting& each) { return each.key == most->first && which-- == 0; });
  const auto done = victim->done.lock();
  waiting_.erase(victim);
  (*done)(LoginAnswer::busy);
}

void Login::next() {
  std::erase_if(waiting_, [](const Waiting& each) { return each.done.expired(); });
  if (waiting_.empty()) return;
  const auto best = std::ranges::min_element(waiting_, {}, [this](const Waiting& each) {
    const auto found = failures_.find(each.key);
    return found == failures_.end() ? 0U : found->second;
  });
  const auto asked = std::make_shared<const Waiting>(std::move(*best));
  waiting_.erase(best);
  hashing_ = true;
  hasher_->check(asked->hash, asked->password,
                 [this, asked](bool right) { checked(*asked, right); });
}

void Login::checked(const Waiting& asked, bool right) {
  hashing_ = false;
  if (right) {
    if (allowed_.size() >= kOffenders && !allowed_.contains(asked.user)) allowed_.clear();
    allowed_[asked.user] = asked.digest;
    failures_.erase(asked.key);
  } else {
    if (refused_.size() >= kRefused) refused_.clear();
    refused_.insert(asked.digest);
    if (failures_.size() >= kOffenders) failures_.clear();
    ++failures_[asked.key];
  }
  const auto done = asked.done.lock();
  if (done) (*done)(right ? LoginAnswer::allowed : LoginAnswer::refused);
  if (!hashing_) next();
}

void Login::close() {
  waiting_.clear();
  hasher_->stop();
}

}  // namespace trainwatch
