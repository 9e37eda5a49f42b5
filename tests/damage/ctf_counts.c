/* ctf_counts.c - changes every number of the packets of a CTF trace, and
 * lengths, selectors, ids and times of its events.
 *
 * usage: damage-ctf_counts TRACE/metadata N SEED: see tests/counts.h. N of the
 * events' numbers are taken of each stream file, with this seed. A change is
 * silent if fewer events are read, and there is no damage. */
#include "tests/ctf_folder.h"

#include "formats/ctf/decode/run.h"
#include "stitch/base/bytes.h"
#include "tests/counts.h"

/* A walk over one stream file. */
struct walk {
	struct counts *c;
	struct ctf_state st;
	uint64_t base; /* of the packet */
	bool events;   /* it is in events */
};

static struct ctf_part *changed;

static struct outcome ctf_counts_read(const unsigned char *data, size_t n)
{
	const struct ctf_part now = {
		.data = (unsigned char *)(uintptr_t)data,
		.len = n,
	};
	struct ctf_part f = *changed;

	f.data = now.data;
	ctf_folder_put(&f, n);
	return ctf_folder_read();
}

static const char *ctf_counts_name(const struct ctf_node *node)
{
	static const char *const names[] = {
		[CTF_NO_ROLE] = "length or selector",
		[CTF_MAGIC] = "magic",
		[CTF_UUID_FIELD] = "uuid",
		[CTF_STREAM_CLASS_ID] = "id of the stream class",
		[CTF_STREAM_ID] = "id of the stream",
		[CTF_PACKET_BITS] = "size of a packet",
		[CTF_CONTENT_BITS] = "size of its content",
		[CTF_CLOCK] = "time",
		[CTF_PACKET_END_CLOCK] = "end of a packet",
		[CTF_PACKET_SEQ] = "number of a packet",
		[CTF_DISCARDED] = "discarded events",
		[CTF_EVENT_CLASS_ID] = "id of an event",
	};

	return names[node->role];
}

static void ctf_counts_note(struct walk *w, const struct ctf_node *node,
			    uint64_t bit)
{
	uint64_t off = w->base + bit / 8;
	unsigned int shift = bit % 8;
	unsigned int width = (shift + node->bits + 7) / 8;
	struct count f = {
		.off = off,
		.width = width,
		.shift = node->big ? width * 8 - shift - node->bits : shift,
		.bits = node->bits,
		.what = ctf_counts_name(node),
	};

	if (width > 8 || !node->bits || off + width > w->c->n)
		return;
	w->c->big = node->big;
	if (w->events) {
		counts_note_entry(w->c, &f);
		return;
	}
	if (!node->role && !node->slot)
		f.what = "number of the packet";
	*mem_add(w->c->field, w->c->n_field, w->c->cap_field) = f;
}

static int ctf_counts_walk(struct walk *w, const struct ctf_node *node)
{
	struct ctf_state *st = &w->st;
	struct bytes b;
	uint64_t n, v;

	if (node->kind == CTF_VARIANT || node->kind == CTF_OPTIONAL) {
		int64_t i = ctf_field_option(node, st->slot[node->from]);

		return i < 0 ? 0 : ctf_counts_walk(w, &node->child[i]);
	}
	ctf_cursor_align(&st->cur, node->align);
	const uint64_t at = st->cur.at;

	switch ((enum ctf_kind)node->kind) {
	case CTF_REAL:
		st->cur.at += node->bits;
		return 0;
	case CTF_STRUCT:
		for (uint32_t i = 0; i < node->n_child; i++)
			if (ctf_counts_walk(w, &node->child[i]))
				return -1;
		return 0;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		n = ctf_field_length(st, node);
		for (uint64_t i = 0; i < n; i++)
			if (ctf_counts_walk(w, node->child))
				return -1;
		break;
	default:
		if (!ctf_node_is_number(node))
			return ctf_field_chars(st, node, &b);
		if (ctf_field_number(st, node, &v))
			return -1;
		if (node->role || node->slot ||
		    (!w->events && node->kind <= CTF_BOOL))
			ctf_counts_note(w, node, at);
	}
	return 0;
}

