/* annot.c - the instructions of one function with their samples,
 * targets and source lines. */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/listing/annot.h"
#include "analyze/names/source_text.h"
#include "analyze/names/shown_names.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/tasks/frame.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/dwarf/line_files.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/symbolize.h"

/* The largest real functions (interpreters, parsers) have about 100 KB. */
#define CODE_MAX ((size_t)4 << 20)
/* Bytes before and after an address in code without function bounds. */
#define AROUND 128

/* The name of an address. */
struct call_target {
	uint64_t off;
	const char *name; /* name of the function; NULL: none */
	uint64_t start;
	const char *file, *inlined;
	uint32_t line;
};

struct annot_loader {
	struct annot *a;
	const struct hot *h;
	const struct hot_choice *c;
	struct image img;
	struct code_bytes *code;
	struct call_target *called; /* names of branch targets, by offset */
	size_t n_called, cap_called;
	const char *last_file, *last_name, *last_inlined;
};

/* ---- the code */

/* Reads code that a JIT compiler saved next to the capture. */
static int take_jit(struct annot_loader *l, struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "annotate_has_jit", err);
	bool has_jit = rows_step(r);

	if (rows_end(r, err))
		return -1;
	if (!has_jit)
		return 0;
	r = ROWS_BY(db, "annotate_jit", err, l->c->image);
	if (rows_step(r)) {
		struct value b = rows_value(r, ANNOTATE_JIT_BYTES);

		if (b.len)
			l->code = code_bytes_of_memory(
				(uint16_t)rows_int(r, ANNOTATE_JIT_MACHINE),
				rows_int(r, ANNOTATE_JIT_BIG_ENDIAN) != 0,
				(uint64_t)rows_int(r, ANNOTATE_JIT_ADDR),
				b.text, b.len);
	}
	return rows_end(r, err);
}

/* Says so if the file has changed since ingest. */
static int annot_check_code(struct annot_loader *l, struct store *db,
			    const struct annot_opts *o, struct err *err)
{
	struct rows *r = ROWS_BY(db, "image_text", err, l->c->image);
	uint64_t now;

	if (rows_step(r) &&
	    !strcmp(rows_text(r, IMAGE_TEXT_FILE), code_bytes_path(l->code)) &&
	    section_hashes_of_file(rows_text(r, IMAGE_TEXT_FILE),
				   rows_text(r, IMAGE_TEXT_NAME), &l->img,
				   &now) &&
	    now != (uint64_t)rows_int(r, IMAGE_TEXT_HASH))
		o->changed(rows_text(r, IMAGE_TEXT_FILE),
			   rows_text(r, IMAGE_TEXT_NAME));
	return rows_end(r, err);
}

static int open_code(struct annot_loader *l, struct store *db,
		     struct symbolizer *sy, const struct annot_opts *o,
		     struct err *err)
{
	struct rows *r = ROWS_BY(db, "annotate_image", err, l->c->image);
	bool found = rows_step(r);

	if (found) {
		rows_image(r, ANNOTATE_IMAGE_KIND, &l->a->text, &l->img);
		l->img.t0 = (uint64_t)rows_int(r, ANNOTATE_IMAGE_T0);
		l->img.mapped = (uint64_t)rows_int(r, ANNOTATE_IMAGE_MAPPED);
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "several_images", err);
	while (rows_step(r))
		l->img.several |= rows_int(r, SEVERAL_IMAGES_ID) == l->c->image;
	if (rows_end(r, err))
		return -1;
	if (!found)
		return err_set(err, ERR_DB, "image %u is not there",
			       l->c->image);
	if (l->img.kind == IMAGE_JIT) {
		if (take_jit(l, db, err))
			return -1;
		if (!l->code)
			return err_set(
				err, ERR_IO,
				"%s: the bytes of this code are not in "
				"the database; a jitdump file has them: "
				"'perf record -k mono' of a program that "
				"writes one (node --perf-prof, java "
				"-agentpath:libperf-jvmti.so), then "
				"--jitdump FILE",
				l->img.path);
		return 0;
	}
	l->code = code_bytes_open(sy, &l->img, err);
	if (!l->code)
		return -1;
	return o->changed ? annot_check_code(l, db, o, err) : 0;
}

