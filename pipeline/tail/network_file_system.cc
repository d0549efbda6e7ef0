#include "pipeline/tail/network_file_system.h"

#include <algorithm>
#include <iterator>

namespace trainwatch {

bool is_network_file_system(std::int64_t type) {
  static constexpr std::uint32_t kMagics[] = {
      0x00006969,  // NFS
      0x65735546,  // FUSE
      0xFE534D42,  // SMB2
      0xFF534D42,  // CIFS
      0x0BD00BD0,  // Lustre
      0x00C36400,  // Ceph
      0x01021997,  // 9P
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x5346414F,  // AFS
  };
  const auto magic = static_cast<std::uint32_t>(type);
  return std::find(std::begin(kMagics), std::end(kMagics), magic) != std::end(kMagics);
}

}  // namespace trainwatch