static int ctf_counts_event(struct walk *w, const struct ctf_stream_class *sc)
{
	struct ctf_state *st = &w->st;
	const struct ctf_event_class *ec;

	st->roles &= ~(1u << CTF_EVENT_CLASS_ID);
	if (sc->header && ctf_counts_walk(w, sc->header))
		return -1;
	ec = st->roles >> CTF_EVENT_CLASS_ID & 1
		     ? ctf_tree_event(sc, st->role[CTF_EVENT_CLASS_ID])
		     : sc->event;
	if (!ec || (sc->common && ctf_counts_walk(w, sc->common)) ||
	    (ec->specific && ctf_counts_walk(w, ec->specific)) ||
	    (ec->payload && ctf_counts_walk(w, ec->payload)))
		return -1;
	return 0;
}

/* Returns the packet's length; 0: it cannot be walked. */
static uint64_t ctf_counts_packet(struct walk *w, const struct ctf_tree *t)
{
	struct ctf_state *st = &w->st;
	const struct ctf_stream_class *sc;
	uint64_t left = w->c->n - w->base;

	st->roles = 0;
	w->events = false;
	bytes_init(&st->cur.b, w->c->data + w->base, left, "stream", 0, false);
	st->cur.at = 0;
	st->cur.end = left * 8;
	if (t->header && ctf_counts_walk(w, t->header))
		return 0;
	sc = st->roles >> CTF_STREAM_CLASS_ID & 1
		     ? ctf_tree_stream(t, st->role[CTF_STREAM_CLASS_ID])
		     : t->stream;
	if (!sc || (sc->packet && ctf_counts_walk(w, sc->packet)))
		return 0;
	if (st->roles >> CTF_PACKET_BITS & 1)
		left = st->role[CTF_PACKET_BITS] / 8;
	st->cur.end = st->roles >> CTF_CONTENT_BITS & 1
			      ? st->role[CTF_CONTENT_BITS]
			      : left * 8;
	w->events = true;
	while (st->cur.at < st->cur.end)
		if (ctf_counts_event(w, sc))
			return 0;
	return left;
}

static void ctf_counts_find(struct counts *c, const struct ctf_schema *sm)
{
	struct walk w = {
		.c = c,
		.st.slot = mem_new(sm->n_slot + 1, sizeof(uint64_t)),
		.st.clock = mem_new(sm->tree.n_clock + 1, sizeof(uint64_t)),
	};

	while (w.base < c->n && !c->bad) {
		uint64_t len = ctf_counts_packet(&w, &sm->tree);

		c->bad = !len || len > c->n - w.base;
		w.base += len;
	}
	free(w.st.slot);
	free(w.st.clock);
}

static void ctf_counts_file(struct ctf_part *f, const struct ctf_schema *sm,
			    uint64_t most, struct tries t[2], size_t *n,
			    bool *bad)
{
	struct counts c = {
		.data = f->data,
		.n = f->len,
		.read = ctf_counts_read,
	};

	changed = f;
	const struct outcome whole = c.read(f->data, f->len);

	if (!whole.opened || whole.failed || whole.damage)
		return;
	ctf_counts_find(&c, sm);
	unsigned char *data = mem_new(c.n, 1);

	memcpy(data, f->data, c.n);
	for (size_t i = 0; i < c.n_field; i++)
		counts_try(&c, data, &c.field[i], whole.n, &t[0]);
	for (uint64_t i = 0; i < most && c.n_entry; i++)
		counts_try(&c, data, &c.entry[random_below(c.n_entry)], whole.n,
			   &t[1]);
	ctf_folder_put(f, f->len);
	*n += c.n_field;
	*bad |= c.bad;
	free(data);
	free(c.field);
	free(c.entry);
}

int main(int argc, char **argv)
{
	struct tries t[2] = { 0 };
	struct bytes meta;
	size_t n = 0;
	bool bad = false;
	uint64_t most =
		damage_start(argc, argv, "damage-ctf_counts TRACE/metadata");

	ctf_folder_take(argv[1]);
	bytes_init(&meta, file[0].data, file[0].len, "metadata", 0, false);
	struct ctf_schema *sm = ctf_schema_new(&meta);

	for (size_t i = 1; i < n_file && !sm->err; i++)
		ctf_counts_file(&file[i], sm, most, t, &n, &bad);
	printf("%s: %" PRIu64 " changes of %zu numbers of packets, %" PRIu64
	       " found, %" PRIu64 " silent; %" PRIu64 " of events, %" PRIu64
	       " found, %" PRIu64 " silent%s\n",
	       argv[1], t[0].n, n, t[0].known, t[0].silent, t[1].n, t[1].known,
	       t[1].silent, bad ? "; not all were found" : "");
	ctf_schema_free(sm);
	ctf_folder_remove();
	return t[0].silent || bad;
}
