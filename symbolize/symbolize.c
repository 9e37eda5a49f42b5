/* symbolize.c - finds names for code offsets, one image at a time: the
 * driver. */
#include "symbolize/symbolize.h"

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/files/fetch.h"
#include "symbolize/files/locate.h"
#include "symbolize/files/name_cache.h"
#include "symbolize/symbolizer_cache.h"
#include "symbolize/names/demangle.h"
#include "symbolize/symbolizer.h"

/* The sources of names, best first. */
static const struct resolver *const resolvers[] = {
	&resolve_recorded,	    /* names in the capture itself */
	&resolve_kallsyms_file,	    /* the file of --kallsyms */
	&resolve_kallsyms_captured, /* the copy in the capture */
	&resolve_vmlinux,	    /* with the right build-id */
	&resolve_module,	    /* the file of a kernel module */
	&resolve_kallsyms_cache,    /* in perf's build-id cache */
	&resolve_kallsyms_live, /* if the running kernel is the recorded one */
	&resolve_elf,		/* programs and libraries */
};

struct symbolizer *symbolize_new(const struct symbolize_opts *o)
{
	struct symbolizer *sy = mem_new(1, sizeof(*sy));

	if (!o)
		return sy;
	sy->opts = *o;
	sy->opts.symfs = mem_strdup(o->symfs);
	sy->opts.kallsyms = mem_strdup(o->kallsyms);
	sy->opts.vmlinux = mem_strdup(o->vmlinux);
	sy->opts.home = mem_strdup(o->home);
	sy->opts.cache = mem_strdup(o->cache);
	sy->opts.release = mem_strdup(o->release);
	sy->opts.kcore = mem_strdup(o->kcore);
	sy->opts.fetch_cache = mem_strdup(o->fetch_cache);
	if (!o->debug_dirs)
		return sy;
	size_t n = 0;

	while (o->debug_dirs[n])
		n++;
	char **dirs = mem_new(n + 1, sizeof(*dirs));

	for (size_t i = 0; i < n; i++)
		dirs[i] = mem_strdup(o->debug_dirs[i]);
	sy->opts.debug_dirs = (const char *const *)dirs;
	return sy;
}

void symbolize_free(struct symbolizer *sy)
{
	if (!sy)
		return;
	code_cache_end(sy);
	if (sy->saved)
		name_cache_prune(sy);
	kallsyms_leave(sy, sy->ks_file);
	kallsyms_leave(sy, sy->ks_cache);
	kallsyms_leave(sy, sy->ks_live);
	kallsyms_free(sy->ks_replaced);
	fetch_free(sy);
	free_all((char *)sy->opts.cache, (char *)sy->opts.release,
		 (char *)sy->opts.kcore, (char *)sy->opts.fetch_cache,
		 (char *)sy->opts.symfs, (char *)sy->opts.kallsyms,
		 (char *)sy->opts.vmlinux, (char *)sy->opts.home);
	char **dirs = (char **)sy->opts.debug_dirs;
	for (size_t i = 0; dirs && dirs[i]; i++)
		free(dirs[i]);
	free(dirs);
	for (size_t i = 0; i < sy->n_captured; i++)
		kallsyms_free(sy->ks_captured[i]);
	free_all(sy->ks_captured, sy);
}

static bool symbolize_has_names(enum image_kind kind)
{
	switch (kind) {
	case IMAGE_FILE:
	case IMAGE_VDSO:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_BPF:
	case IMAGE_OOL:
	case IMAGE_MAPPING:
	case IMAGE_JIT:
		return true;
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_GUEST:
	case IMAGE_SYMBOLS: /* named by the capture */
	case IMAGE_SCRIPT:
		break;
	}
	return false;
}

