/* stream.c - captures that can be read only once: a true pipe.
 *
 * The floor comes from FINISHED_ROUND: all records up to the largest time at
 * the end of the round before last are taken to have arrived. perf record
 * usually keeps to that but does not guarantee it, so one round and a slack
 * more are held back than perf holds back. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"

#define WINDOW_DEFAULT ((uint64_t)256 << 20)

int perf_stream_start(struct perf *p, struct err *err)
{
	for (size_t i = 0; i < p->n_file; i++)
		perf_walk_start(p, &p->file[i]);
	struct perf_file *f = &p->file[0];
	struct perf_rec r;
	int got;

	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		if (r.type < PR_TOOL)
			break;
		if (perf_tool_take(p, f, &r, err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (!p->n_attr)
		return err_set(err, ERR_FORMAT,
			       "%s: no events are described before the first "
			       "record",
			       p->src.path);
	if (got) {
		f->held = r;
		f->holds = true;
	}
	perf_trace_join_events(p);
	perf_tool_finish(p);
	return 0;
}

static void perf_stream_end_round(struct perf *p)
{
	struct perf_window *w = &p->window;
	uint64_t slack = p->opts.slack_ns;
	uint64_t held = w->max > slack ? w->max - slack : 0;

	raise_to(p->src.floor, w->round2 < held ? w->round2 : held);
	w->round2 = w->round1;
	w->round1 = w->max;
}

/* If too many bytes are held, releases the older half of the time range. */
static void perf_stream_limit_memory(struct perf *p)
{
	struct perf_window *w = &p->window;
	uint64_t limit =
		p->opts.window_bytes ? p->opts.window_bytes : WINDOW_DEFAULT;
	uint64_t from = p->src.floor > w->first ? p->src.floor : w->first;
	char detail[96];

	if (p->chunk_bytes <= limit || !w->any || w->max <= from)
		return;
	uint64_t to = from + (w->max - from + 1) / 2;

	snprintf(detail, sizeof(detail),
		 "%" PRIu64 " bytes held: order is not assured before this "
		 "time",
		 p->chunk_bytes);
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = p->src.index,
		.what = "window",
		.detail = detail,
		.off = p->src.pos,
		.t0 = from,
		.t1 = to,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};
	ledger_add(p->src.ledger, &e);
	raise_to(p->src.floor, to);
}

int perf_stream_next(struct perf *p, struct ref *ref, struct err *err)
{
	struct perf_window *w = &p->window;
	struct source_info *info = &p->src.info;
	struct perf_rec r;

	while (p->cur < p->n_file) {
		struct perf_file *f = &p->file[p->cur];
		struct perf_chunk *was = f->window;
		int got = perf_walk_next(p, f, &r, err);

		if (got < 0)
			return -1;
		if (!got) {
			p->cur++;
			continue;
		}
		if (f->window != was || !(f->n & 1023)) {
			p->src.pos = bytes_off(&f->raw);
			perf_stream_limit_memory(p);
		}
		if (r.type >= PR_TOOL) {
			if (perf_tool_take(p, f, &r, err))
				return -1;
			if (r.type == PR_FINISHED_ROUND)
				perf_stream_end_round(p);
			continue;
		}
		if (!perf_ref_make(p, f, &r, ref))
			continue;
		info->records++;
		if (r.chunk)
			r.chunk->refs++;
		if (perf_ref_is_state(p, &r, ref)) {
			ref->key = p->src.floor;
			ref->kind = 0;
			return 1;
		}
		if (ref->untimed && info->has_time)
			return 1;
		perf_round_record(p, &r, ref);
		if (!w->any || ref->key < w->first)
			w->first = ref->key;
		w->any = true;
		raise_to(w->max, ref->key);
		if (info->has_time && ref->key <= INT64_MAX) {
			info->first_ns = w->first;
			raise_to(info->last_ns, ref->key);
		} else if (!info->has_time) {
			/* the offset, which only grows */
			p->src.floor = ref->key;
		}
		return 1;
	}
	perf_tool_finish(p);
	perf_tool_end(p);
	p->src.floor = UINT64_MAX;
	return 0;
}
