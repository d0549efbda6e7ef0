// A random (version 4) UUID, for naming an epoch.
#pragma once

#include <string>

namespace trainwatch {

std::string random_uuid();

}  // namespace trainwatch
