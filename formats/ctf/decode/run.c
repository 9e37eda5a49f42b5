/* run.c - runs programs: steps that every event has are in ctf_run() itself,
 * the others each in a function. */
#include "formats/ctf/decode/run.h"

#include "formats/ctf/decode/value.h"
#include "formats/ctf/meta/tree.h"
#include "stitch/base/mem.h"

#define CHAIN_MAX 65536
#define NAMES_MAX ((size_t)1 << 20)
/* include/uapi/linux/perf_event.h: callchain entries from PERF_CONTEXT_MAX on
 * are marks. */
#define MARK_MAX ((uint64_t)-4095)
#define MARK_USER ((uint64_t)-512)

static void ctf_run_store(struct ctf_state *st, const struct ctf_want *w,
			  uint64_t u)
{
	uint32_t u32 = (uint32_t)u;
	uint16_t u16 = (uint16_t)u;
	uint8_t u8 = (uint8_t)u;

	switch (w->size) {
	case 1:
		memcpy(st->raw + w->off, &u8, 1);
		break;
	case 2:
		memcpy(st->raw + w->off, &u16, 2);
		break;
	case 4:
		memcpy(st->raw + w->off, &u32, 4);
		break;
	default:
		memcpy(st->raw + w->off, &u, 8);
		break;
	}
}

/* Returns how many bytes may be added to the payload. */
static size_t ctf_run_left(const struct ctf_state *st)
{
	const uint64_t most = (st->cur.end + 7) / 8 * CTF_TOLD_RATIO;
	const size_t left = st->raw_len < CTF_PAYLOAD_MAX
				    ? CTF_PAYLOAD_MAX - st->raw_len
				    : 0;

	if (st->told >= most)
		return 0;
	return left < most - st->told ? left : (size_t)(most - st->told);
}

/* Begins a text at the end of the payload; there is room for a 0 after it. */
static struct ctf_text ctf_run_begin(struct ctf_state *st)
{
	size_t left = ctf_run_left(st);

	return (struct ctf_text){
		.at = st->raw + st->raw_len,
		.max = left ? left - 1 : 0,
		.cut = !left,
	};
}

static void ctf_run_place(struct ctf_state *st, uint32_t off, size_t len)
{
	uint32_t loc = (uint32_t)st->raw_len | (uint32_t)len << 16;

	if (!len)
		loc = 0;
	memcpy(st->raw + off, &loc, 4);
	st->raw_len += len;
	st->told += len;
}

/* Ends a text with a 0, also if it is cut. */
static void ctf_run_finish(struct ctf_state *st, uint32_t off,
			   const struct ctf_text *t)
{
	st->n_cut += t->cut;
	if (st->raw_len >= CTF_PAYLOAD_MAX) {
		ctf_run_place(st, off, 0);
		return;
	}
	t->at[t->n] = 0;
	ctf_run_place(st, off, t->n + 1);
}

/* `above`: the bits above a signed number. */
static inline uint64_t ctf_run_extend(uint64_t v, uint32_t above)
{
	return (uint64_t)((int64_t)(v << above) >> above);
}

static int ctf_run_num(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_want *w = &op->want;
	uint64_t v;

	if (ctf_field_number(st, op->node, &v))
		return -1;
	if (w->use) {
		st->use[w->use] = v;
		st->uses |= 1u << w->use;
	}
	if (w->how == CTF_NUMBER)
		ctf_run_store(st, w, v);
	if (w->how == CTF_NUMBER && w->label != CTF_NO_PLACE) {
		struct ctf_text t = ctf_run_begin(st);

		if (!t.max) {
			st->n_cut++;
			return 0;
		}
		st->told += op->node->n_label / 4;
		if (ctf_text_labels(&t, op->node, v))
			ctf_run_finish(st, w->label, &t);
	}
	return 0;
}

/* Reads a number of 8 or 16 bits that begins at a byte and changes nothing but
 * what uses it; ctf_run() itself reads larger ones. */
