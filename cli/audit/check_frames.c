/* check_frames.c - what check says about stacks that were walked through code
 * without frame pointers: impossible frames, and functions that they end in. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/audit/check.h"
#include "cli/output/lines.h"
#include "cli/output/safe_text.h"
#include "stitch/base/path.h"

#define IMAGES 3
#define FUNCTIONS 3
/* Tell of code in no mapping if it is this percentage of the samples. */
#define UNMAPPED_PERCENT 1

struct frames_part {
	struct lines *l;
	const char *label;
	int64_t n, absent, others; /* images */
	int64_t ends;		   /* functions */
	int64_t all;		   /* user stacks */
};

static void add_callsites(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;
	int64_t bad = check_int(r, "fabricated");
	int64_t all = check_int(r, "samples");

	if (!bad)
		return;
	lines_add(p->l, "%" PRId64 " of %" PRId64, bad, all);
	lines_share(p->l, bad, all);
	lines_add(p->l, " stacks fabricated");
}

static void check_frames_add_image(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;

	if (p->n++ >= IMAGES)
		return;
	lines_add(p->l, "%s", p->n > 1 ? ", " : ": behind ");
	lines_clean(p->l, path_base(check_text(r, "image")));
	lines_add(p->l, " %" PRId64 " of %" PRId64, check_int(r, "fabricated"),
		  check_int(r, "samples"));
	if (check_int(r, "unverified"))
		lines_add(p->l, " (unverified)");
}

/* "work of shop 28 (4.69 %)" */
static void check_frames_add_end(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;
	const char *function = check_text(r, "function");

	if (p->ends++ >= FUNCTIONS)
		return;
	lines_add(p->l, "%s", p->ends > 1 ? ", " : "in ");
	lines_clean(p->l, function);
	lines_add(p->l, "%s", function[0] ? " of " : "");
	lines_clean(p->l, path_base(check_text(r, "image")));
	lines_add(p->l, " %" PRId64, check_int(r, "samples"));
	lines_share(p->l, check_int(r, "samples"), p->all);
	if (!strcmp(check_text(r, "class"), "ends early (unread)"))
		lines_add(p->l, " unread");
}

static void add_unchecked(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;
	const char *status = check_text(r, "status");

	p->absent +=
		!strcmp(status, "no file") || !strcmp(status, "other build-id");
}

/* Files that are not the ones that ran. */
static void check_frames_add_other_file(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;

	if (strcmp(check_text(r, "why"), "file") != 0 || p->others++ >= IMAGES)
		return;
	lines_add(p->l, "%s", p->others > 1 ? ", " : "not judged: ");
	lines_clean(p->l, path_base(check_text(r, "image")));
}

static void check_frames_add_unmapped(void *arg, const struct check_row *r)
{
	struct lines *l = arg;
	int64_t all = check_int(r, "samples");
	int64_t bare = check_int(r, "unmapped");

	if (!bare || bare * 100 < all * UNMAPPED_PERCENT)
		return;
	lines_add(l, "%" PRId64 " of %" PRId64, bare, all);
	lines_share(l, bare, all);
	lines_add(l, " samples ran in no mapping");
	lines_add(l, "; %" PRId64, check_int(r, "touching"));
	lines_share(l, check_int(r, "touching"), all);
	lines_print(l, "user code", " have a frame in none");
}

int check_frames(struct check *c, struct lines *l, struct err *err)
{
	struct frames_part p = {
		.l = l,
		.label = "user frames",
		.all = trust_count(c->trust).all,
	};
	int64_t n;

	if (check_each(c, "unmapped", 0, check_frames_add_unmapped, l, err) <
		    0 ||
	    check_each(c, "callsites", 0, add_callsites, &p, err) < 0)
		return -1;
	n = check_each(c, "fabricated", 0, check_frames_add_image, &p, err);
	if (n < 0 || check_each(c, "unchecked", 0, add_unchecked, &p, err) < 0)
		return -1;
	if (n > IMAGES)
		lines_add(l, ", ...");
	if (p.absent)
		lines_count(
			l, n ? "; not checked: " : "not checked: ", p.absent,
			"image that is not here", "images that are not here");
	if (n)
		lines_put_styled(l, p.label, STYLE_YELLOW);
	else if (p.absent)
		lines_put(l, p.label);
	if (n || p.absent)
		p.label = "";
	if (check_each(c, "not_judged", 0, check_frames_add_other_file, &p,
		       err) < 0)
		return -1;
	if (p.others > IMAGES)
		lines_add(l, ", ...");
	if (p.others)
		lines_print(l, p.label,
			    p.others > 1
				    ? ": these are not the files that ran"
				    : ": this file is not the one that ran");
	if (check_each(c, "ends_early", 0, check_frames_add_end, &p, err) < 0)
		return -1;
	if (p.ends > FUNCTIONS)
		lines_add(l, ", ...");
	if (p.ends)
		lines_put_styled(l, "end early", STYLE_YELLOW);
	return 0;
}
