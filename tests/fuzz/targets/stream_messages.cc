// SPDX-License-Identifier: Apache-2.0
// Messages of the stream's protocol: any sequence of them leaves numbered alerts in order, and
// every frame is JSON.
#include <simdjson.h>

#include <string>
#include <string_view>
#include <variant>

#include "daemon/net/stream_feed.h"
#include "fuzz/fuzz_target.h"
#include "unit/daemon/memory_alert_store.h"

namespace trainwatch::fuzz {
namespace {

constexpr std::uint64_t kAlerts = 40;
constexpr std::size_t kMostFrames = 4 * kAlerts;  // between two messages

PublishedAlertPtr alert(std::uint64_t seq) {
  PublishedAlert made{seq, "id", seq % 2 == 0 ? "stall" : "straggler", Severity::warning, {}, ""};
  made.json = R"({"seq":)" + std::to_string(seq) + "}";
  return std::make_shared<const PublishedAlert>(std::move(made));
}

// Everything that the feed has to say now.
void drain(StreamFeed& feed, MemoryAlertStore& store, const AlertStoreClient& client) {
  simdjson::dom::parser parser;
  std::uint64_t last = 0;
  for (std::size_t frames = 0;; ++frames) {
    expect(frames <= kMostFrames, "a client hears an end");
    const auto frame = feed.next();
    if (!frame) {
      const auto after = feed.ask_page();
      if (!after) return;
      client.fetch(*after, 4,
                   [&](AlertStoreClient::Page page) { feed.take_page(std::move(page)); });
      store.answer();
      continue;
    }
    const simdjson::padded_string text(frame->text());
    simdjson::dom::element message;
    std::string_view op;
    expect(parser.parse(text).get(message) == simdjson::SUCCESS, "a frame is JSON");
    expect(message["op"].get_string().get(op) == simdjson::SUCCESS, "a frame has an op");
    std::uint64_t seq = 0;
    if (op != "alert" || message["seq"].get_uint64().get(seq) != simdjson::SUCCESS) continue;
    expect(seq > last && seq <= kAlerts, "alerts come in order, each once");
    last = seq;
  }
}

}  // namespace

void apply_stream_messages(std::string_view input) {
  MemoryAlertStore store;
  AlertHub hub("epoch-1", 1, 0, {.alerts = 10});
  for (std::uint64_t seq = 1; seq <= kAlerts; ++seq) {
    store.store({alert(seq)});
    hub.publish({alert(seq)});
  }
  const auto client = store.api();
  NamedSubscribers names({{"pager", 7}}, client.acknowledge, 4);
  const auto query = subscription_from_query(input.substr(0, input.find('\n')));
  StreamFeed feed(hub, names, query ? *query : Subscription{});
  drain(feed, store, client);
  while (!input.empty()) {
    const auto line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const auto message = parse_client_message(line);
    if (const auto* wanted = std::get_if<Subscription>(&message)) feed.subscribe(*wanted);
    if (const auto* ack = std::get_if<Ack>(&message)) feed.acknowledge(ack->seq);
    if (const auto* refusal = std::get_if<Refusal>(&message)) feed.refuse(refusal->message);
    drain(feed, store, client);
  }
  for (const auto& [name, seq] : store.acknowledged) {
    expect(is_subscriber_name(name) && seq <= kAlerts, "a cursor is one of a name, and not ahead");
  }
}

}  // namespace trainwatch::fuzz
