/* user_stack_reader.c - builds a user stack: addresses, and places that a
 * capture tells instead of an address. */
#include "formats/reader/user_stack_reader.h"

/* In the kernel a dev_t has this many bits for the minor number. */
#define MINOR_BITS 20
/* The inode of a frame outside of any mapping. */
#define NO_VMA UINT64_MAX

void user_stack_reader_release(struct user_stack_reader *u)
{
	free_all(u->ip, u->place, u->at, u->file);
	table_release(&u->by_inode);
	arena_release(&u->text);
	arena_release(&u->paths);
}

void user_stack_reader_start(struct user_stack_reader *u)
{
	u->n = 0;
	u->has_places = false;
	if (u->text.used)
		arena_release(&u->text);
}

void user_stack_reader_add(struct user_stack_reader *u, uint64_t ip,
			   const struct place *place)
{
	const struct place none = { .off = 0 };

	mem_grow(u->ip, u->cap_ip, u->n + 1);
	mem_grow(u->place, u->cap_place, u->n + 1);
	u->ip[u->n] = ip;
	u->place[u->n++] = place ? *place : none;
	u->has_places |= place != NULL;
}

struct addrs user_stack_reader_addrs(struct user_stack_reader *u)
{
	struct addrs a = { .ip = u->ip, .n = (uint32_t)u->n };

	if (!u->has_places)
		return a;
	mem_grow(u->at, u->cap_at, u->n);
	for (size_t i = 0; i < u->n; i++) {
		const struct place *p = &u->place[i];

		u->at[i] = p->path || p->symbol || p->in_file ? p : NULL;
	}
	a.place = u->at;
	return a;
}

void user_stack_reader_set_device(uint32_t dev, struct place *out)
{
	out->maj = dev >> MINOR_BITS;
	out->min = dev & ((1u << MINOR_BITS) - 1);
}

SAME_BY(user_stack_reader_same_file, struct user_stack_reader, file[id],
	struct place, ino, maj, min);

static uint64_t user_stack_reader_hash(const struct place *file)
{
	return hash_pair(file->ino, (uint64_t)file->maj << 32 | file->min);
}

static uint32_t user_stack_reader_find_file(const struct user_stack_reader *u,
					    const struct place *file)
{
	return table_find(&u->by_inode, user_stack_reader_hash(file),
			  user_stack_reader_same_file, u, file);
}

void user_stack_reader_note_file(struct user_stack_reader *u,
				 const struct place *file, struct scan path)
{
	uint32_t id = user_stack_reader_find_file(u, file);

	if (!path.n || !file->ino ||
	    (id != TABLE_NONE && scan_is(path, u->file[id].path)))
		return;
	if (id == TABLE_NONE) {
		mem_grow(u->file, u->cap_file, u->n_file + 1);
		id = (uint32_t)u->n_file++;
		table_add(&u->by_inode, user_stack_reader_hash(file), id);
	}
	u->file[id] = *file;
	u->file[id].path = arena_strndup(&u->paths, path.p, path.n);
}

void user_stack_reader_add_file(struct user_stack_reader *u, uint64_t value,
				const struct place *file)
{
	struct place p = *file;

	if (file->ino == NO_VMA) {
		user_stack_reader_add(u, value, NULL);
		return;
	}
	uint32_t id = user_stack_reader_find_file(u, file);

	p.in_file = true;
	p.off = value;
	if (id != TABLE_NONE)
		p.path = u->file[id].path;
	user_stack_reader_add(u, 0, &p);
}
