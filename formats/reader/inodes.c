/* inodes.c - paths of files by device and inode. */
#include "formats/reader/inodes.h"

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

void inodes_dev(uint32_t dev, struct place *out)
{
	out->maj = dev >> MINOR_BITS;
	out->min = dev & ((1u << MINOR_BITS) - 1);
}

static bool same_inode(const void *owner, uint32_t id, const void *key)
{
	const struct place *f = &((const struct inodes *)owner)->file[id];
	const struct place *k = key;

	return f->ino == k->ino && f->maj == k->maj && f->min == k->min;
}

static uint64_t hash_of(const struct place *file)
{
	return hash_pair(file->ino, (uint64_t)file->maj << 32 | file->min);
}

static uint32_t find(const struct inodes *in, const struct place *file)
{
	return table_find(&in->by_inode, hash_of(file), same_inode, in, file);
}

void inodes_add(struct inodes *in, const struct place *file, struct scan path)
{
	uint32_t id = find(in, file);

	if (!path.n || !file->ino ||
	    (id != TABLE_NONE && scan_is(path, in->file[id].path)))
		return;
	char *copy = arena_take(&in->text, path.n + 1);

	memcpy(copy, path.p, path.n);
	copy[path.n] = '\0';
	if (id == TABLE_NONE) {
		in->file = mem_grow(in->file, &in->cap, in->n + 1,
				    sizeof(*in->file));
		id = (uint32_t)in->n++;
		table_add(&in->by_inode, hash_of(file), id);
	}
	in->file[id] = *file;
	in->file[id].path = copy;
}

bool inodes_place(const struct inodes *in, uint64_t value,
		  const struct place *file, uint64_t *ip, struct place *out)
{
	uint32_t id = find(in, file);

	*ip = file->ino == NO_VMA ? value : 0;
	*out = *file;
	out->in_file = true;
	out->off = value;
	if (id != TABLE_NONE)
		out->path = in->file[id].path;
	return file->ino != NO_VMA;
}
