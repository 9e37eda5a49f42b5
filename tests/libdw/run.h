/* run.h - a capture through the stitch, with an unwinder that looks on. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "formats/formats.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/stitch.h"
#include "stitch/fact.h"
#include "stitch/unwinder.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind.h"
#include "tests/next_fact.h"

/* First member of whoever looks on. */
struct run {
	struct unwinder uw;	/* first; its ops ask ours */
	struct unwinder *ours;	/* while run_capture() runs */
	bool dumps;		/* as if only dumps had been recorded */
	bool infer;		/* callers */
	struct rec_sample last; /* that was decoded */
};

/* What a decode() needs to find: one capture is read at a time. */
static struct run *run_now;
static struct source_ops run_ops;
static int (*run_decode)(struct source *src, const struct ref *ref,
			 struct record *rec, struct err *err);

static inline int run_look(struct source *src, const struct ref *ref,
			   struct record *rec, struct err *err)
{
	int rc = run_decode(src, ref, rec, err);

	if (rc || rec->kind != REC_SAMPLE)
		return rc;
	run_now->last = rec->sample;
	if (run_now->dumps && rec->sample.has_dump)
		rec->sample.user.n = 0;
	return 0;
}

/* struct unwinder_ops.caller of one who does not look at that. */
static inline enum unwind_caller run_caller(struct unwinder *uw,
					    const struct unwind_in *in,
					    const uint64_t *ip, uint32_t n,
					    bool infer, uint64_t *caller)
{
	struct unwinder *ours = ((struct run *)uw)->ours;

	return ours->ops->caller(ours, in, ip, n, infer, caller);
}

/* symfs "": none. 0, or -1 and *err. */
static inline int run_capture(struct run *r, const char *symfs,
			      const char *path, struct err *err)
{
	const struct symbolize_opts so = { .symfs = *symfs ? symfs : NULL,
					   .no_live = true };
	const struct source_opts opts = { .temp_dir = "/tmp" };
	struct symbolizer *sy = symbolize_new(&so);
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct source *src = formats_open(path, &opts, lg, err);
	const struct fact *f;
	int got = -1;

	run_now = r;
	r->ours = unwind_new(sy, fr);
	if (src && !src->ops->scan(src, err)) {
		run_ops = *src->ops;
		run_decode = run_ops.decode;
		run_ops.decode = run_look;
		src->ops = &run_ops;
		order_add(ord, src);
		const struct stitch_opts sto = { .unwinder = &r->uw,
						 .infer = r->infer };
		struct stitch *st = stitch_new(ord, fr, lg, &sto);

		while ((got = next_fact(st, &f, err)) > 0)
			;
		stitch_free(st);
	} else if (src) {
		source_close(src);
	}
	order_free(ord);
	r->ours->ops->free(r->ours);
	ledger_free(lg);
	frames_free(fr);
	symbolize_free(sy);
	return got;
}