static int ctf_run_use(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_want *w = &op->want;
	uint64_t v;

	if (ctf_cursor_whole(&st->cur, op->node->bits, op->swap, &v))
		return ctf_field_too_short(st);
	st->use[w->use] = ctf_run_extend(v, op->n);
	st->uses |= 1u << w->use;
	if (w->how == CTF_NUMBER)
		ctf_run_store(st, w, v);
	return 0;
}

/* Numbers of 8 bits or less, a byte each. */
static int ctf_run_bytes(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_node *e = ctf_node_element(op->node);
	size_t left = ctf_run_left(st);
	size_t len = 0;
	struct bytes b;
	uint64_t v;

	if (!e || (e->bits == 8 && e->align <= 8 && !e->slot && !e->reverse &&
		   st->cur.at % 8 == 0)) {
		if (ctf_field_chars(st, op->node, &b))
			return -1;
		len = bytes_left(&b) < left ? bytes_left(&b) : left;
		st->n_cut += len < bytes_left(&b);
		if (len)
			memcpy(st->raw + st->raw_len, b.pos, len);
		ctf_run_place(st, op->want.off, len);
		return 0;
	}
	const uint64_t n = ctf_field_length(st, op->node);

	for (uint64_t i = 0; i < n; i++) {
		ctf_cursor_align(&st->cur, e->align);
		if (ctf_field_number(st, e, &v))
			return -1;
		if (len < left)
			st->raw[st->raw_len + len++] = (unsigned char)v;
		else if (i == left)
			st->n_cut++;
	}
	ctf_run_place(st, op->want.off, len);
	return 0;
}

static int ctf_run_addresses(struct ctf_state *st, const struct ctf_op *op,
			     struct ctf_addrs *out)
{
	const struct ctf_node *e = op->node->child;
	const uint64_t n = ctf_field_length(st, op->node);
	uint64_t v;

	if (st->cur.at > st->cur.end ||
	    (e->bits && n > (st->cur.end - st->cur.at) / e->bits))
		return ctf_field_too_short(st);
	out->n = n < CHAIN_MAX ? (size_t)n : CHAIN_MAX;
	mem_grow(out->ip, out->cap, out->n + 1);
	if (op->code == CTF_OP_WORDS) {
		struct bytes b;

		if (n > UINT64_MAX / 64 || ctf_field_window(st, n * 8, &b))
			return ctf_field_too_short(st);
		b.swap = !ctf_cursor_is_native(e->big);
		if (bytes_u64s(&b, out->ip, out->n, NULL))
			return -1;
	}
	for (uint64_t i = 0; op->code == CTF_OP_STACK && i < n; i++) {
		ctf_cursor_align(&st->cur, e->align);
		if (ctf_field_number(st, e, &v))
			return -1;
		if (i < CHAIN_MAX)
			out->ip[i] = v;
	}
	/* the last entry of a stack that LTTng cut at its limit */
	out->cut = out->n && out->ip[out->n - 1] == UINT64_MAX;
	out->n -= out->cut;
	return 0;
}

static int ctf_run_perf_stack(struct ctf_state *st, const struct ctf_op *op)
{
	struct ctf_addrs *to = &st->kern;

	if (ctf_run_addresses(st, op, &st->user))
		return -1;
	const size_t n = st->user.n + st->user.cut;

	mem_grow(st->kern.ip, st->kern.cap, n + 1);
	st->user.cut = false;
	st->kern.n = st->user.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t ip = st->user.ip[i];

		if (ip >= MARK_MAX)
			to = ip == MARK_USER ? &st->user : &st->kern;
		else
			to->ip[to->n++] = ip;
	}
	return 0;
}

/* The stack of an interpreter: names of functions, innermost first. */
static int ctf_run_names(struct ctf_state *st, const struct ctf_node *node)
{
	const uint64_t n = ctf_field_length(st, node);
	bool full = false;
	struct bytes b;

	st->names_len = st->user.n = 0;
	for (uint64_t i = 0; i < n; i++) {
		ctf_cursor_align(&st->cur, node->child->align);
		const uint64_t at = st->cur.at;

		if (ctf_field_chars(st, node->child, &b))
			return -1;
		if (st->cur.at == at && ctf_field_idle(st))
			return -1;
		size_t len = bytes_left(&b) + 1;

		full |= len > NAMES_MAX - st->names_len ||
			st->user.n == CHAIN_MAX;
		if (full)
			continue;
		mem_grow(st->names, st->cap_names, st->names_len + len);
		memcpy(st->names + st->names_len, b.pos, len - 1);
		st->names_len += len;
		st->names[st->names_len - 1] = 0;
		st->user.n++;
	}
	return 0;
}

