// SPDX-License-Identifier: Apache-2.0
// The page as a whole: hostile files, large jobs, and nothing to say.
#include <gtest/gtest.h>

#include <cmath>

#include "commands/report/content_source.h"
#include "commands/report/report_content.h"
#include "rules/catalog.h"

namespace trainwatch::report_page_test {

constexpr std::size_t kLargest = 3'000'000;  // bytes of a page

const std::string kHostile =
    "<script>alert('x')</script>\" onload=\"y\xFF\x01</style>" + std::string(5000, 'n');

// Not a matcher: those print the whole page when they fail.
bool has(const std::string& page, std::string_view what) {
  return page.find(what) != std::string::npos;
}

Alert alert_of(const std::string& text) {
  Alert alert;
  alert.id = "0123";
  alert.rule = "step_spike";
  alert.subject = {text, text, 0, text};
  alert.verdict.summary = text;
  alert.verdict.next = text;
  alert.verdict.unit = text;
  alert.verdict.cause = {CauseName::input_wait, 0.5, text, {text}};
  alert.verdict.evidence = R"({"<b>": "</dd><script>", "list": [1, 2], "lost_seconds": 0.25})";
  return alert;
}

// Every text that comes from a file is `text`, and there are `many` of everything.
ReportContent content_of(const std::string& text, std::size_t many) {
  ReportContent content;
  content.program = "trainwatch test";
  content.job = text;
  content.sources.assign(many, {text, 1, 2, 3, 4, {{"syntax", 5}}});
  content.rejected.assign(many, {text, "syntax", text});
  for (const RuleSpec* rule : rule_catalog()) content.rules.emplace_back(*rule);
  content.alerts.assign(many, alert_of(text));
  JobFigures& job = content.figures;
  job.phases_of_job = {"pytorch", 0.0, 4e6, 4e6, {1e6, 25.0}, {2e6, 50.0}, {1e6, 25.0}};
  const DurationRow durations{text, 9.0, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1};
  job.step_phases.assign(many, durations);
  job.step_metrics = job.step_processes = job.step_phases;
  job.utilization.assign(many, {text, text, text, text, 9.0, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1});
  job.device_usage.assign(many, {text, text, 1.0, 2.0, 3.0});
  for (std::size_t i = 0; i < many; ++i) {
    job.iterators.push_back({text, true, 4, {}});
  }
  job.getnext = {9, 8, 7, double(many), {}};
  job.getnext.outliers.assign(many, {1.0, 2.0, 3.0, text});
  job.workers = job.batches = job.getnext;
  ProfileFigures profile{"cprofile", "training_loop", 1, {}};
  profile.functions.assign(many, {text, 7.0, text, 1.0, 2.0, 3.0});
  job.profiles.assign(3, profile);
  job.rejected_profiles.assign(many, {text, text});
  content.headline = text.substr(0, 500);
  content.answers = JsonWriter().begin_object().field("answer", text).end_object().take();
  return content;
}

std::size_t count_of(const std::string& page, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1))
    ++count;
  return count;
}

TEST(ReportPage, NoTextOfAFileBecomesMarkup) {
  const std::string whole = report_page(content_of(kHostile, 2));
  const std::string harmless = report_page(content_of("text", 2));
  EXPECT_EQ(count_of(whole, "</script"), count_of(harmless, "</script"));
  const std::string page = whole.substr(0, whole.find("<script type=\"application/json\""));
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "\" onload"));
  EXPECT_EQ(count_of(page, "</style>"), 2) << "the page's own";
  EXPECT_TRUE(has(page, "&lt;script&gt;"));
  EXPECT_FALSE(has(page, "\xFF"));
  EXPECT_FALSE(has(page, "\x01"));
  EXPECT_FALSE(has(page, std::string(1100, 'n')));
}

TEST(ReportPage, FetchesNothing) {
  const std::string page = report_page(content_of("text", 2));
  for (const std::string outside : {" src=", "url(", "@import", "<link", "<iframe"}) {
    EXPECT_FALSE(has(page, outside)) << outside;
  }
  EXPECT_TRUE(has(page, "default-src &#39;none&#39;"));
}

// Of "" and "abc", as `openssl dgst -sha256 -binary | base64` has them.
TEST(ReportPage, NamesItsScriptByItsContent) {
  EXPECT_EQ(content_source("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(content_source("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(ReportPage, AJobOfAnySizeMakesAPageOfBoundedSize) {
  const std::string page = report_page(content_of("a job with a name as long as they are", 1024));
  EXPECT_LT(page.size(), kLargest);
  for (const char* what : {"alerts", "rows", "paths", "functions"}) {
    EXPECT_TRUE(has(page, " more " + std::string(what) + " of ")) << what;
  }
  EXPECT_LT(report_page(content_of(kHostile, 1024)).size(), kLargest);
}

TEST(ReportPage, SaysWhatIsMissing) {
  const std::string page = report_page({});
  for (const char* said :
       {"No files were read", "No rule is enabled", "No rule fired", "times of the job are unknown",
        "no steps", "no system metrics", "no calls of PyTorch", "no Python profiles"}) {
    EXPECT_TRUE(has(page, said)) << said;
  }
  EXPECT_FALSE(has(page.substr(0, page.find("<script")), "<table"));
}

TEST(ReportPage, NamesTheRuleItsParametersAndItsAlerts) {
  ReportContent content = content_of("text", 1);
  for (RuleConfig& rule : content.rules) {
    if (rule.spec->id != "step_spike") continue;
    ASSERT_TRUE(rule.set("ratio", "7"));
  }
  content.alerts.front().verdict.value = 0.61;
  content.alerts.front().verdict.unit = "seconds";
  const std::string page = report_page(content);
  EXPECT_TRUE(has(page, "<tr id=\"rule-step_spike\""));
  EXPECT_TRUE(has(page, "ratio\xC2\xA0<b>7</b> (default 1.5)"));
  EXPECT_TRUE(has(page, "<a href=\"#alert-1\">1</a>"));
  EXPECT_TRUE(has(page, "Cause: input wait (50.0 %): text"));
  EXPECT_TRUE(has(page, "610 ms"));  // the value
  EXPECT_TRUE(has(page, "250 ms"));  // "lost_seconds" of the evidence
  EXPECT_EQ(page, report_page(content));
}

}  // namespace trainwatch::report_page_test
