/* inodes.h - paths of files by device and inode, as events inode_cache tell
 * them. */
#ifndef FORMATS_READER_INODES_H
#define FORMATS_READER_INODES_H
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/base/table.h"

struct inodes {
	struct place *file; /* its path, device and inode */
	size_t n, cap;
	struct table by_inode;
	struct arena text;
};

void inodes_release(struct inodes *in);
/* The device numbers of the kernel's own dev_t. */
void inodes_dev(uint32_t dev, struct place *out);
/* file: device and inode. A later path is another name, or another file with
 * a number that is free again: it takes the place of the older one. */
void inodes_add(struct inodes *in, const struct place *file, struct scan path);
/* A frame of a deferred stack: value is an offset in the file, or, of inode
 * -1, an address. *ip is what is to be added with the place; false: there is
 * no place. */
bool inodes_place(const struct inodes *in, uint64_t value,
		  const struct place *file, uint64_t *ip, struct place *out);
#endif
