/* fact_rows.c - makes rows of facts. */
#include <inttypes.h>

#include "schema/write/capture.h"
#include "schema/write/labels.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/fact.h"
#include "stitch/record.h"
#include "stitch/source.h"

/* Payloads repeat, as programs make the same system calls again and again: of a
 * million payloads of a compiler and its shell four fifths equal one of the
 * last ten thousand contents. Bytes are compared, not only hashes. Memory does
 * not grow: a payload takes the slot of another one, which is stored again when
 * it comes back. */

/* Twice as many slots make the rows of those payloads 4 % fewer. */
#define SLOTS 16384
/* Longer payloads are file names and the like. */
#define SLOT_BYTES 120
/* Nearly all payloads of a trace of system calls are equal to one of the last
 * few hundred. For these the hash that decides on the slot, which was half of
 * the cost, is not needed. */
#define HINTS 1024

struct payload_slot {
	uint32_t id; /* payload.id; 0: empty */
	uint32_t len;
	unsigned char data[SLOT_BYTES];
};

struct payload_rows {
	uint16_t hint[HINTS]; /* slots, by payload_rows_hint() */
	struct payload_slot slot[SLOTS];
};

static bool payload_slot_has(const struct payload_slot *s, const void *p,
			     size_t len)
{
	return s->id && s->len == len && !memcmp(s->data, p, len);
}

static size_t payload_rows_hint(const void *p, size_t len)
{
	const unsigned char *at = p;
	uint64_t h = len;

	for (; len >= sizeof(h); at += sizeof(h), len -= sizeof(h)) {
		uint64_t w;

		memcpy(&w, at, sizeof(w));
		h = (h << 7 | h >> 57) ^ w;
	}
	return (h * 0x9e3779b97f4a7c15u) >> 32 & (HINTS - 1);
}

int payload_rows_put(struct maker *mk, const void *p, size_t len, uint32_t *id,
		     struct err *err)
{
	struct writing *w = mk->w;
	struct payload_slot *s = NULL;

	if (len <= SLOT_BYTES) {
		if (!w->payload_rows)
			w->payload_rows = mem_new(1, sizeof(*w->payload_rows));
		struct payload_rows *rows = w->payload_rows;
		uint16_t *hint = &rows->hint[payload_rows_hint(p, len)];

		/* the same in each run, so that equal captures give equal
		 * databases */
		if (!payload_slot_has(&rows->slot[*hint], p, len))
			*hint = (uint16_t)(hash_content(p, len, 0) % SLOTS);
		s = &rows->slot[*hint];
	}

	if (s && payload_slot_has(s, p, len)) {
		*id = s->id;
		return 0;
	}
	struct block *b = maker_packed(mk, T_PAYLOAD, len, err);

	if (!b)
		return -1;
	*id = ++w->payloads;
	struct packing r = packing_begin(b, *id, len);

	packing_bytes(&r, RECORD_BLOB, p, len);
	packing_end(&r);
	if (s) {
		s->id = *id;
		s->len = (uint32_t)len;
		memcpy(s->data, p, len);
	}
	return 0;
}

/* A larger weight is not a count of anything (104 days in ns), and could make
 * SQL's sum() overflow, which fails the whole statement. */
#define WEIGHT_MAX ((uint64_t)1 << 53)

static void fact_pack_time(struct packing *p, bool known, int64_t t)
{
	packing_known(p, known && t != TIME_NONE, t);
}

static int fact_put_extra(struct maker *mk, uint32_t event, const char *name,
			  uint64_t v, struct err *err)
{
	return PUT_ROW(mk, T_EXTRA, err, VALUE_OF(event), value_text(name),
		       VALUE_OF(v));
}

static int fact_put_extras(struct maker *mk, uint32_t event,
			   const struct extra *x, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; i < n; i++, x++)
		if (PUT_ROW(mk, T_EXTRA, err, VALUE_OF(event),
			    value_text(x->name ? x->name : "?"),
			    x->blob ? value_blob(x->blob, x->len)
				    : VALUE_OF(x->value)))
			return -1;
	return 0;
}

/* Stores the payload of an event if it has one that no ev_ table gets. Sets *id
 * to the row's id or 0. */
static int fact_put_payload(struct maker *mk, const struct capture_map *c,
			    const struct fact_event *e, uint32_t *id,
			    struct err *err)
{
	const struct record *rec = e->rec;

