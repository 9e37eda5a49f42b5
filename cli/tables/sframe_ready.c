/* sframe_ready.c - which share of a capture's user stacks could be unwound by
 * frame pointer, by SFrame, by neither? */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/code.h"
#include "cli/command.h"
#include "cli/ingest/load.h"
#include "cli/ingest/name.h"
#include "cli/output/output.h"
#include "cli/tables/packages.h"
#include "cli/output/safe_text.h"
#include "cli/tables/sframe.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/unwind/unwind_readiness.h"
#include "symbolize/symbolize.h"

/* All that enum ready_by has. */
#define BY (READY_FP | READY_SFRAME | READY_EH)
#define SUMS (BY + 1)

/* sum[m]: samples at places that can be unwound by exactly the means of m. */
struct sums {
	uint64_t n, sum[SUMS];
};

struct place { /* what is asked about an image */
	struct ready *file;
	const char *why; /* there is no file */
	bool asked;
	struct sums at; /* its samples, by their innermost frame */
};

struct spot {		      /* and about a frame */
	uint8_t leaf, caller; /* ready_by of it; SUMS: not asked yet */
};

struct pass {
	struct store *db;
	struct symbolizer *sy;
	struct known_code *code;
	struct place *place;   /* by image */
	struct spot *spot;     /* by frame */
	uint8_t *callers;      /* by stack: ready_by of all its frames but the
				* innermost; SUMS: not known yet */
	struct sums at, whole; /* places; stacks from end to end */
	uint32_t *order;       /* images by samples */
	size_t n_order;
	struct packages *packages;
};

static unsigned int ask(struct pass *p, uint32_t image, uint64_t off)
{
	struct place *pl = &p->place[image];

	if (!pl->asked) {
		pl->asked = true;
		pl->file =
			ready_open(p->sy, &p->code->image[image].img, &pl->why);
	}
	return pl->file ? ready_at(pl->file, off) : 0;
}

/* A caller is asked inside of its call: behind it there may be another
 * function. */
static uint8_t as_caller(struct pass *p, uint32_t frame)
{
	const struct code_frame *f = &p->code->frame[frame];
	struct spot *s = &p->spot[frame];

	if (s->caller == SUMS)
		s->caller = (uint8_t)ask(p, f->image, f->off ? f->off - 1 : 0);
	return s->caller;
}

static uint8_t as_leaf(struct pass *p, uint32_t frame)
{
	const struct code_frame *f = &p->code->frame[frame];
	struct spot *s = &p->spot[frame];

	if (s->leaf == SUMS)
		s->leaf = (uint8_t)ask(p, f->image, f->off);
	return s->leaf;
}

/* Of the stack's callers; most stacks of the tree are some other's. */
static uint8_t callers_of(struct pass *p, uint32_t stack)
{
	const struct code_stack *tree = p->code->stack;
	uint32_t todo = stack;
	uint8_t by = BY;

	/* Up to what is known, or the outermost; then back down. */
	while (tree[todo].parent && p->callers[todo] == SUMS) {
		by &= as_caller(p, tree[tree[todo].parent].frame);
		todo = tree[todo].parent;
	}
	if (tree[todo].parent)
		by &= p->callers[todo];
	p->callers[stack] = by;
	return by;
}

static int take_samples(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	int64_t stack = rows_int(r, 0);
	uint64_t n = (uint64_t)rows_int(r, 1);

	if (stack < 1 || (uint64_t)stack >= p->code->n_stack)
		return err_set(err, ERR_DB, "a stack %lld is not there",
			       (long long)stack);
	uint32_t frame = p->code->stack[stack].frame;
	uint8_t leaf = as_leaf(p, frame);
	uint8_t whole = leaf & callers_of(p, (uint32_t)stack);
	struct sums *at = &p->place[p->code->frame[frame].image].at;

	at->n += n;
	at->sum[leaf] += n;
	p->at.n += n;
	p->at.sum[leaf] += n;
	p->whole.n += n;
	p->whole.sum[whole] += n;
	return 0;
}