/* Finds the bounds by the symbol, else by the unwind tables, else guesses
 * them. */
static void find_bounds(struct annot_loader *l)
{
	const struct hot_func *f = l->c->func;
	struct annot *a = l->a;

	if (f && f->name) {
		a->start = f->start;
		a->end = f->start + f->size;
		if (f->size)
			return;
	}
	if (code_bytes_function(l->code, l->c->off, &a->start, &a->end))
		return;
	if (!f || !f->name)
		a->start = l->c->off;
	a->end = l->c->off + AROUND;
}

/* ---- instructions */

static int disassemble(struct annot_loader *l, const struct annot_opts *o,
		       struct err *err)
{
	struct annot *a = l->a;
	uint64_t size = a->end - a->start;
	size_t want = size < CODE_MAX ? (size_t)size : CODE_MAX;
	unsigned char *buf = mem_new(want + 1, 1);
	size_t len = code_bytes_read(l->code, a->start, buf, want);
	const unsigned char *p = buf;
	struct disasm *d;
	uint64_t addr = 0;
	struct insn in;

	if (!len || !code_bytes_addr(l->code, a->start, &addr)) {
		free(buf);
		return err_set(err, ERR_FORMAT,
			       "%s: has no code at offset 0x%" PRIx64, a->image,
			       a->start);
	}
	d = disasm_open(l->code->machine, l->code->big, o->intel, err);
	while (d && (!o->limit || a->n < (size_t)o->limit)) {
		const unsigned char *at = p;

		if (!disasm_next(d, &p, &len, &addr, &in))
			break;

		struct annot_insn *i = mem_add(a->insn, a->n, a->cap);

		*i = (struct annot_insn){
			.insn = in,
			.off = a->start + (uint64_t)(at - buf),
			.to = -1,
		};
		memcpy(i->bytes, at,
		       in.len < sizeof(i->bytes) ? in.len : sizeof(i->bytes));
	}
	a->left_out = (size_t)(size - (uint64_t)(p - buf));
	disasm_close(d);
	free(buf);
	return d ? 0 : -1;
}

struct annot_insn *annot_insn_at(const struct annot *a, uint64_t off)
{
	size_t next = search_where(a->n, i, a->insn[i].off > off);
	struct annot_insn *in = next ? &a->insn[next - 1] : NULL;

	return in && off - in->off < in->insn.len ? in : NULL;
}

/* ---- names and lines */

COMPARE_BY(annot_compare_offsets, struct call_target, off);

static struct call_target *called_at(const struct annot_loader *l, uint64_t off)
{
	struct call_target key = { .off = off };

	return l->n_called ? bsearch(&key, l->called, l->n_called, sizeof(key),
				     annot_compare_offsets)
			   : NULL;
}

/* Neighbouring instructions mostly share a text, which is stored once. */
static const char *annot_keep_range(struct annot_loader *l, const char **last,
				    const char *s)
{
	if (!s)
		return NULL;
	if (!*last || strcmp(*last, s) != 0)
		*last = arena_strdup(&l->a->text, s);
	return *last;
}

/* Called for the innermost function first: the line is that of the first call,
 * the function that of the last. */
static int annot_take_symbol(void *arg, const struct symbol *sym,
			     struct err *err UNUSED)
{
	struct annot_loader *l = arg;
	struct call_target *c = called_at(l, sym->off);

	if (!c || !sym->name)
		return 0;
	if (!sym->depth) {
		c->file = annot_keep_range(l, &l->last_file, sym->file);
		c->line = sym->line;
	} else if (sym->depth == 1) {
		/* the function of the previous call is inlined */
		c->inlined = annot_keep_range(l, &l->last_inlined, c->name);
	}
	c->name = annot_keep_range(l, &l->last_name, sym->name);
	c->start = sym->start;
	return 0;
}