static int ctf_run_rare(struct ctf_state *st, const struct ctf_op *op)
{
	struct ctf_text t;
	struct bytes b;
	uint64_t n;

	switch ((enum ctf_code)op->code) {
	case CTF_OP_TEXT:
		if (ctf_field_chars(st, op->node, &b))
			return -1;
		t = ctf_run_begin(st);
		ctf_text_string(&t, op->node, &b);
		ctf_run_finish(st, op->want.off, &t);
		return 0;
	case CTF_OP_SKIP_TEXT:
		return ctf_field_chars(st, op->node, &b);
	case CTF_OP_SKIP_MANY:
		n = st->slot[op->node->from];
		if (st->cur.at > st->cur.end ||
		    n > (st->cur.end - st->cur.at) / op->n)
			return ctf_field_too_short(st);
		st->cur.at += n * op->n;
		return 0;
	case CTF_OP_BYTES:
		return ctf_run_bytes(st, op);
	case CTF_OP_JSON:
		t = ctf_run_begin(st);
		if (ctf_value_read(st, op->node, &t))
			return -1;
		ctf_run_finish(st, op->want.off, &t);
		return 0;
	case CTF_OP_WALK:
		return ctf_value_read(st, op->node, NULL);
	case CTF_OP_UUID:
		if (op->node->count != CTF_UUID)
			return ctf_value_read(st, op->node, NULL);
		if (ctf_field_window(st, CTF_UUID, &b))
			return -1;
		memcpy(st->uuid, b.pos, CTF_UUID);
		st->roles |= 1u << CTF_UUID_FIELD;
		return 0;
	case CTF_OP_WORDS:
	case CTF_OP_STACK:
		switch ((enum ctf_use)op->want.use) {
		case CTF_KSTACK:
			return ctf_run_addresses(st, op, &st->kern);
		case CTF_NAMES:
			return ctf_run_names(st, op->node);
		case CTF_PERF_STACK:
			return ctf_run_perf_stack(st, op);
		default:
			return ctf_run_addresses(st, op, &st->user);
		}
	default:
		return 0;
	}
}

/* Steps that few events have, or that take longer than a call. Returns the step
 * that follows, or NULL and st->why. */
static const struct ctf_op *ctf_run_step(const struct ctf_program *p,
					 struct ctf_state *st,
					 const struct ctf_op *op)
{
	struct bytes b;
	int rc;

	switch ((enum ctf_code)op->code) {
	case CTF_OP_USE:
		rc = ctf_run_use(st, op);
		break;
	case CTF_OP_MARK:
		rc = ctf_field_plain(st, op->node);
		break;
	case CTF_OP_NUM:
		rc = ctf_run_num(st, op);
		break;
	case CTF_OP_NAME:
		/* of another encoding, or of any length; others are in
		 * ctf_run() */
		rc = ctf_field_chars(st, op->node, &b);
		if (rc)
			break;
		st->name = (const char *)b.pos;
		st->name_len = bytes_left(&b);
		break;
	case CTF_OP_JUMP:
		return &p->op[op->n];
	case CTF_OP_SELECT: {
		const struct ctf_node *node = op->node;
		int64_t i = ctf_field_option(node, st->slot[node->from]);

		if (i < 0 && node->kind == CTF_OPTIONAL)
			i = node->n_child;
		if (i >= 0)
			return &p->op[p->jump[op->n + (uint64_t)i]];
		ctf_field_stop(st, "a selector has a value that no option has");
		return NULL;
	}
	default:
		rc = ctf_run_rare(st, op);
		break;
	}
	return rc ? NULL : op + 1;
}

