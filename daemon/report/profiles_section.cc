// Which Python functions took the time, per part of the job.
#include <algorithm>

#include "daemon/report/figures.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kFunctionsShown = 20;
constexpr std::size_t kRejectedShown = 20;

std::string of_nanoseconds(double number) {
  return figures::duration(number / 1e3);
}

// "training_loop" -> "training loop"
std::string in_words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void write_function(TableWriter& table, const FigureTable& functions, std::size_t row) {
  std::string where(functions.text(row, "file"));
  const double line = functions.number(row, "line").value_or(0);
  if (line > 0) where += ":" + figures::exact(line);
  table.begin_row();
  table.name(functions.text(row, "function"));
  table.name(where);
}

void write_cprofile(HtmlWriter& html, const std::string& id, const FigureTable& functions) {
  TableWriter table(
      html, id, "",
      {{"function"}, {"where"}, {"calls", true}, {"own time", true}, {"with callees", true}});
  for (std::size_t row = 0; row < std::min(functions.rows.size(), kFunctionsShown); ++row) {
    write_function(table, functions, row);
    table.number(functions.number(row, "ncalls"), figures::count);
    table.number(functions.number(row, "total_time_ns"), of_nanoseconds);
    table.number(functions.number(row, "cumulative_time_ns"), of_nanoseconds);
    table.end_row();
  }
  table.end();
}

void write_pyinstrument(HtmlWriter& html, const std::string& id, const FigureTable& functions) {
  TableWriter table(html, id, "",
                    {{"function"}, {"where"}, {"own time", true}, {"with callees", true}});
  for (std::size_t row = 0; row < std::min(functions.rows.size(), kFunctionsShown); ++row) {
    write_function(table, functions, row);
    table.number(functions.number(row, "self_time_ns"), of_nanoseconds);
    table.number(functions.number(row, "total_time_ns"), of_nanoseconds);
    table.end_row();
  }
  table.end();
}

void write_rejected(HtmlWriter& html, const FigureTable& rejected) {
  if (rejected.rows.empty()) return;
  TableWriter table(html, "rejected-profiles", "Profiles that cannot be read",
                    {{"file"}, {"reason"}});
  for (std::size_t row = 0; row < std::min(rejected.rows.size(), kRejectedShown); ++row) {
    table.begin_row();
    table.name(rejected.text(row, "path"));
    table.name(rejected.text(row, "reason"));
    table.end_row();
  }
  table.end();
  write_left_out(html, rejected.rows.size(), kRejectedShown, "profiles");
}

}  // namespace

void write_python_profiles(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.profiles.empty()) {
    write_nothing(
        html,
        "There are no Python profiles below these paths. SageMaker's hook writes them with "
        "cProfile or pyinstrument switched on in its Python profiling configuration.");
  }
  for (const ProfileFigures& part : job.profiles) {
    const char* profiles = part.profiles == 1 ? " profile" : " profiles";
    html.element("h3", in_words(part.part) + ", " + part.profiler + ", " +
                           figures::count(part.profiles) + profiles);
    const std::string id = "functions-" + part.profiler + "-" + part.part;
    if (part.profiler == "cprofile") {
      write_cprofile(html, id, part.functions);
    } else {
      write_pyinstrument(html, id, part.functions);
    }
    write_left_out(html, part.functions.rows.size(), kFunctionsShown, "functions");
  }
  write_rejected(html, job.rejected_profiles);
}

}  // namespace trainwatch
