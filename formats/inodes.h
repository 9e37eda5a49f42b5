/* inodes.h - paths of files by device and inode, as events inode_cache tell
 * them. */
#ifndef FORMATS_INODES_H
#define FORMATS_INODES_H
#include <stddef.h>
#include <stdint.h>

#include "formats/scan.h"
#include "stitch/mem.h"
#include "stitch/record.h"
#include "stitch/table.h"

struct inodes {
	struct place *file; /* its path, device and inode */
	size_t n, cap;
	struct table by_inode;
	struct arena text;
};

void inodes_release(struct inodes *in);
/* A later path is another name, or another file with a number that is free
 * again: it takes the place of the older one. */
void inodes_add(struct inodes *in, uint64_t ino, uint32_t dev,
		struct scan path);
/* A frame of a deferred stack: value is an offset in the file, or, of inode
 * -1, an address. *ip is what is to be added with the place; false: there is
 * no place. dev: the kernel's, major << 20 | minor. */
bool inodes_place(const struct inodes *in, uint64_t value, uint64_t ino,
		  uint32_t dev, uint64_t *ip, struct place *out);
#endif
