// SPDX-License-Identifier: Apache-2.0
// Who is let in, what a password costs, and who waits behind whom when many are wrong.
#include "daemon/access/login.h"

#include <gtest/gtest.h>

#include <deque>

#include "daemon/access/password.h"
#include "daemon/access/token_bucket.h"
#include "daemon/http_client/http_credentials.h"

namespace trainwatch::login_test {

constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8e";  // x
const Login::Users kUsers = {{"alice", kHash}, {"bob", kHash}};

std::string basic_authorization(const std::string& user, const std::string& password) {
  return *authorization({.username = user, .password = password});
}

TEST(Password, HasItsHash) {
  EXPECT_TRUE(bcrypt_matches(kHash, "x"));
  EXPECT_FALSE(bcrypt_matches(kHash, "y"));
  EXPECT_FALSE(bcrypt_matches(kHash, std::string_view("x\0z", 3)));
  std::string letter = kHash;
  letter[2] = 'y';
  EXPECT_TRUE(bcrypt_matches(letter, "x"));
  EXPECT_FALSE(bcrypt_matches(std::string(kHash) + "e", "x"));
  EXPECT_FALSE(bcrypt_matches(unmatched_bcrypt(kHash), "x"));
  EXPECT_TRUE(unmatched_bcrypt("$2y$12$abc").starts_with("$2b$12$"));
}

TEST(Password, AHashIsChecked) {
  EXPECT_TRUE(check_bcrypt(kHash).ok());
  EXPECT_TRUE(check_bcrypt(unmatched_bcrypt(kHash)).ok());
  for (const char* wrong :
       {"", "doe", "$1$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8eeeee",
        "$2b$03$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8e",
        "$2b$32$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8e",
        "$2b$xx$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8e"}) {
    EXPECT_FALSE(check_bcrypt(wrong).ok()) << wrong;
  }
}

// Hashes on request; the password is right if it is "right".
class HandHasher final : public PasswordHasher {
 public:
  void check(const std::string&, const std::string& password,
             std::function<void(bool)> done) override {
    ++hashes;
    last = password;
    done_ = std::move(done);
  }
  void stop() override { done_ = nullptr; }
  bool busy() const override { return done_ != nullptr; }
  void finish() {
    const auto done = std::exchange(done_, nullptr);
    done(last == "right");
  }

  int hashes = 0;
  std::string last;

 private:
  std::function<void(bool)> done_;
};

class LoginTest : public testing::Test {
 protected:
  void ask(const std::string& user, const std::string& password, const std::string& from = "a") {
    const std::size_t index = answers_.size();
    answers_.emplace_back();
    tickets_.push_back(
        login_.check(kUsers, basic_authorization(user, password), from,
                     [this, index](LoginAnswer answer) { answers_[index] = answer; }));
  }
  std::optional<LoginAnswer> known(const std::string& user, const std::string& password) const {
    return login_.known(kUsers, basic_authorization(user, password));
  }

  HandHasher* hasher_ = new HandHasher;  // login_'s
  Login login_{std::unique_ptr<PasswordHasher>(hasher_)};
  std::deque<std::optional<LoginAnswer>> answers_;
  std::vector<Login::Ticket> tickets_;
};

TEST_F(LoginTest, WithoutNameAndPasswordNobodyIsLetIn) {
  for (const char* header : {"", "Basic", "Basic ", "Basic !!!!", "Bearer YWxpY2U6eA==",
                             "Basic YWxpY2U=", "Basic YWxpY2U6eA", "Basic ===="}) {
    EXPECT_EQ(login_.known(kUsers, header), LoginAnswer::refused) << header;
  }
  EXPECT_EQ(login_.known(kUsers, "bAsIc YWxpY2U6eA=="), std::nullopt);
  EXPECT_EQ(hasher_->hashes, 0);
}

TEST_F(LoginTest, APasswordIsHashedOnce) {
  EXPECT_EQ(known("alice", "right"), std::nullopt);
  ask("alice", "right");
  hasher_->finish();
  EXPECT_EQ(answers_[0], LoginAnswer::allowed);
  EXPECT_EQ(known("alice", "right"), LoginAnswer::allowed);
  EXPECT_EQ(known("bob", "right"), std::nullopt);
  EXPECT_EQ(known("alice", "wrong"), std::nullopt);
  ask("alice", "wrong");
  hasher_->finish();
  EXPECT_EQ(known("alice", "wrong"), LoginAnswer::refused);
  EXPECT_EQ(known("alice", "right"), LoginAnswer::allowed);
  // Another hash of that user: nothing is known.
  EXPECT_EQ(
      login_.known({{"alice", unmatched_bcrypt(kHash)}}, basic_authorization("alice", "right")),
      std::nullopt);
}

TEST_F(LoginTest, AnUnknownUserCostsAHash) {
  ask("mallory", "guess");
  EXPECT_EQ(hasher_->hashes, 1);
  hasher_->finish();
  EXPECT_EQ(answers_[0], LoginAnswer::refused);
}

TEST_F(LoginTest, WhoFailedOftenWaitsBehindWhoDidNot) {
  for (int i = 0; i < 3; ++i) ask("alice", "wrong" + std::to_string(i));
  hasher_->finish();
  for (int i = 3; i < 20; ++i) ask("alice", "wrong" + std::to_string(i));
  ask("bob", "right");
  ask("alice", "right", "elsewhere");
  hasher_->finish();
  EXPECT_EQ(hasher_->last, "right");
  hasher_->finish();
  hasher_->finish();
  EXPECT_EQ(answers_[20], LoginAnswer::allowed);
  EXPECT_EQ(answers_[21], LoginAnswer::allowed);
}

TEST_F(LoginTest, TooManyHaveToComeAgain) {
  for (std::size_t i = 0; i < Login::kWaiting + 6; ++i) ask("alice", "wrong" + std::to_string(i));
  ask("bob", "right");
  std::size_t busy = 0;
  for (const auto& answer : answers_) busy += answer == LoginAnswer::busy ? 1 : 0;
  EXPECT_EQ(busy, 6U);  // one is being hashed
  EXPECT_FALSE(answers_.back().has_value());
  EXPECT_EQ(hasher_->hashes, 1);
}

TEST_F(LoginTest, WhoHasLeftIsNotHashed) {
  ask("alice", "wrong1");
  ask("alice", "wrong2");
  ask("alice", "wrong3");
  tickets_[1].reset();
  hasher_->finish();
  EXPECT_EQ(hasher_->last, "wrong3");
}

TEST(TokenBucket, GivesABurstAndThenOnePerInterval) {
  TokenBucket bucket({std::chrono::milliseconds(100), 2});
  auto now = TokenBucket::Clock::time_point{} + std::chrono::hours(1);
  EXPECT_TRUE(bucket.take(now));
  EXPECT_TRUE(bucket.take(now));
  EXPECT_FALSE(bucket.take(now));
  now += std::chrono::milliseconds(100);
  EXPECT_TRUE(bucket.take(now));
  EXPECT_FALSE(bucket.take(now));
  TokenBucket none({});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(none.take(now));
}

}  // namespace trainwatch::login_test