/* Reads a number of whole bytes. */
#define TAKE(v, swapped)                                                       \
	do {                                                                   \
		if (bytes_peek(&b, at / 8, &(v), sizeof(v))) {                 \
			st->cur.at = at;                                       \
			return ctf_field_too_short(st);                        \
		}                                                              \
		if (op->swap)                                                  \
			(v) = (swapped);                                       \
		at += sizeof(v) * 8;                                           \
	} while (0)
#define STORE(v) memcpy(raw + op->want.off, &(v), sizeof(v))

int ctf_run(const struct ctf_program *p, struct ctf_state *st)
{
	/* copies, as the compiler must expect that *st changes with each byte
	 * of the payload */
	const struct bytes b = st->cur.b;
	unsigned char *raw = st->raw;
	uint64_t at = st->cur.at;
	const struct ctf_op *op = p->op;
	struct bytes name;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;
	uint8_t v8;

	for (;;) {
		at = (at + op->pre + op->mask) & ~(uint64_t)op->mask;
		switch ((enum ctf_code)op->code) {
		case CTF_OP_U8:
			TAKE(v8, v8);
			STORE(v8);
			break;
		case CTF_OP_U16:
			TAKE(v16, __builtin_bswap16(v16));
			STORE(v16);
			break;
		case CTF_OP_U32:
			TAKE(v32, __builtin_bswap32(v32));
			STORE(v32);
			break;
		case CTF_OP_U64:
			TAKE(v64, __builtin_bswap64(v64));
			STORE(v64);
			break;
		case CTF_OP_USE32:
			TAKE(v32, __builtin_bswap32(v32));
			st->use[op->want.use] = ctf_run_extend(v32, op->n);
			st->uses |= 1u << op->want.use;
			if (op->want.how == CTF_NUMBER)
				STORE(v32);
			break;
		case CTF_OP_USE64:
			TAKE(v64, __builtin_bswap64(v64));
			st->use[op->want.use] = v64;
			st->uses |= 1u << op->want.use;
			if (op->want.how == CTF_NUMBER)
				STORE(v64);
			break;
		case CTF_OP_NAME_HERE:
			if (at > st->cur.end ||
			    op->n * (uint64_t)8 > st->cur.end - at ||
			    bytes_window(&b, at / 8, op->n, &name)) {
				st->cur.at = at;
				return ctf_field_too_short(st);
			}
			st->name = (const char *)name.pos;
			st->name_len = op->n;
			at += op->n * (uint64_t)8;
			break;
		case CTF_OP_NOP:
			break;
		case CTF_OP_END:
			st->cur.at = at;
			return at > st->cur.end ? ctf_field_too_short(st) : 0;
		default:
			st->cur.at = at;
			op = ctf_run_step(p, st, op);
			if (!op)
				return -1;
			at = st->cur.at;
			continue;
		}
		op++;
	}
}

int ctf_run_header(const struct ctf_program *p, struct ctf_state *st)
{
	const struct ctf_brief_header *h = &p->brief;
	const uint64_t at = (st->cur.at + h->mask) & ~h->mask;
	uint64_t v;

	if (!h->bits || at > st->cur.end || h->bits > st->cur.end - at ||
	    bytes_peek(&st->cur.b, at / 8, &v, sizeof(v)))
		return ctf_run(p, st);
	const uint64_t id = v & (UINT64_MAX >> (64 - h->id_bits));
	const uint64_t mask = UINT64_MAX >> (64 - (h->bits - h->id_bits));
	const uint64_t time = v >> h->id_bits & mask;

	if (id < h->lo || id > h->hi)
		return ctf_run(p, st);
	uint64_t *clock = &st->clock[h->clock];

	if ((*clock & mask) > time)
		*clock += mask + 1;
	*clock = (*clock & ~mask) | time;
	st->cur.at = at + h->bits;
	st->slot[h->slot] = id;
	st->role[CTF_EVENT_CLASS_ID] = id;
	st->role[CTF_CLOCK] = time;
	st->roles |= 1u << CTF_EVENT_CLASS_ID | 1u << CTF_CLOCK;
	return 0;
}
