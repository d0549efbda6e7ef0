// The style sheet of the report, part of the page.
#pragma once

#include <string_view>

namespace trainwatch {

std::string_view page_style();

}  // namespace trainwatch
