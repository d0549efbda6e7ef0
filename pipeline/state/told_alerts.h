// What was last told of each alert, so that files that have to be read again (a store of another
// version, a file whose identity cannot be proved) tell nothing twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/alert.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The newest telling of one alert id.
struct ToldAlert {
  Alert::State state = Alert::State::firing;
  Time updated_at{};
  std::string content;    // told_content() of it
  std::uint64_t seq = 0;  // of it
};

// A digest of what a client sees of the alert, its sequence number and epoch left out.
std::string told_content(const Alert& alert);

// False when `alert` repeats `told` or goes back behind it: a resolved alert does not fire again
// under its id, and content does not get older.
bool is_news(const ToldAlert& told, const Alert& alert, std::string_view content);

}  // namespace trainwatch
