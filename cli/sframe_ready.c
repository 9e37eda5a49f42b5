/* sframe_ready.c - which share of a capture's user stacks could be unwound by
 * frame pointer, by SFrame, by neither? */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/name.h"
#include "cli/output.h"
#include "cli/packages.h"
#include "cli/plain.h"
#include "cli/sframe.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/frame.h"
#include "stitch/mem.h"
#include "symbolize/ready.h"
#include "symbolize/symbolize.h"

/* All that enum ready_by has. */
#define BY (READY_FP | READY_SFRAME | READY_EH)
#define SUMS (BY + 1)

/* sum[m]: samples at places that can be unwound by exactly the means of m. */
struct sums {
	uint64_t n, sum[SUMS];
};

struct place {		  /* an image */
	struct image img; /* path in the pass's text */
	struct ready *file;
	const char *why; /* there is no file */
	bool asked;
	struct sums at; /* its samples, by their innermost frame */
};

struct spot { /* a frame */
	uint32_t image;
	uint64_t off;
	uint8_t leaf, caller; /* ready_by of it; SUMS: not asked yet */
};

struct node { /* a stack */
	uint32_t parent, frame;
	uint8_t callers; /* ready_by of all its frames but the innermost */
};

struct pass {
	struct store *db;
	struct symbolizer *sy;
	struct place *place;
	size_t n_place, cap_place;
	struct spot *spot;
	size_t n_spot, cap_spot;
	struct node *node;
	size_t n_node, cap_node;
	struct sums at, whole; /* places; stacks from end to end */
	uint32_t *order;       /* images by samples */
	size_t n_order;
	struct packages *packages;
	struct arena text;
};

static int take_image(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	struct place *pl;

	(void)err;
	p->place = mem_reach(p->place, &p->n_place, &p->cap_place,
			     (size_t)rows_int(r, 0) + 1, sizeof(*p->place));
	pl = &p->place[rows_int(r, 0)];
	rows_image(r, 1, &p->text, &pl->img);
	return 0;
}

static int take_frame(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;

	(void)err;
	if (rows_int(r, 1) < 1 || (uint64_t)rows_int(r, 1) >= p->n_place)
		return 1;
	p->spot = mem_reach(p->spot, &p->n_spot, &p->cap_spot,
			    (size_t)rows_int(r, 0) + 1, sizeof(*p->spot));
	p->spot[rows_int(r, 0)] = (struct spot){
		.image = (uint32_t)rows_int(r, 1),
		.off = (uint64_t)rows_int(r, 2),
		.leaf = SUMS,
		.caller = SUMS,
	};
	return 0;
}

static unsigned int ask(struct pass *p, const struct spot *s, uint64_t off)
{
	struct place *pl = &p->place[s->image];

	if (!pl->asked) {
		pl->asked = true;
		pl->file = ready_open(p->sy, &pl->img, &pl->why);
	}
	return pl->file ? ready_at(pl->file, off) : 0;
}

/* A caller is asked inside of its call: behind it there may be another
 * function. */
static uint8_t as_caller(struct pass *p, uint32_t frame)
{
	struct spot *s = &p->spot[frame];

	if (s->caller == SUMS)
		s->caller = (uint8_t)ask(p, s, s->off ? s->off - 1 : 0);
	return s->caller;
}

static uint8_t as_leaf(struct pass *p, uint32_t frame)
{
	struct spot *s = &p->spot[frame];

	if (s->leaf == SUMS)
		s->leaf = (uint8_t)ask(p, s, s->off);
	return s->leaf;
}

static int take_stack(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	int64_t id = rows_int(r, 0);
	int64_t parent = rows_int(r, 1);
	int64_t frame = rows_int(r, 2);

	(void)err;
	if (parent < 0 || parent >= id || frame < 1 ||
	    (uint64_t)frame >= p->n_spot)
		return 1;
	p->node = mem_reach(p->node, &p->n_node, &p->cap_node, (size_t)id + 1,
			    sizeof(*p->node));
	p->node[id] = (struct node){ (uint32_t)parent, (uint32_t)frame, SUMS };
	return 0;
}

