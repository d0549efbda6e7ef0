// File systems where other machines, or processes behind the kernel's back, write unseen.
#pragma once

#include <cstdint>

namespace trainwatch {

// `type` is statfs(2)'s f_type.
bool is_network_file_system(std::int64_t type);

}  // namespace trainwatch
