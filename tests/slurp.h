/* slurp.h - a whole file in memory, for the programs that damage captures. */
#pragma once
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stitch/base/mem.h"

/* Owned bytes; a file that is not there or empty ends the program. */
static inline unsigned char *slurp_slurp(const char *path, size_t *n)
{
	unsigned char *data = NULL;
	size_t cap = 0;
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : 1;

	*n = 0;
	while (got > 0) {
		mem_grow(data, cap, *n + 65536);
		got = read(fd, data + *n, 65536);
		*n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (got < 0 || !*n) {
		fprintf(stderr, "%s: cannot read\n", path);
		exit(2);
	}
	return data;
}
