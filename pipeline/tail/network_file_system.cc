#include "pipeline/tail/network_file_system.h"

#include <algorithm>
#include <array>

namespace trainwatch {
namespace {

struct NetworkFileSystem {
  std::uint32_t magic;
  std::string_view name;
};

constexpr std::array kNetworkFileSystems{
    NetworkFileSystem{0x00006969, "NFS"},      NetworkFileSystem{0xff534d42, "CIFS"},
    NetworkFileSystem{0xfe534d42, "SMB2"},     NetworkFileSystem{0x0000517b, "SMB"},
    NetworkFileSystem{0x65735546, "FUSE"},     NetworkFileSystem{0x0bd00bd0, "Lustre"},
    NetworkFileSystem{0x5346414f, "AFS"},      NetworkFileSystem{0x6b414653, "AFS"},
    NetworkFileSystem{0x01021997, "9p"},       NetworkFileSystem{0x00c36400, "Ceph"},
    NetworkFileSystem{0x47504653, "GPFS"},     NetworkFileSystem{0x19830326, "BeeGFS"},
    NetworkFileSystem{0x73757245, "Coda"},     NetworkFileSystem{0x0000564c, "NCP"},
    NetworkFileSystem{0x20030528, "OrangeFS"}, NetworkFileSystem{0x01161970, "GFS2"},
    NetworkFileSystem{0x7461636f, "OCFS2"},    NetworkFileSystem{0xaad7aaea, "PanFS"},
    NetworkFileSystem{0x786f4256, "vboxsf"},
};

}  // namespace

std::string_view network_file_system(std::int64_t type) {
  const auto magic = static_cast<std::uint32_t>(type);
  const auto found = std::ranges::find(kNetworkFileSystems, magic, &NetworkFileSystem::magic);
  return found == kNetworkFileSystems.end() ? std::string_view() : found->name;
}

}  // namespace trainwatch
