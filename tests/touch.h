/* touch.h - reads a capture to its end and looks at every byte it hands out,
 * for fuzz targets. */
#pragma once
#include <stdlib.h>

#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

#define PRINTS_MAX 32
/* A few hundred bytes of zstd can unpack to gigabytes: enough is enough. */
#define RECORDS_MAX 200000

struct use {
	struct source *src;
	struct field *field;
	size_t cap_field;
	int prints;
};

static uint64_t sum; /* keeps every read alive */

/* Looking at bytes is no path through the program: the fuzzer need not count
 * it. */
#ifdef __clang__
#define TOUCH __attribute__((no_sanitize("coverage")))
#else
#define TOUCH
#endif

TOUCH static void touch_addrs(const struct addrs *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		sum += a->ip[i];
	for (uint32_t i = 0; a->place && i < a->n; i++) {
		const struct place *p = a->place[i];

		/* an inode may have no path */
		if (p && !p->path && !p->symbol && !p->in_file)
			abort();
		if (p)
			sum += p->off + (p->path ? p->path[0] : 0) +
			       (p->symbol ? p->symbol[0] : 0);
	}
}

TOUCH static void touch_bytes(const void *p, uint32_t n)
{
	for (uint32_t i = 0; p && i < n; i++)
		sum += ((const unsigned char *)p)[i];
}

static void touch_fields(struct use *u, const struct rec_sample *s)
{
	const struct event_def *ev = &u->src->events[s->event];
	char text[512];

	if (ev->n_fields) {
		mem_grow(u->field, u->cap_field, ev->n_fields);
		/* the payload may be too short for a type */
		if (u->src->ops->fields(u->src, s, u->field, NULL))
			return;
	}
	for (uint32_t i = 0; i < ev->n_fields; i++) {
		const struct field *f = &u->field[i];

		if (f->present && f->text)
			sum += f->text[0];
		if (f->present)
			touch_bytes(f->blob, f->len);
	}
	if (u->prints++ < PRINTS_MAX)
		u->src->ops->print(u->src, s, text, sizeof(text));
}

static void touch_sample(struct use *u, const struct rec_sample *s)
{
	touch_addrs(&s->kern);
	touch_addrs(&s->user);
	for (uint32_t i = 0; i < s->n_held; i++)
		touch_addrs(&s->held[i]);
	touch_bytes(s->stack, s->stack_len);
	touch_bytes(s->raw, s->raw_len);
	touch_bytes(s->user_regs.v, s->user_regs.n * 8);
	for (uint32_t i = 0; i < s->n_branch; i++)
		sum += s->branch[i].from;
	for (uint32_t i = 0; i < s->n_extra; i++)
		touch_bytes(s->extra[i].blob, s->extra[i].len);
	if (s->event >= u->src->n_events)
		abort();
	touch_fields(u, s);
}

static void touch_touch(struct use *u, const struct record *rec)
{
	switch (rec->kind) {
	case REC_SAMPLE:
		touch_sample(u, &rec->sample);
		break;
	case REC_CHAIN:
		touch_addrs(&rec->chain.user);
		break;
	case REC_MAP:
		sum += rec->map.path[0];
		touch_bytes(rec->map.id, rec->map.id_len);
		break;
	case REC_COMM:
		sum += rec->comm.name[0];
		break;
	case REC_KSYMBOL:
		sum += rec->ksymbol.name[0];
		break;
	case REC_MARK:
		for (uint32_t i = 0; i < rec->mark.n_extra; i++)
			touch_bytes(rec->mark.extra[i].blob,
				    rec->mark.extra[i].len);
		break;
	default:
		break;
	}
}

static int touch_say(void *arg, const char *text, struct err *err)
{
	(void)err;
	sum += text[0];
	return ++*(int *)arg > 1000 ? -1 : 0;
}

/* The source may be NULL; it is closed. exact: its floor only rises. */
static void touch_all(struct source *src, bool exact)
{
	struct use u = { .src = src };
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	uint64_t floor = 0;
	int lines = 0;

	if (!src || (src->ops->scan && src->ops->scan(src, &err)))
		goto out;
	for (int n = 0; n < RECORDS_MAX; n++) {
		if (src->ops->next(src, &ref, &err) <= 0)
			break;
		if (exact && src->floor < floor)
			abort();
		floor = src->floor;
		if (!src->ops->decode(src, &ref, &rec, &err))
			touch_touch(&u, &rec);
		if (src->ops->release)
			src->ops->release(src, &ref);
	}
	if (exact && src->ops->dump)
		src->ops->dump(src, touch_say, &lines, &err);
out:
	free(u.field);
	source_close(src);
}
