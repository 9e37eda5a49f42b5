/* page_source.c - the hot functions of an HTML page, as instructions and source
 * lines. */
#include "cli/page/page_parts.h"

#include <stdbool.h>

#include "cli/ingest/name.h"
#include "analyze/names/source_text.h"
#include "analyze/stacks/stacks.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/page/page_bytes.h"
#include "cli/page/page_data.h"
#include "analyze/listing/annot.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/symbolize.h"

/* What a page of a few hundred kB has room for. */
#define FUNCTIONS_MAX 24
#define INSNS_MAX 3000	  /* of a function in the page */
#define INSNS_READ 100000 /* of a function, at most: 400 KB of code */
#define NEAR 200	  /* instructions before and after one with samples */
#define AROUND 3	  /* lines before and after those with code */

struct page_func {
	const struct hot_func *f;
	struct annot a;
	char why[sizeof(((struct err *)NULL)->msg)]; /* "": its code is here */
	uint32_t first; /* the number of its first instruction */
	uint32_t *gap;	/* by instruction: how many are left out before it */
	size_t out;	/* instructions that are left out */
};

struct page_source {
	struct hot h;
	struct sources *sources;
	struct page_func *func;
	size_t n_func;
	uint32_t *insn; /* by frame: 1 + number of the instruction; 0: none */
	size_t n_insn, cap_insn;
	struct blob spots;
	/* files with lines in the page, and the lines that are, by number */
	struct page_file {
		const struct source_file *f;
		bool *wanted;
	} * file;
	size_t n_file, cap_file;
};

static int page_source_compare(const void *a, const void *b)
{
	const struct hot_func *x = *(const struct hot_func *const *)a;
	const struct hot_func *y = *(const struct hot_func *const *)b;

	/* weights of several events are not comparable, samples are */
	return compare_numbers(y->samples, x->samples) ?: compare_numbers(x, y);
}

/* Marks the instructions with samples and `near` before and after each of them.
 * Returns how many are marked. */
static size_t page_source_mark_near(const struct annot *a, size_t near,
				    bool *keep)
{
	size_t n = 0;

	for (size_t i = 0, next = 0; i < a->n; i++) {
		size_t to = i + near < a->n ? i + near + 1 : a->n;

		if (!a->insn[i].samples)
			continue;
		for (next = next + near > i ? next : i - near; next < to;
		     next++, n++)
			keep[next] = true;
	}
	return n;
}

static void page_source_load(struct page_source *p, struct store *db,
			     const struct name_ask *names)
{
	struct annot_opts o = { .lines = true,
				.limit = INSNS_READ,
				.sources = p->sources };
	struct symbolizer *sy = name_symbolizer(names, db, NULL, NULL);
	uint32_t next = 0;

	for (size_t i = 0; i < p->n_func; i++) {
		struct page_func *f = &p->func[i];
		const struct hot_choice c = { f->f, f->f->image, f->f->peak_off,
					      0,    NULL,	 1 };
		struct err err = { 0 };

		/* comparing reads all code of the file, which may be 100 MB */
		o.changed = name_tell_changed;
		for (size_t k = 0; k < i; k++)
			if (p->func[k].f->image == f->f->image)
				o.changed = NULL;
		if (annot_load(&f->a, db, sy, &p->h, &c, &o, &err))
			memcpy(f->why, err.msg, sizeof(f->why));
		/* Takes the instructions of a large function out that are
		 * far from samples. A jump to one of them keeps its address
		 * only. */
		struct annot *a = &f->a;
		bool *keep OWNED = mem_new(a->n + 1, sizeof(*keep));
		long *place OWNED = mem_new(a->n + 1, sizeof(*place));
		size_t near = NEAR;
		size_t n = 0;
		uint32_t gap = 0;

		f->gap = mem_new(a->n + 1, sizeof(*f->gap));
		/* the more samples there are, the nearer to them is what is
		 * kept */
		while (a->n > INSNS_MAX &&
		       page_source_mark_near(a, near, keep) > INSNS_MAX &&
		       near) {
			near /= 2;
			memset(keep, 0, a->n * sizeof(*keep));
		}
		for (size_t m = 0; m < a->n; m++) {
			place[m] = -1;
			if (a->n > INSNS_MAX && !keep[m]) {
				gap++;
				continue;
			}
			f->gap[n] = gap;
			gap = 0;
			place[m] = (long)n;
			a->insn[n++] = a->insn[m];
		}
		for (size_t m = 0; m < n; m++)
			if (a->insn[m].to >= 0)
				a->insn[m].to = place[a->insn[m].to];
		f->out = a->n - n;
		a->n = n;
		f->first = next;
		next += (uint32_t)f->a.n;
	}
	symbolize_free(sy);
}

