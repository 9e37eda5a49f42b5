/* sframe_text.c - an SFrame section, the results of its tests, and how far
 * stacks can be unwound by such sections alone, as text or JSON. */
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "analyze/samples/code.h"
#include "cli/args/status.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/tables/sframe.h"
#include "schema/columns.h"
#include "schema/read/rpm.h"
#include "stitch/base/err.h"
#include "symbolize/sframe/sframe.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_check.h"
#include "stitch/text/human.h"
#include "schema/store.h"
#include "stitch/base/intern.h"
#include "stitch/base/owned.h"
#include "stitch/base/search.h"
#include "stitch/files/named_file.h"
#include "stitch/verdict.h"
#include "symbolize/unwind/unwind_compare.h"
#include "symbolize/unwind/unwind_readiness.h"

/* The packages of files, by dpkg's lists or rpm's database. */

#define LISTS "/var/lib/dpkg/info"

struct packages {
	const char *root;   /* the folder of the system whose packages to use */
	struct intern path; /* as packages_key() returns them */
	const char **owner; /* of each path; NULL: not known */
	size_t n, cap;
	struct arena text;
};

/* Returns the path without a leading /usr, since lists and mappings may name a
 * file of a merged /usr in either form. */
static const char *packages_key(const char *path)
{
	return strncmp(path, "/usr/", 5) ? path : path + 4;
}

/* Finds owners in a file, if it is a list such as "libc6:amd64.list"; the
 * package name ends at the colon. */
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

/* Asks rpm for both forms of a path: with a merged /usr, rpm has the longer
 * form of some. */
static const char *owner_by_rpm(struct rpm *r, const char *key)
{
	char path[4096];
	const char *owner = rpm_owner(r, key);

	if (owner ||
	    snprintf(path, sizeof(path), "/usr%s", key) >= (int)sizeof(path))
		return owner;
	return rpm_owner(r, path);
}

/* Finds owners that are not known so far in rpm's database. */
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
	/* SQLite would wait for a writer if it were a FIFO */
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

/* Returns the enum ready_by of a frame. A caller is looked up inside its call
 * instruction: the return address may be in another function. */
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

/* Returns the enum ready_by that all callers of a stack have. Results are kept
 * for each node of the tree, since stacks share callers. */
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

/* Loads the code and counts the samples. Returns 0, or -1 and *err. */
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
		/* neither of these runs a program */
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

struct sframe_dump_state {
	const struct sframe *sf;
	struct json json;
	bool in_func; /* its object and array of rows are open */
};

struct reg_text {
	char s[96]; /* room for a register and an offset */
};

static const char *reg_name(const struct sframe *sf, uint32_t reg,
			    struct reg_text *t)
{
	if (reg == SFRAME_CFA)
		return "c";
	if (reg == sf->machine->sp)
		return "sp";
	if (reg == sf->machine->fp)
		return "fp";
	snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
	return t->s;
}

/* Formats a place as objdump does: "c-16" is the memory at CFA - 16. objdump
 * has no form for the value CFA - 16, which is "=c-16". */
static const char *sframe_dump_place(const struct sframe *sf,
				     const struct sframe_place *p,
				     struct reg_text *t)
{
	struct reg_text reg;

	switch (p->kind) {
	case SFRAME_NONE:
		return "u";
	case SFRAME_PADDED:
		return "U";
	case SFRAME_FIXED:
		return "f";
	default:
		break;
	}
	const char *name = reg_name(sf, p->reg, &reg);
	if (p->kind == SFRAME_REG)
		snprintf(t->s, sizeof(t->s), "%.15s", name);
	else if (p->kind == SFRAME_MEMORY && p->reg != SFRAME_CFA)
		snprintf(t->s, sizeof(t->s), "(%.15s%+" PRId64 ")", name,
			 p->off);
	else
		snprintf(t->s, sizeof(t->s), "%s%.15s%+" PRId64,
			 p->kind == SFRAME_VALUE && p->reg == SFRAME_CFA ? "="
									 : "",
			 name, p->off);
	return t->s;
}

