/* Fails calls that change files below a folder: loaded into a process by LD_PRELOAD.
 *
 * FAULT_ROOT  the folder
 * FAULT_LOG   file that gets a line for each counted call: its number, its name, its path
 * FAULT_MODE  count: fail none; once: call FAULT_N fails with EIO; full: from call FAULT_N on the disk is full, and a write
 *             that begins before it is full writes half; torn: call FAULT_N, a close of bytes that were never made
 *             durable, loses half of the file and fails with ENOSPC; kill: the process is killed before call FAULT_N;
 *             threads: once FAULT_N calls were made no thread is started any more
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { COUNT, ONCE, FULL, TORN, KILL, THREADS };
enum verdict { PASS, FAIL, HALF, TEAR };

#define FDS 4096
static atomic_long calls;
static atomic_char dirty[FDS];
static const char *root;
static long fault_n;
static enum mode mode;
static int log_fd = -1;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    static const char *names[] = {"count", "once", "full", "torn", "kill", "threads"};
    const char *wanted = getenv("FAULT_MODE"), *n = getenv("FAULT_N"), *log = getenv("FAULT_LOG");
    root = getenv("FAULT_ROOT");
    fault_n = n ? atol(n) : 0;
    for (int i = 0; wanted && i <= THREADS; i++)
        if (!strcmp(wanted, names[i])) mode = (enum mode)i;
    if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_below(const char *path) {
    char whole[PATH_MAX];
    if (!root || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole)) return 0;
        path = whole;
    }
    size_t length = strlen(root);
    return !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (path[0] != '/') return 0;
    return is_below(path);
}

/* Whether a call of this name is to fail. What gives back space or names works on a full disk. */
static enum verdict judge(const char *name, const char *path, int needs_space) {
    char line[PATH_MAX + 64];
    long n = atomic_fetch_add(&calls, 1) + 1;
    int failed = (mode == ONCE && n == fault_n) || (mode == FULL && n >= fault_n && needs_space) ||
                 (mode == TORN && n == fault_n) || (mode == KILL && n == fault_n);
    int length = snprintf(line, sizeof line, "%ld %s%s %s\n", n, failed ? "!" : "", name, path);
    if (log_fd >= 0) syscall(SYS_write, log_fd, line, length);
    if (!failed) return PASS;
    if (mode == KILL) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (mode == TORN) return TEAR;
    errno = mode == FULL ? ENOSPC : EIO;
    return mode == FULL && n == fault_n ? HALF : FAIL;
}

static enum verdict judge_fd(const char *name, int fd, int needs_space) {
    char path[PATH_MAX];
    return path_of(fd, path) ? judge(name, path, needs_space) : PASS;
}

static enum verdict judge_path(const char *name, const char *path, int needs_space) {
    return is_below(path) ? judge(name, path, needs_space) : PASS;
}

/* A function: what decides is asked once. */
static int is_bad(enum verdict verdict) { return verdict == FAIL || verdict == HALF; }
#define MARK(fd, value) do { if ((fd) >= 0 && (fd) < FDS) atomic_store(&dirty[fd], value); } while (0)

ssize_t write(int fd, const void *bytes, size_t n) {
    enum verdict verdict = judge_fd("write", fd, 1);
    if (verdict == HALF && n > 1) n = n / 2;
    else if (is_bad(verdict)) return -1;
    MARK(fd, 1);
    return REAL(write)(fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    if (is_bad(judge_fd("writev", fd, 1))) return -1;
    MARK(fd, 1);
    return REAL(writev)(fd, parts, n);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    if (is_bad(judge_fd("pwrite", fd, 1))) return -1;
    MARK(fd, 1);
    return REAL(pwrite64)(fd, bytes, n, at);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *into, size_t n, unsigned flags) {
    if (is_bad(judge_fd("copy_file_range", to, 1))) return -1;
    MARK(to, 1);
    return REAL(copy_file_range)(from, at, to, into, n, flags);
}

int fsync(int fd) {
    if (is_bad(judge_fd("fsync", fd, 1))) return -1;
    MARK(fd, 0);
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    if (is_bad(judge_fd("fdatasync", fd, 1))) return -1;
    MARK(fd, 0);
    return REAL(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t n) {
    if (is_bad(judge_fd("ftruncate", fd, 1))) return -1;
    return REAL(ftruncate64)(fd, n);
}

int close(int fd) {
    int flags = fcntl(fd, F_GETFL);
    int is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    int was_dirty = fd >= 0 && fd < FDS && atomic_load(&dirty[fd]);
    enum verdict verdict = is_written ? judge_fd(was_dirty ? "close" : "close-clean", fd, 0) : PASS;
    struct stat found;
    if (verdict == TEAR && was_dirty && !fstat(fd, &found)) {
        if (REAL(ftruncate64)(fd, found.st_size / 2)) abort();
        REAL(close)(fd);
        MARK(fd, 0);
        errno = ENOSPC;
        return -1;
    }
    MARK(fd, 0);
    int closed = REAL(close)(fd);
    if (!is_bad(verdict)) return closed;
    errno = EIO;
    return -1;
}

static int open_any(const char *name, int at, const char *path, int flags, mode_t mode) {
    if ((flags & (O_CREAT | O_TMPFILE)) && is_bad(judge_path("open", path, 1))) return -1;
    if (at != AT_FDCWD) return ((int (*)(int, const char *, int, ...))real("openat64"))(at, path, flags, mode);
    return ((int (*)(const char *, int, ...))real(name))(path, flags, mode);
}

#define MODE(last) mode_t mode = 0; do { va_list more; va_start(more, last); mode = va_arg(more, mode_t); va_end(more); } while (0)
int open(const char *path, int flags, ...) { MODE(flags); return open_any("open", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags); return open_any("open64", AT_FDCWD, path, flags, mode); }

int rename(const char *from, const char *to) {
    if (is_bad(judge_path("rename", to, 1))) return -1;
    return REAL(rename)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    if (is_bad(judge_path("link", to, 1))) return -1;
    return REAL(linkat)(a, from, b, to, flags);
}

int link(const char *from, const char *to) {
    if (is_bad(judge_path("link", to, 1))) return -1;
    return REAL(link)(from, to);
}

int unlink(const char *path) {
    if (is_bad(judge_path("unlink", path, 0))) return -1;
    return REAL(unlink)(path);
}

int rmdir(const char *path) {
    if (is_bad(judge_path("rmdir", path, 0))) return -1;
    return REAL(rmdir)(path);
}

int mkdir(const char *path, mode_t mode) {
    if (is_bad(judge_path("mkdir", path, 1))) return -1;
    return REAL(mkdir)(path, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *with) {
    if (mode == THREADS && atomic_load(&calls) >= fault_n) return EAGAIN;
    return REAL(pthread_create)(thread, how, work, with);
}
