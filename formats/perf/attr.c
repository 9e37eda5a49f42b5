/* attr.c - events: attributes, ids, and the event of a record. */

#include "formats/perf/perf.h"
#include "stitch/order/clocks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define ATTR_SIZE_0 64 /* PERF_ATTR_SIZE_VER0 */
#define EVENTS_MAX 65536
#define BRANCH_CALL_STACK ((uint64_t)1 << 11)

/* The bit of a field of 8 bytes, and where to store its offset. */
struct attr_field {
	uint64_t bit;
	uint8_t *place; /* NULL: nowhere */
};

/* Sets the offset of each field that the event has; end: of its end, not its
 * start. Returns the end of the last field. */
static uint8_t perf_attr_lay_fields(const struct perf_attr *a,
				    const struct attr_field *field, size_t n,
				    uint8_t at, bool end)
{
	for (size_t i = 0; i < n; i++) {
		if (!(a->sample_type & field[i].bit))
			continue;
		/* IDENTIFIER and ID are equal: use the first */
		if (field[i].place && !*field[i].place)
			*field[i].place = end ? at + 8 : at;
		at += 8;
	}
	return at;
}

static const char *perf_attr_clock_name(const struct perf_attr *a)
{
	static const char *const names[] = {
		[0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw",
		[7] = "boottime", [11] = "tai",
	};
	uint32_t id = (uint32_t)a->clockid;

	if (!(a->flags & PA_USE_CLOCKID))
		return "perf";
	return id < ARRAY_SIZE(names) && names[id] ? names[id] : "unknown";
}

int perf_attr_add(struct perf *p, struct bytes *b, struct err *err)
{
	struct perf_attr a = { 0 };
	uint64_t flags = 0;
	uint32_t u = 0;

	if (bytes_left(b) < ATTR_SIZE_0)
		return bytes_short(b, ATTR_SIZE_0, err);
	if (p->n_attr >= EVENTS_MAX)
		return err_at(err, b->path, bytes_off(b), "more than %d events",
			      EVENTS_MAX);
	/* older perf writes a shorter struct: the rest is 0 */
	bytes_peek_u32(b, 0, &a.type);
	bytes_peek_u32(b, 4, &a.size);
	bytes_peek_u64(b, 8, &a.config);
	bytes_peek_u64(b, 16, &a.period);
	bytes_peek_u64(b, 24, &a.sample_type);
	bytes_peek_u64(b, 32, &a.read_format);
	bytes_peek_u64(b, 40, &flags);
	bytes_peek_u32(b, 52, &a.bp_type);
	bytes_peek_u64(b, 56, &a.bp_addr);
	bytes_peek_u64(b, 72, &a.branch_type);
	bytes_peek_u64(b, 80, &a.regs_user);
	bytes_peek_u32(b, 88, &a.stack_user);
	if (!bytes_peek_u32(b, 92, &u))
		a.clockid = (int32_t)u;
	bytes_peek_u64(b, 96, &a.regs_intr);
	uint64_t y = 0;

	for (int i = 0; i < 64; i++)
		y |= (flags >> i & 1) << (63 - i);
	a.flags = p->src.info.big_endian ? y : flags;
	a.lbr = (a.sample_type & PS_BRANCH) &&
		(a.branch_type & BRANCH_CALL_STACK);
	/* Set where fields are, by sample_type and flags: in samples counted
	 * from the start, in other records back from the end. */
	const struct attr_field head[] = {
		{ PS_IDENTIFIER, &a.s_id }, { PS_IP, &a.s_ip },
		{ PS_TID, &a.s_tid },	    { PS_TIME, &a.s_time },
		{ PS_ADDR, &a.s_addr },	    { PS_ID, &a.s_id },
		{ PS_STREAM_ID, NULL },	    { PS_CPU, &a.s_cpu },
		{ PS_PERIOD, &a.s_period },
	};
	const struct attr_field tail[] = {
		{ PS_IDENTIFIER, &a.t_id }, { PS_CPU, &a.t_cpu },
		{ PS_STREAM_ID, NULL },	    { PS_ID, &a.t_id },
		{ PS_TIME, &a.t_time },	    { PS_TID, &a.t_tid },
	};

	a.s_end = perf_attr_lay_fields(&a, head, ARRAY_SIZE(head), 8, false);
	a.id_all = a.flags & PA_SAMPLE_ID_ALL;
	if (a.id_all)
		a.t_size = perf_attr_lay_fields(&a, tail, ARRAY_SIZE(tail), 0,
						true);
	*mem_add(p->attr, p->n_attr, p->cap_attr) = a;
	uint64_t t = a.sample_type;

	mem_grow(p->event, p->cap_event, p->n_attr);
	p->event[p->n_attr - 1] = (struct event_def){
		.name = event_kind_name(p, &a),
		.type = a.type,
		.config = a.config,
		.sample_type = t,
		.period = a.period,
		.freq = a.flags & PA_FREQ,
		.has_chain = t & PS_CALLCHAIN,
		.has_cpu = t & PS_CPU,
		.has_time = t & PS_TIME,
		.defer = a.flags & PA_DEFER,
		.defer_output = a.flags & PA_DEFER_OUTPUT,
		.how = event_kind_how(&a),
		.unit = event_kind_unit(&a),
	};
	p->src.events = p->event;
	p->src.n_events = (uint32_t)p->n_attr;
	/* Add the newest event to what all have in common, and to facts about
	 * the whole capture. */
	const struct perf_attr *first = &p->attr[0];
	struct source_info *info = &p->src.info;

	if (p->n_attr == 1)
		p->same_sample_time = p->same_time = true;
	if (a.s_time != first->s_time)
		p->same_sample_time = false;
	if (a.s_time != first->s_time || a.t_time != first->t_time ||
	    a.id_all != first->id_all)
		p->same_time = false;
	p->newer |= a.flags >= PA_UNKNOWN;
	p->asks_build_ids |= (a.flags & PA_BUILD_ID) != 0;
	info->has_time |= (a.sample_type & PS_TIME) != 0;
	info->dumps |= (a.sample_type & PS_STACK_USER) != 0;
	if ((a.sample_type & PS_STACK_USER) && a.stack_user > info->dump_bytes)
		info->dump_bytes = a.stack_user;
	info->overwrite |= (a.flags & PA_WRITE_BACKWARD) != 0;
	info->maps_code |= (a.flags & PA_MMAP) != 0;
	/* a ring that overwrites its start keeps no mapping */
	info->maps_code = info->maps_code && !info->overwrite;
	info->clock = perf_attr_clock_name(first);
	info->clock_id = clock_id_of(info->clock);
	memset(p->recent, 0, sizeof(p->recent));
	p->layout.known = false;
	return 0;
}

void perf_attr_set_name(struct perf *p, uint32_t attr, const char *name)
{
	if (attr >= p->n_attr || !*name)
		return;
	p->event[attr].name = arena_strdup(&p->arena, name);
	if (event_kind_is_off_cpu(&p->attr[attr], name)) {
		p->attr[attr].off_cpu = true;
		p->event[attr].has_chain = true;
		p->event[attr].unit = "ns";
	}
}

struct perf_id *perf_id_find(struct perf *p, uint64_t id)
{
	uint32_t at = table_find_hash(&p->by_id, hash_u64(id));

	return at == TABLE_NONE ? NULL : &p->id[at];
}

void perf_id_add(struct perf *p, uint64_t id, uint32_t attr)
{
	struct perf_id *known = perf_id_find(p, id);

	memset(p->recent, 0, sizeof(p->recent));
	p->layout.known = false;
	if (known) {
		known->attr = attr;
		return;
	}
	mem_grow(p->id, p->cap_id, p->n_id + 1);
	p->id[p->n_id] = (struct perf_id){ id, attr, -2, -2 };
	table_add(&p->by_id, hash_u64(id), (uint32_t)p->n_id++);
}

/* Reads the id in a record; it has the same offset for all events. Returns
 * false if there is none. */
static bool perf_attr_read_id(const struct perf *p, const struct perf_rec *r,
			      uint64_t *id)
{
	const struct perf_attr *a = &p->attr[0];
	uint64_t at = r->type == PR_SAMPLE ? a->s_id : r->size - a->t_id;

	if (r->type == PR_SAMPLE ? !a->s_id : !a->t_id || r->size < 8 + a->t_id)
		return false;
	return !bytes_peek_u64(&r->b, at, id);
}

const struct perf_attr *perf_attr_of_record(struct perf *p,
					    const struct perf_rec *r)
{
	const struct perf_attr *first = p->attr;
	uint64_t id;

	if (p->n_attr <= 1)
		return p->n_attr ? first : NULL;
	if (r->type != PR_SAMPLE && !first->id_all)
		return first;
	if (!perf_attr_read_id(p, r, &id) || !id)
		return first;
	size_t at = id % RECENT_IDS;

	if (p->recent[at].id == id && p->recent[at].attr)
		return &p->attr[p->recent[at].attr - 1];
	struct perf_id *known = perf_id_find(p, id);

	if (known) {
		p->recent[at].id = id;
		p->recent[at].attr = known->attr + 1;
		return &p->attr[known->attr];
	}
	return p->n_id ? NULL : first;
}
