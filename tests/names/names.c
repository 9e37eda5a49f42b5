/* names.c - compares our names with those of another tool, frame by frame.
 *
 * usage: names SYMFS KALLSYMS <TABLE
 * TABLE: lines "place TAB offset TAB name TAB symoff"; place is the path of
 * an image ("[kernel]": the offset is an address), offset and symoff are
 * hexadecimal, name is "-" where the other tool knew none. Lines must come
 * sorted by place and offset. Ends with "N same, N differ" and the counts of
 * the classes of differences that are named below; status 1 when anything
 * else differs, or nothing was compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/symbolize.h"

struct row {
	uint64_t off, symoff;
	char *name;
};

struct names_table {
	char place[4096];
	struct row *row;
	size_t n, cap, at;
};

struct count {
	size_t same, same_unknown, no_file, more, marker, differ;
};

static struct count count;
static const char *status;

/* The other tool takes a mark for a function that begins there. */
static bool is_marker(const char *name)
{
	return strstr(name, "_text_start") || strstr(name, "_text_end") ||
	       !strncmp(name, "__start_", 8) || !strcmp(name, "_stext") ||
	       !strcmp(name, "_text") || !strcmp(name, "__pi__text");
}

static void names_report(const struct names_table *t, const struct row *r,
			 const char *name, uint64_t symoff)
{
	bool more = !strcmp(r->name, "-");

	if (more)
		count.more++;
	else
		count.differ++;
	printf("%s\t%s+0x%" PRIx64 "\t%s+0x%" PRIx64 " but was %s+0x%" PRIx64
	       "\n",
	       more ? "more" : "differ", t->place, r->off, name, symoff,
	       r->name, r->symoff);
}

static int names_compare(void *arg, const struct symbol *sym, struct err *err)
{
	struct names_table *t = arg;

	(void)err;
	if (sym->how && !strcmp(sym->how, "dwarf"))
		return 0;
	const struct row *r = &t->row[t->at++];
	const char *name = sym->name ? sym->name : "-";
	uint64_t symoff = sym->name ? sym->off - sym->start : 0;

	if (!strcmp(status, "no file") || !strcmp(status, "other build-id"))
		count.no_file++;
	else if (!strcmp(name, r->name) && symoff == r->symoff)
		count.same++, count.same_unknown += !sym->name;
	else if (is_marker(r->name) && !is_marker(name) && symoff == r->symoff)
		count.marker++;
	else
		names_report(t, r, name, symoff);
	return 0;
}

static int names_check(struct symbolizer *sy, const char *symfs,
		       struct names_table *t)
{
	/* Which addresses ran and which are callers is not in the table: they
	 * must not speak against the file. */
	char settled[sizeof(t->place) + 4096];
	struct image_report rep;
	struct err err;
	bool kernel = !strcmp(t->place, "[kernel]");
	struct image img = {
		.kind = kernel			      ? IMAGE_KERNEL
			: !strcmp(t->place, "[vdso]") ? IMAGE_VDSO
						      : IMAGE_FILE,
		.path = t->place,
		.settled = settled,
	};
	struct timespec a, b;
	struct code_place *code = mem_new(t->n, sizeof(*code));

	for (size_t i = 0; i < t->n; i++)
		code[i].off = t->row[i].off;
	snprintf(settled, sizeof(settled), "%s%s", symfs, t->place);
	status = "";
	t->at = 0;
	/* First only the status, for names_compare(). */
	if (symbolize_image(sy, &img, code, 0, names_compare, t, &rep, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return -1;
	}
	report_release(&rep);
	status = image_status_word(rep.status);
	clock_gettime(CLOCK_MONOTONIC, &a);
	int rc = symbolize_image(sy, &img, code, t->n, names_compare, t, &rep,
				 &err);
	clock_gettime(CLOCK_MONOTONIC, &b);
	fprintf(stderr, "%-60s %6zu offsets %-10s %.2f ms\n", t->place, t->n,
		image_status_word(rep.status),
		(double)(b.tv_sec - a.tv_sec) * 1e3 +
			(double)(b.tv_nsec - a.tv_nsec) / 1e6);
	report_release(&rep);
	free(code);
	for (size_t i = 0; i < t->n; i++)
		free(t->row[i].name);
	t->n = 0;
	return rc;
}

static void add_row(struct names_table *t, uint64_t off, const char *name,
		    uint64_t symoff)
{
	*mem_add(t->row, t->n, t->cap) =
		(struct row){ off, symoff, mem_strdup(name) };
}

int main(int argc, char **argv)
{
	static struct names_table t;
	static char line[16384];
	int rc = 0;

	if (argc != 3)
		return 2;
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.symfs = argv[1], .kallsyms = argv[2], .no_live = true });
	while (!rc && fgets(line, sizeof(line), stdin)) {
		char *save;
		char *place = strtok_r(line, "\t\n", &save);
		char *off = strtok_r(NULL, "\t\n", &save);
		char *name = strtok_r(NULL, "\t\n", &save);
		char *symoff = strtok_r(NULL, "\t\n", &save);

		if (!symoff)
			return 2;
		if (t.n && strcmp(place, t.place))
			rc = names_check(sy, argv[1], &t);
		snprintf(t.place, sizeof(t.place), "%s", place);
		add_row(&t, strtoull(off, NULL, 16), name,
			strtoull(symoff, NULL, 16));
	}
	if (!rc && t.n)
		rc = names_check(sy, argv[1], &t);
	free(t.row);
	symbolize_free(sy);
	printf("%zu same (%zu without a name), %zu in files that are not "
	       "there, %zu a function instead of a mark, %zu only we name, "
	       "%zu differ\n",
	       count.same, count.same_unknown, count.no_file, count.marker,
	       count.more, count.differ);
	return rc || count.differ || count.more || !count.same;
}
