/* shim.c - makes one call of a kind fail, for tests/faults/faults.py.
 *
 * LD_PRELOAD=shim.so FAULT_KIND=KIND FAULT_AT=N: the N-th call of that kind
 * fails, from 1 on; with FAULT_STAY=1 all later ones too, like a full disk.
 * FAULT_COUNT=FILE: how many there were is written to the file at the end.
 * Kinds: write, read, open, mmap, malloc, rename (and link), fsync, thread.
 * With storm a signal interrupts the program a thousand times a second. Streams
 * of fopen() and fdopen() become streams of our own, because those of the C
 * library call the kernel without asking the linker. Writes to standard error
 * never fail: the message is what is tested. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *shim_kind = "";
static const char *shim_count_path;
static long shim_at;
static bool shim_stay, shim_ready;
static atomic_long shim_calls;

static void shim_nothing(int sig)
{
	(void)sig;
}

/* Without SA_RESTART calls that wait return EINTR. */
static void shim_storm(void)
{
	struct sigaction sa = { .sa_handler = shim_nothing };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
			       .sigev_signo = SIGUSR1 };
	struct itimerspec each = { { 0, 1000000 }, { 0, 1000000 } };
	timer_t timer;

	sigaction(SIGUSR1, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) ||
	    timer_settime(timer, 0, &each, NULL))
		_exit(99);
}

__attribute__((constructor)) static void shim_start(void)
{
	const char *at = getenv("FAULT_AT");
	const char *kind = getenv("FAULT_KIND");

	shim_kind = kind ? kind : "";
	shim_at = at ? strtol(at, NULL, 10) : 0;
	shim_stay = getenv("FAULT_STAY") != NULL;
	shim_count_path = getenv("FAULT_COUNT");
	if (!strcmp(shim_kind, "storm") && shim_at)
		shim_storm();
	shim_ready = true;
}

/* Returns whether this call is to fail. */
static bool shim_fails(const char *kind, int error)
{
	long n;

	if (!shim_ready || strcmp(kind, shim_kind) != 0)
		return false;
	n = atomic_fetch_add(&shim_calls, 1) + 1;
	if (!shim_at || (shim_stay ? n < shim_at : n != shim_at))
		return false;
	errno = error;
	return true;
}

__attribute__((destructor)) static void shim_end(void)
{
	char text[32];
	int fd;

	shim_ready = false;
	if (!shim_count_path)
		return;
	fd = open(shim_count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int n = snprintf(text, sizeof(text), "%ld\n", (long)shim_calls);

	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

/* Calls the function that this one hides. */
#define SHIM_REAL(ret, name, params, args)                                     \
	({                                                                     \
		static ret(*real_) params;                                     \
                                                                               \
		if (!real_)                                                    \
			*(void **)&real_ = dlsym(RTLD_NEXT, #name);            \
		real_ args;                                                    \
	})

#define SHIM(ret, name, params, args, kind, error, failed)                     \
	ret name params;                                                       \
	ret name params                                                        \
	{                                                                      \
		return shim_fails(kind, error)                                 \
			       ? (failed)                                      \
			       : SHIM_REAL(ret, name, params, args);           \
	}

#define BYTES (int fd, void *p, size_t n)
#define BYTES_AT (int fd, void *p, size_t n, off_t off)
#define CONST_BYTES_AT (int fd, const void *p, size_t n, off_t off)

SHIM(ssize_t, read, BYTES, (fd, p, n), "read", EIO, -1)
SHIM(ssize_t, pread, BYTES_AT, (fd, p, n, off), "read", EIO, -1)
SHIM(ssize_t, pread64, BYTES_AT, (fd, p, n, off), "read", EIO, -1)
SHIM(ssize_t, pwrite, CONST_BYTES_AT, (fd, p, n, off), "write", ENOSPC, -1)
SHIM(ssize_t, pwrite64, CONST_BYTES_AT, (fd, p, n, off), "write", ENOSPC, -1)
SHIM(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n),
     "write", ENOSPC, -1)

ssize_t write(int fd, const void *p, size_t n)
{
	return fd != 2 && shim_fails("write", ENOSPC)
		       ? -1
		       : SHIM_REAL(ssize_t, write, (int, const void *, size_t),
				   (fd, p, n));
}

#define MAP (void *at, size_t n, int prot, int flags, int fd, off_t off)
SHIM(void *, mmap, MAP, (at, n, prot, flags, fd, off), "mmap", ENOMEM,
     MAP_FAILED)
SHIM(void *, mmap64, MAP, (at, n, prot, flags, fd, off), "mmap", ENOMEM,
     MAP_FAILED)

/* dlsym() itself may allocate, so these call the C library's other names. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return shim_fails("malloc", ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return shim_fails("malloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return shim_fails("malloc", ENOMEM) ? NULL : __libc_realloc(p, n);
}

SHIM(int, rename, (const char *a, const char *b), (a, b), "rename", EIO, -1)
SHIM(int, renameat2,
     (int d, const char *a, int e, const char *b, unsigned int how),
     (d, a, e, b, how), "rename", EIO, -1)
SHIM(int, linkat, (int d, const char *a, int e, const char *b, int how),
     (d, a, e, b, how), "rename", EIO, -1)
SHIM(int, fsync, (int fd), (fd), "fsync", EIO, -1)
SHIM(int, fdatasync, (int fd), (fd), "fsync", EIO, -1)
SHIM(int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*fn)(void *), void *arg),
     (t, a, fn, arg), "thread", EAGAIN, EAGAIN)

static int shim_openat(int dir, const char *path, int flags, mode_t mode)
{
	return shim_fails("open", EMFILE)
		       ? -1
		       : SHIM_REAL(int, openat, (int, const char *, int, ...),
				   (dir, path, flags, mode));
}

#define SHIM_MODE                                                              \
	va_list ap_;                                                           \
                                                                               \
	va_start(ap_, flags);                                                  \
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap_, mode_t) : 0; \
	va_end(ap_)

int open(const char *path, int flags, ...)
{
	SHIM_MODE;
	return shim_openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	SHIM_MODE;
	return shim_openat(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	SHIM_MODE;
	return shim_openat(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	SHIM_MODE;
	return shim_openat(dir, path, flags, mode);
}

/* ---- streams */

static ssize_t shim_take(void *cookie, char *p, size_t n)
{
	return read((int)(long)cookie, p, n);
}

static ssize_t shim_put(void *cookie, const char *p, size_t n)
{
	ssize_t put = write((int)(long)cookie, p, n);

	return put < 0 ? 0 : put;
}

static int shim_seek(void *cookie, off64_t *off, int whence)
{
	off64_t at = lseek64((int)(long)cookie, *off, whence);

	if (at >= 0)
		*off = at;
	return at < 0 ? -1 : 0;
}

static int shim_close(void *cookie)
{
	return close((int)(long)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
	const cookie_io_functions_t io = { shim_take, shim_put, shim_seek,
					   shim_close };

	return fopencookie((void *)(long)fd, mode, io);
}

FILE *fopen(const char *path, const char *mode)
{
	int flags = (strchr(mode, '+') ? O_RDWR
		     : mode[0] == 'r'  ? O_RDONLY
				       : O_WRONLY) |
		    (mode[0] == 'w'   ? O_CREAT | O_TRUNC
		     : mode[0] == 'a' ? O_CREAT | O_APPEND
				      : 0);
	int fd = open(path, flags | O_CLOEXEC, 0666);

	return fd < 0 ? NULL : fdopen(fd, mode);
}
