// SPDX-License-Identifier: Apache-2.0
/* A disk that fails on demand: an LD_PRELOAD library for storm.py.
 *
 * It counts the calls that write in the program named STORM_PROGRAM: open for writing, write, fsync, rename, ftruncate,
 * flock, mkdir. Standard streams, pipes, /dev and /proc are not counted. STORM_ACTION is applied to call number
 * STORM_CALL:
 *   an errno     the call fails with it
 *   short        a write takes half of its bytes; other calls are unchanged
 *   before       SIGKILL before the call; after: after it; half: after half of the bytes of a write
 * STORM_ONWARD=1: every call from that one on. STORM_CALL=0: nothing fails. STORM_LOG receives a line per call with an
 * action, or per counted call if STORM_CALL is 0: its name and its path (of a rename: both). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long counted;

static int is_action(const char *name) {
  const char *action = getenv("STORM_ACTION");
  return action && strcmp(action, name) == 0;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static void note(const char *call, const char *path) {
  const char *log = getenv("STORM_LOG");
  const int file = log ? (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  if (file < 0) return;
  char line[2 * PATH_MAX + 64];
  const int length = snprintf(line, sizeof line, "%s %s\n", call, path);
  syscall(SYS_write, file, line, (size_t)length);
  syscall(SYS_close, file);
}

/* Whether the action applies to this call. A path of 0: that of the descriptor. */
static int met(const char *call, int descriptor, const char *path) {
  const char *program = getenv("STORM_PROGRAM");
  const char *number = getenv("STORM_CALL");
  if (!program || !number || strcmp(program, program_invocation_short_name) != 0) return 0;
  const int before = errno;
  char link[64], target[PATH_MAX] = "";
  if (!path) {
    if (descriptor <= 2) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    errno = before;
    if (target[0] != '/') return 0;
    path = target;
  }
  if (strncmp(path, "/proc/", 6) == 0) return 0;
  if (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) return 0;
  const long wanted = atol(number);
  const long now = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
  const int hit = wanted > 0 && (now == wanted || (now > wanted && getenv("STORM_ONWARD")));
  if (hit || wanted == 0) note(call, path);
  errno = before;
  return hit;
}

/* Applies the action before the call; 1 if the call fails. */
static int fails(int hit) {
  if (!hit || is_action("short") || is_action("after")) return 0;
  if (is_action("before") || is_action("half")) die();
  errno = atoi(getenv("STORM_ACTION"));
  return 1;
}

static size_t bytes_of(int hit, size_t size) { return hit && is_action("short") && size > 1 ? size / 2 : size; }

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
#define CALL(result, failure, hit, call)        \
  do {                                          \
    const int hit_ = (hit);                     \
    if (fails(hit_)) return failure;            \
    result result_ = (call);                    \
    if (hit_ && is_action("after")) die();      \
    return result_;                             \
  } while (0)

#define OPENS(flags) (((flags) & (O_CREAT | O_TRUNC)) || ((flags) & O_ACCMODE) != O_RDONLY)
#define MODE                          \
  va_list rest;                       \
  va_start(rest, flags);              \
  const mode_t mode = va_arg(rest, mode_t); \
  va_end(rest)

int open(const char *path, int flags, ...) {
  MODE;
  CALL(int, -1, OPENS(flags) && met("open", -1, path), REAL(int, open, const char *, int, ...)(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
  MODE;
  CALL(int, -1, OPENS(flags) && met("open", -1, path), REAL(int, open64, const char *, int, ...)(path, flags, mode));
}
int openat(int at, const char *path, int flags, ...) {
  MODE;
  CALL(int, -1, OPENS(flags) && met("open", -1, path),
       REAL(int, openat, int, const char *, int, ...)(at, path, flags, mode));
}
int openat64(int at, const char *path, int flags, ...) {
  MODE;
  CALL(int, -1, OPENS(flags) && met("open", -1, path),
       REAL(int, openat64, int, const char *, int, ...)(at, path, flags, mode));
}
FILE *fopen(const char *path, const char *how) {
  CALL(FILE *, NULL, how[0] != 'r' && met("open", -1, path),
       REAL(FILE *, fopen, const char *, const char *)(path, how));
}
FILE *fopen64(const char *path, const char *how) {
  CALL(FILE *, NULL, how[0] != 'r' && met("open", -1, path),
       REAL(FILE *, fopen64, const char *, const char *)(path, how));
}

ssize_t write(int file, const void *bytes, size_t size) {
  const int hit = met("write", file, NULL);
  ssize_t (*real)(int, const void *, size_t) = REAL(ssize_t, write, int, const void *, size_t);
  if (hit && is_action("half")) real(file, bytes, size / 2);
  CALL(ssize_t, -1, hit, real(file, bytes, bytes_of(hit, size)));
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  CALL(ssize_t, -1, met("write", file, NULL),
       REAL(ssize_t, writev, int, const struct iovec *, int)(file, parts, count));
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  const int hit = met("write", file, NULL);
  CALL(ssize_t, -1, hit, REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(file, bytes, bytes_of(hit, size), at));
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at) {
  const int hit = met("write", file, NULL);
  CALL(ssize_t, -1, hit,
       REAL(ssize_t, pwrite64, int, const void *, size_t, off_t)(file, bytes, bytes_of(hit, size), at));
}
int fsync(int file) { CALL(int, -1, met("fsync", file, NULL), REAL(int, fsync, int)(file)); }
int fdatasync(int file) { CALL(int, -1, met("fsync", file, NULL), REAL(int, fdatasync, int)(file)); }
int ftruncate(int file, off_t size) {
  CALL(int, -1, met("ftruncate", file, NULL), REAL(int, ftruncate, int, off_t)(file, size));
}
int ftruncate64(int file, off_t size) {
  CALL(int, -1, met("ftruncate", file, NULL), REAL(int, ftruncate64, int, off_t)(file, size));
}
int flock(int file, int how) { CALL(int, -1, met("flock", file, NULL), REAL(int, flock, int, int)(file, how)); }

static int met_rename(const char *from, const char *to) {
  char both[2 * PATH_MAX];
  snprintf(both, sizeof both, "%s %s", from, to);
  return met("rename", -1, both);
}
int rename(const char *from, const char *to) {
  CALL(int, -1, met_rename(from, to), REAL(int, rename, const char *, const char *)(from, to));
}
int renameat(int a, const char *from, int b, const char *to) {
  CALL(int, -1, met_rename(from, to), REAL(int, renameat, int, const char *, int, const char *)(a, from, b, to));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  CALL(int, -1, met_rename(from, to),
       REAL(int, renameat2, int, const char *, int, const char *, unsigned)(a, from, b, to, flags));
}
int mkdir(const char *path, mode_t mode) {
  CALL(int, -1, met("mkdir", -1, path), REAL(int, mkdir, const char *, mode_t)(path, mode));
}
int mkdirat(int at, const char *path, mode_t mode) {
  CALL(int, -1, met("mkdir", -1, path), REAL(int, mkdirat, int, const char *, mode_t)(at, path, mode));
}