static uint64_t row_addr(const struct sframe_func *f,
			 const struct sframe_row *row)
{
	return f->rep ? row->pc : f->start + row->pc;
}

static void sframe_dump_put_func(void *arg UNUSED, uint32_t i,
				 const struct sframe_func *f)
{
	printf("\n[%" PRIu32 "] 0x%" PRIx64 ", %" PRIu32 " bytes", i, f->start,
	       f->size);
	if (f->rep)
		printf(", repeats every %u", f->rep);
	fputs(f->signal ? ", signal frame" : "", stdout);
	fputs(f->flex ? ", flexible" : "", stdout);
	fputs(f->key_b ? ", key B" : "", stdout);
	putchar('\n');
	if (!f->n)
		puts("    no rows");
}

static void sframe_dump_put_row(void *arg, const struct sframe_func *f,
				const struct sframe_row *row,
				const struct sframe_rule *rule)
{
	struct sframe_dump_state *d = arg;
	struct reg_text cfa;
	struct reg_text fp;
	struct reg_text ra;

	printf("  %16" PRIx64, row_addr(f, row));
	if (rule->outermost) {
		puts("  outermost");
		return;
	}
	printf("  %-12s %-9s %s%s\n",
	       sframe_dump_place(d->sf, &rule->cfa, &cfa),
	       sframe_dump_place(d->sf, &rule->fp, &fp),
	       sframe_dump_place(d->sf, &rule->ra, &ra),
	       rule->is_signed ? "[s]" : "");
}

static void sframe_dump_put_bad(void *arg UNUSED, uint32_t i UNUSED,
				const struct err *err)
{
	fputs("  damaged: ", stdout);
	safe_text_clean(stdout, err->msg, strlen(err->msg));
	putchar('\n');
}

/* Writes the section's header as an object. */
static void sframe_head_json(struct json *j, const char *key,
			     const struct sframe_file *f)
{
	const struct sframe_head *h = &f->sf.head;

	json_object(j, key);
	json_int(j, "version", h->version);
	json_text(j, "machine", f->sf.machine->name);
	json_int(j, "flags", h->flags);
	json_bool(j, "sorted", h->flags & SFRAME_SORTED);
	json_bool(j, "pc_relative", h->flags & SFRAME_PCREL);
	json_bool(j, "frame_pointer", h->flags & SFRAME_FRAME_POINTER);
	json_int(j, "fixed_fp", h->fixed_fp);
	json_int(j, "fixed_ra", h->fixed_ra);
	json_int(j, "aux_bytes", h->aux_len);
	json_int(j, "functions", h->funcs);
	json_int(j, "rows", h->rows);
	json_int(j, "row_bytes", h->rows_len);
	json_uint(j, "bytes", f->len);
	json_hex(j, "file_offset", f->off);
	json_hex(j, "address", f->sf.addr);
	json_bool(j, "object", f->object);
	json_end(j);
}

static void sframe_dump_json_func(void *arg, uint32_t i,
				  const struct sframe_func *f)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	json_break(j);
	json_object(j, NULL);
	json_int(j, "index", i);
	json_hex(j, "start", f->start);
	json_int(j, "size", f->size);
	json_int(j, "repeat", f->rep);
	json_bool(j, "signal", f->signal);
	json_bool(j, "flexible", f->flex);
	json_bool(j, "key_b", f->key_b);
	json_array(j, "rows");
	d->in_func = true;
}

static void sframe_dump_json_place(struct sframe_dump_state *d,
				   const char *name,
				   const struct sframe_place *p)
{
	struct reg_text t;

	json_text(&d->json, name, sframe_dump_place(d->sf, p, &t));
}

