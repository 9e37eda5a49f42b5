/* label.c - interned names of frames for pictures and tables. */
#include "analyze/stacks/label.h"

#include "analyze/names/short_name.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

struct labels {
	struct label *item;
	size_t n, cap;
	struct table index;
	struct arena text;
	struct shown_names *names; /* NULL: not yet */
};

struct labels *labels_new(void)
{
	return mem_new(1, sizeof(struct labels));
}

void labels_free(struct labels *l)
{
	if (!l)
		return;
	shown_names_free(l->names);
	table_release(&l->index);
	arena_release(&l->text);
	free_all(l->item, l);
}

int label_compare(const struct label *a, const struct label *b)
{
	int d = strcmp(a->name, b->name)
			?: compare_numbers(a->kind, b->kind)
			?: strcmp(a->image, b->image)
			?: compare_numbers(a->has_off, b->has_off)
			?: compare_numbers(a->kernel, b->kernel)
			?: compare_numbers(a->inlined, b->inlined);

	if (!d && a->bogus != b->bogus)
		return strcmp(a->bogus ?: "", b->bogus ?: "");
	return d ?: compare_numbers(a->off, b->off);
}

SAME_FUNCTION(same_label, struct labels, item[id], struct label,
	      !label_compare(x, y));

uint32_t labels_add(struct labels *l, const struct label *want)
{
	uint64_t hash = hash_bytes(want->name, strlen(want->name),
				   hash_u64(want->off) + want->kind);

	hash = hash_bytes(want->image, strlen(want->image), hash);

	uint32_t id = table_find(&l->index, hash, same_label, l, want);

	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)l->n;
	mem_grow(l->item, l->cap, l->n + 1);
	l->item[id] = *want;
	l->item[id].name = arena_strdup(&l->text, want->name);
	l->item[id].image = arena_strdup(&l->text, want->image);
	l->n++;
	table_add(&l->index, hash, id);
	return id;
}

uint32_t labels_add_name(struct labels *l, enum label_kind kind,
			 const char *name)
{
	return labels_add(
		l, &(struct label){ .kind = kind, .name = name, .image = "" });
}

const struct label *labels_get(const struct labels *l, uint32_t id)
{
	return &l->item[id];
}

uint32_t labels_count(const struct labels *l)
{
	return (uint32_t)l->n;
}

struct shown_names *labels_names(struct labels *l)
{
	if (!l->names)
		l->names = shown_names_new();
	return l->names;
}

void labels_shorten(struct labels *l, const struct name_opts *o)
{
	struct shown_names *names = labels_names(l);

	for (size_t i = 0; i < l->n; i++)
		if (l->item[i].kind != LABEL_GROUP)
			shown_names_add(names, l->item[i].name);
	shown_names_make(names, o, &l->text);
	for (size_t i = 0; i < l->n; i++) {
		struct label *item = &l->item[i];
		const char *shown =
			item->kind == LABEL_GROUP
				? item->name
				: shown_names_get(names, item->name);

		item->shown = shown != item->name ? shown : NULL;
	}
}

const char *label_shown(const struct label *l)
{
	return l->shown ? l->shown : l->name;
}

const char *label_kind_name(enum label_kind kind)
{
	static const char *const word[LABEL_KINDS] = {
		[LABEL_GROUP] = "group",      [LABEL_USER] = "user",
		[LABEL_KERNEL] = "kernel",    [LABEL_INLINED] = "inlined",
		[LABEL_JIT] = "jit",	      [LABEL_UNNAMED] = "unnamed",
		[LABEL_MISSING] = "missing",  [LABEL_EXEC] = "after exec",
		[LABEL_BOGUS] = "fabricated", [LABEL_WAIT] = "off-CPU",
	};

	return kind < LABEL_KINDS ? word[kind] : "?";
}
