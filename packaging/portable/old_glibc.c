// SPDX-License-Identifier: Apache-2.0
/* What programs compiled with the headers of a new glibc call and glibc 2.27 does not have. Linked
   into the portable program (link.py), and hidden in it: libraries that it opens use those
   of the glibc they find. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What every glibc has, and the headers of a new one do not declare. */
typedef int Main(int, char**, char**);
extern int __libc_start_main(Main*, int, char**, void (*init)(int, char**, char**),
                             void (*fini)(void), void (*rtld_fini)(void), void* stack_end);
extern int __xstat(int version, const char* path, struct stat* out);
extern int __lxstat(int version, const char* path, struct stat* out);
extern int __fxstat(int version, int fd, struct stat* out);
extern int __fxstatat(int version, int fd, const char* path, struct stat* out, int flags);

#pragma GCC visibility push(hidden)

/* Until 2.33 a program called the constructors of its own, with a function from libc_nonshared.a:
   with none given, a newer glibc does it, an older one does not. */
extern void (*__preinit_array_start[])(int, char**, char**);
extern void (*__preinit_array_end[])(int, char**, char**);
extern void (*__init_array_start[])(int, char**, char**);
extern void (*__init_array_end[])(int, char**, char**);
extern void _init(void);

static void call_constructors(int argc, char** argv, char** environment) {
  for (void (**f)(int, char**, char**) = __preinit_array_start; f < __preinit_array_end; ++f) {
    (*f)(argc, argv, environment);
  }
  _init();
  for (void (**f)(int, char**, char**) = __init_array_start; f < __init_array_end; ++f) {
    (*f)(argc, argv, environment);
  }
}

/* Scrt1.o calls it as __libc_start_main; glibc_stubs.py renames that. */
int start_main(Main* main, int argc, char** argv, void (*init)(int, char**, char**),
               void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  (void)init;
  return __libc_start_main(main, argc, argv, call_constructors, fini, rtld_fini, stack_end);
}

/* libstdc++ counts references without atomic instructions while this is true: never. */
char __libc_single_threaded = 0;

/* Of libcrypt: random bytes for new salts. glibc has it since 2.36. */
void arc4random_buf(void* buffer, size_t size) {
  for (char* at = buffer; size > 0;) {
    const ssize_t got = getrandom(at, size, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got < 0) continue;
    at += got;
    size -= (size_t)got;
  }
}

/* stat() and its relatives were inline functions around those of glibc. */
enum { kStatVersion = 1 }; /* of the structure */

int stat(const char* path, struct stat* out) {
  return __xstat(kStatVersion, path, out);
}
int lstat(const char* path, struct stat* out) {
  return __lxstat(kStatVersion, path, out);
}
int fstat(int fd, struct stat* out) {
  return __fxstat(kStatVersion, fd, out);
}
int fstatat(int fd, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatVersion, fd, path, out, flags);
}
int stat64(const char* path, struct stat64* out) __attribute__((alias("stat")));
int lstat64(const char* path, struct stat64* out) __attribute__((alias("lstat")));
int fstat64(int fd, struct stat64* out) __attribute__((alias("fstat")));
int fstatat64(int fd, const char* path, struct stat64* out, int flags)
    __attribute__((alias("fstatat")));

int statx(int directory, const char* path, int flags, unsigned mask, struct statx* out) {
  return (int)syscall(SYS_statx, directory, path, flags, mask, out);
}

/* The same where file offsets have 64 bits. */
int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return fcntl(fd, command, argument);
}

/* A wait on any clock, for std::condition_variable. The fallback wakes at the right time unless the
   wall clock is set meanwhile; who waits looks at its own clock and waits again. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  ClockWait* const native = (ClockWait*)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  if (native != NULL) return native(condition, mutex, clock, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  const long billion = 1000000000;
  long nanoseconds = wall.tv_nsec + until->tv_nsec - now.tv_nsec;
  wall.tv_sec += until->tv_sec - now.tv_sec;
  if (nanoseconds < 0) {
    nanoseconds += billion;
    --wall.tv_sec;
  } else if (nanoseconds >= billion) {
    nanoseconds -= billion;
    ++wall.tv_sec;
  }
  wall.tv_nsec = nanoseconds;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

/* Where the unwinder finds the tables for an address, for exceptions. */
struct Search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int search_object(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct Search* const search = data;
  uintptr_t tables = 0;
  int found = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) {
      tables = begin;
    } else if (segment->p_type == PT_LOAD && search->address - begin < segment->p_memsz) {
      search->result->dlfo_map_start = (void*)begin;
      search->result->dlfo_map_end = (void*)(begin + segment->p_memsz);
      found = 1;
    }
  }
  if (!found) return 0;
  search->result->dlfo_eh_frame = (void*)tables;
  return tables != 0 ? 1 : -1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  memset(result, 0, sizeof *result);
  struct Search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(search_object, &search) == 1 ? 0 : -1;
}

/* For std::random_device. */
uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}
