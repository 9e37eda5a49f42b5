/* sframe_ready.c - the share of a capture's user stacks that can be unwound by
 * frame pointer, by SFrame, by neither. */
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "analyze/samples/code.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/tables/sframe.h"
#include "schema/columns.h"
#include "schema/read/rpm.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/owned.h"
#include "stitch/files/named_file.h"
#include "symbolize/unwind/unwind_readiness.h"
#include "symbolize/symbolize.h"

/* ---- the package of a file, by dpkg's lists or rpm's database */

#define LISTS "/var/lib/dpkg/info"

struct packages {
	const char *root;   /* the folder of the system whose packages to use */
	struct intern path; /* as packages_key() returns them */
	const char **owner; /* by path, in text; NULL: not known */
	size_t n, cap;
	struct arena text;
};

/* Returns the path without a leading /usr, since lists and mappings may name a
 * file of a merged /usr in either form. */
static const char *packages_key(const char *path)
{
	return strncmp(path, "/usr/", 5) ? path : path + 4;
}

/* Reads a file if it is a list such as "libc6:amd64.list"; the package name
 * ends at the colon. */
static void read_list(struct packages *p, const char *file)
{
	const char *end = strrchr(file, '.');
	char path[4096];
	char *line OWNED = NULL;
	size_t cap = 0;
	ssize_t len;
	uint64_t size;
	struct err err;
	FILE *f OWNED_FILE = NULL;

	if (!end || strcmp(end, ".list") != 0 ||
	    snprintf(path, sizeof(path), "%s%s/%s", p->root, LISTS, file) >=
		    (int)sizeof(path))
		return;
	int fd = named_file_open(path, &size, &err);
	if (fd < 0)
		return;
	f = mem_must(fdopen(fd, "r"));
	while ((len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		uint32_t id = intern_find(&p->path, packages_key(line));

		if (id == TABLE_NONE || p->owner[id])
			continue;
		char *owner = arena_strdup(&p->text, file);

		owner[strcspn(owner, ":")] = '\0';
		if (!strchr(file, ':'))
			owner[strlen(owner) - strlen(".list")] = '\0';
		p->owner[id] = owner;
	}
}

/* Asks rpm for both forms of a path: with a merged /usr it has the longer form
 * of some. */
static const char *owner_by_rpm(struct rpm *r, const char *key)
{
	char path[4096];
	const char *owner = rpm_owner(r, key);

	if (owner ||
	    snprintf(path, sizeof(path), "/usr%s", key) >= (int)sizeof(path))
		return owner;
	return rpm_owner(r, path);
}

static void read_rpm(struct packages *p)
{
	/* its place since Fedora 36, and the older one */
	static const char *const place[] = {
		"/usr/lib/sysimage/rpm/rpmdb.sqlite",
		"/var/lib/rpm/rpmdb.sqlite",
	};
	struct rpm *r = NULL;
	char path[4096];
	struct stat st;

	if (!p->n)
		return;
	/* SQLite would wait for whoever writes to a FIFO */
	for (size_t i = 0; !r && i < ARRAY_SIZE(place); i++)
		if (snprintf(path, sizeof(path), "%s%s", p->root, place[i]) <
			    (int)sizeof(path) &&
		    !stat(path, &st) && S_ISREG(st.st_mode))
			r = rpm_open(path);
	for (uint32_t i = 0; r && i < p->n; i++) {
		const char *owner =
			p->owner[i] ? NULL
				    : owner_by_rpm(r, intern_get(&p->path, i));

		if (owner)
			p->owner[i] = arena_strdup(&p->text, owner);
	}
	rpm_close(r);
}

static void read_dpkg(struct packages *p)
{
	char path[4096];
	struct dirent *e;
	DIR *d OWNED_DIR = NULL;

	if (!p->n || snprintf(path, sizeof(path), "%s%s", p->root, LISTS) >=
			     (int)sizeof(path))
		return;
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		read_list(p, e->d_name);
}

/* ---- how ready */

/* All bits of enum ready_by. */
#define BY (READY_FP | READY_SFRAME | READY_EH)
#define SUMS (BY + 1)

/* sum[m]: samples whose address can be unwound by exactly the means in m. */
struct ready_counts {
	uint64_t n, sum[SUMS];
};

struct ready_image { /* what is known of an image */
	struct unwind_readiness *file;
	enum image_status why; /* there is no file */
	bool asked;
	/* samples with their innermost frame in the image */
	struct ready_counts at;
};

struct ready_frame {   /* what is known of a frame */
	uint8_t by[2]; /* enum ready_by as innermost frame, as caller; SUMS:
			* unknown yet */
};

struct readiness {
	struct store *db;
	struct symbolizer *sy;
	struct known_code *code;
	struct ready_image *place; /* by image */
	struct ready_frame *spot;  /* by frame */
	uint8_t *callers; /* by stack: enum ready_by of all frames but the
			   * innermost; SUMS: unknown yet */
	struct ready_counts at, whole; /* innermost frames; whole stacks */
	uint32_t *order;	       /* images, sorted by samples */
	size_t n_order;
	struct packages packages;
};

/* Looks a caller up inside its call instruction: the return address may be in
 * another function. */
static uint8_t readiness_of(struct readiness *p, uint32_t frame, bool caller)
{
	const struct code_frame *f = &p->code->frame[frame];
	uint8_t *by = &p->spot[frame].by[caller];

	if (*by == SUMS) {
		uint64_t off = f->off - (caller && f->off);
		struct ready_image *pl = &p->place[f->image];

		if (!pl->asked) {
			pl->asked = true;
			pl->file = unwind_readiness_open(
				p->sy, &p->code->image[f->image].img, &pl->why);
		}
		*by = (uint8_t)(pl->file ? unwind_readiness_at(pl->file, off)
					 : 0);
	}
	return *by;
}

/* Returns how all callers of a stack can be unwound. Results are kept for each
 * node of the tree, since stacks share callers. */
static uint8_t readiness_of_callers(struct readiness *p, uint32_t stack)
{
	const struct code_stack *tree = p->code->stack;
	uint32_t todo = stack;
	uint8_t by = BY;

	/* up to a known stack, or the outermost */
	while (tree[todo].parent && p->callers[todo] == SUMS) {
		by &= readiness_of(p, tree[tree[todo].parent].frame, true);
		todo = tree[todo].parent;
	}
	if (tree[todo].parent)
		by &= p->callers[todo];
	p->callers[stack] = by;
	return by;
}

static int readiness_load(struct readiness *p, struct err *err)
{
	p->code = code_load(p->db, 0, err);
	if (!p->code)
		return -1;
	p->place = mem_new(p->code->n_image, sizeof(*p->place));
	p->spot = mem_new(p->code->n_frame, sizeof(*p->spot));
	p->callers = mem_new(p->code->n_stack, sizeof(*p->callers));
	memset(p->spot, SUMS, p->code->n_frame * sizeof(*p->spot));
	memset(p->callers, SUMS, p->code->n_stack);
	struct rows *r = rows_of(p->db, "ready_samples", err);
	while (rows_step(r)) {
		int64_t stack = rows_int(r, READY_SAMPLES_USER);
		uint64_t n = (uint64_t)rows_int(r, READY_SAMPLES_N);

		if (stack < 1 || (uint64_t)stack >= p->code->n_stack) {
			err_set(err, ERR_DB, "a stack %lld is not there",
				(long long)stack);
			return rows_stop(r);
		}
		uint32_t frame = p->code->stack[stack].frame;
		uint8_t leaf = readiness_of(p, frame, false);
		uint8_t whole = leaf & readiness_of_callers(p, (uint32_t)stack);
		struct ready_counts *at =
			&p->place[p->code->frame[frame].image].at;

		at->n += n;
		at->sum[leaf] += n;
		p->at.n += n;
		p->at.sum[leaf] += n;
		p->whole.n += n;
		p->whole.sum[whole] += n;
	}
	return rows_end(r, err);
}

COMPARE_FUNCTION_OF(readiness_compare_images, uint32_t, struct readiness,
		    compare_numbers(of->place[*y].at.n, of->place[*x].at.n)
			    ?: compare_numbers(*x, *y));

static const char *readiness_path(const struct readiness *p, uint32_t image)
{
	return p->code->image[image].img.path;
}

/* ---- what is shown */

static const struct ready_means {
	const char *name, *title;
	unsigned int with,
		without; /* bits that must be set, that must be clear */
} kinds[] = {
	{ "frame_pointer", "frame pointer", READY_FP, 0 },
	{ "sframe", "SFrame", READY_SFRAME, 0 },
	{ "neither", "neither", 0, READY_FP | READY_SFRAME },
	{ "eh_frame", ".eh_frame", READY_EH, 0 },
};
#define KINDS ARRAY_SIZE(kinds)

static uint64_t readiness_sum(const struct ready_counts *s,
			      const struct ready_means *k)
{
	uint64_t n = 0;

	for (unsigned int m = 0; m < SUMS; m++)
		if ((m & k->with) == k->with && !(m & k->without))
			n += s->sum[m];
	return n;
}

static const char *readiness_package(const struct readiness *p, uint32_t image)
{
	const char *key = packages_key(readiness_path(p, image));
	uint32_t id = p->place[image].file ? intern_find(&p->packages.path, key)
					   : TABLE_NONE;

	return id == TABLE_NONE || !p->packages.owner[id]
		       ? "-"
		       : p->packages.owner[id];
}

static void readiness_put_share(uint64_t n, uint64_t of)
{
	printf(" %8s", HUMAN_PERCENT(n, of));
}

static void readiness_put_all(const struct readiness *p)
{
	printf("%" PRIu64 " sample%s with a user stack\n\n", p->at.n,
	       p->at.n == 1 ? "" : "s");
	printf("%-16s %20s %20s\n", "can be unwound by", "where it was sampled",
	       "the whole stack");
	for (size_t k = 0; k < KINDS; k++) {
		uint64_t at = readiness_sum(&p->at, &kinds[k]);
		uint64_t whole = readiness_sum(&p->whole, &kinds[k]);

		printf("  %-15s %11" PRIu64, kinds[k].title, at);
		readiness_put_share(at, p->at.n);
		printf(" %12" PRIu64, whole);
		readiness_put_share(whole, p->whole.n);
		putchar('\n');
	}
	printf("\n%9s  %8s  %8s  %8s  %8s  %3s  %-20s %s\n", "samples", "FP",
	       "SFrame", "neither", ".eh_fr", "v", "package", "image");
	for (size_t i = 0; i < p->n_order; i++) {
		const struct ready_image *pl = &p->place[p->order[i]];
		int v = pl->file ? pl->file->sframe : 0;
		const char *name = readiness_package(p, p->order[i]);
		const char *path = readiness_path(p, p->order[i]);

		if (!*path)
			path = "[unknown]";

		printf("%9" PRIu64 " ", pl->at.n);
		for (size_t k = 0; k < KINDS; k++) {
			readiness_put_share(readiness_sum(&pl->at, &kinds[k]),
					    pl->at.n);
			putchar(' ');
		}
		printf(" %3s  ",
		       v > 0   ? (const char *[]){ "", "1", "2", "3" }[v & 3]
		       : v < 0 ? "bad"
			       : "-");
		safe_text_clean(stdout, name, strlen(name));
		for (size_t n = strlen(name); n < 20; n++)
			putchar(' ');
		putchar(' ');
		safe_text_clean(stdout, path, strlen(path));
		if (!pl->file && pl->why)
			printf("  (%s)", image_status_word(pl->why));
		putchar('\n');
	}
}

static void readiness_json_sums(struct json *j, const struct ready_counts *s)
{
	for (size_t k = 0; k < KINDS; k++)
		json_uint(j, kinds[k].name, readiness_sum(s, &kinds[k]));
}

static void readiness_json(const struct readiness *p)
{
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	json_uint(&j, "samples", p->at.n);
	readiness_json_sums(&j, &p->at);
	json_object(&j, "whole_stack");
	readiness_json_sums(&j, &p->whole);
	json_end(&j);
	json_array(&j, "images");
	for (size_t i = 0; i < p->n_order; i++) {
		const struct ready_image *pl = &p->place[p->order[i]];
		const char *name = readiness_package(p, p->order[i]);

		json_object(&j, NULL);
		json_text(&j, "image", readiness_path(p, p->order[i]));
		json_text(&j, "package", *name == '-' ? NULL : name);
		json_int(&j, "sframe_version", pl->file ? pl->file->sframe : 0);
		json_text(&j, "missing",
			  pl->file || !pl->why ? NULL
					       : image_status_word(pl->why));
		json_uint(&j, "samples", pl->at.n);
		readiness_json_sums(&j, &pl->at);
		json_end(&j);
	}
	json_end(&j);
	json_finish(&j);
}

int sframe_readiness(struct store *db, struct symbolizer *sy, const char *symfs,
		     bool json, struct err *err)
{
	struct readiness p = { .db = db, .sy = sy };
	int ret = readiness_load(&p, err);

	if (!ret) {
		p.order = mem_new(p.code->n_image, sizeof(*p.order));
		for (uint32_t i = 1; i < p.code->n_image; i++)
			if (p.place[i].at.n)
				p.order[p.n_order++] = i;
		sort_items_by(p.order, p.n_order, readiness_compare_images, &p);
		struct packages *packages = &p.packages;

		packages->root = symfs ?: "";
		for (size_t i = 0; i < p.n_order; i++) {
			const char *path = readiness_path(&p, p.order[i]);

			if (p.place[p.order[i]].file)
				intern_add(&packages->path, packages_key(path));
		}
		mem_reach(packages->owner, packages->n, packages->cap,
			  packages->path.n);
		/* neither runs a program */
		read_dpkg(packages);
		read_rpm(packages);
		if (json)
			readiness_json(&p);
		else
			readiness_put_all(&p);
	}
	for (size_t i = 0; p.place && i < p.code->n_image; i++)
		unwind_readiness_close(p.place[i].file);
	intern_release(&p.packages.path);
	arena_release(&p.packages.text);
	code_free(p.code);
	free_all(p.place, p.spot, p.callers, p.order, p.packages.owner);
	return ret;
}