/* Returns the demangled form of several names that are folded into one. */
static const char *symbolize_demangled_each(struct symbolizer *sy,
					    const char *raw)
{
	struct text_out text = { .buf = sy->name, .size = sizeof(sy->name) };
	char one[2048], plain[2048];

	for (const char *next; raw; raw = next) {
		next = strstr(raw, FOLDED_NAMES);
		snprintf(one, sizeof(one), "%.*s",
			 next ? (int)(next - raw) : (int)strlen(raw), raw);
		text_out_add(&text, "%s",
			     demangle_name(one, plain, sizeof(plain)) ? plain
								      : one);
		if (next) {
			text_out_add(&text, FOLDED_NAMES);
			next += strlen(FOLDED_NAMES);
		}
	}
	return arena_strdup(&sy->plain.text, sy->name);
}

/* Returns the demangled form of a name. Many offsets share a symbol, so results
 * are cached. */
static const char *symbolize_demangled(struct symbolizer *sy, const char *raw)
{
	struct demangled_names *p = &sy->plain;

	if (sy->opts.no_demangle)
		return raw;
	uint32_t id =
		table_find_or_add(&p->by_raw, hash_u64((uintptr_t)raw), p->n);
	const char *plain = raw;
	const char *next = strstr(raw, FOLDED_NAMES);

	if (id < p->n)
		return p->plain[id];
	if (next)
		plain = symbolize_demangled_each(sy, raw);
	else if (demangle_name(raw, sy->name, sizeof(sy->name)))
		plain = arena_strdup(&p->text, sy->name);
	*mem_add(p->plain, p->n, p->cap) = plain;
	return plain;
}

/* An open resolver; rs NULL: none. */
struct name_source {
	const struct resolver *rs;
	void *r;
};

static void name_source_close(const struct name_source *s)
{
	if (s->rs)
		s->rs->close(s->r);
}

/* What names an image: the cached names, and the open resolvers for others. */
struct image_names {
	struct name_cache *m; /* NULL: none */
	bool open;	      /* resolvers were looked for */
	bool refused; /* the addresses do not fit the files that were found */
	struct name_source names, extra;
	struct identity_answer
		answer; /* for the file that was found, if open */
};

/* Returns the source of source lines. */
static const struct name_source *image_names_lines(const struct image_names *in)
{
	return in->names.rs && in->names.rs->lines ? &in->names : &in->extra;
}

static void image_names_free(void *object)
{
	struct image_names *in = object;

	name_source_close(&in->names);
	name_source_close(&in->extra);
	name_cache_free(in->m);
	free(in);
}

/* Returns whether the image's names may be kept for later symbolizers: they
 * come from files whose change can be seen. Those of modules also depend on
 * lists of the kernel. */
static bool image_names_may_be_kept(const struct symbolizer *sy,
				    const struct image *img)
{
	return sy->opts.kept &&
	       (img->kind == IMAGE_FILE || img->kind == IMAGE_VDSO ||
		img->kind == IMAGE_MAPPING ||
		(img->kind == IMAGE_KERNEL && !sy->opts.captured));
}

/* Takes what an earlier symbolizer kept, if it is still right, or makes it
 * new. */
static struct image_names *image_names_take(struct symbolizer *sy,
					    const struct image *img)
{
	bool sure = identity_may_be_kept(sy, img);
	bool keep = sure && image_names_may_be_kept(sy, img);
	char *name OWNED =
		keep ? symbolizer_cache_name(sy, "names", img) : NULL;
	struct image_names *in =
		keep ? symbolizer_cache_take(sy->opts.kept, name) : NULL;

	if (in && tried_files_unchanged(&in->m->tried))
		return in;
	if (in)
		image_names_free(in);
	in = mem_new(1, sizeof(*in));
	in->m = sure ? name_cache_open(sy, img, keep) : NULL;
	return in;
}

static bool name_source_outlives(const struct name_source *s)
{
	return !s->rs || s->rs->outlives;
}

/* Keeps or frees what names an image. rep NULL: naming failed. */
static void image_names_give(struct symbolizer *sy, struct image_names *in,
			     const struct image *img, struct image_report *rep)
{
	bool good = in->m && rep && name_cache_end(in->m, sy, rep);

	if (!good || !image_names_may_be_kept(sy, img) || in->m->tried.young ||
	    !name_source_outlives(&in->names) ||
	    !name_source_outlives(&in->extra)) {
		image_names_free(in);
		return;
	}
	char *name OWNED = symbolizer_cache_name(sy, "names", img);

	symbolizer_cache_give(sy->opts.kept, name, in, image_names_free);
}

