/* check_frames.c - what check says about stacks that were walked through code
 * without frame pointers: impossible frames, and functions that they end in. */
#include <string.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "cli/output/lines.h"
#include "stitch/text/human.h"
#include "stitch/files/path.h"
#include "stitch/image_status.h"

#define IMAGES 3
#define FUNCTIONS 3
/* Tell of code in no mapping if it is this percentage of the samples. */
#define UNMAPPED_PERCENT 1

/* Samples in code of no mapping, if they are many. */
static int put_unmapped(struct check *c, struct lines *l, struct err *err)
{
	struct check_row r;

	if (check_open(c, "unmapped", &r, err) < 0)
		return -1;
	if (!check_next(&r))
		return 0;

	int64_t all = check_int(&r, "samples");
	int64_t bare = check_int(&r, "unmapped");

	if (!bare || bare * 100 < all * UNMAPPED_PERCENT)
		return 0;
	check_say_line(l, &r, "{unmapped:,} of {samples:,}");
	lines_share(l, bare, all);
	check_say_line(l, &r, " samples ran in no mapping; {touching:,}");
	lines_share(l, check_int(&r, "touching"), all);
	lines_print(l, "user code", " have a frame in none");
	return 0;
}

/* Fabricated stacks by image, and images that could not be checked. Returns
 * whether it printed a line, or -1. */
static int put_fabricated(struct check *c, struct lines *l, const char *label,
			  struct err *err)
{
	struct check_row sums, r, unchecked;
	int64_t absent = 0;
	int n = 0;

	if (check_open(c, "callsites", &sums, err) < 0 ||
	    check_open(c, "fabricated", &r, err) < 0 ||
	    check_open(c, "unchecked", &unchecked, err) < 0)
		return -1;
	if (check_next(&sums) && check_int(&sums, "fabricated")) {
		check_say_line(l, &sums, "{fabricated:,} of {samples:,}");
		lines_share(l, check_int(&sums, "fabricated"),
			    check_int(&sums, "samples"));
		lines_add(l, " stacks fabricated");
	}
	for (; n < IMAGES && check_next(&r); n++) {
		lines_add(l, "%s", n ? ", " : ": after ");
		lines_clean(l, path_base(check_text(&r, "image")));
		check_say_line(l, &r, " {fabricated:,} of {samples:,}");
		if (check_int(&r, "unverified"))
			lines_add(l, " (unverified)");
	}
	if (r.n > IMAGES)
		lines_add(l, ", ...");
	while (check_next(&unchecked)) {
		enum image_status s =
			image_status_of(check_text(&unchecked, "status"));

		absent += image_is_absent(s) || s == IMAGE_OTHER_ID;
	}
	if (absent)
		lines_count(l, n ? "; not checked: " : "not checked: ", absent,
			    "image that is not here",
			    "images that are not here");
	if (n)
		lines_put_styled(l, label, STYLE_YELLOW);
	else if (absent)
		lines_put(l, label);
	return n || absent;
}

/* Files that may not be the ones that ran. */
static int put_other_files(struct check *c, struct lines *l, const char *label,
			   struct err *err)
{
	struct check_row r;
	int n = 0;

	if (check_open(c, "not_judged", &r, err) < 0)
		return -1;
	while (check_next(&r)) {
		if (strcmp(check_text(&r, "why"), "file") != 0 || n++ >= IMAGES)
			continue;
		lines_add(l, "%s", n > 1 ? ", " : "not judged: ");
		lines_clean(l, path_base(check_text(&r, "image")));
	}
	if (n > IMAGES)
		lines_add(l, ", ...");
	if (n)
		lines_print(l, label,
			    n > 1 ? ": these may not be the files that ran"
				  : ": this may not be the file that ran");
	return 0;
}

/* Hexadecimal digits of a build-id that tell files apart; the JSON has all. */
#define BUILD_ID_SHOWN 12

/* "6,101 kernel halves are unchecked for want of vmlinuz-6.18.5 (build-id
 * 1f...), 12 of ext4.ko (...): 'backstitch symbolize --symfs DIR' ..." */
static int put_kernel_files(struct check *c, struct lines *l, struct err *err)
{
	struct check_row r;
	int64_t modules = 0;
	int n = 0;

	if (check_open(c, "kernel_files", &r, err) < 0)
		return -1;
	for (; n < IMAGES && check_next(&r); n++) {
		const bool module = check_int(&r, "module");

		modules += module;
		check_say_line(l, &r,
			       n ? ", {samples:,} of "
				 : "halves unchecked: {samples:,} for want "
				   "of ");
		if (module)
			lines_clean(l, path_base(check_text(&r, "image")));
		else
			check_say_line(l, &r, "vmlinuz[-{release}]");
		const char *id = check_text(&r, "build_id");

		if (id && *id)
			lines_add(l, " (build-id %.*s)", BUILD_ID_SHOWN, id);
	}
	if (!n)
		return 0;
	if (r.n > IMAGES)
		lines_add(l, ", ...");
	if (modules)
		lines_add(l, ": 'backstitch symbolize --symfs DIR' takes them "
			     "from DIR/boot and DIR/lib/modules");
	else
		lines_add(l,
			  ": give it to 'backstitch symbolize --vmlinux FILE'");
	lines_put(l, "kernel code");
	return 0;
}

/* "work of shop 28 (4.69 %)" */
static int put_ends_early(struct check *c, struct lines *l, struct err *err)
{
	int64_t all = trust_count(c->trust).all;
	struct check_row r;

	if (check_open(c, "ends_early", &r, err) < 0)
		return -1;
	for (int n = 0; n < FUNCTIONS && check_next(&r); n++) {
		const char *function = check_text(&r, "function");

		lines_add(l, "%s", n ? ", " : "in ");
		lines_clean(l, function);
		lines_add(l, "%s", function[0] ? " of " : "");
		lines_clean(l, path_base(check_text(&r, "image")));
		check_say_line(l, &r, " {samples:,}");
		lines_share(l, check_int(&r, "samples"), all);
		if (!strcmp(check_text(&r, "class"), "ends early (unread)"))
			lines_add(l, " unread");
	}
	if (r.n > FUNCTIONS)
		lines_add(l, ", ...");
	if (r.n)
		lines_put_styled(l, "end early", STYLE_YELLOW);
	return 0;
}

int check_frames(struct check *c, struct lines *l, struct err *err)
{
	static const char label[] = "user frames";
	int put;

	if (put_unmapped(c, l, err))
		return -1;
	put = put_fabricated(c, l, label, err);
	return put < 0 || put_other_files(c, l, put ? "" : label, err) ||
			       put_ends_early(c, l, err) ||
			       put_kernel_files(c, l, err)
		       ? -1
		       : 0;
}
