/* ctf_meta.c - libFuzzer target: CTF metadata of both forms. A tree that comes
 * out must be whole: limits hold, and each length has a slot. */
#include <stdlib.h>

#include "formats/ctf/meta/tree.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_hold(bool holds)
{
	if (!holds)
		abort();
}

static void check_node(const struct ctf_node *n, uint32_t n_slot, int depth)
{
	bool dynamic = n->kind == CTF_LENGTH_STRING ||
		       n->kind == CTF_LENGTH_BLOB || n->kind == CTF_SEQUENCE ||
		       n->kind == CTF_VARIANT || n->kind == CTF_OPTIONAL;

	must_hold(depth <= CTF_DEPTH_MAX + 1);
	must_hold(n->slot < n_slot && n->from < n_slot);
	must_hold(!n->from == !dynamic);
	must_hold(n->align && !(n->align & (n->align - 1)) &&
		  n->align <= CTF_ALIGN_MAX);
	must_hold(n->kind > CTF_REAL || (n->bits && n->bits <= 128));
	must_hold(n->kind != CTF_VARIANT || n->choice);
	for (uint32_t i = 0; i < n->n_child; i++)
		check_node(&n->child[i], n_slot, depth + 1);
}

static void check_scope(const struct ctf_node *n, uint32_t n_slot)
{
	if (!n)
		return;
	must_hold(n->kind == CTF_STRUCT);
	check_node(n, n_slot, 0);
}

static void check_stream(const struct ctf_stream_class *s)
{
	must_hold(s->n_slot && s->n_slot <= CTF_SLOTS_MAX);
	check_scope(s->packet, s->n_slot);
	check_scope(s->header, s->n_slot);
	check_scope(s->common, s->n_slot);
	for (uint32_t i = 0; i < s->n_event; i++) {
		must_hold(ctf_tree_event(s, s->event[i].id) == &s->event[i]);
		check_scope(s->event[i].specific, s->n_slot);
		check_scope(s->event[i].payload, s->n_slot);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;
	struct err err = { 0 };

	bytes_init(&b, data, size, "metadata", 0, false);
	if (ctf_tree_read(&arena, &b, &tree, &err)) {
		must_hold(err.msg[0]);
	} else {
		for (uint32_t i = 0; i < tree.n_stream; i++)
			check_stream(&tree.stream[i]);
		check_scope(tree.header, CTF_SLOTS_MAX);
	}
	arena_release(&arena);
	return 0;
}
