/* sframe_unwind.c - how far do a capture's stack dumps get with SFrame
 * alone? */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/ingest/load.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "cli/tables/sframe.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/verdict.h"
#include "symbolize/unwind/unwind_pair.h"

/* Images in which stacks ended early, on a screen. */
#define SHOWN 20

static int by_count(const void *a, const void *b)
{
	const struct unwind_stop *x = a;
	const struct unwind_stop *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->n ? strcmp(x->path, y->path) : 0;
}

static void text_line(const char *what, uint64_t n, uint64_t of)
{
	printf("  %-40s %10" PRIu64 "  %5.1f %%\n", what, n,
	       of ? 100.0 * (double)n / (double)of : 0.0);
}

static void text_stops(const struct unwind_pair_count *c)
{
	if (c->n)
		puts("\nwhere SFrame's stacks end before the others do:");
	for (size_t i = 0; i < c->n && i < SHOWN; i++) {
		const struct unwind_stop *s = &c->stop[i];
		const char *path = *s->path ? s->path : "[unknown]";

		printf("  %10" PRIu64 "  ", s->n);
		safe_text_clean(stdout, path, strlen(path), NULL);
		for (unsigned int e = 1; e < UNWIND_N; e++)
			if (s->why[e])
				printf("  %s %" PRIu64, unwind_end_name(e),
				       s->why[e]);
		putchar('\n');
	}
	if (c->n > SHOWN)
		printf("  ... %zu images in all\n", c->n);
}

static void text_all(const struct unwind_pair_count *c)
{
	printf("%" PRIu64 " stack dumps\n\n", c->stacks);
	text_line("the same stack as by all tables", c->same, c->stacks);
	text_line("ends early", c->early, c->stacks);
	text_line("goes further", c->late, c->stacks);
	text_line("a frame differs", c->other, c->stacks);
	putchar('\n');
	text_line("frames by all tables", c->frames, c->frames);
	text_line("the same ones by SFrame alone", c->equal, c->frames);
	putchar('\n');
	text_line("outermost frame reached by all tables", c->whole, c->stacks);
	text_line("by SFrame alone", c->whole_sframe, c->stacks);
	puts("\nSFrame's stacks end:");
	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (c->end[e])
			text_line(unwind_end_name(e), c->end[e], c->stacks);
	text_stops(c);
}

static void add(struct json_object *o, const char *name, uint64_t n)
{
	json_object_object_add(o, name, json_object_new_int64((int64_t)n));
}

static struct json_object *json_ends(const uint64_t *end)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (end[e])
			add(o, unwind_end_name(e), end[e]);
	return o;
}

static void json_all(const struct unwind_pair_count *c)
{
	struct json_object *o = json_object_new_object();
	struct json_object *stops = json_object_new_array();

	add(o, "stacks", c->stacks);
	add(o, "same", c->same);
	add(o, "early", c->early);
	add(o, "late", c->late);
	add(o, "other", c->other);
	add(o, "frames", c->frames);
	add(o, "frames_by_sframe", c->by_sframe);
	add(o, "frames_equal", c->equal);
	add(o, "outermost", c->whole);
	add(o, "outermost_by_sframe", c->whole_sframe);
	json_object_object_add(o, "ends", json_ends(c->end));
	for (size_t i = 0; i < c->n; i++) {
		const struct unwind_stop *s = &c->stop[i];
		struct json_object *stop = json_object_new_object();

		json_object_object_add(
			stop, "image",
			output_json_text(s->path, strlen(s->path)));
		add(stop, "stacks", s->n);
		json_object_object_add(stop, "ends", json_ends(s->why));
		json_object_array_add(stops, stop);
	}
	json_object_object_add(o, "stops", stops);
	output_json_line(o);
	json_object_put(o);
}

int sframe_unwind(const char *path, bool json, struct err *err)
{
	struct unwind_pair_count c = { 0 };
	bool damaged = false;
	bool is_db = false;
	struct store *db = NULL;
	int ret = load_check(path, &is_db, err);

	if (!ret && is_db)
		ret = err_set(err, ERR_USAGE,
			      "%s: a database; stack dumps are only in the "
			      "capture it was made from",
			      path);
	if (!ret)
		ret = load_unnamed(path, &c, &db, &damaged, err);
	if (!ret && !c.stacks)
		ret = err_set(err, ERR_FORMAT,
			      "%s: has no stack dumps; 'perf record "
			      "--call-graph dwarf' takes some",
			      path);
	if (!ret) {
		if (c.n)
			qsort(c.stop, c.n, sizeof(*c.stop), by_count);
		while (c.n && !c.stop[c.n - 1].n)
			c.n--;
		if (json)
			json_all(&c);
		else
			text_all(&c);
	}
	store_close(db);
	unwind_pair_release(&c);
	if (ret)
		return -1;
	return damaged ? sframe_damaged(path) : STATUS_OK;
}
