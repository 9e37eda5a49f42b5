/* inodes.c - paths of files by device and inode. */
#include "formats/inodes.h"

#include <stdlib.h>

/* In the kernel a dev_t has so many bits for the minor number. */
#define MINOR_BITS 20
#define NO_VMA UINT64_MAX

void inodes_release(struct inodes *in)
{
	free(in->file);
	table_release(&in->by_inode);
	arena_release(&in->text);
}

static uint32_t major_of(uint32_t dev)
{
	return dev >> MINOR_BITS;
}

static uint32_t minor_of(uint32_t dev)
{
	return dev & ((1u << MINOR_BITS) - 1);
}

static bool same_inode(const void *owner, uint32_t id, const void *key)
{
	const struct place *f = &((const struct inodes *)owner)->file[id];
	const struct place *k = key;

	return f->ino == k->ino && f->maj == k->maj && f->min == k->min;
}

static uint32_t find(const struct inodes *in, uint64_t ino, uint32_t dev)
{
	const struct place key = { .ino = ino,
				   .maj = major_of(dev),
				   .min = minor_of(dev) };

	return table_find(&in->by_inode, hash_pair(ino, dev), same_inode, in,
			  &key);
}

void inodes_add(struct inodes *in, uint64_t ino, uint32_t dev, struct scan path)
{
	uint32_t id = find(in, ino, dev);

	if (!path.n || (id != TABLE_NONE && scan_is(path, in->file[id].path)))
		return;
	char *copy = arena_take(&in->text, path.n + 1);

	memcpy(copy, path.p, path.n);
	copy[path.n] = '\0';
	if (id == TABLE_NONE) {
		in->file = mem_grow(in->file, &in->cap, in->n + 1,
				    sizeof(*in->file));
		id = (uint32_t)in->n++;
		table_add(&in->by_inode, hash_pair(ino, dev), id);
	}
	in->file[id] = (struct place){
		.path = copy,
		.ino = ino,
		.maj = major_of(dev),
		.min = minor_of(dev),
	};
}

bool inodes_place(const struct inodes *in, uint64_t value, uint64_t ino,
		  uint32_t dev, uint64_t *ip, struct place *out)
{
	uint32_t id = ino ? find(in, ino, dev) : TABLE_NONE;

	*ip = ino == NO_VMA ? value : 0;
	*out = (struct place){
		.in_file = true,
		.off = value,
		.ino = ino,
		.maj = major_of(dev),
		.min = minor_of(dev),
	};
	if (id != TABLE_NONE)
		out->path = in->file[id].path;
	return ino != NO_VMA;
}
