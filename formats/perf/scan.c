/* scan.c - exact time order for captures that can be read twice.
 *
 * perf writes ring after ring, so a file is not sorted, and its own promise
 * (FINISHED_ROUND) is broken now and then. The scan looks at every time once
 * and keeps the smallest of each 64 KiB; the smallest of what is not read yet
 * is then a floor that holds whatever the recorder did. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"

#define BLOCK_BITS 16
#define SEQ_BITS 48
#define MISC_SWITCH_OUT (1 << 13)
#define MISC_KERNEL 1

static const uint8_t classes[PR_KERNEL_KNOWN] = {
	[PR_MMAP] = CLASS_MAP,
	[PR_LOST] = CLASS_LOST,
	[PR_COMM] = CLASS_COMM,
	[PR_EXIT] = CLASS_EXIT,
	[PR_THROTTLE] = CLASS_LOST,
	[PR_UNTHROTTLE] = CLASS_LOST,
	[PR_FORK] = CLASS_FORK,
	[PR_READ] = CLASS_SAMPLE,
	[PR_SAMPLE] = CLASS_SAMPLE,
	[PR_MMAP2] = CLASS_MAP,
	[PR_AUX] = CLASS_SAMPLE,
	[PR_ITRACE_START] = CLASS_SAMPLE,
	[PR_LOST_SAMPLES] = CLASS_LOST,
	[PR_SWITCH] = CLASS_SWITCH_IN,
	[PR_SWITCH_CPU_WIDE] = CLASS_SWITCH_IN,
	[PR_NAMESPACES] = CLASS_SPACE,
	[PR_KSYMBOL] = CLASS_MAP,
	[PR_BPF_EVENT] = CLASS_MAP,
	[PR_CGROUP] = CLASS_SPACE,
	[PR_TEXT_POKE] = CLASS_MAP,
	[PR_AUX_OUTPUT_HW_ID] = CLASS_SAMPLE,
	[PR_CALLCHAIN_DEFERRED] = CLASS_CHAIN,
};

static uint8_t perf_ref_class(const struct perf_rec *r)
{
	uint8_t class = classes[r->type];

	if (class == CLASS_SWITCH_IN && (r->misc & MISC_SWITCH_OUT))
		return CLASS_SWITCH_OUT;
	return class;
}

/* The time of a record; 0: it has none. */
static uint64_t perf_ref_time(const struct perf_attr *a,
			      const struct perf_rec *r)
{
	uint64_t t = 0;

	if (r->type == PR_SAMPLE) {
		if (a->s_time)
			bytes_peek_u64(&r->b, a->s_time, &t);
	} else if (a->t_time) {
		if (r->size >= 8 + a->t_size)
			bytes_peek_u64(&r->b, r->size - a->t_time, &t);
	} else if ((r->type == PR_EXIT || r->type == PR_FORK) &&
		   (a->sample_type & PS_TIME)) {
		/* old recorders: no trailer, but these two say it inside */
		bytes_peek_u64(&r->b, 24, &t);
	}
	return t;
}

void perf_skip_unknown_id(struct perf *p, const struct perf_rec *r)
{
	ledger_skip(p->src.ledger, p->src.index, "unknown event id", r->type,
		    r->off);
}

bool perf_ref_make(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct ref *ref)
{
	const struct perf_attr *a = p->attr;
	uint64_t seq = f->n++;

	if (r->type >= PR_KERNEL_KNOWN || !r->type) {
		if (p->loud)
			ledger_skip(p->src.ledger, p->src.index, "record type",
				    r->type, r->off);
		return false;
	}
	/* only who it belongs to matters when times stand elsewhere */
	if (!p->same_time) {
		a = perf_attr_of_record(p, r);
		if (!a) {
			if (p->loud)
				perf_skip_unknown_id(p, r);
			return false;
		}
	}
	if (p->src.info.overwrite)
		seq = ((uint64_t)1 << SEQ_BITS) - 1 - seq;
	ref->seq = (uint64_t)f->index << SEQ_BITS | seq;
	ref->handle = r->handle;
	ref->len = r->size;
	ref->source = p->src.index;
	if (!p->src.info.has_time) {
		ref->key = (uint64_t)f->index << SEQ_BITS | (f->n - 1);
		ref->kind = 0;
		ref->untimed = 1;
		return true;
	}
	ref->key = perf_ref_time(a, r);
	ref->kind = perf_ref_class(r);
	ref->untimed = !ref->key || ref->key >= TIME_UNREAL;
	if (!ref->untimed)
		f->last_key = ref->key;
	else if (r->type == PR_LOST_SAMPLES)
		ref->key = KEY_LAST;
	else if (!ref->key || ref->key == UINT64_MAX)
		ref->key = f->last_key;
	return true;
}