static void sframe_dump_json_row(void *arg, const struct sframe_func *f,
				 const struct sframe_row *row,
				 const struct sframe_rule *rule)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	json_object(j, NULL);
	json_hex(j, "pc", row_addr(f, row));
	json_bool(j, "outermost", rule->outermost);
	if (!rule->outermost) {
		sframe_dump_json_place(d, "cfa", &rule->cfa);
		sframe_dump_json_place(d, "fp", &rule->fp);
		sframe_dump_json_place(d, "ra", &rule->ra);
		json_bool(j, "signed", rule->is_signed);
	}
	json_end(j);
}

static void sframe_dump_json_end(void *arg, uint32_t i UNUSED,
				 const struct sframe_func *f UNUSED)
{
	struct sframe_dump_state *d = arg;

	json_end(&d->json);
	json_end(&d->json);
	d->in_func = false;
}

/* Called for a damaged function, before or after its first rows. */
static void sframe_dump_json_bad(void *arg, uint32_t i, const struct err *err)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	if (d->in_func) {
		json_end(j);
	} else {
		json_break(j);
		json_object(j, NULL);
		json_int(j, "index", i);
	}
	json_text(j, "damaged", err->msg);
	json_end(j);
	d->in_func = false;
}

int sframe_dump(const char *path, const struct sframe_file *f, bool json)
{
	static const struct sframe_visitor text = {
		.func = sframe_dump_put_func,
		.row = sframe_dump_put_row,
		.bad = sframe_dump_put_bad,
	};
	struct sframe_dump_state d = { .sf = &f->sf };
	uint32_t bad;

	if (json) {
		static const struct sframe_visitor visitor = {
			.func = sframe_dump_json_func,
			.row = sframe_dump_json_row,
			.end = sframe_dump_json_end,
			.bad = sframe_dump_json_bad,
		};

		json_answer(&d.json, stdout, JSON_COMPACT);
		sframe_head_json(&d.json, "section", f);
		json_array(&d.json, "functions");
		bad = sframe_visit(&f->sf, &visitor, &d);
		json_break(&d.json);
		json_end(&d.json);
		json_finish(&d.json);
	} else {
		const struct sframe_head *h = &f->sf.head;

		safe_text_clean(stdout, path, strlen(path));
		printf(": SFrame version %u for %s, %zu bytes at file+0x%" PRIx64
		       ", address 0x%" PRIx64 "\n",
		       h->version, f->sf.machine->name, f->len, f->off,
		       f->sf.addr);
		printf("%" PRIu32 " functions, %" PRIu32 " rows in %" PRIu32
		       " bytes;%s starts count from the %s",
		       h->funcs, h->rows, h->rows_len,
		       h->flags & SFRAME_SORTED ? " sorted;" : " not sorted;",
		       h->flags & SFRAME_PCREL ? "field itself" : "section");
		fputs(h->flags & SFRAME_FRAME_POINTER ? "; frame pointers" : "",
		      stdout);
		if (h->fixed_ra)
			printf("; return address at CFA%+d", h->fixed_ra);
		if (h->fixed_fp)
			printf("; frame pointer at CFA%+d", h->fixed_fp);
		if (h->aux_len)
			printf("; auxiliary header of %u bytes", h->aux_len);
		putchar('\n');
		if (f->object)
			puts("an object file: addresses count from the start of each "
			     "function's own section");
		printf("\n  %16s  %-12s %-9s %s\n", "address", "CFA", "FP",
		       "RA");
		bad = sframe_visit(&f->sf, &text, &d);
	}
	if (bad)
		say("%" PRIu32 " of %" PRIu32 " functions are damaged\n", bad,
		    f->sf.head.funcs);
	return bad ? STATUS_DAMAGED : STATUS_OK;
}

/* Findings of each test in text. */
#define SHOWN 8
/* Findings of each test in JSON. */
#define KEPT 100000

static uint64_t sframe_check_count_errors(const struct sframe_report *r)
{
	uint64_t n = 0;

	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		n += sframe_tests[t].note ? 0 : r->found[t];
	return n;
}

