// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {
namespace {

std::string reason_of(const std::string& what, int code) {
  return what + ": " + std::generic_category().message(code);
}

// Headers of the oldest supported system do not have all of this.
constexpr std::uint64_t kTruncate = 1ULL << 14U;
constexpr std::uint64_t kBind = 1;
constexpr std::uint64_t kConnect = 2;
struct RulesetAttributes {
  std::uint64_t handled_files = 0;
  std::uint64_t handled_network = 0;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrite = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
// All that the first version of Landlock knows.
constexpr std::uint64_t kFirst = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;

std::uint64_t handled_files(long version) {
  std::uint64_t rights = kFirst;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rights |= kTruncate;
  return rights;
}

// Resolver and certificate authorities: their configuration, and libraries that glibc loads for
// other sources of names. Those that do not exist are left out.
constexpr std::array kConnecting{"/etc",
                                 "/run/systemd/resolve",
                                 "/run/nscd",
                                 "/lib",
                                 "/lib64",
                                 "/usr/lib",
                                 "/usr/lib64",
                                 "/usr/share/ca-certificates",
                                 "/usr/local/share/ca-certificates"};

// The path itself, or the nearest directory above it.
FileHandle open_existing(std::filesystem::path path) {
  while (true) {
    FileHandle found(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (found.valid() || !path.has_relative_path()) return found;
    path = path.parent_path();
  }
}

class Ruleset {
 public:
  Ruleset(long version, std::uint64_t files, std::uint64_t network) : files_(files) {
    RulesetAttributes attributes{files, network};
    const std::size_t size = version >= 4 ? sizeof attributes : sizeof attributes.handled_files;
    rules_ =
        FileHandle(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0U)));
  }
  bool allow(const FileHandle& beneath, std::uint64_t rights) const {
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & files_;
    rule.parent_fd = beneath.get();
    return beneath.valid() &&
           syscall(SYS_landlock_add_rule, rules_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0;
  }
  bool valid() const { return rules_.valid(); }
  bool enforce() const { return syscall(SYS_landlock_restrict_self, rules_.get(), 0U) == 0; }

 private:
  std::uint64_t files_;
  FileHandle rules_;
};

// Returns why not, if so. `version` becomes Landlock's.
std::optional<std::string> restrict_files(const SandboxPaths& paths, long& version) {
  version = syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                    LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return reason_of("landlock", errno);
  const Ruleset rules(version, handled_files(version), paths.connect ? kBind : kBind | kConnect);
  if (!rules.valid()) return reason_of("landlock", errno);
  for (const char* path : kConnecting) {
    if (!paths.connect) break;
    if (const FileHandle tree(open(path, O_PATH | O_CLOEXEC)); tree.valid()) {
      if (!rules.allow(tree, kRead)) return reason_of(std::string("landlock: ") + path, errno);
    }
  }
  for (const std::string& path : paths.read) {
    const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
    if (!rules.allow(open_existing(absolute.parent_path()), kRead)) {
      return reason_of("landlock: " + path, errno);
    }
  }
  for (const std::string& path : paths.write) {
    if (!rules.allow(open_existing(path), kWrite)) return reason_of("landlock: " + path, errno);
  }
  if (!rules.enforce()) return reason_of("landlock", errno);
  return std::nullopt;
}

// Programs, other processes, mounts, modules, clocks, users, and what has been the way into
// kernels.
constexpr std::array kRefused{SYS_execve,
                              SYS_execveat,
#ifndef __SANITIZE_ADDRESS__  // its search for leaks traces the process
                              SYS_ptrace,
#endif
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_pidfd_getfd,
                              SYS_kcmp,
                              SYS_mount,
                              SYS_umount2,
                              SYS_pivot_root,
                              SYS_chroot,
                              SYS_move_mount,
                              SYS_open_tree,
                              SYS_fsopen,
                              SYS_fsconfig,
                              SYS_fsmount,
                              SYS_fspick,
                              SYS_mount_setattr,
                              SYS_setns,
                              SYS_unshare,
                              SYS_init_module,
                              SYS_finit_module,
                              SYS_delete_module,
                              SYS_kexec_load,
                              SYS_reboot,
                              SYS_swapon,
                              SYS_swapoff,
                              SYS_acct,
                              SYS_quotactl,
                              SYS_settimeofday,
                              SYS_clock_settime,
                              SYS_clock_adjtime,
                              SYS_adjtimex,
                              SYS_sethostname,
                              SYS_setdomainname,
                              SYS_setuid,
                              SYS_setgid,
                              SYS_setreuid,
                              SYS_setregid,
                              SYS_setresuid,
                              SYS_setresgid,
                              SYS_setfsuid,
                              SYS_setfsgid,
                              SYS_setgroups,
                              SYS_capset,
                              SYS_personality,
                              SYS_mknodat,
                              SYS_bpf,
                              SYS_perf_event_open,
                              SYS_userfaultfd,
                              SYS_fanotify_init,
                              SYS_open_by_handle_at,
                              SYS_io_uring_setup,
                              SYS_io_uring_enter,
                              SYS_io_uring_register,
                              SYS_add_key,
                              SYS_request_key,
                              SYS_keyctl,
                              SYS_syslog,
                              SYS_vhangup,
#ifdef __x86_64__
                              SYS_kexec_file_load,
                              SYS_ioperm,
                              SYS_iopl,
                              SYS_modify_ldt,
                              SYS_uselib,
                              SYS_mknod
#endif
};

#ifdef __x86_64__
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
// Numbers from here on are those of another way to call the kernel (x32).
constexpr std::uint32_t kForeignCalls = 0x40000000;

std::vector<sock_filter> filter_of_calls() {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  const sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_filter refuse{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM};
  std::vector<sock_filter> program{
      load(offsetof(seccomp_data, arch)), {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture}, refuse,
      load(offsetof(seccomp_data, nr)),   {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kForeignCalls}, refuse};
  for (const long call : kRefused) {
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call)});
    program.push_back(refuse);
  }
  program.push_back(allow);
  return program;
}

std::optional<std::string> restrict_calls() {
  std::vector<sock_filter> filter = filter_of_calls();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0) {
    return std::nullopt;
  }
  return reason_of("seccomp", errno);
}

void add(std::string& list, const std::string& text) {
  if (!list.empty()) list += ", ";
  list += text;
}

}  // namespace

Sandbox enter_sandbox(const SandboxPaths& paths) {
  Sandbox result;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    result.missing = reason_of("no new privileges", errno);
    return result;
  }
  long version = 0;
  if (const auto why = restrict_files(paths, version)) {
    add(result.missing, *why);
  } else {
    add(result.enforced, "landlock " + std::to_string(version));
  }
  if (const auto why = restrict_calls()) {
    add(result.missing, *why);
  } else {
    add(result.enforced, "seccomp");
  }
  return result;
}

}  // namespace trainwatch