static int by_samples(const void *a, const void *b, void *arg)
{
	const struct pass *p = arg;
	uint32_t i = *(const uint32_t *)a;
	uint32_t k = *(const uint32_t *)b;

	if (p->place[i].at.n != p->place[k].at.n)
		return p->place[i].at.n > p->place[k].at.n ? -1 : 1;
	return i < k ? -1 : i > k;
}

static const char *path_of(const struct pass *p, uint32_t image)
{
	return p->code->image[image].img.path;
}

static void sort_images(struct pass *p)
{
	p->order = mem_new(p->code->n_image, sizeof(*p->order));
	for (uint32_t i = 1; i < p->code->n_image; i++)
		if (p->place[i].at.n)
			p->order[p->n_order++] = i;
	qsort_r(p->order, p->n_order, sizeof(*p->order), by_samples, p);
	p->packages = packages_new(name_symfs());
	for (size_t i = 0; i < p->n_order; i++)
		if (p->place[p->order[i]].file)
			packages_want(p->packages, path_of(p, p->order[i]));
	packages_read(p->packages);
}

/* ---- what is shown */

static const struct kind {
	const char *name, *title;
	unsigned int with, without; /* bits that must be, must not be, set */
} kinds[] = {
	{ "frame_pointer", "frame pointer", READY_FP, 0 },
	{ "sframe", "SFrame", READY_SFRAME, 0 },
	{ "neither", "neither", 0, READY_FP | READY_SFRAME },
	{ "eh_frame", ".eh_frame", READY_EH, 0 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t sum_of(const struct sums *s, const struct kind *k)
{
	uint64_t n = 0;

	for (unsigned int m = 0; m < SUMS; m++)
		if ((m & k->with) == k->with && !(m & k->without))
			n += s->sum[m];
	return n;
}

static const char *package_of(const struct pass *p, uint32_t image)
{
	const char *name = p->place[image].file
				   ? packages_of(p->packages, path_of(p, image))
				   : NULL;

	return name ? name : "-";
}

static void text_share(uint64_t n, uint64_t of)
{
	printf(" %5.1f %%", of ? 100.0 * (double)n / (double)of : 0.0);
}

static void text_images(const struct pass *p)
{
	printf("\n%9s  %7s  %7s  %7s  %7s  %3s  %-20s %s\n", "samples", "FP",
	       "SFrame", "neither", ".eh_fr", "v", "package", "image");
	for (size_t i = 0; i < p->n_order; i++) {
		const struct place *pl = &p->place[p->order[i]];
		int v = pl->file ? ready_sframe(pl->file) : 0;
		const char *name = package_of(p, p->order[i]);
		const char *path = path_of(p, p->order[i]);

		if (!*path)
			path = "[unknown]";

		printf("%9" PRIu64 " ", pl->at.n);
		for (size_t k = 0; k < KINDS; k++) {
			text_share(sum_of(&pl->at, &kinds[k]), pl->at.n);
			putchar(' ');
		}
		printf(" %3s  ",
		       v > 0   ? (const char *[]){ "", "1", "2", "3" }[v & 3]
		       : v < 0 ? "bad"
			       : "-");
		safe_text_clean(stdout, name, strlen(name), NULL);
		for (size_t n = strlen(name); n < 20; n++)
			putchar(' ');
		putchar(' ');
		safe_text_clean(stdout, path, strlen(path), NULL);
		if (!pl->file && pl->why)
			printf("  (%s)", pl->why);
		putchar('\n');
	}
}

static void text_all(const struct pass *p)
{
	printf("%" PRIu64 " samples with a user stack\n\n", p->at.n);
	printf("%-16s %20s %20s\n", "can be unwound by", "where it was sampled",
	       "the whole stack");
	for (size_t k = 0; k < KINDS; k++) {
		uint64_t at = sum_of(&p->at, &kinds[k]);
		uint64_t whole = sum_of(&p->whole, &kinds[k]);

		printf("  %-15s %11" PRIu64, kinds[k].title, at);
		text_share(at, p->at.n);
		printf(" %12" PRIu64, whole);
		text_share(whole, p->whole.n);
		putchar('\n');
	}
	text_images(p);
}

static void json_sums(struct json_object *o, const struct sums *s)
{
	for (size_t k = 0; k < KINDS; k++)
		json_object_object_add(
			o, kinds[k].name,
			json_object_new_int64((int64_t)sum_of(s, &kinds[k])));
}

static struct json_object *json_image(const struct pass *p, uint32_t image)
{
	const struct place *pl = &p->place[image];
	struct json_object *o = json_object_new_object();
	const char *name = package_of(p, image);
	const char *path = path_of(p, image);

	json_object_object_add(o, "image",
			       output_json_text(path, strlen(path)));
	json_object_object_add(
		o, "package",
		*name == '-' ? NULL : output_json_text(name, strlen(name)));
	json_object_object_add(
		o, "sframe_version",
		json_object_new_int(pl->file ? ready_sframe(pl->file) : 0));
	json_object_object_add(
		o, "missing",
		pl->file || !pl->why ? NULL : json_object_new_string(pl->why));
	json_object_object_add(o, "samples",
			       json_object_new_int64((int64_t)pl->at.n));
	json_sums(o, &pl->at);
	return o;
}

static void json_all(const struct pass *p)
{
	struct json_object *o = json_object_new_object();
	struct json_object *whole = json_object_new_object();
	struct json_object *images = json_object_new_array();

	json_object_object_add(o, "samples",
			       json_object_new_int64((int64_t)p->at.n));
	json_sums(o, &p->at);
	json_sums(whole, &p->whole);
	json_object_object_add(o, "whole_stack", whole);
	for (size_t i = 0; i < p->n_order; i++)
		json_object_array_add(images, json_image(p, p->order[i]));
	json_object_object_add(o, "images", images);
	output_json_line(o);
	json_object_put(o);
}

static int load(struct pass *p, struct err *err)
{
	p->code = code_load_places(p->db, err);
	if (!p->code)
		return -1;
	p->place = mem_new(p->code->n_image, sizeof(*p->place));
	p->spot = mem_new(p->code->n_frame, sizeof(*p->spot));
	p->callers = mem_new(p->code->n_stack, sizeof(*p->callers));
	memset(p->spot, SUMS, p->code->n_frame * sizeof(*p->spot));
	memset(p->callers, SUMS, p->code->n_stack);
	return rows_each(p->db, "ready_samples", take_samples, p, err);
}

static struct store *open_database(const char *path, int *status,
				   struct err *err)
{
	struct store *db = NULL;
	bool damaged = false;
	bool is_db = false;

	if (load_check(path, &is_db, err))
		return NULL;
	if (is_db)
		return store_open(path, false, err);
	if (load_unnamed(path, NULL, &db, &damaged, err))
		return NULL;
	if (damaged)
		*status = sframe_damaged(path);
	return db;
}

int sframe_readiness(const char *path, bool json, struct err *err)
{
	struct pass p = { 0 };
	int status = STATUS_OK;
	int ret;

	p.db = open_database(path, &status, err);
	if (!p.db)
		return -1;
	p.sy = name_symbolizer(p.db, NULL);
	ret = load(&p, err);
	if (!ret) {
		sort_images(&p);
		if (json)
			json_all(&p);
		else
			text_all(&p);
	}
	for (size_t i = 0; p.place && i < p.code->n_image; i++)
		ready_close(p.place[i].file);
	packages_free(p.packages);
	symbolize_free(p.sy);
	store_close(p.db);
	code_free(p.code);
	free(p.place);
	free(p.spot);
	free(p.callers);
	free(p.order);
	return ret ? -1 : status;
}
