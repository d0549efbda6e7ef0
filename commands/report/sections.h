// SPDX-License-Identifier: Apache-2.0
// The sections of the report, in the order of the page. Each writes one <section>, also where
// there is nothing to show: then it says so, and what would give it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/report/html_writer.h"
#include "commands/report/report_content.h"

namespace trainwatch {

struct Section {
  std::string_view id;
  std::string_view title;
  void (*write)(HtmlWriter& html, const ReportContent& content);
};

void write_input(HtmlWriter& html, const ReportContent& content);
void write_rules(HtmlWriter& html, const ReportContent& content);
void write_alerts(HtmlWriter& html, const ReportContent& content);
void write_phases(HtmlWriter& html, const ReportContent& content);
void write_step_statistics(HtmlWriter& html, const ReportContent& content);
void write_utilization(HtmlWriter& html, const ReportContent& content);
void write_data_loading(HtmlWriter& html, const ReportContent& content);
void write_gpu_work(HtmlWriter& html, const ReportContent& content);
void write_python_profiles(HtmlWriter& html, const ReportContent& content);

// Whose results write_gpu_work() shows.
std::vector<std::string> gpu_analyses_in_report();

// "There is nothing of this here", and what would give it.
inline void write_nothing(HtmlWriter& html, std::string_view text) {
  html.element("p", text, {{"class", "nothing"}});
}

// What a bound left out must be seen.
void write_left_out(HtmlWriter& html, std::size_t all, std::size_t shown, std::string_view what);

// The alerts in the order of the page, the worst first; alert i has the id "alert-<i + 1>".
std::vector<const Alert*> alerts_in_order(const ReportContent& content);
inline constexpr std::size_t kAlertsShown = 100;

}  // namespace trainwatch