static int annot_name_places(struct annot_loader *l, struct symbolizer *sy,
			     bool lines, struct err *err)
{
	const struct annot *a = l->a;
	struct image_report rep = { .n_seg = 0 };
	uint64_t at;
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (lines)
			*mem_add(l->called, l->n_called, l->cap_called) =
				(struct call_target){ .off = a->insn[i].off };
		if (a->insn[i].insn.has_target &&
		    code_bytes_off(l->code, a->insn[i].insn.target, &at))
			*mem_add(l->called, l->n_called, l->cap_called) =
				(struct call_target){ .off = at };
	}
	if (!l->n_called || l->img.kind == IMAGE_JIT)
		return 0;
	sort_items(l->called, l->n_called, annot_compare_offsets);
	struct code_place *off = mem_new(l->n_called, sizeof(*off));
	for (size_t i = 0; i < l->n_called; i++) {
		if (n && off[n - 1].off == l->called[i].off)
			continue;
		l->called[n] = l->called[i];
		off[n++] = (struct code_place){ .off = l->called[i].off };
	}
	l->n_called = n;
	int rc = symbolize_image(sy, &l->img, off, n, annot_take_symbol, l,
				 &rep, err);
	report_release(&rep);
	free(off);
	return rc;
}

static void annot_put_names(struct annot_loader *l)
{
	struct annot *a = l->a;

	for (size_t i = 0; i < a->n; i++) {
		struct annot_insn *in = &a->insn[i];
		const struct call_target *c = called_at(l, in->off);
		uint64_t at;

		if (c) {
			in->file = c->file;
			in->line = c->line;
			in->inlined = c->inlined;
		}
		if (!in->insn.has_target ||
		    !code_bytes_off(l->code, in->insn.target, &at))
			continue;
		struct annot_insn *to = annot_insn_at(a, at);
		if (to && to->off == at && at != a->start) {
			in->to = to - a->insn;
			to->label = true;
			continue;
		}
		c = called_at(l, at);
		if (c && c->name) {
			in->target = c->name;
			in->beyond = at - c->start;
		}
	}
}

/* ---- the source lines that belong to the instructions */

static bool annot_is_named(const struct annot_insn *in, const char *path)
{
	return in->file && in->line &&
	       (in->file == path || !strcmp(in->file, path));
}

/* The functions that a unit declares in a file. */
struct annot_declared {
	const char *path;
	struct arena text;
	struct source_name *name;
	size_t n, cap;
	uint32_t last; /* the largest of their lines */
};

/* More of them tell nothing new. */
#define DECLARED_MAX 256

static void annot_add_declared(void *arg, const char *file, uint32_t line,
			       const char *name)
{
	struct annot_declared *d = arg;
	size_t len = strlen(d->path);
	size_t n = strlen(file);

	/* a path may be relative to the folder of the unit */
	if (d->n == DECLARED_MAX || len < n ||
	    strcmp(d->path + len - n, file) != 0)
		return;
	raise_to(d->last, line);
	*mem_add(d->name, d->n, d->cap) =
		(struct source_name){ arena_strdup(&d->text, name), line };
}

/* Finds the source files of the instructions, once they have their lines. */
static void annot_find_sources(struct annot *a, struct symbolizer *sy,
			       const struct image *img, struct sources *s)
{
	const char *file = a->file;
	struct stat st;

	struct source_proof proof = {
		.built = (file && *file && !stat(file, &st) ? st.st_mtim.tv_sec
							    : 0)
	};
	struct line_files *tables = NULL;

	for (size_t i = 0; i < a->n; i++) {
		const struct annot_insn *in = &a->insn[i];
		const char *path = in->file;

		if (!path || !in->line || in->source)
			continue;
		if (!tables)
			tables = line_files_open(sy, img);
		/* the instructions of this file from here on share it */
		proof.md5 = line_files_md5(tables, path);
		proof.last = 0;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path) &&
			    a->insn[k].line > proof.last)
				proof.last = a->insn[k].line;

		struct annot_declared d = { .path = path };

		if (!proof.md5)
			line_files_declared(tables, in->off, annot_add_declared,
					    &d);
		proof.declared = d.name;
		proof.n_declared = d.n;
		raise_to(proof.last, d.last);
		const struct source_file *f = sources_get(s, path, &proof);
		arena_release(&d.text);
		free(d.name);
		*mem_add(a->source, a->n_source, a->cap_source) = f;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path))
				a->insn[k].source = f;
	}
	line_files_close(tables);
}

