// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/silence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/notify/silence_api.h"
#include "daemon/notify/silence_json.h"
#include "tests/unit/daemon/notified.h"

namespace trainwatch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Time kToday = time_from_rfc3339("2026-01-01T12:00:00Z");

class SilenceTest : public testing::Test {
 protected:
  HttpResponse ask(const std::string& method, const std::string& target,
                   const std::string& body = "") {
    return answer_silences(book_, {.method = method, .target = target, .headers = {}, .body = body},
                           kToday);
  }
  Notes notes_;
  SilenceBook book_{{},
                    [this](const Notes& changed) {
                      for (const auto& [key, value] : changed) notes_[key] = value;
                    },
                    kToday};
};

TEST_F(SilenceTest, MatchesWhatIsNamed) {
  const auto alert = notified({});  // step_spike, bert, algo-1, rank 3
  const auto several = notified({.subject = R"({"job":"bert","ranks":"0-3,7"})"});
  EXPECT_TRUE(matches({.rule = "step_spike"}, *alert));
  EXPECT_FALSE(matches({.rule = "stall"}, *alert));
  EXPECT_TRUE(matches({.job = "bert", .node = "algo-1", .rank = "3"}, *alert));
  EXPECT_FALSE(matches({.job = "bert", .rank = "2"}, *alert));
  EXPECT_FALSE(matches({.gpu = "0"}, *alert));
  for (const char* rank : {"0", "2", "3", "7"}) EXPECT_TRUE(matches({.rank = rank}, *several));
  for (const char* rank : {"4", "30", "8"}) EXPECT_FALSE(matches({.rank = rank}, *several));
}

TEST_F(SilenceTest, IsActiveBetweenItsTimes) {
  const Silence silence{.rule = "r", .from = kToday, .until = kToday + 1h};
  EXPECT_FALSE(silence.active(kToday - 1s));
  EXPECT_TRUE(silence.active(kToday));
  EXPECT_FALSE(silence.active(kToday + 1h));
  EXPECT_TRUE(Silence{.rule = "r"}.active(kToday));
}

TEST_F(SilenceTest, IsSetListedAndRemoved) {
  const auto made =
      ask("POST", "/api/v1/silences",
          R"({"rule":"step_spike","subject":{"rank":3},"duration":"2h","comment":"x"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("rule":"step_spike","subject":{"rank":"3"},"from":null,)"
                                   R"("until":"2026-01-01T14:00:00.000000Z","comment":"x"})"));
  const std::string id = made.body.substr(made.body.find("\"id\":\"") + 6, 32);
  EXPECT_TRUE(book_.covers(*notified({}), kToday));
  EXPECT_FALSE(book_.covers(*notified({}), kToday + 2h));
  EXPECT_THAT(ask("GET", "/api/v1/silences").body, HasSubstr(id));

  // A restart finds it in the notes.
  const SilenceBook again(
      notes_, [](const Notes&) {}, kToday);
  EXPECT_TRUE(again.covers(*notified({}), kToday));

  EXPECT_EQ(ask("DELETE", "/api/v1/silences/" + id).status, 200);
  EXPECT_EQ(ask("DELETE", "/api/v1/silences/" + id).status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/silences").body, "{\"silences\":[]}\n");
  EXPECT_EQ(notes_["silence/" + id], "");
}

TEST_F(SilenceTest, Expires) {
  ask("POST", "/api/v1/silences", R"({"rule":"step_spike","until":"2026-01-01T12:30:00Z"})");
  book_.expire(kToday + 29min);
  EXPECT_THAT(book_.json(), HasSubstr("step_spike"));
  book_.expire(kToday + 30min);
  EXPECT_EQ(book_.json(), "{\"silences\":[]}");
}

TEST_F(SilenceTest, RefusesWhatIsWrongInWords) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "JSON object"},
      {"[]", "JSON object"},
      {R"({"duration":"1h"})", "every alert"},
      {R"({"rule":"x"})", "until: is missing"},
      {R"({"rule":"x","until":"yesterday"})", "until: 'yesterday' is not a time"},
      {R"({"rule":"x","until":"2026-01-01T11:00:00Z"})", "until: is in the past"},
      {R"({"rule":"x","duration":"5000d"})", "more than a year"},
      {R"({"rule":1,"duration":"1h"})", "rule: must be text"},
      {R"({"rules":"x","duration":"1h"})", "rules: unknown key"},
      {R"({"subject":{"host":"x"},"duration":"1h"})", "subject.host: unknown key"},
      {R"({"subject":{"rank":"all"},"duration":"1h"})", "rank: 'all' is not a number"},
      {R"({"subject":{"rank":-1},"duration":"1h"})", "rank: must be text"},
      {R"({"rule":"x","id":"y","duration":"1h"})", "id: is chosen"},
  };
  for (const auto& [body, error] : rows) {
    const auto response = ask("POST", "/api/v1/silences", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_THAT(response.body, HasSubstr(error)) << body;
  }
}

TEST_F(SilenceTest, ThereIsAMost) {
  for (std::size_t i = 0; i < SilenceBook::kMost; ++i) {
    ASSERT_EQ(ask("POST", "/api/v1/silences", R"({"rule":"x","duration":"1h"})").status, 201);
  }
  EXPECT_THAT(ask("POST", "/api/v1/silences", R"({"rule":"x","duration":"1h"})").body,
              HasSubstr("1000 silences already"));
}

}  // namespace
}  // namespace trainwatch
