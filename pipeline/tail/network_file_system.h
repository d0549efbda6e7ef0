// File systems on which other machines, or user-space processes, write unseen, and on which locks
// and syncs may not mean what a database needs.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch {

// Its name; empty for a local one. `type` is statfs(2)'s f_type.
std::string_view network_file_system(std::int64_t type);

}  // namespace trainwatch
