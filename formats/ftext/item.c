/* item.c - items of a text: adding them, releasing them, and their refs. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftext/ftext.h"

#define ITEMS_MIN 1024u
#define BUFFERS_MAX 256u

uint64_t ftext_item_new(struct ftext *ft, uint64_t off, const struct line *l)
{
	if (ft->end_item - ft->first == ft->cap_item) {
		size_t cap = ft->cap_item ? ft->cap_item * 2 : ITEMS_MIN;
		struct ftext_item *more = mem_new(cap, sizeof(*more));

		for (uint64_t i = ft->first; i < ft->end_item; i++)
			more[i & (cap - 1)] = *ftext_item_at(ft, i);
		free(ft->item);
		ft->item = more;
		ft->cap_item = cap;
	}
	*ftext_item_at(ft, ft->end_item) = (struct ftext_item){
		.off = off,
		.pid = l->pid,
		.tgid = l->tgid,
		.cpu = l->cpu,
		.flags = l->flags,
		.has_flags = l->has_flags,
	};
	return ft->end_item++;
}

void ftext_release(struct source *src, const struct ref *ref)
{
	struct ftext *ft = ftext_from_source(src);

	if (ref->len == REF_TOTAL || ref->len == REF_KERNEL)
		return;
	ftext_item_at(ft, ref->handle)->refs--;
	while (ft->first < ft->give && !ftext_item_at(ft, ft->first)->refs) {
		free(ftext_item_at(ft, ft->first)->own);
		ft->first++;
	}
}

uint32_t ftext_buffer_of(struct ftext *ft, struct scan name)
{
	if (!name.n)
		return 0;
	for (size_t i = 0; i < ft->n_buffer; i++)
		if (scan_is(name, ft->buffer[i]))
			return (uint32_t)i + 1;
	if (ft->n_buffer == BUFFERS_MAX)
		return BUFFERS_MAX;
	*mem_add(ft->buffer, ft->n_buffer, ft->cap_buffer) =
		arena_strndup(&ft->arena, name.p, name.n);
	reader_note(&ft->src, "instance", ft->buffer[ft->n_buffer - 1]);
	return (uint32_t)ft->n_buffer;
}

uint64_t *ftext_item_newest(struct ftext *ft, uint32_t buffer, int32_t cpu)
{
	uint64_t h = hash_u64((uint64_t)buffer << 32 | (uint32_t)cpu);
	uint32_t i = table_find_or_add(&ft->cpus, h, ft->n_cpu);

	return mem_at(ft->cpu, ft->n_cpu, ft->cap_cpu, i);
}

void ftext_item_link(struct ftext *ft, uint64_t id, uint32_t buffer)
{
	struct ftext_item *it = ftext_item_at(ft, id);
	uint64_t *newest = ftext_item_newest(ft, buffer, it->cpu);

	it->buffer = buffer;
	it->prev = *newest;
	*newest = id + 1;
}

void ftext_add_ref(struct ftext *ft, uint64_t item, uint32_t which)
{
	struct ftext_item *it = ftext_item_at(ft, item);

	*mem_add(ft->due, ft->n_due, ft->cap_due) = (struct ref){
		.key = it->key,
		.seq = ++ft->seq,
		.handle = item,
		.len = which,
		.kind = CLASS_SAMPLE,
		.untimed = it->untimed,
	};
	it->refs++;
}