	*id = 0;
	if (!rec || rec->kind != REC_SAMPLE || !rec->sample.raw || e->leader ||
	    !fields_keep_raw(mk->w->fields) ||
	    (c->src && store_wants_fields(mk, c->src, e->type)))
		return 0;
	return payload_rows_put(mk, rec->sample.raw, rec->sample.raw_len, id,
				err);
}

static uint32_t fact_type_id(struct maker *mk, struct capture_map *c,
			     const struct fact_event *e, struct err *err)
{
	const struct record *rec = e->rec;
	const char *mark = "record";

	if (e->type == UINT32_MAX) {
		if (rec && rec->kind == REC_SWITCH)
			mark = "switch";
		else if (rec && rec->kind == REC_MARK && rec->mark.name)
			mark = rec->mark.name;
		return capture_mark_type(mk, e->source, mark, err);
	}
	if (e->type < c->n_type && c->type[e->type])
		return c->type[e->type];
	return capture_type(mk, e->source, e->type, err);
}

/* Returns whether the weight of an event fits a number of SQL, and adds it
 * up. */
static bool fact_weighs(struct writing *w, struct capture_map *c,
			const struct fact_event *e, uint32_t type)
{
	uint64_t sum;

	/* a record that is no sample has no weight */
	if (e->type == UINT32_MAX)
		return false;
	if (e->weight > WEIGHT_MAX ||
	    __builtin_add_overflow(w->weight_sum, e->weight, &sum) ||
	    sum > INT64_MAX) {
		c->bad_weights++;
		return false;
	}
	w->weight_sum = sum;
	w->count[type - 1].weight += e->weight;
	return true;
}

static int fact_put_event_row(struct maker *mk, const struct capture_map *c,
			      const struct fact_event *e, uint32_t type,
			      bool weighs, struct err *err)
{
	uint32_t payload;

	if (fact_put_payload(mk, c, e, &payload, err))
		return -1;
	struct block *b = maker_packed(mk, T_EVENT, 0, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, e->id, 0);

	fact_pack_time(&p, true, e->time);
	packing_known(&p, e->cpu >= 0, e->cpu);
	packing_id(&p, e->thread);
	packing_id(&p, e->comm);
	packing_int(&p, type);
	packing_known(&p, weighs, (int64_t)e->weight);
	packing_id(&p, e->kraw);
	packing_id(&p, e->uraw);
	packing_id(&p, payload);
	if (e->rec && e->time != TIME_NONE && e->rec->raw != e->rec->time)
		packing_int(&p, (int64_t)e->rec->raw);
	packing_end(&p);
	if (!e->rec)
		return 0;
	/* Write the parts of an event that most events do not have. */
	const struct record *rec = e->rec;

	if (e->leader)
		return fact_put_extra(mk, e->id, "leader", e->leader, err);
	if (rec->flags & REC_F_DUPLICATE &&
	    fact_put_extra(mk, e->id, "duplicate", 1, err))
		return -1;
	if (rec->flags & REC_F_GUEST &&
	    fact_put_extra(mk, e->id, "guest", 1, err))
		return -1;
	if (rec->kind == REC_SWITCH) {
		uint32_t event = e->id;
		if (fact_put_extra(mk, event, "out", !!(rec->flags & REC_F_OUT),
				   err))
			return -1;
		if (rec->flags & REC_F_PREEMPT &&
		    fact_put_extra(mk, event, "preempt", 1, err))
			return -1;
		if (rec->sw.other_pid >= 0 &&
		    fact_put_extra(mk, event, "other_pid",
				   (uint64_t)rec->sw.other_pid, err))
			return -1;
		if (rec->sw.other_tid >= 0)
			return fact_put_extra(mk, event, "other_tid",
					      (uint64_t)rec->sw.other_tid, err);
		return 0;
	}
	if (rec->kind == REC_MARK)
		return fact_put_extras(mk, e->id, rec->mark.extra,
				       rec->mark.n_extra, err);
	if (rec->kind != REC_SAMPLE)
		return 0;

	const struct rec_sample *s = &rec->sample;

	if (s->n_extra && fact_put_extras(mk, e->id, s->extra, s->n_extra, err))
		return -1;
	for (uint32_t i = 0; i < s->n_branch; i++)
		if (PUT_ROW(mk, T_BRANCH, err, VALUE_OF(e->id), VALUE_OF(i),
			    VALUE_OF(s->branch[i].from),
			    VALUE_OF(s->branch[i].to),
			    VALUE_OF(s->branch[i].flags)))
			return -1;
	return 0;
}

