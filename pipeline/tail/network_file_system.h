// File systems where other machines, or processes behind the kernel's back, write unseen, and where
// locks and syncs are not known to mean what a database needs.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch {

// Its name; empty for a local one. `type` is statfs(2)'s f_type.
std::string_view network_file_system(std::int64_t type);

}  // namespace trainwatch
