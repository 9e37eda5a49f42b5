/* fuzz_file.h - the input of a fuzz target as a file, in memory.
 *
 * The files are made once and written over by each input: creating one takes
 * longer than reading a small capture. tests/fuzz.sh makes $TMPDIR a folder in
 * memory, and removes it. */
#pragma once
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Replaces what is in fd. */
static inline void fuzz_file_put(int fd, const void *data, size_t n)
{
	if (fd < 0 || ftruncate(fd, 0) ||
	    pwrite(fd, data, n, 0) != (ssize_t)n) {
		perror("cannot write the input");
		abort();
	}
}

/* Returns the path of a file without a name that has these bytes. */
static inline const char *fuzz_file(const void *data, size_t n)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	fuzz_file_put(fd, data, n);
	return path;
}

/* Makes an empty folder, whose path is stored in dir. */
static inline void fuzz_file_folder(char *dir, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, size, "%s/fuzz.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		perror(dir);
		abort();
	}
}

/* Returns the path of a folder with a file '[vdso]' that has these bytes. */
static inline const char *fuzz_file_vdso(const void *data, size_t n)
{
	static char dir[64];
	static int fd = -1;
	char path[sizeof(dir) + 8];

	if (fd < 0) {
		fuzz_file_folder(dir, sizeof(dir));
		snprintf(path, sizeof(path), "%s/[vdso]", dir);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	}
	fuzz_file_put(fd, data, n);
	return dir;
}
