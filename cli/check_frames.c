/* check_frames.c - the lines of check about frames that cannot be: stacks that
 * were walked through code without frame pointers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/check.h"
#include "cli/lines.h"
#include "cli/output.h"

#define IMAGES 3
/* Worth a line when so many of a hundred samples lack their caller; worth
 * advice when as many are fabricated in an image. */
#define PERCENT 5

struct frames_part {
	struct check *c;
	struct lines *l;
	int64_t n;
	int64_t checked;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_share(struct lines *l, int64_t part, int64_t whole)
{
	if (whole > 0)
		lines_add(l, " (%.1f %%)", (double)part * 100 / (double)whole);
}

static void put_callsites(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;
	int64_t missing = check_int(r, "caller_missing");
	int64_t bogus = check_int(r, "bogus");
	int64_t bad = check_int(r, "fabricated");

	p->checked = check_int(r, "checked");
	if (bogus) {
		lines_add(p->l, "%" PRId64 " of %" PRId64, bad, p->checked);
		add_share(p->l, bad, p->checked);
		lines_add(p->l,
			  " fabricated in part: no call returns to "
			  "%" PRId64 " of their addresses",
			  bogus);
		lines_put_styled(p->l, "user frames", STYLE_YELLOW);
	}
	if (missing * 100 < p->checked * PERCENT)
		return;
	lines_add(p->l, "%" PRId64, missing);
	add_share(p->l, missing, p->checked);
	lines_add(p->l, " lack a caller: the call goes elsewhere than to the "
			"innermost function");
	lines_put(p->l, bogus ? "" : "user frames");
}

static void add_image(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;

	if (p->n++ >= IMAGES)
		return;
	lines_add(p->l, "%s", p->n > 1 ? ", " : "behind ");
	lines_clean(p->l, base_name(check_text(r, "image")));
	lines_add(p->l, " %" PRId64 " of %" PRId64, check_int(r, "fabricated"),
		  check_int(r, "samples"));
	if (check_int(r, "unverified"))
		lines_add(p->l, " (by a file without proof)");
}

static void add_unchecked(void *arg, const struct check_row *r)
{
	struct frames_part *p = arg;
	const char *status = check_text(r, "status");

	if (strcmp(status, "no file") != 0 &&
	    strcmp(status, "other build-id") != 0)
		return;
	if (p->n++ >= IMAGES)
		return;
	lines_add(p->l, "%s", p->n > 1 ? ", " : "not checked: ");
	lines_clean(p->l, base_name(check_text(r, "image")));
	lines_add(p->l, " (%s)", status);
}

int check_frames(struct check *c, struct lines *l, struct err *err)
{
	struct frames_part p = { .c = c, .l = l };
	int64_t n;

	if (check_each(c, "callsites", 0, put_callsites, &p, err) < 0)
		return -1;
	n = check_each(c, "fabricated", 0, add_image, &p, err);
	if (n < 0)
		return -1;
	if (n) {
		lines_add(l, "%s", n > IMAGES ? ", ..." : "");
		lines_put(l, "");
	}
	p.n = 0;
	if (check_each(c, "unchecked", 0, add_unchecked, &p, err) < 0)
		return -1;
	if (!p.n)
		return 0;
	lines_add(l, "%s", p.n > IMAGES ? ", ..." : "");
	lines_put(l, n || p.checked ? "" : "user frames");
	return 0;
}

/* ---- advice */

struct advice {
	check_advice_fn *fn;
	void *arg;
	int64_t checked;
};

static void say_caller(void *arg, const struct check_row *r)
{
	struct advice *a = arg;
	int64_t missing = check_int(r, "caller_missing");

	a->checked = check_int(r, "checked");
	if (missing && missing * 100 >= a->checked * PERCENT)
		a->fn(a->arg, "callers of innermost functions: build with "
			      "-mno-omit-leaf-frame-pointer too");
}

static void say_image(void *arg, const struct check_row *r)
{
	struct advice *a = arg;
	int64_t bad = check_int(r, "fabricated");
	int64_t all = check_int(r, "samples");
	char name[256];
	char text[640];

	if (!all || bad * 100 < all * PERCENT || bad * 100 < a->checked)
		return;
	const char *base = base_name(check_text(r, "image"));

	output_clean_buf(name, sizeof(name), base, strlen(base), NULL);
	snprintf(text, sizeof(text),
		 "%.0f %% of the stacks through %s are fabricated: it is built "
		 "without frame pointers; record with --call-graph dwarf, or "
		 "build it with -fno-omit-frame-pointer",
		 (double)bad * 100 / (double)all, name);
	a->fn(a->arg, text);
}

int check_frames_advice(struct check *c, check_advice_fn *fn, void *arg,
			struct err *err)
{
	struct advice a = { .fn = fn, .arg = arg };

	if (check_each(c, "callsites", 0, say_caller, &a, err) < 0)
		return -1;
	return check_some(c, "fabricated", IMAGES, say_image, &a, err);
}