/* Returns whether an event may have a request. */
static bool fact_asks(const struct capture_map *c, const struct fact_event *e)
{
	const struct record *rec = e->rec;

	if (!rec || rec->kind != REC_SAMPLE || !c->src ||
	    e->type >= c->src->n_events || rec->sample.defer == DEFER_NONE)
		return false;
	return rec->sample.defer != DEFER_DIRECT ||
	       c->src->events[e->type].defer;
}

static int fact_put_event(struct maker *mk, const struct fact_event *e,
			  struct err *err)
{
	struct capture_map *c = capture_map(mk, e->source);
	uint32_t type = fact_type_id(mk, c, e, err);

	if (!type)
		return -1;
	if (__builtin_expect(e->id != mk->w->events + 1, 0))
		return err_set(err, ERR_DB,
			       "%s: event %u came after event %llu: ids must "
			       "be dense",
			       mk->db->path, e->id,
			       (unsigned long long)mk->w->events);
	const struct record *rec = e->rec;
	struct writing *w = mk->w;

	w->events++;
	if (e->type != UINT32_MAX)
		c->samples++;
	if (e->time != TIME_NONE) {
		if (c->first == TIME_NONE || e->time < c->first)
			c->first = e->time;
		if (c->last == TIME_NONE || e->time > c->last)
			c->last = e->time;
	}
	if (rec && rec->kind == REC_SAMPLE && !(rec->flags & REC_F_DUPLICATE) &&
	    (rec->sample.defer == DEFER_COOKIE ||
	     rec->sample.defer == DEFER_MARK))
		w->deferred++;
	mem_reach(w->count, w->n_count, w->cap_count, type);
	w->count[type - 1].events++;
	bool weighs = fact_weighs(mk->w, c, e, type);

	/* sums need the rows that requests refer to, and no others */
	if ((!mk->db->sums || fact_asks(c, e)) &&
	    fact_put_event_row(mk, c, e, type, weighs, err))
		return -1;
	if (e->type == UINT32_MAX) /* a switch or a mark is in no group */
		return 0;
	mk->w->grouped++;
	return sample_groups_event(mk, c, e, type, weighs, err);
}

static int fact_put_request(struct maker *mk, const struct fact_request *q,
			    struct err *err)
{
	struct block *b = maker_packed(mk, T_REQUEST, 0, err);

	if (!b)
		return -1;
	sums_request(mk->w, q);
	if (q->chain)
		mk->w->joined++;
	if (q->chain > mk->w->max_chain)
		mk->w->max_chain = q->chain;
	struct packing p = packing_begin(b, q->event, 0);

	packing_id(&p, q->cookie);
	packing_id(&p, q->chain);
	packing_id(&p, q->uraw);
	packing_id(&p, q->ip);
	packing_int(&p, q->verdict);
	packing_int(&p, q->confidence);
	packing_int(&p, q->flags);
	fact_pack_time(&p, true, q->latency);
	fact_pack_time(&p, q->flags & VERDICT_EXEC, q->exec);
	packing_id(&p, q->end);
	fact_pack_time(&p, q->end, q->until);
	packing_id(&p, q->loss);
	packing_id(&p, q->as_perf);
	fact_pack_time(&p, q->as_perf, q->held);
	packing_id(&p, q->as_tid);
	packing_end(&p);
	return sample_groups_request(mk, q, err);
}

static int fact_put_chain(struct maker *mk, const struct fact_chain *f,
			  struct err *err)
{
	struct block *b = maker_packed(mk, T_CHAIN, 0, err);

	if (!b)
		return -1;
	sums_chain(mk->w, f);
	mk->w->chain_events += f->n_events;
	struct packing p = packing_begin(b, f->id, 0);

	packing_int(&p, f->source + 1);
	fact_pack_time(&p, true, f->time);
	packing_known(&p, f->cpu >= 0, f->cpu);
	packing_id(&p, f->thread);
	packing_id(&p, f->cookie);
	packing_id(&p, f->uraw);
	packing_int(&p, f->verdict);
	packing_int(&p, f->confidence);
	packing_int(&p, f->quality);
	packing_int(&p, f->flags);
	packing_int(&p, f->n_events);
	fact_pack_time(&p, !f->n_events, f->from);
	packing_id(&p, f->loss);
	packing_end(&p);
	return 0;
}

static int fact_put_comm(struct maker *mk, const struct fact_comm *c,
			 struct err *err)
{
	char label[256];
	const char *name = c->name ? c->name : "";