/* Receives names: passes them to fn, and to the cache. */
struct symbolize_teller {
	struct name_cache *m;	     /* NULL: none */
	const struct code_place *at; /* the offset being named */
	symbol_fn *fn;
	void *arg;
};

static int symbolize_tell_one(struct symbolize_teller *t,
			      const struct symbol *sym, struct err *err)
{
	if (t->m)
		name_cache_add(t->m, t->at, sym);
	return t->fn(t->arg, sym, err);
}

/* Passes on the functions inlined at one offset, then the function itself.
 * Returns 0, or -1 and *err. */
static int symbolize_tell(struct symbolizer *sy, struct symbolize_teller *t,
			  struct symbol *sym, const struct dwarf_frame *fr,
			  size_t n, struct err *err)
{
	for (size_t k = 0; k + 1 < n; k++) {
		struct symbol in = {
			.off = sym->off,
			.depth = sym->depth++,
			.start = sym->start,
			.name = symbolize_demangled(sy, fr[k].name),
			.raw_name = fr[k].name,
			.file = fr[k].file,
			.line = fr[k].line,
			.how = "dwarf",
			.unverified = sym->unverified,
		};

		if (symbolize_tell_one(t, &in, err))
			return -1;
	}
	if (n) {
		sym->file = fr[n - 1].file;
		sym->line = fr[n - 1].line;
	}
	return symbolize_tell_one(t, sym, err);
}

/* Finds the function at a place. A call that does not return may be the last
 * instruction of its function: after it there is no function, or the padding
 * before one, which __pfx_NAME covers in kernels since 6.2, or the next
 * function. The place itself is used if no call is known to precede it, as
 * where a signal handler returns to. */
static bool symbolize_resolve(const struct symbolizer *sy,
			      const struct name_source *names,
			      const struct code_place *code, struct symbol *sym)
{
	struct symbol before = { .off = code->off };
	bool found = names->rs->resolve(names->r, code->off, sym);

	if (!code->after_call || !code->off ||
	    (found && sym->start != code->off))
		return found;
	if (!(found && sy->kernel && !strncmp(sym->raw_name, "__pfx_", 6)) &&
	    !(names->rs->called && names->rs->called(names->r, code->off)))
		return found;
	if (!names->rs->resolve(names->r, code->off - 1, &before))
		return found;
	*sym = before;
	return true;
}

/* Names all offsets in their order: from the cache if it has them, the others,
 * of which t->at is the first, from the open resolvers. Returns 0, or -1 and
 * *err. */
static int symbolize_name_all(struct symbolizer *sy,
			      const struct image_names *in,
			      const struct code_place *code, size_t n,
			      struct symbolize_teller *t, struct err *err)
{
	const struct name_source *names = &in->names;
	const struct name_source *lines = image_names_lines(in);
	bool unverified = sy->rep->status == IMAGE_UNVERIFIED;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		struct symbol sym = { .off = code[i].off };
		const struct dwarf_frame *fr = NULL;
		size_t n_fr = 0;
		int known = t->m ? name_cache_tell(t->m, &code[i], t->fn,
						   t->arg, err)
				 : 0;

		if (known < 0)
			return -1;
		if (known)
			continue;
		t->at = &code[i];
		if (names->rs && symbolize_resolve(sy, names, &code[i], &sym)) {
			sym.name = symbolize_demangled(sy, sym.raw_name);
			if (lines->rs)
				n_fr = lines->rs->inlined(lines->r, k, &fr);
		} else {
			sym = (struct symbol){ .off = code[i].off };
		}
		k++;
		sym.unverified |= sym.name && unverified;
		if (symbolize_tell(sy, t, &sym, fr, n_fr, err))
			return -1;
	}
	return 0;
}

/* Locates the file of an image, and opens the best resolver. */
static int symbolize_open(struct symbolizer *sy, const struct image *img,
			  struct image_names *in, struct err *err)
{
	const char *file = NULL;