static void sframe_check_put_report(const char *path,
				    const struct sframe_file *f,
				    const struct sframe_report *r)
{
	safe_text_clean(stdout, path, strlen(path));
	printf(": SFrame version %u for %s, %" PRIu32 " functions\n",
	       f->sf.head.version, f->sf.machine->name, f->sf.head.funcs);
	printf("\n  %-10s  %-6s %12s %12s\n", "test", "", "looked at", "found");
	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		printf("  %-10s  %-6s %12" PRIu64 " %12" PRIu64 " %s\n",
		       sframe_tests[t].name,
		       r->found[t]   ? sframe_tests[t].note ? "note" : "ERROR"
		       : r->asked[t] ? "ok"
				     : "-",
		       r->asked[t], r->found[t], sframe_tests[t].unit);
	if (r->no_code)
		puts("\nno code to compare with: a debug file");
	if (r->no_eh_frame)
		puts("\nno .eh_frame to compare with");
	for (size_t i = 0; i < r->n; i++) {
		const struct sframe_finding *bad = &r->finding[i];
		const struct sframe_test_info *t = &sframe_tests[bad->test];
		bool last = i + 1 == r->n || bad[1].test != bad->test;

		if (!i || bad[-1].test != bad->test)
			printf("\n%s: not so: %s\n", t->name, t->summary);
		if (bad->end > bad->start + 1)
			printf("  0x%" PRIx64 "..0x%" PRIx64 "  ", bad->start,
			       bad->end - 1);
		else if (bad->end)
			printf("  0x%" PRIx64 "  ", bad->start);
		else
			fputs("  ", stdout);
		safe_text_clean(stdout, bad->text, strlen(bad->text));
		putchar('\n');
		if (last && r->kept[bad->test] == SHOWN &&
		    r->found[bad->test] > SHOWN)
			printf("  ... %" PRIu64 " %s in all\n",
			       r->found[bad->test], t->unit);
	}
}

int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err)
{
	struct sframe_report r = { .limit = json ? KEPT : SHOWN };
	int status = -1;

	if (!sframe_check(ef, f, &r, err)) {
		if (json) {
			struct json j;

			json_answer(&j, stdout, JSON_COMPACT);
			sframe_head_json(&j, "section", f);
			json_uint(&j, "errors", sframe_check_count_errors(&r));
			json_bool(&j, "has_code", !r.no_code);
			json_bool(&j, "has_eh_frame", !r.no_eh_frame);
			json_array(&j, "tests");
			for (unsigned int t = 0; t < SFRAME_TESTS; t++) {
				const struct sframe_test_info *info =
					&sframe_tests[t];

				json_object(&j, NULL);
				json_text(&j, "test", info->name);
				json_text(&j, "summary", info->summary);
				json_bool(&j, "error", !info->note);
				json_text(&j, "unit", info->unit);
				json_uint(&j, "looked_at", r.asked[t]);
				json_uint(&j, "found", r.found[t]);
				json_end(&j);
			}
			json_end(&j);
			json_array(&j, "findings");
			for (size_t i = 0; i < r.n; i++) {
				const struct sframe_finding *item =
					&r.finding[i];

				json_object(&j, NULL);
				json_text(&j, "test",
					  sframe_tests[item->test].name);
				json_hex(&j, "start", item->start);
				json_hex(&j, "end", item->end);
				json_text(&j, "text", item->text);
				json_end(&j);
			}
			json_end(&j);
			json_finish(&j);
		} else
			sframe_check_put_report(ef->path, f, &r);
		status =
			sframe_check_count_errors(&r) ? STATUS_LOSS : STATUS_OK;
	}
	sframe_report_release(&r);
	return status;
}

/* Images in which stacks end early that are listed in text. */
#define STOPS 20

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
	for (size_t i = 0; i < c->n && i < STOPS; i++) {
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
	if (c->n > STOPS)
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
