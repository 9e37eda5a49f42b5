/* capture.c - all records of a capture, in memory, in time order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/order/decode_ahead.h"
#include "stitch/order/order.h"
#include "tests/truth/truth.h"

/* What the audit has no use for is left out: registers, payloads, ... */
static void capture_strip(struct rec_sample *s)
{
	s->user_regs = (struct regs){ 0 };
	s->stack = s->raw = NULL;
	s->stack_len = s->raw_len = s->n_branch = s->n_extra = 0;
	s->branch = NULL;
	s->extra = NULL;
}

static void capture_keep(struct capture *c, const struct record *rec)
{
	mem_grow(c->rec, c->cap, c->n + 1);
	struct record *r = &c->rec[c->n++];

	*r = *rec;
	r->source = 0;
	r->flags &= ~(uint32_t)(REC_F_LATE | REC_F_DUPLICATE);
	if (r->kind == REC_SAMPLE)
		capture_strip(&r->sample);
	keep_record(r, &c->text);
}

static int capture_read_all(struct capture *c, const char *path,
			    struct err *err)
{
	struct source_opts o = { 0 };
	struct source *src = formats_open(path, &o, c->ledger, err);
	struct record *rec;
	int got;

	if (!src)
		return -1;
	if (src->ops->scan && src->ops->scan(src, err)) {
		source_close(src);
		return -1;
	}
	order_add(c->order, src);
	c->src = src;
	while ((got = order_next(c->order, &rec, err)) > 0) {
		if (rec->kind == REC_LOST || rec->flags & REC_F_LATE)
			return err_set(err, ERR_FORMAT, "%s: has losses", path);
		if (rec->kind != REC_LOST_TOTAL && rec->kind != REC_KSYMBOL)
			capture_keep(c, rec);
	}
	return got;
}

int capture_read(struct capture *c, const char *path)
{
	const char *name = strrchr(path, '/');
	struct err err;

	*c = (struct capture){ .ledger = ledger_new() };
	c->order = order_new(c->ledger, 0, NULL);
	snprintf(c->name, sizeof(c->name), "%s", name ? name + 1 : path);
	if (capture_read_all(c, path, &err) == 0)
		return 0;
	printf("# %s\n", err.msg);
	capture_release(c);
	return -1;
}

void capture_release(struct capture *c)
{
	order_free(c->order);
	ledger_free(c->ledger);
	arena_release(&c->text);
	free(c->rec);
	*c = (struct capture){ 0 };
}
