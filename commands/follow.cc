#include <simdjson.h>

#include <iostream>

#include "commands/commands.h"
#include "daemon/net/stream_client.h"
#include "daemon/net/stream_protocol.h"

namespace trainwatch {
namespace {

constexpr std::string_view kAlertHead = R"({"op":"alert",)";

// Prints alerts and keeps the position in the stream, from which the next connection resumes.
class AlertFollower final : public StreamReader {
 public:
  AlertFollower(const FollowOptions& options, const StreamUrl& url, std::ostream& out,
                std::ostream& err)
      : options_(options),
        path_(url.path),
        out_(out),
        err_(err),
        after_(options.after),
        client_({url, options.first_wait, options.last_wait}, *this) {}

  int run() {
    client_.run(options_.stop);
    return exit_code_;
  }

  std::string target() override;
  bool received(const std::string& message) override;
  void refused(unsigned status) override {
    end("the server refused the subscription with status " + std::to_string(status));
  }
  void failed(const std::string& why) override { say(why); }

 private:
  void greeted(std::string_view epoch, std::uint64_t last_seq);
  bool print_alert(const std::string& message, std::uint64_t seq);
  void say(const std::string& text) { err_ << "trainwatch follow: " << text << std::endl; }
  bool end(const std::string& why) {
    say(why);
    exit_code_ = 1;
    return false;
  }

  const FollowOptions& options_;
  std::string path_;
  std::ostream& out_;
  std::ostream& err_;
  simdjson::dom::parser parser_;
  std::optional<std::uint64_t> after_;
  std::string epoch_;
  int exit_code_ = 0;
  StreamClient client_;
};

std::string AlertFollower::target() {
  std::string text = path_;
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += text.find('?') == std::string::npos ? '?' : '&';
    text.append(name).append("=").append(value);
  };
  if (after_) add("after", std::to_string(*after_));
  if (!epoch_.empty()) add("epoch", epoch_);
  if (!options_.name.empty()) add("name", options_.name);
  if (!options_.rule.empty()) add("rules", options_.rule);
  return text;
}

bool AlertFollower::received(const std::string& message) {
  simdjson::dom::element document;
  std::string_view op;
  if (parser_.parse(message).get(document) != simdjson::SUCCESS ||
      document["op"].get_string().get(op) != simdjson::SUCCESS) {
    return end("the server does not speak " + std::string(kStreamProtocol));
  }
  const auto number = [&document](const char* name) {
    std::uint64_t value = 0;
    return document[name].get_uint64().get(value) == simdjson::SUCCESS ? value : 0;
  };
  if (op == "alert") return print_alert(message, number("seq"));
  if (op == "error") say("server error: " + message);
  std::string_view epoch;
  if (document["epoch"].get_string().get(epoch) != simdjson::SUCCESS) epoch = {};
  if (op == "hello") {
    greeted(epoch, number("last_seq"));
  } else if (op == "reset") {
    say("reset: the server started a new sequence, epoch " + std::string(epoch));
    epoch_ = epoch;
    after_ = 0;
  } else if (op == "gap") {
    say("gap: alerts " + std::to_string(number("from")) + " to " + std::to_string(number("to")) +
        " are no longer available");
    after_ = number("to");
  }
  return true;
}

void AlertFollower::greeted(std::string_view epoch, std::uint64_t last_seq) {
  if (epoch_.empty()) epoch_ = epoch;
  // With a name, the server knows the position until something is printed.
  if (!after_ && options_.name.empty()) after_ = last_seq;
}

// A provisional alert has no number, so the position stays.
bool AlertFollower::print_alert(const std::string& message, std::uint64_t seq) {
  const std::string_view text = message;
  if (text.starts_with(kAlertHead)) {
    out_ << '{' << text.substr(kAlertHead.size()) << std::endl;
  } else {
    out_ << text << std::endl;
  }
  if (!out_) return end("cannot write the output");
  if (seq == 0) return true;
  after_ = seq;
  if (!options_.name.empty()) client_.acknowledge(seq);
  return true;
}

}  // namespace

int follow(const FollowOptions& options) {
  std::ostream& out = options.out != nullptr ? *options.out : std::cout;
  std::ostream& err = options.err != nullptr ? *options.err : std::cerr;
  const auto url = parse_stream_url(options.url);
  if (!url) {
    err << "trainwatch follow: " << url.error().message << std::endl;
    return 2;
  }
  return AlertFollower(options, *url, out, err).run();
}

}  // namespace trainwatch