	in->open = true;
	if ((img->kind == IMAGE_FILE || img->kind == IMAGE_VDSO ||
	     img->kind == IMAGE_MAPPING) &&
	    locate_report(sy, img, &in->answer))
		file = sy->rep->file;
	for (size_t i = 0;
	     i < ARRAY_SIZE(resolvers) && symbolize_has_names(img->kind); i++) {
		int got = resolvers[i]->open(sy, img, file, &in->names.r, err);

		if (got < 0)
			return -1;
		if (got) {
			in->names.rs = resolvers[i];
			break;
		}
	}
	/* A source of source lines, as kallsyms has only names: vmlinux or the
	 * module's file, if its build-id is the image's. The report keeps the
	 * file and status of the source of names. */
	const struct resolver *rs =
		img->kind == IMAGE_KERNEL ? &resolve_vmlinux : &resolve_module;
	enum image_status status = sy->rep->status;

	if (!in->names.rs || in->names.rs->lines || sy->opts.no_inline ||
	    !img->id_len ||
	    (img->kind != IMAGE_KERNEL && img->kind != IMAGE_MODULE))
		return 0;
	char *named OWNED = mem_strdup(sy->rep->file);
	int got = rs->open(sy, img, NULL, &in->extra.r, err);

	if (got > 0)
		in->extra.rs = rs;
	report_status(sy, status);
	report_file(sy, named);
	return got < 0 ? -1 : 0;
}

/* How many addresses are disassembled: more cost time and decide nothing. */
#define RUNS_MAX 16

/* Counts how the addresses fit the file that was found. */
static struct identity_seen symbolize_see(const struct name_source *names,
					  const struct code_place *code,
					  size_t n)
{
	struct identity_seen seen = { 0 };
	size_t inner = 0, k = 0;

	for (size_t i = 0; i < n; i++)
		inner += !code[i].after_call;
	for (size_t i = 0; names->rs && names->rs->called && i < n; i++) {
		if (code[i].after_call) {
			/* in a stack dump, the offset is inside the call */
			bool called =
				names->rs->called(names->r, code[i].off) ||
				names->rs->called(names->r, code[i].off + 1);

			seen.calls += called;
			seen.bad += !called;
			seen.calls_of += called ? code[i].callees : 0;
			seen.bad_of += called ? 0 : code[i].callees;
			continue;
		}
		if (names->rs->outside(names->r, code[i].off)) {
			seen.outside++;
		} else if (k++ % (inner / RUNS_MAX + 1) == 0) {
			int runs = names->rs->runs(names->r, code[i].off);

			seen.ran += runs > 0;
			seen.missed += runs < 0;
		}
	}
	return seen;
}

/* The best of the files that the user gives for an image. */
struct symbolize_best {
	char path[PATH_SIZE]; /* "": there is none */
	struct identity_seen seen;
	bool tie;
};

static void symbolize_compare(struct symbolize_best *b, const char *path,
			      const struct identity_seen *seen)
{
	int is = *b->path ? identity_compare(seen, &b->seen) : 1;

	if (!is)
		b->tie |= !identity_is_copy(path, b->path);
	if (is <= 0)
		return;
	b->tie = false;
	snprintf(b->path, sizeof(b->path), "%s", path);
	b->seen = *seen;
}

/* Opens the file with the best evidence for an image and, while the addresses
 * that ran do not fit, the next one. *as and *best must live as long as *in. */
static int symbolize_choose(struct symbolizer *sy, struct image *as,
			    const struct code_place *code, size_t n,
			    struct symbolize_best *best, struct image_names *in,
			    struct err *err)
{
	enum identity first = IDENTITY_ANOTHER;
	int rc;