static const struct page_func *page_source_func_at(const struct page_source *p,
						   const struct hot_spot *s)
{
	for (size_t i = 0; i < p->n_func; i++) {
		const struct page_func *f = &p->func[i];

		if (f->f->image == s->image && f->a.n && s->off >= f->a.start &&
		    s->off < f->a.end)
			return f;
	}
	return NULL;
}

/* Returns the number of a file; n_file: it is new. */
static uint32_t page_source_file(const struct page_source *p,
				 const struct source_file *f)
{
	uint32_t i = 0;

	while (i < p->n_file && p->file[i].f != f)
		i++;
	return i;
}

/* Marks the lines of a file from a to b, counted from 1. */
static void page_source_want(struct page_file *f, uint32_t a, uint32_t b)
{
	for (uint32_t line = a ? a : 1; line <= b && line <= f->f->n_line;
	     line++)
		f->wanted[line] = true;
}

/* Marks the lines of a function with some around them, and what is between
 * lines of its own, not of what is inlined from elsewhere. */
static void page_source_mark(struct page_source *p, const struct annot *a)
{
	struct annot_lines l = { .shown = NULL };

	for (size_t i = 0; i < a->n; i++) {
		const struct annot_insn *in = &a->insn[i];

		if (!in->source)
			continue;
		uint32_t k = page_source_file(p, in->source);

		if (k == p->n_file) {
			bool *wanted = mem_new(in->source->n_line + 1,
					       sizeof(*wanted));

			*mem_add(p->file, p->n_file, p->cap_file) =
				(struct page_file){ in->source, wanted };
		}
		struct page_file *f = &p->file[k];

		annot_lines_go(&l, in);
		page_source_want(f, in->line > AROUND ? in->line - AROUND : 1,
				 in->line + AROUND);
		if (l.next <= l.last)
			page_source_want(f, l.next, l.last);
	}
}

struct page_source *page_source_new(struct store *db, struct stacks *s,
				    const struct page_opts *o, struct err *err)
{
	struct page_source *p = mem_new(1, sizeof(*p));

	p->h.names = o->names;
	p->sources = sources_new(o->source_dir, o->n_source_dir, true);
	if (name_check(o->files, err) || hot_load(&p->h, db, s, -1, err)) {
		page_source_free(p);
		return NULL;
	}
	const struct hot_func **list OWNED =
		mem_new(p->h.n_func + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < p->h.n_func; i++)
		if (p->h.func[i].name)
			list[n++] = &p->h.func[i];
	sort_items(list, n, page_source_compare);
	p->n_func = n < FUNCTIONS_MAX ? n : FUNCTIONS_MAX;
	p->func = mem_new(p->n_func + 1, sizeof(*p->func));
	for (size_t i = 0; i < p->n_func; i++)
		p->func[i].f = list[i];
	page_source_load(p, db, o->files);
	for (size_t k = 0; k < p->h.n_spot; k++) {
		const struct hot_spot *sp = &p->h.spot[k];
		const struct page_func *f = page_source_func_at(p, sp);
		const struct annot_insn *in =
			f ? annot_insn_at(&f->a, sp->off) : NULL;

		if (!in)
			continue;
		*mem_at(p->insn, p->n_insn, p->cap_insn, sp->frame) =
			f->first + (uint32_t)(in - f->a.insn) + 1;
	}
	for (size_t i = 0; i < s->n_group; i++) {
		uint32_t frame = hot_leaf(&p->h, &s->group[i]);

		blob_leb(&p->spots, frame < p->n_insn ? p->insn[frame] : 0);
	}
	for (size_t i = 0; i < p->n_func; i++)
		page_source_mark(p, &p->func[i].a);
	return p;
}