bool perf_ref_is_state(const struct perf *p, const struct perf_rec *r,
		       const struct ref *ref)
{
	return ref->untimed && p->src.info.has_time && r->type != PR_SAMPLE &&
	       r->type != PR_CALLCHAIN_DEFERRED && r->type != PR_LOST_SAMPLES;
}

/* Given out before everything else, in file order. */
static void perf_scan_keep_state(struct perf *p, const struct perf_rec *r,
				 const struct ref *ref)
{
	struct perf_chunk *c = p->state_chunk;

	p->state = mem_grow(p->state, &p->cap_state, p->n_state + 1,
			    sizeof(*p->state));
	struct ref *s = &p->state[p->n_state++];

	*s = *ref;
	s->key = 0;
	s->kind = 0;
	s->seq = p->n_state;
	if (!r->chunk)
		return;
	/* what was unpacked is gone after the scan: keep a copy */
	if (!c || c->cap - c->len < r->size) {
		perf_chunk_put(p, c);
		c = p->state_chunk = perf_chunk_new(p, 65536, r->off, false);
	}
	memcpy(c->data + c->len, r->b.pos, r->size);
	s->handle = perf_chunk_handle(c, c->len);
	c->len += r->size;
	c->refs++;
}

void perf_round_end(struct perf *p)
{
	struct perf_rounds *ro = &p->rounds;

	/* Everything up to the largest time of the last round goes out. When
	 * that has not grown, only what came behind it does. */
	if (ro->limit > ro->limit_was)
		ro->flushed = ro->limit;
	else if (ro->behind)
		ro->flushed = ro->behind;
	ro->limit_was = ro->limit;
	ro->limit = ro->max;
	ro->behind = 0;
	ro->n++;
}

static void perf_round_report(struct perf *p, const struct perf_rec *r,
			      const struct ref *ref)
{
	const struct perf_attr *a = perf_attr_of_record(p, r);
	uint32_t cpu = UINT32_MAX;
	char detail[96];

	if (a && r->type == PR_SAMPLE && a->s_cpu)
		bytes_peek_u32(&r->b, a->s_cpu, &cpu);
	else if (a && r->type != PR_SAMPLE && a->t_cpu)
		bytes_peek_u32(&r->b, r->size - a->t_cpu, &cpu);
	snprintf(detail, sizeof(detail),
		 "%s %" PRIu64 " ns behind what round %" PRIu64 " closed",
		 perf_type_name(r->type), p->rounds.flushed - ref->key,
		 p->rounds.n);
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = p->src.index,
		.what = "round",
		.detail = detail,
		.off = r->off,
		.len = r->size,
		.t0 = ref->key,
		.t1 = p->rounds.flushed,
		.n = 1,
		.cpu = (int32_t)cpu,
		.event = a ? (int32_t)(a - p->attr) : -1,
	};
	ledger_add(p->src.ledger, &e);
}

void perf_round_record(struct perf *p, const struct perf_rec *r,
		       const struct ref *ref)
{
	struct perf_rounds *ro = &p->rounds;

	if (ref->untimed)
		return;
	/* overwrite mode is newest first: the promise is not meant */
	if (ref->key < ro->flushed && !p->src.info.overwrite)
		perf_round_report(p, r, ref);
	if (ref->key > ro->max)
		ro->max = ref->key;
	if (ref->key <= ro->limit && ref->key > ro->behind)
		ro->behind = ref->key;
}

static void perf_scan_lower_floor(struct perf_file *f, uint64_t place,
				  uint64_t key)
{
	uint64_t block = place >> BLOCK_BITS;

	if (block >= f->n_floor) {
		f->floor = mem_grow(f->floor, &f->cap_floor, block + 1,
				    sizeof(*f->floor));
		while (f->n_floor <= block)
			f->floor[f->n_floor++] = UINT64_MAX;
	}
	if (key < f->floor[block])
		f->floor[block] = key;
}

/* perf 7.2 stores the kernel's build-id into its mapping record. */
static void perf_scan_kernel_id(struct perf *p, const struct perf_rec *r)
{
	struct bytes b = r->b;
	struct bytes id;
	uint8_t n;

	if (p->src.info.kernel_id_len || (r->misc & 7) != MISC_KERNEL ||
	    !(r->misc & 1 << 14) || bytes_skip(&b, 40, NULL) ||
	    bytes_u8(&b, &n, NULL) || n > 20 || bytes_skip(&b, 3, NULL) ||
	    bytes_take(&b, 20, &id, NULL) || bytes_skip(&b, 8, NULL) ||
	    bytes_left(&b) < 17 || memcmp(b.pos, "[kernel.kallsyms]", 17))
		return;
	memcpy(p->kernel_id, id.pos, n);
	p->src.info.kernel_id = p->kernel_id;
	p->src.info.kernel_id_len = n;
}