/* ---- all of it */

/* Gives the functions that the code names a name for people. */
static int annot_shorten(struct annot *a, const struct name_opts *o,
			 struct store *db, struct err *err)
{
	struct shown_names *names = shown_names_new();
	int rc = shown_names_read(names, o, db, err);

	for (size_t i = 0; i < a->n; i++) {
		shown_names_add(names, a->insn[i].target);
		shown_names_add(names, a->insn[i].inlined);
	}
	shown_names_make(names, o, &a->text);
	for (size_t i = 0; i < a->n; i++) {
		struct annot_insn *in = &a->insn[i];

		in->target_shown = shown_names_get(names, in->target);
		in->inlined_shown = shown_names_get(names, in->inlined);
	}
	shown_names_free(names);
	return rc;
}

int annot_load(struct annot *a, struct store *db, struct symbolizer *sy,
	       const struct hot *h, const struct hot_choice *c,
	       const struct annot_opts *o, struct err *err)
{
	struct annot_loader l = { .a = a, .h = h, .c = c };
	int rc = -1;

	if (!open_code(&l, db, sy, o, err)) {
		a->image = h->path[c->image];
		a->file = arena_strdup(&a->text, code_bytes_path(l.code));
		a->name = c->func && c->func->name ? c->func->name : NULL;
		a->shown = a->name ? c->func->shown : NULL;
		a->event = h->event;
		a->unit = h->unit;
		a->trust = h->trust;
		a->all_weight = h->weight;
		a->all_samples = h->samples;
		if (l.code->machine == EM_X86_64 || l.code->machine == EM_386)
			a->syntax = o->intel ? "intel" : "att";
		find_bounds(&l);
		rc = disassemble(&l, o, err);
	}
	if (!rc) {
		struct annot *annot = l.a;

		for (size_t k = 0; k < l.h->n_spot; k++) {
			const struct hot_spot *s = &l.h->spot[k];

			if (s->image != l.c->image || s->off < annot->start ||
			    s->off >= annot->end)
				continue;
			annot->weight += s->weight;
			annot->samples += s->samples;
			struct annot_insn *in = annot_insn_at(annot, s->off);
			if (!in)
				continue;
			in->weight += s->weight;
			in->samples += s->samples;
			raise_to(annot->peak, in->weight);
		}
		rc = annot_name_places(&l, sy, o->lines, err);
	}
	if (!rc)
		annot_put_names(&l);
	rc = rc ? rc : annot_shorten(a, &h->names, db, err);
	if (!rc && o->sources)
		annot_find_sources(a, sy, &l.img, o->sources);
	if (!rc) {
		for (size_t i = 0; i < a->n; i++) {
			const struct annot_insn *in = &a->insn[i];

			if (!in->samples)
				continue;
			struct hot_line *lines = hot_lines_add(
				&a->lines, in->file ? in->file : "", in->line,
				in->weight, in->samples);
			lines->source = in->source;
		}
		hot_lines_sort(&a->lines);
	}
	code_bytes_close(l.code);
	free(l.called);
	return rc;
}

void annot_release(struct annot *a)
{
	free_all(a->insn, a->source);
	hot_lines_release(&a->lines);
	arena_release(&a->text);
}

/* ---- source lines before an instruction */

/* Lines that are shown at most at a time: a jump further ahead is mostly one
 * over other functions. */
#define LINES_AHEAD 12

static bool annot_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void annot_lines_go(struct annot_lines *l, const struct annot_insn *in)
{
	const struct annot_insn *was = l->shown;
	bool same = was && annot_same_text(was->file, in->file) &&
		    annot_same_text(was->inlined, in->inlined);
	uint32_t top = l->last;

	l->place = false;
	l->next = top + 1;
	if (!in->file || !in->line || (same && was->line == in->line))
		return;
	l->shown = in;
	l->place = !same || !source_line(in->source, in->line);
	l->last = l->next = in->line;
	if (same && top < in->line && in->line - top <= LINES_AHEAD)
		l->next = top + 1;
}
