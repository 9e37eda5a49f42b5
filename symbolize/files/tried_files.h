/* tried_files.h - the files that were looked for, found or not: what they led
 * to is good as long as none of them has changed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tried_path {
	char *path; /* owned */
	/* device, inode, size, mtime in ns; all 0: no such file */
	uint64_t id[4];
	uint64_t changed; /* ctime in ns; 0: unknown */
};

struct tried_files {
	struct tried_path *p;
	size_t n, cap;
	/* One was changed so shortly before it was looked for that the times
	 * of a later change may be the same. */
	bool young;
};

/* Records that path was searched for. Does nothing if t is NULL. */
void tried_files_add(struct tried_files *t, const char *path);
/* Returns whether all files are what they were, as far as times and inodes
 * tell, or are still not there. */
bool tried_files_unchanged(const struct tried_files *t);
/* Returns whether that can be told: files that the kernel makes up have no such
 * identity. */
bool tried_files_can_tell(const struct tried_files *t);
void tried_files_release(struct tried_files *t);