static void perf_scan_record(struct perf *p, struct perf_file *f,
			     const struct perf_rec *r)
{
	struct source_info *info = &p->src.info;
	struct ref ref;

	if (!perf_ref_make(p, f, r, &ref))
		return;
	info->records++;
	if (r->type == PR_MMAP2)
		perf_scan_kernel_id(p, r);
	if (perf_ref_is_state(p, r, &ref)) {
		perf_scan_keep_state(p, r, &ref);
		return;
	}
	perf_scan_lower_floor(f, r->place, ref.key);
	if (ref.untimed)
		return;
	if (!info->first_ns || ref.key < info->first_ns)
		info->first_ns = ref.key;
	if (ref.key > info->last_ns)
		info->last_ns = ref.key;
	perf_round_record(p, r, &ref);
}

static int perf_scan_file(struct perf *p, struct perf_file *f, struct err *err)
{
	struct perf_rec r;
	int got;

	perf_walk_start(p, f);
	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		if (r.type >= PR_TOOL) {
			if (perf_tool_take(p, f, &r, err))
				return -1;
		} else if (p->n_attr) {
			perf_scan_record(p, f, &r);
		} else {
			struct err why;

			err_at(&why, f->in.path, r.off,
			       "record comes before any event is described");
			perf_damage(p, "record", r.off, r.size, &why);
		}
	}
	for (size_t i = f->n_floor; i-- > 1;)
		if (f->floor[i] < f->floor[i - 1])
			f->floor[i - 1] = f->floor[i];
	return got;
}

static uint64_t perf_scan_file_floor(const struct perf_file *f)
{
	return f->done || f->block >= f->n_floor ? UINT64_MAX
						 : f->floor[f->block];
}

/* Sets the floor, and which file to read on: the one that holds us up. */
static void perf_scan_choose_file(struct perf *p)
{
	uint64_t floor = UINT64_MAX;
	uint64_t pos = 0;
	bool any = false;

	for (size_t i = 0; i < p->n_file; i++) {
		const struct perf_file *f = &p->file[i];
		uint64_t low = perf_scan_file_floor(f);

		pos += f->done ? f->end - f->start
			       : bytes_off(&f->raw) - f->start;
		if (f->done || (any && low >= floor))
			continue;
		any = true;
		floor = low;
		p->cur = (uint16_t)i;
	}
	p->ended = !any;
	p->src.pos = pos;
	p->src.floor = p->state_pos < p->n_state ? 0 : floor;
}

int perf_scan(struct source *src, struct err *err)
{
	struct perf *p = perf_of(src);

	p->loud = true;
	if (p->stream)
		return perf_stream_start(p, err);
	for (size_t i = 0; i < p->n_file; i++)
		if (perf_scan_file(p, &p->file[i], err))
			return -1;
	if (!p->n_attr)
		return err_set(err, ERR_FORMAT, "%s: no events are described%s",
			       src->path,
			       src->info.truncated ? ": it is cut off" : "");
	perf_trace_join_events(p);
	perf_tool_finish(p);
	p->loud = false;
	src->info.exact = true;
	p->scanned = true;
	for (size_t i = 0; i < p->n_file; i++)
		perf_walk_start(p, &p->file[i]);
	perf_scan_choose_file(p);
	return 0;
}

static void perf_scan_enter_block(struct perf *p, struct perf_file *f,
				  uint64_t place)
{
	if (place >> BLOCK_BITS == f->block)
		return;
	f->block = place >> BLOCK_BITS;
	perf_scan_choose_file(p);
}

static int perf_scan_next_state(struct perf *p, struct ref *ref)
{
	*ref = p->state[p->state_pos++];
	ref->source = p->src.index;
	if (p->state_pos == p->n_state)
		perf_scan_choose_file(p);
	return 1;
}

int perf_next(struct source *src, struct ref *ref, struct err *err)
{
	struct perf *p = perf_of(src);
	struct perf_rec r;

	if (p->stream)
		return perf_stream_next(p, ref, err);
	if (p->state_pos < p->n_state)
		return perf_scan_next_state(p, ref);
	while (!p->ended) {
		struct perf_file *f = &p->file[p->cur];
		int got = perf_walk_next(p, f, &r, err);

		if (got < 0)
			return -1;
		if (!got) {
			f->done = true;
			perf_scan_choose_file(p);
			continue;
		}
		perf_scan_enter_block(p, f, r.place);
		if (r.type >= PR_TOOL || !perf_ref_make(p, f, &r, ref) ||
		    perf_ref_is_state(p, &r, ref))
			continue;
		if (r.chunk)
			r.chunk->refs++;
		return 1;
	}
	src->floor = UINT64_MAX;
	return 0;
}
