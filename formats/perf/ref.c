/* ref.c - makes the ref of a kernel record: its time, sort class and handle.
 *
 * It also checks whether perf keeps the promise of FINISHED_ROUND. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perf/perf.h"
#include "stitch/base/ledger.h"

/* Each record of the kernel is a multiple of 8 bytes. */
static int perf_ref_check_size(struct perf *p, const struct perf_rec *r)
{
	if (!(r->size % 8))
		return 0;
	perf_damage_text(p, r->b.path, "record", r->off, r->size,
			 "record of type %s is %u bytes, needs a multiple of 8",
			 perf_type_name(r->type), r->size);
	return -1;
}

bool perf_ref_make(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct ref *ref)
{
	const struct perf_attr *a = p->attr;
	uint64_t seq = f->n++;

	if (r->type >= PR_KERNEL_KNOWN || !r->type) {
		if (p->loud)
			perf_skip_type(p, r);
		return false;
	}
	if (perf_ref_check_size(p, r))
		return false;
	/* the event matters only if it decides where the time is */
	if (!p->same_time) {
		a = perf_attr_of_record(p, r);
		if (!a) {
			if (p->loud)
				perf_damage_id(p, r);
			return false;
		}
	}
	if (p->src.info.overwrite)
		seq = ((uint64_t)1 << PERF_FILE_BIT) - 1 - seq;
	ref->seq = perf_in_file(f, seq);
	ref->handle = r->handle;
	ref->len = r->size;
	ref->source = p->src.index;
	if (!p->src.info.has_time) {
		ref->key = perf_in_file(f, f->n - 1);
		ref->kind = 0;
		ref->untimed = 1;
		return true;
	}
	uint64_t t = 0;

	if (r->type == PR_SAMPLE) {
		if (a->s_time)
			bytes_peek_u64(&r->b, a->s_time, &t);
	} else if (a->t_time) {
		if (r->size >= 8 + a->t_size)
			bytes_peek_u64(&r->b, r->size - a->t_time, &t);
	} else if ((r->type == PR_EXIT || r->type == PR_FORK) &&
		   (a->sample_type & PS_TIME)) {
		/* older perf: no trailer, but these two have a time field */
		bytes_peek_u64(&r->b, 24, &t);
	}
	ref->key = t;
	ref->kind = perf_type_class(r->type, r->misc);
	ref->untimed = !ref->key || ref->key >= TIME_UNREAL;
	if (!ref->untimed && perf_check_time_is_far(p, f, ref->key)) {
		perf_damage_text(p, r->b.path, "time", r->off, r->size,
				 "record of type %s is of %" PRIu64
				 " ns, years from those before it",
				 perf_type_name(r->type), ref->key);
		return false;
	}
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

/* perf sorts records in a queue. The end of a round releases those up to the
 * limit, which is the largest time at the end of the round before; flushed is
 * the largest time that it released. That follows without a queue. The end
 * before this one released all up to limit_was, so what waits is later than
 * limit_was, or came in this round:
 * - The limit grew. The record with this very time came in the round before and
 *   is later than limit_was, so it still waits. It is released now, and nothing
 *   that is later than it.
 * - The limit is limit_was (it never falls). Of what came before this round
 *   nothing up to it waits. Released is what came in this round up to the
 *   limit, and behind is the largest time of that; 0: there is none, and
 *   flushed stays. With behind, flushed may become less than it was. */
void perf_round_end(struct perf *p)
{
	struct perf_rounds *ro = &p->rounds;

	if (ro->limit > ro->limit_was)
		ro->flushed = ro->limit;
	else if (ro->behind)
		ro->flushed = ro->behind;
	ro->limit_was = ro->limit;
	ro->limit = ro->max;
	ro->behind = 0;
	ro->n++;
}

void perf_round_time(struct perf *p, uint64_t time)
{
	struct perf_rounds *ro = &p->rounds;

	raise_to(ro->max, time);
	if (time <= ro->limit && time > ro->behind)
		ro->behind = time;
}

void perf_round_record(struct perf *p, const struct perf_rec *r,
		       const struct ref *ref)
{
	if (ref->untimed)
		return;
	/* overwrite mode writes the newest first and promises nothing */
	if (ref->key < p->rounds.flushed && !p->src.info.overwrite) {
		const struct perf_attr *a = perf_attr_of_record(p, r);
		uint32_t cpu = UINT32_MAX;
		char detail[96];

		if (a && r->type == PR_SAMPLE && a->s_cpu)
			bytes_peek_u32(&r->b, a->s_cpu, &cpu);
		else if (a && r->type != PR_SAMPLE && a->t_cpu)
			bytes_peek_u32(&r->b, r->size - a->t_cpu, &cpu);
		snprintf(detail, sizeof(detail),
			 "%s %" PRIu64 " ns behind what round %" PRIu64
			 " closed",
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
	perf_round_time(p, ref->key);
}
