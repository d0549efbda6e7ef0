// SPDX-License-Identifier: Apache-2.0
// Responses that are sent from disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <memory>
#include <string>

#include "daemon/app/trace_storage.h"
#include "daemon/net/serialized_response.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::stored_body_test {

using testing::EndsWith;
using testing::HasSubstr;

class TextBody final : public StoredBody {
 public:
  explicit TextBody(std::string text, std::uint64_t readable = ~std::uint64_t{0})
      : text_(std::move(text)), readable_(readable) {}
  std::uint64_t size() const override { return text_.size(); }
  bool read(std::uint64_t offset, std::span<char> buffer) override {
    ++reads_;
    if (offset + buffer.size() > readable_) return false;
    text_.copy(buffer.data(), buffer.size(), offset);
    return true;
  }
  int reads() const { return reads_; }

 private:
  std::string text_;
  std::uint64_t readable_;
  int reads_ = 0;
};

std::string long_text() {
  std::string text;
  while (text.size() < 3 * SerializedResponse::kPieceBytes + 17)
    text += std::to_string(text.size()) + ' ';
  return text;
}

HttpResponse response_of(std::shared_ptr<StoredBody> body) {
  HttpResponse response;
  response.stored_body = std::move(body);
  return response;
}

// Sends so many bytes at a time, as a socket may.
std::string sent(SerializedResponse& response, std::size_t at_a_time) {
  std::string all;
  while (all.size() < response.size()) {
    const auto next = response.after(all.size());
    if (!next) return all + "(cut)";
    const std::string bytes = std::string((*next)[0]) + std::string((*next)[1]);
    EXPECT_FALSE(bytes.empty());
    if (bytes.empty()) return all;
    all += bytes.substr(0, at_a_time);
  }
  return all;
}

TEST(StoredBody, IsSentWholeInPieces) {
  const std::string text = long_text();
  for (const std::size_t at_a_time : {std::size_t{1000}, std::size_t{65'537}, text.size() * 2}) {
    const auto body = std::make_shared<TextBody>(text);
    SerializedResponse response(response_of(body), false, true);
    EXPECT_LE(response.memory(), SerializedResponse::kPieceBytes + 2000);
    const std::string all = sent(response, at_a_time);
    EXPECT_THAT(all, HasSubstr("Content-Length: " + std::to_string(text.size()) + "\r\n"));
    EXPECT_THAT(all, EndsWith("\r\n\r\n" + text));
    EXPECT_EQ(body->reads(), 4);
  }
}

TEST(StoredBody, IsNotReadForHead) {
  const auto body = std::make_shared<TextBody>("text");
  SerializedResponse response(response_of(body), true, true);
  EXPECT_THAT(sent(response, 1000), EndsWith("\r\n\r\n"));
  EXPECT_EQ(body->reads(), 0);
}

TEST(StoredBody, ThatCannotBeReadIsCut) {
  const std::string text = long_text();
  SerializedResponse response(
      response_of(std::make_shared<TextBody>(text, 2 * SerializedResponse::kPieceBytes)), false,
      true);
  EXPECT_THAT(sent(response, text.size()), EndsWith("(cut)"));
}

TEST(StoredBody, DocumentIsReadAsWritten) {
  const test::TempDirectory directory;
  const auto room = std::make_shared<SharedBytes>(StoredDocument::kMostBytes);
  StoredDocument plain(directory.path(), false, room);
  StoredDocument compressed(directory.path(), true, room);
  const std::string text = long_text();
  for (std::size_t at = 0; at < text.size(); at += 70'001) {
    plain.write(std::string_view(text).substr(at, 70'001));
    compressed.write(std::string_view(text).substr(at, 70'001));
  }
  EXPECT_EQ(plain.finish(), Document::End::complete);
  EXPECT_EQ(compressed.finish(), Document::End::complete);
  std::string read(plain.size(), ' ');
  EXPECT_TRUE(plain.read(0, read));
  EXPECT_EQ(read, text);
  std::string bytes(compressed.size(), ' ');
  EXPECT_TRUE(compressed.read(0, bytes));
  EXPECT_LT(bytes.size(), text.size() / 2);
  EXPECT_EQ(inflated(bytes), text);
  EXPECT_FALSE(plain.read(plain.size(), bytes)) << "behind its end";
}

TEST(StoredBody, DocumentSaysThatItIsTooLongOrCannotBeKept) {
  MemoryDocument document(false);
  const std::string mebibyte(std::size_t{1} << 20U, 'x');
  for (std::uint64_t size = 0; size < MemoryDocument::kMostBytes; size += mebibyte.size())
    document.write(mebibyte);
  document.write("x");
  EXPECT_EQ(document.finish(), Document::End::too_long);
  StoredDocument nowhere("/nonexistent/directory", false,
                         std::make_shared<SharedBytes>(StoredDocument::kMostBytes));
  nowhere.write("text");
  EXPECT_EQ(nowhere.finish(), Document::End::failed);
}

TEST(StoredBody, DocumentsShareTheirRoom) {
  const test::TempDirectory directory;
  const auto room = std::make_shared<SharedBytes>(1000);
  const auto written = [&](StoredDocument& document, std::size_t bytes) {
    document.write(std::string(bytes, 'x'));
    return document.finish();
  };
  auto first = std::make_unique<StoredDocument>(directory.path(), false, room);
  EXPECT_EQ(written(*first, 600), Document::End::complete);
  StoredDocument second(directory.path(), false, room);
  EXPECT_EQ(written(second, 600), Document::End::failed);
  first.reset();
  StoredDocument third(directory.path(), false, room);
  EXPECT_EQ(written(third, 1000), Document::End::complete);
}

// Of a request whose time is over when the test says so.
class NoFiles final : public RequestFiles {
 public:
  Result<std::vector<DirectoryEntry>> list(const std::string&) override { return Error{"none"}; }
  Result<FileStat> stat(const std::string&) override { return Error{"none"}; }
  Result<std::unique_ptr<OpenFile>> open(const std::string&) override { return Error{"none"}; }
  bool ended() override { return ended_; }
  void end() { ended_ = true; }

 private:
  bool ended_ = false;
};

TEST(RequestRuns, FailWhenTheRequestHasEnded) {
  const test::TempDirectory directory;
  NoFiles files;
  RequestRuns runs(directory.path(), files);
  std::string read(4, ' ');
  EXPECT_TRUE(runs.append("text").ok());
  EXPECT_TRUE(runs.read(0, read).ok());
  EXPECT_EQ(read, "text");
  files.end();
  EXPECT_FALSE(runs.append("text").ok());
  EXPECT_FALSE(runs.read(0, read).ok());
}

TEST(SpillFile, TakesNoMoreThanItMay) {
  const test::TempDirectory directory;
  SpillFile file(directory.path(), 100'000);
  EXPECT_TRUE(file.append(std::string(60'000, 'a')).ok());
  EXPECT_FALSE(file.append(std::string(60'000, 'b')).ok());
  EXPECT_TRUE(file.append(std::string(40'000, 'c')).ok());
  std::string read(100'000, ' ');
  EXPECT_TRUE(file.read(0, read).ok());
  EXPECT_EQ(read, std::string(60'000, 'a') + std::string(40'000, 'c'));
}

}  // namespace trainwatch::stored_body_test
