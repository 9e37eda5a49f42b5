/* align.c - puts the captures of a run on one timeline. */
#include "cli/ingest/align.h"

#include <errno.h>

#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/order/order.h"
#include "stitch/order/fingerprints.h"
#include "stitch/source.h"

/* Each pair of captures has two links of a byte, and may be compared. */
#define ALIGN_MAX 1024

#define SHOW_EVERY 1024

/* A capture that is read for its clock. */
struct look {
	struct order *order; /* owns the source */
	struct source *src;
	struct fingerprints *fingerprints;
};

static int take_ns(const char *opt, const char *text, int64_t *ns,
		   struct err *err)
{
	char *end;

	errno = 0;
	*ns = strtoll(text, &end, 10);
	if (!*text || *end || errno || *ns == INT64_MIN)
		return err_set(err, ERR_USAGE,
			       "--%s needs whole ns, such as -30100334, not "
			       "'%s'",
			       opt, text);
	return 0;
}

/* Returns the index of the capture that text[0..len) names; n if none. */
static size_t align_find_capture(char *const *paths, size_t n, const char *text,
				 size_t len)
{
	char *end;

	for (size_t i = 0; i < n; i++)
		if (strlen(paths[i]) == len && !memcmp(paths[i], text, len))
			return i;
	unsigned long place = strtoul(text, &end, 10);
	return end == text + len && place >= 1 && place <= n ? place - 1 : n;
}

/* Reads the options --clock-offset into in[]. Returns 0, or -1 and *err. */
static int take_offsets(const struct align_ask *a, char *const *paths, size_t n,
			struct align_in *in, struct err *err)
{
	for (size_t i = 0; i < a->n_offset; i++) {
		const char *text = a->offset[i];
		const char *eq = strrchr(text, '=');
		size_t at = eq ? align_find_capture(paths, n, text,
						    (size_t)(eq - text))
			       : n;

		if (at == n)
			return err_set(err, ERR_USAGE,
				       "--clock-offset needs CAPTURE=NS with "
				       "one of the captures given, not '%s'",
				       text);
		in[at].given = true;
		if (take_ns("clock-offset", eq + 1, &in[at].offset, err))
			return -1;
	}
	return 0;
}

/* Reads all records of a capture. Returns 0, or -1 and *err. */
static int align_read_fingerprints(struct look *lk, struct err *err)
{
	struct record *rec;
	uint64_t done, total;
	uint64_t n = 0;
	int got;

	if (lk->src->ops->scan && lk->src->ops->scan(lk->src, err))
		return -1;
	lk->fingerprints = fingerprints_new();
	while ((got = order_next(lk->order, &rec, err)) > 0) {
		fingerprints_take(lk->fingerprints, rec);
		if (++n % SHOW_EVERY)
			continue;
		if (stop_requested())
			return err_set(err, ERR_STOPPED, "stopped");
		order_pos(lk->order, &done, &total);
		progress_update(done, total, n, "records");
	}
	fingerprints_end(lk->fingerprints);
	return got;
}

static size_t host_of(const struct look *lk, size_t n, size_t i)
{
	for (size_t k = 0; k < n; k++)
		if (k != i && &lk[k].src->info == &lk[i].src->info.on->info)
			return k;
	return SIZE_MAX;
}

/* Opens all captures, because they may refer to each other, then reads each.
 * Returns 0, or -1 and *err. */
static int align_look_at(char *const *paths, size_t n, align_open_fn *open,
			 void *arg, struct look *lk, struct err *err)
{
	struct source **src OWNED = mem_new(n, sizeof(*src));
	size_t opened = 0;
	int rc = 0;

	for (; opened < n; opened++) {
		if (!strcmp(paths[opened], "-")) {
			err_set(err, ERR_USAGE,
				"standard input cannot be read twice, as it "
				"takes to put several captures on one "
				"timeline: give a file, or --separate");
			break;
		}
		if (open(arg, paths[opened], &src[opened], err))
			break;
		lk[opened].src = src[opened];
		lk[opened].order = order_new(NULL, 0, NULL);
		order_add(lk[opened].order, src[opened]);
	}
	if (opened == n)
		formats_pair(src, n);
	else
		rc = -1;
	for (size_t i = 0; !rc && i < n; i++)
		rc = align_read_fingerprints(&lk[i], err);
	return rc;
}

/* Returns whether two captures are copies of one: as many bytes, with the same
 * threads at the same nanoseconds. */
static bool is_same_recording(const struct look *x, const struct look *y)
{
	return x->src->ops == y->src->ops && x->src->size == y->src->size &&
	       fingerprints_equal(x->fingerprints, y->fingerprints);
}

/* Refuses a recording that is given twice: all that is counted would be counted
 * twice. Returns 0, or -1 and *err. */
static int align_refuse_copies(const struct align_in *in, const struct look *lk,
			       size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!in[i].given && !in[k].given &&
			    is_same_recording(&lk[i], &lk[k]))
				return err_set(
					err, ERR_USAGE,
					"%s and %s are the same recording: "
					"give it once, or --separate",
					in[k].path, in[i].path);
	return 0;
}

int align_inputs(const struct align_ask *a, char *const *paths, size_t n,
		 align_open_fn *open, void *arg, struct align_out **out,
		 struct err *err)
{
	struct align_in *in OWNED = mem_new(n, sizeof(*in));
	struct look *lk OWNED = mem_new(n, sizeof(*lk));
	struct align_report said = { .has_sched = a->sched_offset != NULL };
	int rc = take_offsets(a, paths, n, in, err);

	*out = NULL;
	if (!rc && a->separate && (a->n_offset || a->sched_offset))
		return err_set(err, ERR_USAGE,
			       "--separate keeps the clocks: leave out "
			       "--clock-offset, --sched-clock-offset");
	if (rc || n <= 1 || a->separate)
		return rc;
	if (n > ALIGN_MAX)
		return err_set(err, ERR_LIMIT,
			       "%zu captures: each two of at most %d are "
			       "compared to put them on one timeline; "
			       "--separate, or ingest some at a time and "
			       "'backstitch merge' their databases",
			       n, ALIGN_MAX);
	*out = mem_new(n, sizeof(**out));
	progress_start("comparing clocks");
	rc = align_look_at(paths, n, open, arg, lk, err);
	progress_clear();
	if (!rc && a->sched_offset)
		rc = take_ns("sched-clock-offset", a->sched_offset, &said.sched,
			     err);
	for (size_t i = 0; !rc && i < n; i++) {
		in[i].path = paths[i];
		in[i].info = &lk[i].src->info;
		in[i].fingerprints = lk[i].fingerprints;
		in[i].host = in[i].info->on ? host_of(lk, n, i) : SIZE_MAX;
	}
	rc = rc ? rc : align_refuse_copies(in, lk, n, err);
	if (!rc)
		rc = align_captures(in, n, &said, *out, err);
	for (size_t i = 0; i < n; i++) {
		fingerprints_free(lk[i].fingerprints);
		order_free(lk[i].order);
	}
	if (rc) {
		free(*out);
		*out = NULL;
	}
	return rc;
}