void page_source_free(struct page_source *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_func; i++) {
		annot_release(&p->func[i].a);
		free(p->func[i].gap);
	}
	for (size_t i = 0; i < p->n_file; i++)
		free(p->file[i].wanted);
	free_all(p->func, p->file, p->insn, p->spots.at);
	sources_free(p->sources);
	hot_release(&p->h);
	free(p);
}

/* [address, text, line, file + 1, jump target in the function + 1, function
 * that is inlined, instructions that are left out before it] without the zeros
 * at its end */
static void page_source_put_insn(const struct page_source *p,
				 const struct annot_insn *in, uint32_t gap,
				 struct json *j)
{
	json_array(j, NULL);
	json_hex(j, NULL, in->insn.addr);
	/* The instruction as text: mnemonic, operands, and the function that it
	 * leads to. */
	char *text OWNED = NULL;
	FILE *f = mem_stream(&text, NULL);

	fprintf(f, in->insn.operands[0] ? "%-8s %s" : "%s", in->insn.mnemonic,
		in->insn.operands);
	if (in->target)
		fprintf(f, "  <%s%s", in->target_shown, in->beyond ? "" : ">");
	if (in->target && in->beyond)
		fprintf(f, "+0x%llx>", (unsigned long long)in->beyond);
	mem_stream_end(f);
	json_shown(j, NULL, text);
	if (in->source || in->to >= 0 || in->inlined || gap) {
		json_uint(j, NULL, in->line);
		json_uint(j, NULL,
			  in->source ? page_source_file(p, in->source) + 1 : 0);
	}
	if (in->to >= 0 || in->inlined || gap)
		json_int(j, NULL, in->to + 1);
	if (in->inlined || gap)
		json_shown(j, NULL, in->inlined ? in->inlined : "");
	if (gap)
		json_uint(j, NULL, gap);
	json_end(j);
}

void page_source_tell(const struct page_source *p, FILE *out)
{
	const char *between = "<p class=\"quiet\" id=\"carries\">This page has "
			      "lines of these source files: ";

	for (size_t i = 0; i < p->n_file; i++) {
		if (!p->file[i].f->found)
			continue;
		fputs(between, out);
		safe_text_xml(out, p->file[i].f->found, 0);
		between = ", ";
	}
	if (*between == ',')
		fputs("</p>\n", out);
}

void page_source_write(const struct page_source *p, FILE *out)
{
	struct json j;

	fputs("<script type=\"application/json\" id=\"code\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_array(&j, "functions");
	/* [name, image, file of the code, why there is none, instructions,
	 * offset of its start, instructions that are left out] */
	for (size_t i = 0; i < p->n_func; i++) {
		const struct page_func *f = &p->func[i];
		const char *image = p->h.path[f->f->image];

		json_array(&j, NULL);
		json_shown(&j, NULL, f->f->name);
		json_shown(&j, NULL, image ? image : "");
		json_shown(&j, NULL, f->a.file ? f->a.file : "");
		json_shown(&j, NULL, f->why);
		json_array(&j, NULL);
		for (size_t k = 0; k < f->a.n; k++) {
			json_break(&j);
			page_source_put_insn(p, &f->a.insn[k], f->gap[k], &j);
		}
		json_end(&j);
		json_hex(&j, NULL, f->f->start);
		json_uint(&j, NULL, f->out);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "files");
	/* [path, how it was found, runs of lines ...], a run: [first, text,
	 * ...] */
	for (size_t i = 0; i < p->n_file; i++) {
		const bool *wanted = p->file[i].wanted;
		const struct source_file *f = p->file[i].f;

		json_array(&j, NULL);
		json_shown(&j, NULL, f->found ? f->found : f->path);
		json_text(&j, NULL, f->how);
		for (uint32_t line = 1; line <= f->n_line; line++) {
			if (!wanted[line])
				continue;
			json_array(&j, NULL);
			json_uint(&j, NULL, line);
			for (; line <= f->n_line && wanted[line]; line++)
				json_shown(&j, NULL, source_line(f, line));
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputs("\n</script>\n", out);
	page_bytes_write(&p->spots, "spots", out);
}