/* Of the stack's callers; most stacks of the tree are some other's. */
static uint8_t callers_of(struct pass *p, uint32_t stack)
{
	uint32_t todo = stack;
	uint8_t by = BY;

	/* Up to what is known, or the outermost; then back down. */
	while (p->node[todo].parent && p->node[todo].callers == SUMS) {
		by &= as_caller(p, p->node[p->node[todo].parent].frame);
		todo = p->node[todo].parent;
	}
	if (p->node[todo].parent)
		by &= p->node[todo].callers;
	p->node[stack].callers = by;
	return by;
}

static int take_samples(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	int64_t stack = rows_int(r, 0);
	uint64_t n = (uint64_t)rows_int(r, 1);

	if (stack < 1 || (uint64_t)stack >= p->n_node)
		return err_set(err, ERR_DB, "a stack %lld is not there",
			       (long long)stack);
	uint32_t frame = p->node[stack].frame;
	uint8_t leaf = as_leaf(p, frame);
	uint8_t whole = leaf & callers_of(p, (uint32_t)stack);
	struct sums *at = &p->place[p->spot[frame].image].at;

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

static void sort_images(struct pass *p)
{
	p->order = mem_new(p->n_place + 1, sizeof(*p->order));
	for (uint32_t i = 1; i < p->n_place; i++)
		if (p->place[i].at.n)
			p->order[p->n_order++] = i;
	qsort_r(p->order, p->n_order, sizeof(*p->order), by_samples, p);
	p->packages = packages_new(name_symfs());
	for (size_t i = 0; i < p->n_order; i++)
		if (p->place[p->order[i]].file)
			packages_want(p->packages,
				      p->place[p->order[i]].img.path);
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

static const char *package_of(const struct pass *p, const struct place *pl)
{
	const char *name =
		pl->file ? packages_of(p->packages, pl->img.path) : NULL;

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
		const char *name = package_of(p, pl);
		const char *path = *pl->img.path ? pl->img.path : "[unknown]";

		printf("%9" PRIu64 " ", pl->at.n);
		for (size_t k = 0; k < KINDS; k++) {
			text_share(sum_of(&pl->at, &kinds[k]), pl->at.n);
			putchar(' ');
		}
		printf(" %3s  ",
		       v > 0   ? (const char *[]){ "", "1", "2", "3" }[v & 3]
		       : v < 0 ? "bad"
			       : "-");
		output_clean(stdout, name, strlen(name), NULL);
		for (size_t n = strlen(name); n < 20; n++)
			putchar(' ');
		putchar(' ');
		output_clean(stdout, path, strlen(path), NULL);
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

static struct json_object *json_image(const struct pass *p,
				      const struct place *pl)
{
	struct json_object *o = json_object_new_object();
	const char *name = package_of(p, pl);

	json_object_object_add(
		o, "image",
		output_json_text(pl->img.path, strlen(pl->img.path)));
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
		json_object_array_add(images,
				      json_image(p, &p->place[p->order[i]]));
	json_object_object_add(o, "images", images);
	output_json_line(o);
	json_object_put(o);
}

static int load(struct pass *p, struct err *err)
{
	return rows_each_dense(p->db, "callsite_images", take_image, p, err) ||
			       rows_each_dense(p->db, "callsite_frames",
					       take_frame, p, err) ||
			       rows_each_dense(p->db, "stacks", take_stack, p,
					       err) ||
			       rows_each(p->db, "ready_samples", take_samples,
					 p, err)
		       ? -1
		       : 0;
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
	for (size_t i = 0; i < p.n_place; i++)
		ready_close(p.place[i].file);
	packages_free(p.packages);
	symbolize_free(p.sy);
	store_close(p.db);
	arena_release(&p.text);
	free(p.place);
	free(p.spot);
	free(p.node);
	free(p.order);
	return ret ? -1 : status;
}