	while (!(rc = symbolize_open(sy, as, in, err)) &&
	       in->answer.is != IDENTITY_ANOTHER) {
		struct identity_seen seen = { 0 };

		if (identity_is_open(in->answer.is))
			seen = symbolize_see(&in->names, code, n);
		seen.misfit = sy->rep->misfit;
		bool stands = identity_stands(in->answer.is, &seen);

		if (stands && in->answer.is != IDENTITY_OFFERED)
			break;
		if (stands)
			symbolize_compare(best, sy->rep->file, &seen);
		first = first ? first : in->answer.is;
		in->refused = true;
		if (sy->n_refused < REFUSED_MAX)
			sy->refused[sy->n_refused++] =
				mem_strdup(sy->rep->file);
		/* drop the file that was found */
		name_source_close(&in->names);
		name_source_close(&in->extra);
		in->names.rs = NULL;
		in->extra.rs = NULL;
		report_release(sy->rep);
		sy->rep->identity = NULL;
		in->answer.is = IDENTITY_ANOTHER;
		if (sy->n_refused == REFUSED_MAX)
			break;
		as->settled = "";
	}
	in->refused &= in->answer.is == IDENTITY_ANOTHER;
	if (in->refused) {
		report_file(sy, "");
		report_status(sy, first == IDENTITY_ASSUMED ? IMAGE_NO_FILE
							    : IMAGE_REPLACED);
	}
	while (sy->n_refused)
		free(sy->refused[--sy->n_refused]);
	if (rc || in->answer.is != IDENTITY_ANOTHER || !*best->path ||
	    best->tie)
		return rc;
	as->settled = best->path;
	in->refused = false;
	return symbolize_open(sy, as, in, err);
}

int symbolize_image(struct symbolizer *sy, const struct image *img,
		    const struct code_place *code, size_t n, symbol_fn *fn,
		    void *arg, struct image_report *rep, struct err *err)
{
	sy->kernel = img->kind == IMAGE_KERNEL || img->kind == IMAGE_MODULE;
	sy->unproved = false;
	sy->recorded = locate_recorded(img);

	struct symbolize_best best = { .path = "" };
	struct image as = *img;
	struct image_names *in = image_names_take(sy, img);
	struct symbolize_teller t = { .m = in->m, .fn = fn, .arg = arg };
	struct code_place *uncached = NULL;
	const struct code_place *rest =
		code; /* offsets that the cache does not name */
	size_t n_rest = n;
	int rc = -1;

	memset(rep, 0, sizeof(*rep));
	sy->rep = rep;
	rep->status =
		symbolize_has_names(img->kind) ? IMAGE_NO_FILE : IMAGE_NO_NAMES;
	if (in->m) {
		rest = uncached = mem_new(n, sizeof(*uncached));
		n_rest = name_cache_rest(in->m, code, n, uncached);
		sy->tried = &in->m->tried;
	}
	/* The cached report is complete if the cache has all names, or if the
	 * resolvers for the others are open since an earlier symbolizer. */
	bool settled = in->m && (in->open || !n_rest) &&
		       name_cache_report(in->m, sy->rep);

	if (settled && !in->open &&
	    (img->kind == IMAGE_FILE ||
	     (img->kind == IMAGE_VDSO && img->id_len)))
		in->answer = identity_judge_id(sy, img);
	/* if the mapping has another length than the file in the cached report,
	 * the file must be judged again */
	if (settled && in->answer.is != IDENTITY_PROVED &&
	    !identity_maps(&(struct identity_code){ .seg = rep->seg,
						    .n_seg = rep->n_seg },
			   img->part, img->n_part)) {
		report_release(rep);
		settled = false;
	}
	if (settled)
		rep->identity = in->answer.why;
	else if (symbolize_choose(sy, &as, code, n, &best, in, err))
		goto out;
	/* the cached names are of the file with that build-id */
	if (in->refused)
		t.m = NULL;
	const struct name_source *lines = image_names_lines(in);
	if (lines->rs && n_rest && !sy->opts.no_inline)
		lines->rs->lines(sy, img, lines->r, rest, n_rest);
	rc = symbolize_name_all(sy, in, code, n, &t, err);
	table_release(&sy->plain.by_raw);
	arena_release(&sy->plain.text);
	free(sy->plain.plain);
	sy->plain = (struct demangled_names){ .n = 0 };
out:
	sy->tried = NULL;
	sy->recorded = NULL;
	image_names_give(sy, in, img, rc ? NULL : rep);
	free(uncached);
	sy->rep = NULL;
	return rc;
}