	labels_text(name, label, sizeof(label));
	sample_groups_comm(mk, c->id, name);
	return PUT_ROW(mk, T_COMM, err, VALUE_OF(c->id), VALUE_ID(c->thread),
		       VALUE_TIME(c->time), VALUE_OF(!!c->exec),
		       value_text(name),
		       value_text(strcmp(name, label) != 0 ? label : NULL));
}

static int fact_put_mapping(struct maker *mk, const struct fact_mapping *m,
			    struct err *err)
{
	if (!mapped_code_add(mk, m) && mk->db->sums)
		return 0;
	struct block *b = maker_packed(mk, T_MAPPING, 0, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, m->id, 0);

	packing_int(&p, m->process);
	packing_int(&p, (int64_t)m->start);
	packing_int(&p, (int64_t)m->end);
	packing_int(&p, (int64_t)m->pgoff);
	packing_id(&p, m->image);
	packing_int(&p, m->prot);
	packing_int(&p, m->flags);
	fact_pack_time(&p, true, m->t0);
	fact_pack_time(&p, true, m->t1);
	packing_end(&p);
	return 0;
}

int store_fact(struct maker *mk, const struct fact *f, struct err *err)
{
	switch (f->kind) {
	case FACT_EVENT:
		return fact_put_event(mk, &f->event, err);
	case FACT_REQUEST:
		return fact_put_request(mk, &f->request, err);
	case FACT_CHAIN:
		return fact_put_chain(mk, &f->chain, err);
	case FACT_COPY:
		mk->w->copies++;
		return PUT_ROW(mk, T_CHAIN_COPY, err, VALUE_OF(f->copy.chain),
			       VALUE_OF(f->copy.source + 1),
			       VALUE_TIME(f->copy.time),
			       VALUE_CPU(f->copy.cpu));
	case FACT_PROCESS:
		return PUT_ROW(mk, T_PROCESS, err, VALUE_OF(f->process.id),
			       VALUE_OF(f->process.source + 1),
			       VALUE_OF(f->process.pid),
			       VALUE_ID(f->process.parent),
			       VALUE_TIME(f->process.start),
			       VALUE_TIME(f->process.end));
	case FACT_THREAD:
		return PUT_ROW(
			mk, T_THREAD, err, VALUE_OF(f->thread.id),
			VALUE_ID(f->thread.process), VALUE_OF(f->thread.tid),
			VALUE_TIME(f->thread.start), VALUE_TIME(f->thread.end));
	case FACT_COMM:
		return fact_put_comm(mk, &f->comm, err);
	case FACT_MAPPING:
		return fact_put_mapping(mk, &f->mapping, err);
	case FACT_FINDING:
		return PUT_ROW(
			mk, T_FINDING, err, VALUE_OF(f->finding.rule + 1),
			VALUE_OF(f->finding.source + 1),
			VALUE_TIME(f->finding.time),
			VALUE_TIME(f->finding.since), VALUE_CPU(f->finding.cpu),
			VALUE_ID(f->finding.thread), VALUE_ID(f->finding.event),
			VALUE_ID(f->finding.loss), VALUE_OF(f->finding.n));
	case FACT_GAP:
		return PUT_ROW(mk, T_GAP, err, VALUE_OF(f->gap.source + 1),
			       VALUE_CPU(f->gap.cpu), VALUE_OF(f->gap.first),
			       VALUE_OF(f->gap.n), VALUE_TIME(f->gap.t0),
			       VALUE_TIME(f->gap.t1), VALUE_OF(f->gap.verdict),
			       VALUE_ID(f->gap.loss));
	case FACT_COUNTER:
		return PUT_ROW(
			mk, T_COUNTER, err, VALUE_OF(f->counter.source + 1),
			VALUE_CPU(f->counter.cpu), VALUE_OF(f->counter.first),
			VALUE_OF(f->counter.last), VALUE_OF(f->counter.seen),
			VALUE_OF(f->counter.missing), VALUE_OF(f->counter.gaps),
			VALUE_OF(f->counter.late),
			VALUE_OF(f->counter.elsewhere),
			VALUE_OF(f->counter.wraps));
	case FACT_SESSION:
		return PUT_ROW(mk, T_COOKIES, err,
			       VALUE_OF(f->session.source + 1),
			       value_text(f->session.layout),
			       value_text(f->session.reason),
			       VALUE_OF(f->session.no_chain),
			       VALUE_OF(f->session.no_sample),
			       VALUE_OF(f->session.missing));
	}
	return err_set(err, ERR_DB, "%s: a fact of unknown kind %d",
		       mk->db->path, (int)f->kind);
}
