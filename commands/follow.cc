// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "commands/commands.h"
#include "commands/status_stream.h"
#include "daemon/app/daemon_clock.h"
#include "daemon/config/http_config_file.h"
#include "daemon/net/stream_client.h"
#include "daemon/net/stream_protocol.h"
#include "daemon/terminal/alert_news.h"
#include "daemon/terminal/columns.h"
#include "daemon/terminal/shown_alert.h"
#include "daemon/terminal/state_line.h"

namespace trainwatch {
namespace {

constexpr std::string_view kAlertHead = R"({"op":"alert",)";

// Where the state line goes: what people look at, standard error rather than the results.
std::ostream& terminal_of(const FollowOptions& options, std::ostream& out, std::ostream& err) {
  return options.err_style.rewrites || !options.out_style.rewrites ? err : out;
}

TextStyle line_style(const FollowOptions& options) {
  if (!options.text) return {};
  return options.err_style.rewrites ? options.err_style : options.out_style;
}

// Prints alerts and keeps the position in the stream, from which the next connection resumes. As
// text, it also shows what the runs are doing.
class AlertFollower final : public StreamReader {
 public:
  AlertFollower(const FollowOptions& options, const StreamClientOptions& server, std::ostream& out,
                std::ostream& err)
      : options_(options),
        path_(server.url.path),
        out_(out),
        err_(err),
        status_(terminal_of(options, out, err), line_style(options)),
        news_(options.least),
        after_(options.after),
        client_(server, *this) {}

  int run() {
    client_.run(options_.stop);
    return exit_code_;
  }

  std::string target() override;
  bool received(const std::string& message) override;
  void refused(unsigned status) override {
    end("the server refused the subscription with status " + std::to_string(status) +
        (status == 401 ? ": user or password is missing or wrong" : ""));
  }
  // What the state line says may have changed by the time that there is a connection again.
  void failed(const std::string& why) override {
    status_.clear();
    say(why);
  }

 private:
  bool print(const std::string& message, std::uint64_t seq);
  void show(std::string_view op, const std::string& message);
  void greeted(std::string_view epoch, std::uint64_t last_seq);
  std::size_t width() const {
    return terminal_width(options_.err_style.rewrites ? STDERR_FILENO : STDOUT_FILENO,
                          line_style(options_).width);
  }
  void print_text(const std::string& message);
  void print_wrapped(std::string_view sentence);
  void say(const std::string& text);
  bool end(const std::string& why) {
    say(why);
    exit_code_ = 1;
    return false;
  }

  const FollowOptions& options_;
  std::string path_;
  std::ostream& out_;
  std::ostream& err_;
  StatusStream status_;
  StateLine state_;
  AlertNews news_;
  simdjson::dom::parser parser_;
  std::optional<std::uint64_t> after_;
  std::string epoch_;
  int exit_code_ = 0;
  StreamClient client_;
};

void AlertFollower::say(const std::string& text) {
  std::string lines = "trainwatch follow: " + text + "\n";
  if (options_.err_style.terminal) {
    const std::string line = std::exchange(lines, {});
    append_wrapped(lines, line, 0, options_.err_style.width);
  }
  status_.print(err_, lines);
  err_.flush();
}

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
  if (options_.least != Severity::info) add("min_severity", to_string(options_.least));
  if (options_.text) add("streams", "alerts,steps,status");
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
  if (op == "alert") return print(message, number("seq"));
  show(op, message);
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

// The runs come with the status. Without a line that is rewritten, what a run is doing is said when
// that changes.
void AlertFollower::show(std::string_view op, const std::string& message) {
  if (!options_.text) return;
  if (op == "step") return state_.on_steps(message);
  if (op != "status") return;
  const StateLine::News news = state_.on_runs(message);
  if (news.monitor) print_wrapped(state_.monitor());
  if (status_.has_line()) {
    status_.set_width(width());
    status_.show(state_.text(wall_clock()), StatusStream::Clock::now());
  } else if (news.state) {
    print_wrapped(state_.sentence(wall_clock()));
  }
}

void AlertFollower::print_wrapped(std::string_view sentence) {
  std::string lines;
  append_wrapped(lines, sentence, 0, options_.out_style.width);
  status_.print(out_, lines);
  out_.flush();
}

void AlertFollower::print_text(const std::string& message) {
  const auto alert = shown_alert(message);
  if (alert && news_.is_news(*alert))
    status_.print(out_, text_of(*alert, options_.out_style, wall_clock()));
}

// A provisional alert has no number, so the position stays.
bool AlertFollower::print(const std::string& message, std::uint64_t seq) {
  const std::string_view text = message;
  if (options_.text) {
    print_text(message);
  } else if (text.starts_with(kAlertHead)) {
    out_ << '{' << text.substr(kAlertHead.size()) << '\n';
  } else {
    out_ << text << '\n';
  }
  if (!out_.flush()) return end("cannot write the output");
  if (seq == 0) return true;
  after_ = seq;
  if (!options_.name.empty()) client_.acknowledge(seq);
  return true;
}

// The server of the options, and how to log in there.
Result<StreamClientOptions> server_of(const FollowOptions& options) {
  auto url = parse_stream_url(options.url);
  if (!url) return url.error();
  HttpClientConfig config;
  if (!options.http_config_file.empty()) {
    auto loaded = load_http_config(options.http_config_file);
    if (!loaded) return loaded.error();
    config = std::move(*loaded);
  }
  if (!url->user.empty()) config.credentials = {.username = url->user, .password = url->password};
  const auto login = authorization(config.credentials);
  if (!login) return login.error();
  StreamClientOptions server{
      *url, nullptr, *login, config.tls.server_name, options.first_wait, options.last_wait};
  if (url->tls) {
    auto tls = make_tls_context(config.tls);
    if (!tls) return tls.error();
    server.tls = std::move(*tls);
  }
  return server;
}

}  // namespace

int follow(const FollowOptions& options) {
  std::ostream& out = options.out != nullptr ? *options.out : std::cout;
  std::ostream& err = options.err != nullptr ? *options.err : std::cerr;
  const auto server = server_of(options);
  if (!server) {
    err << "trainwatch follow: " << server.error().message << std::endl;
    return 2;
  }
  return AlertFollower(options, *server, out, err).run();
}

}  // namespace trainwatch
