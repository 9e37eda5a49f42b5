/* sframe_unwind.c - compares unwinding a capture's stack dumps by SFrame alone
 * with all tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/tables/sframe.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/verdict.h"
#include "symbolize/unwind/unwind_compare.h"

/* Images in which stacks end early that are listed in text. */
#define SHOWN 20

COMPARE_FUNCTION(sframe_unwind_compare_stops, struct unwind_compare_stop,
		 compare_numbers(y->n, x->n)
			 ?: x->n ? strcmp(x->path, y->path)
				 : 0);

static void sframe_unwind_put_line(const char *what, uint64_t n, uint64_t of)
{
	printf("  %-40s %10" PRIu64 "  %8s\n", what, n, HUMAN_PERCENT(n, of));
}

static void sframe_unwind_put_all(const struct unwind_compare_count *c)
{
	printf("%" PRIu64 " stack dumps\n\n", c->stacks);
	sframe_unwind_put_line("the same stack as by all tables", c->same,
			       c->stacks);
	sframe_unwind_put_line("ends early", c->early, c->stacks);
	sframe_unwind_put_line("goes further", c->late, c->stacks);
	sframe_unwind_put_line("a frame differs", c->other, c->stacks);
	putchar('\n');
	sframe_unwind_put_line("frames by all tables", c->frames, c->frames);
	sframe_unwind_put_line("the same ones by SFrame alone", c->equal,
			       c->frames);
	putchar('\n');
	sframe_unwind_put_line("outermost frame reached by all tables",
			       c->whole, c->stacks);
	sframe_unwind_put_line("by SFrame alone", c->whole_sframe, c->stacks);
	puts("\nSFrame's stacks end:");
	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (c->end[e])
			sframe_unwind_put_line(unwind_end_name(e), c->end[e],
					       c->stacks);
	if (c->n)
		puts("\nwhere SFrame's stacks end before the others do:");
	for (size_t i = 0; i < c->n && i < SHOWN; i++) {
		const struct unwind_compare_stop *s = &c->stop[i];
		const char *path = *s->path ? s->path : "[unknown]";

		printf("  %10" PRIu64 "  ", s->n);
		safe_text_clean(stdout, path, strlen(path));
		for (unsigned int e = 1; e < UNWIND_N; e++)
			if (s->why[e])
				printf("  %s %" PRIu64, unwind_end_name(e),
				       s->why[e]);
		putchar('\n');
	}
	if (c->n > SHOWN)
		printf("  ... %zu images in all\n", c->n);
}

static void sframe_unwind_json_ends(struct json *j, const uint64_t *end)
{
	json_object(j, "ends");
	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (end[e])
			json_uint(j, unwind_end_name(e), end[e]);
	json_end(j);
}

int sframe_unwind(const char *path, struct unwind_compare_count *c, bool json,
		  struct err *err)
{
	if (!c->stacks)
		return err_set(err, ERR_FORMAT,
			       "%s: has no stack dumps; 'perf record "
			       "--call-graph dwarf' takes some",
			       path);
	sort_items(c->stop, c->n, sframe_unwind_compare_stops);
	while (c->n && !c->stop[c->n - 1].n)
		c->n--;
	if (json) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_uint(&j, "stacks", c->stacks);
		json_uint(&j, "same", c->same);
		json_uint(&j, "early", c->early);
		json_uint(&j, "late", c->late);
		json_uint(&j, "other", c->other);
		json_uint(&j, "frames", c->frames);
		json_uint(&j, "frames_by_sframe", c->by_sframe);
		json_uint(&j, "frames_equal", c->equal);
		json_uint(&j, "outermost", c->whole);
		json_uint(&j, "outermost_by_sframe", c->whole_sframe);
		sframe_unwind_json_ends(&j, c->end);
		json_array(&j, "stops");
		for (size_t i = 0; i < c->n; i++) {
			json_object(&j, NULL);
			json_text(&j, "image", c->stop[i].path);
			json_uint(&j, "stacks", c->stop[i].n);
			sframe_unwind_json_ends(&j, c->stop[i].why);
			json_end(&j);
		}
		json_end(&j);
		json_finish(&j);
	} else
		sframe_unwind_put_all(c);
	return 0;
}
