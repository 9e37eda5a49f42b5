/* page.c - a database as one HTML page: what is around data and scripts. */
#include "cli/page/page.h"

#include <errno.h>
#include <stdbool.h>

#include "analyze/check/check.h"
#include "analyze/listing/annot.h"
#include "analyze/names/source_text.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/word_meanings.h"
#include "analyze/waits/waits.h"
#include "cli/check/check_print.h"
#include "cli/ingest/name.h"
#include "cli/output/grid.h"
#include "cli/page/page_bytes.h"
#include "cli/page/page_sides.h"
#include "cli/path/path.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/svg.h"
#include "cli/tables/diff_text.h"
#include "schema/columns.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "symbolize/symbolize.h"

/* Limits of the code of hot functions, for a page of a few hundred kB. */
#define FUNCTIONS_MAX 24
#define INSNS_MAX 3000	  /* of a function in the page */
#define INSNS_READ 100000 /* of a function, at most: 400 KB of code */
#define NEAR 200	  /* instructions before and after one with samples */
#define AROUND 3	  /* lines before and after those with code */

struct page_func {
	const struct hot_func *f;
	struct annot a;
	char why[sizeof(((struct err *)NULL)->msg)]; /* "": its code is here */
	uint32_t first; /* number of its first instruction in the page */
	uint32_t *gap;	/* by instruction: how many are left out before it */
	size_t out;	/* count of instructions that are left out */
};

struct page_source {
	struct hot h;
	struct sources *sources;
	struct page_func *func;
	size_t n_func;
	uint32_t *insn; /* by frame: 1 + number of the instruction; 0: none */
	size_t n_insn, cap_insn;
	struct blob spots;
	/* a file with lines in the page */
	struct page_file {
		const struct source_file *f;
		bool *wanted; /* by number of a line: it is in the page */
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

/* Loads the code of the functions, in large ones only what is near samples. */
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

		/* once: comparing reads all code of a file, maybe 100 MB */
		o.changed = name_tell_changed;
		for (size_t k = 0; k < i; k++)
			if (p->func[k].f->image == f->f->image)
				o.changed = NULL;
		if (annot_load(&f->a, db, sy, &p->h, &c, &o, &err))
			memcpy(f->why, err.msg, sizeof(f->why));
		/* Drop the instructions of a large function that are far from
		 * samples. A jump to one of these keeps only its address. */
		struct annot *a = &f->a;
		bool *keep OWNED = mem_new(a->n + 1, sizeof(*keep));
		long *place OWNED = mem_new(a->n + 1, sizeof(*place));
		size_t near = NEAR;
		size_t n = 0;
		uint32_t gap = 0;

		f->gap = mem_new(a->n + 1, sizeof(*f->gap));
		/* with more samples, only what is nearer to them is kept */
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

/* Returns the number of a file; n_file if it is new. */
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

/* Marks the lines of a function with AROUND lines before and after each, and
 * the lines between them that annotate shows (annot_lines_go()). */
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

static void page_source_free(struct page_source *p)
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

/* Loads the functions with the most samples of their own. If the code of one is
 * not found, the page says why instead. Returns NULL and *err if the database
 * is damaged, or o names a file that cannot be read. */
static struct page_source *page_source_new(struct store *db, struct stacks *s,
					   const struct page_opts *o,
					   struct err *err)
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

/* Writes [address, text, line, file + 1, jump target in the function + 1,
 * function that is inlined, instructions that are left out before it], without
 * zeros at the end. */
static void page_source_put_insn(const struct page_source *p,
				 const struct annot_insn *in, uint32_t gap,
				 struct json *j)
{
	json_array(j, NULL);
	json_hex(j, NULL, in->insn.addr);
	/* text: mnemonic, operands, and the function that it leads to */
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

/* Writes which source files the page has lines of. */
static void page_source_tell(const struct page_source *p, FILE *out)
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

/* Writes the blocks "code" and "spots". */
static void page_source_write(const struct page_source *p, FILE *out)
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
	/* [path, how it was found, run, ...]; a run: [first, text, ...] */
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

static void page_diff_put_sentence(const struct compare *c, diff_tell_fn *tell,
				   int which, struct json *j, const char *key)
{
	char *text OWNED = diff_sentence(c, tell, which);

	json_text(j, key, text);
}

/* Writes nine numbers of a row, by self or by total: the weights in A and B,
 * the samples in A and B, whether it takes more (1), less (-1) or neither is
 * proved (0), the p-value, how much larger it is in B than the unchanged rest
 * predicts, whether missing callers could explain that (1), and whether the
 * function is new (1) or gone (-1) by the programs. */
static void page_diff_put_place(const struct diff_rows *d, size_t row,
				bool total, struct json *j)
{
	const struct diff_place *p = &d->place[total][row];

	json_array(j, NULL);
	json_uint(j, NULL, d->row[row].weight[0][total]);
	json_uint(j, NULL, d->row[row].weight[1][total]);
	json_uint(j, NULL, p->a);
	json_uint(j, NULL, p->b);
	json_int(j, NULL, p->change);
	json_real(j, NULL, p->p);
	json_real(j, NULL, diff_rows_excess_of(d, row, total));
	json_int(j, NULL, diff_rows_doubtful(d, row, total));
	json_int(j, NULL, p->only);
	json_end(j);
}

/* Writes the block "diff". */
static void page_diff_put_json(const struct diff_model *m, FILE *out)
{
	struct json j;

	fputs("<script type=\"application/json\" id=\"diff\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_shown(&j, "event",
		   compare_event(&m->c) ? compare_event(&m->c)
					: "several events");
	json_bool(&j, "absolute", m->c.d->absolute);
	json_bool(&j, "times", m->c.between > 0);
	json_uint(&j, "nodes", m->all->n);
	/* alone, images, cause, [of each side: what it is, how far it can be
	 * trusted], [what changed by self, by total] */
	page_diff_put_sentence(&m->c, diff_tell_alone, 0, &j, "alone");
	page_diff_put_sentence(&m->c, diff_tell_images, 0, &j, "images");
	page_diff_put_sentence(
		&m->c, m->c.between > 0 ? diff_tell_cause : diff_tell_moved, 0,
		&j, "cause");
	json_array(&j, "sides");
	for (int side = 0; side < 2; side++) {
		json_array(&j, NULL);
		page_diff_put_sentence(&m->c, diff_tell_side, side, &j, NULL);
		page_diff_put_sentence(&m->c, diff_tell_trust, side, &j, NULL);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "says");
	for (int total = 0; total < 2; total++)
		page_diff_put_sentence(&m->c, diff_tell_result, total, &j,
				       NULL);
	json_end(&j);
	json_real(&j, "scale", m->c.d->scale);
	json_int(&j, "cause_row",
		 m->c.d->cause.row == REPORT_NONE ? -1
						  : (int64_t)m->c.d->cause.row);
	json_array(&j, "weights");
	for (int side = 0; side < 2; side++)
		json_uint(&j, NULL, m->c.d->side[side].weight);
	json_end(&j);
	json_array(&j, "runs");
	for (int side = 0; side < 2; side++)
		json_uint(&j, NULL, m->c.d->side[side].runs);
	json_end(&j);
	/* [name, class, kernel code, image, row or -1] */
	json_array(&j, "labels");
	for (uint32_t id = 0; id < labels_count(m->c.labels); id++) {
		const struct label *l = labels_get(m->c.labels, id);
		uint32_t row = diff_rows_of_label(m->c.d, id);
		char css_class[3];

		palette_class(l, css_class);
		json_array(&j, NULL);
		json_shown(&j, NULL, l->name);
		json_text(&j, NULL, css_class);
		json_uint(&j, NULL, l->kernel);
		json_shown(&j, NULL, l->image);
		json_int(&j, NULL, row == REPORT_NONE ? -1 : (int64_t)row);
		json_end(&j);
	}
	json_end(&j);
	/* [name, image, why it cannot be judged or null, [self], [total]] */
	json_array(&j, "functions");
	for (size_t row = 0; row < m->c.d->n; row++) {
		const struct label *l = diff_rows_label(m->c.d, row);

		json_array(&j, NULL);
		json_shown(&j, NULL, l->name);
		json_shown(&j, NULL, l->image);
		json_text(&j, NULL, m->c.d->row[row].unknown);
		page_diff_put_place(m->c.d, row, false, &j);
		page_diff_put_place(m->c.d, row, true, &j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputs("\n</script>\n", out);
}

#define HOT_ROWS 50

/* A table: a query whose column names are the headings. */
struct page_table {
	const char *id, *title, *about, *query;
	const char *verdicts_of; /* kind of the verdicts in the first column,
				  * NULL if it has none */
};

static const struct page_table tables[] = {
	{ "requests", "What became of the requests",
	  "A request is a sample whose user stack was to come later.",
	  "page_requests", "request" },
	{ "chains", "What became of the user stacks",
	  "A chain is such a user stack, recorded on the way out of the "
	  "kernel.",
	  "page_chains", "chain" },
	{ "losses", "What was lost",
	  "Records that the kernel or the recorder dropped, and what else was "
	  "not recorded. No CPU: it was not said which.",
	  "page_losses", NULL },
	{ "findings", "What must not happen and did",
	  "What 'backstitch check' found besides user stacks.", "page_findings",
	  NULL },
	{ "latency", "How long user stacks took",
	  "From a sample in the kernel to its user stack. Negative: the sample "
	  "is later.",
	  "page_latency", NULL },
	{ "unnamed", "Code without a name", "Files of which places have none.",
	  "page_unnamed", NULL },
	{ "damage", "What could not be read", "Damage, and what was skipped.",
	  "page_damage", NULL },
	{ "notes", "Notes", "What else the recorder tells, which is no damage.",
	  "page_notes", NULL },
	{ "events", "Events", "", "page_events", NULL },
	{ "captures", "Captures",
	  "What was read; times are on the common timeline.", "page_captures",
	  NULL },
};

static void page_tables_put_head_cell(FILE *out, const char *name, bool number)
{
	fprintf(out, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
	safe_text_xml(out, name, 0);
	fputs("</th>", out);
}

static void page_tables_begin(FILE *out, const char *id, const char *title,
			      const char *about)
{
	fprintf(out,
		"<section id=\"t-%s\"><h2>%s</h2>\n<p class=\"quiet\">%s</p>\n",
		id, title, about);
}

/* Writes a cell. A real is a share of all; numbers are aligned to the right. */
static void page_tables_put_cell(FILE *out, struct value v)
{
	switch (v.kind) {
	case VALUE_INT:
		fputs("<td class=\"n\">", out);
		if (v.num < 0)
			fputs("\xe2\x88\x92", out);
		fputs(HUMAN_GROUPED(v.num < 0 ? -(uint64_t)v.num
					      : (uint64_t)v.num),
		      out);
		break;
	case VALUE_REAL:
		fputs("<td class=\"n\">", out);
		safe_text_xml(out, HUMAN_PERCENT(v.real, 1), 0);
		break;
	case VALUE_TEXT:
		/* texts such as "12.5" are aligned like numbers */
		fprintf(out, "<td%s>",
			v.text[0] >= '0' && v.text[0] <= '9' &&
					strspn(v.text, "0123456789. x") ==
						strlen(v.text)
				? " class=\"n\""
				: "");
		safe_text_xml(out, v.text, 0);
		break;
	default:
		fputs("<td>", out);
	}
	fputs("</td>", out);
}

/* Writes a table, unless it has no rows. Returns 0, or -1 and *err. */
static int page_tables_put_table(FILE *out, struct store *db,
				 const struct page_table *t, struct err *err)
{
	struct rows *r = rows_of(db, t->query, err);
	size_t n = 0;

	while (rows_step(r)) {
		if (!n++) {
			page_tables_begin(out, t->id, t->title, t->about);
			fputs("<div class=\"wide\"><table><thead><tr>", out);
			for (size_t i = 0; i < rows_columns(r); i++)
				page_tables_put_head_cell(
					out, rows_name(r, i),
					rows_value(r, i).kind == VALUE_INT);
			if (t->verdicts_of)
				page_tables_put_head_cell(out, "Meaning",
							  false);
			fputs("</tr></thead><tbody>\n", out);
		}
		fputs("<tr>", out);
		for (size_t i = 0; i < rows_columns(r); i++)
			page_tables_put_cell(out, rows_value(r, i));
		if (t->verdicts_of) {
			const char *text = verdict_meaning(
				t->verdicts_of,
				rows_text(r, PAGE_REQUESTS_VERDICT));

			fprintf(out, "<td>%s</td>", text ? text : "");
		}
		fputs("</tr>\n", out);
	}
	if (n)
		fputs("</tbody></table></div></section>\n", out);
	return rows_end(r, err);
}

static void page_tables_put_percent(FILE *out, uint64_t part, uint64_t whole)
{
	fputs("<td class=\"n\">", out);
	safe_text_xml(out, HUMAN_SHARE(part, whole), 0);
	fputs("</td>", out);
}

extern const char text_page_css[];
extern const char text_page_source_css[];
extern const char text_page_diff_css[];
extern const char text_page_html[];
/* In this order: the last one starts the page. */
#define SCRIPTS(X)                                                             \
	X(picture)                                                             \
	X(page_model)                                                          \
	X(page_draw)                                                           \
	X(page_ui)                                                             \
	X(page_tracks)                                                         \
	X(page_chain)                                                          \
	X(page_time)                                                           \
	X(page_heat)                                                           \
	X(page_count)                                                          \
	X(page_source)                                                         \
	X(page_sides)                                                          \
	X(page_diff)                                                           \
	X(page_link)                                                           \
	X(page_png)                                                            \
	X(page_input)
#define DECLARE(id) extern const char text_##id##_js[];
SCRIPTS(DECLARE)
#define TEXT(id) text_##id##_js,
static const char *const scripts[] = { SCRIPTS(TEXT) };

struct html_page {
	struct store *db;
	const char *path;
	const struct filter *filter;
	bool inlined_rows;
	struct page_data *data;
	struct page_shown shown;
	struct page_source *source;    /* NULL: not in the page */
	const struct diff_model *diff; /* NULL: not in the page */
	struct page_sides *sides;
};

struct html_page *html_page_new(struct store *db, const char *path,
				const struct page_opts *o, struct err *err)
{
	struct html_page *p = mem_new(1, sizeof(*p));
	uint64_t weight, samples;

	p->db = db;
	p->path = path;
	p->filter = o->filter;
	p->inlined_rows = o->inlined_rows;
	p->diff = o->diff;
	p->sides = o->sides;
	p->data = page_data_new(db, path, o, &p->shown, err);
	/* shown.event is never that of waits, which are no samples */
	if (p->data && p->shown.event < 0) {
		err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			filter_that_passed(o->filter));
	} else if (p->data &&
		   !stacks_whole(p->shown.stacks, p->shown.event, path,
				 "use --by samples", &weight, &samples, err)) {
		if (o->source)
			p->source =
				page_source_new(db, p->shown.stacks, o, err);
		if (!o->source || p->source)
			return p;
	}
	html_page_free(p);
	return NULL;
}

void html_page_free(struct html_page *p)
{
	if (!p)
		return;
	page_source_free(p->source);
	page_data_free(p->data);
	free(p);
}

#define OPTION_MAX 40 /* characters: what is longer has to be broken */

/* Writes text in which the names of options are not broken at their hyphens. */
static void html_page_put_words(FILE *out, const char *s)
{
	while (*s) {
		size_t n = 0;

		while (s[n] && (s[n] != '-' || (n && !strchr(" '(", s[n - 1]))))
			n++;
		char *plain OWNED = mem_dup(s, n);

		safe_text_xml(out, plain, 0);
		s += n;
		n = strspn(s, "-abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (n > OPTION_MAX)
			n = OPTION_MAX;
		if (n)
			fprintf(out, "<span class=\"option\">%.*s</span>",
				(int)n, s);
		s += n;
	}
}

static void html_page_put_fact(FILE *out, uint64_t n, const char *what,
			       const char *css_class)
{
	fprintf(out, "<li%s%s%s><b>%s</b> %s</li>\n",
		css_class ? " class=\"" : "", css_class ? css_class : "",
		css_class ? "\"" : "", HUMAN_GROUPED(n), what);
}

/* What check prints first, about what the filters select. */
struct banner {
	const char *word;   /* "broken", "clean", "unproved", ... */
	char verdict[2048]; /* "broken: 382 requests without ..." */
	char trust[TRUST_SENTENCE];
	char *advice; /* sentences, each with a line break after it */
	struct check_breaks breaks;
	bool losses;	  /* the filters can be followed to what was lost */
	int64_t findings; /* all, not only those that break the capture */
};

static void banner_take_advice(void *arg, const char *sentence)
{
	fprintf(arg, "%s\n", sentence);
}

/* Fills *b. Returns 0, or -1 and *err; in any case free b->advice. */
static int banner_read(struct store *db, const char *path,
		       const struct filter *filter, struct banner *b,
		       struct err *err)
{
	struct check c RELEASED_BY(check_forget) = {
		.db = db, .path = path, .filter = filter, .banner = true
	};
	struct lines l = { .len = 0 };

	*b = (struct banner){ .word = "" };
	if (check_filters(&c, err) || check_judge(&c, err) ||
	    check_sum(&c, "findings", "findings", &b->findings, err))
		return -1;
	b->word = check_verdict(&c);
	lines_add(&l, "%s: ", b->word);
	check_say_verdict(&c, &l);
	snprintf(b->verdict, sizeof(b->verdict), "%s", l.text);
	trust_say(c.trust, b->trust);
	b->breaks = c.breaks;
	b->losses = check_covers(&c, CHECK_RING);
	FILE *advice = mem_stream(&b->advice, NULL);
	int rc = check_advice(&c, banner_take_advice, advice, err);

	mem_stream_end(advice);
	return rc;
}

/* Writes the sentences of an advice, one in each line, as a list. */
static void html_page_put_advice(FILE *out, const char *s)
{
	if (!*s)
		return;
	fputs("<p>What to do:</p><ul class=\"advice\">\n", out);
	while (*s) {
		size_t n = strcspn(s, "\n");
		char *line OWNED = mem_dup(s, n);

		fputs("<li>", out);
		html_page_put_words(out, line);
		fputs("</li>\n", out);
		s += n + (s[n] == '\n');
	}
	fputs("</ul>\n", out);
}

/* Writes what check says: trust, verdict, figures, and what to do. Returns 0,
 * or -1 and *err. */
static int html_page_put_banner(const struct html_page *p, FILE *out,
				struct err *err)
{
	const char *trust = p->shown.trust;
	const struct offcpu_sums *waits = p->shown.waits;
	struct banner b;
	char *answer OWNED = NULL;
	int rc = banner_read(p->db, p->path, p->filter, &b, err);
	char *advice OWNED = b.advice;

	if (rc)
		return rc;
	fprintf(out, "<div id=\"banner\" class=\"%s\">\n", b.word);
	FILE *asked = mem_stream(&answer, NULL);

	if (!filter_given(p->filter))
		rc = path_put_recorded(p->db, p->path, asked, err);
	mem_stream_end(asked);
	if (rc)
		return rc;
	for (char *rest = answer, *line;
	     (line = strtok_r(rest, "\n", &rest));) {
		fputs(line == answer ? "<p class=\"answer\">" : "<p>", out);
		html_page_put_words(out, line);
		fputs("</p>\n", out);
	}
	fputs("<p class=\"trust\">", out);
	html_page_put_words(out, trust ? trust : b.trust);
	fputs("</p>\n<p class=\"verdict\">", out);
	html_page_put_words(out, b.verdict);
	const struct stacks *s = p->shown.stacks;
	size_t count = 0;

	for (size_t i = 0; i < s->n_event; i++)
		count += s->event[i].samples > 0;
	if (count > 1)
		fputs(" <span class=\"quiet\">(of all events; the line above "
		      "is of the chosen one)</span>",
		      out);
	fputs("</p>\n<ul class=\"facts\">\n", out);
	if (!filter_given(p->filter)) {
		struct rows *r = rows_of(p->db, "sampled", err);

		while (rows_step(r)) {
			uint64_t n = (uint64_t)rows_int(r, SAMPLED_SAMPLES);

			html_page_put_fact(out, n,
					   n == 1 ? "sample" : "samples", NULL);
		}
		rc = rows_end(r, err);
	}
	/* Write the figures of check: only what it calls broken is red. */
	int64_t excused = b.breaks.asked - b.breaks.joined - b.breaks.refused -
			  b.breaks.requests;

	if (b.breaks.asked) {
		html_page_put_fact(out, (uint64_t)b.breaks.asked,
				   "user stacks asked for", NULL);
		html_page_put_fact(out, (uint64_t)b.breaks.joined, "joined",
				   NULL);
		if (b.breaks.refused)
			html_page_put_fact(out, (uint64_t)b.breaks.refused,
					   "answered at once", NULL);
		html_page_put_fact(out, (uint64_t)b.breaks.requests, "missing",
				   b.breaks.requests ? "bad" : NULL);
		if (excused > 0)
			html_page_put_fact(out, (uint64_t)excused,
					   "not to be expected", NULL);
	}
	if (b.losses && !b.breaks.lost && b.breaks.lost_unknown)
		html_page_put_fact(out, (uint64_t)b.breaks.lost_unknown,
				   b.breaks.lost_unknown == 1
					   ? "loss of an unknown number"
					   : "losses of an unknown number",
				   "bad");
	else if (b.losses)
		html_page_put_fact(out, (uint64_t)b.breaks.lost,
				   b.breaks.lost_unknown
					   ? "records lost, and more"
				   : b.breaks.lost == 1 ? "record lost"
							: "records lost",
				   b.breaks.lost ? "bad" : NULL);
	/* the findings that the verdict counts, if there are any */
	int64_t n = b.breaks.findings	     ? b.breaks.findings
		    : b.breaks.open_findings ? b.breaks.open_findings
					     : b.findings;
	char what[48];

	snprintf(what, sizeof(what), "finding%s%s", n == 1 ? "" : "s",
		 b.breaks.findings	  ? ""
		 : b.breaks.open_findings ? ", not proved"
					  : ", harmless or explained");
	if (n)
		html_page_put_fact(out, (uint64_t)n, what,
				   b.breaks.findings ? "bad" : NULL);
	fputs("</ul>\n", out);
	html_page_put_advice(out, advice);
	if (p->shown.served)
		fputs("<p>A server added these samples up: they have no times, "
		      "so there is no track of time, and those of one thread "
		      "name, CPU and stack share their weight evenly.</p>\n",
		      out);
	if (offcpu_sampled(waits))
		fprintf(out,
			"<p>Context switches were sampled, %s of %s, so no "
			"waits are drawn; <code>perf record -c 1</code> "
			"records all.</p>\n",
			HUMAN_GROUPED(waits->recorded),
			HUMAN_GROUPED(waits->happened));
	if (filter_given(p->filter))
		fputs("<p>The samples are filtered; tables of losses and "
		      "verdicts are of the whole capture.</p>\n",
		      out);
	fputs("</div>\n", out);
	return rc;
}

int html_page_write(FILE *out, void *page, struct err *err)
{
	const struct html_page *p = page;
	const char *base = path_base(p->path);
	const char *title = *base ? base : p->path;

	/* The policy forbids the browser to fetch or send anything, whatever
	 * names a capture has put into the page. */
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head>"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; script-src 'unsafe-inline'; "
	      "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
	      "form-action 'none'\">\n"
	      "<meta name=\"viewport\" "
	      "content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	safe_text_xml(out, title, 0);
	fprintf(out, "</title>\n<style>\n%s%s%s</style></head>\n<body>\n",
		text_page_css, text_page_source_css, text_page_diff_css);
	fputs("<header><h1>", out);
	safe_text_xml(out, title, 0);
	fputs("</h1>\n<div class=\"quiet\">", out);
	struct rows *r = rows_of(p->db, "report_captures", err);

	while (rows_step(r)) {
		const char *host = rows_text(r, REPORT_CAPTURES_HOST);
		const char *cmdline = rows_text(r, REPORT_CAPTURES_CMDLINE);

		fputs("<p>", out);
		safe_text_xml(out, rows_text(r, REPORT_CAPTURES_PATH), 0);
		if (*host) {
			fputs(" of ", out);
			safe_text_xml(out, host, 0);
		}
		if (*cmdline) {
			fputs(": <code>", out);
			html_page_put_words(out, cmdline);
			fputs("</code>", out);
		}
		fputs(rows_value(r, REPORT_CAPTURES_COMPLETE).kind ==
					      VALUE_NULL ||
				      rows_int(r, REPORT_CAPTURES_COMPLETE)
			      ? "</p>\n"
			      : ", <b class=\"bad\">not complete</b></p>\n",
		      out);
	}
	if (rows_end(r, err))
		return -1;
	fputs("</div>\n", out);
	if (html_page_put_banner(p, out, err))
		return -1;
	fputs("</header>\n<noscript><p class=\"note\">Scripts are off: the "
	      "tables below are whole, the picture to click in is not there. "
	      "'backstitch flame' draws one that needs no script.",
	      out);
	if (p->diff)
		fputs(" What changed is not there either: 'backstitch diff' "
		      "prints it.",
		      out);
	fputs("</p></noscript>\n", out);
	fputs(text_page_html, out);
	fputs("<main>\n", out);
	/* Write the table of the functions with the largest weight of an event;
	 * inlined: inlined functions have rows. */
	bool inlined = p->inlined_rows;
	static const char *const head[] = { "Self %", "Total %",  "Samples",
					    "Kind",   "Function", "Image" };
	struct report_rows *rows = report_rows_new(
		p->shown.stacks, p->shown.event,
		KEY_SYM | KEY_DSO | (inlined ? KEY_INLINED : 0));
	uint64_t whole = 0;

	if (p->shown.event >= 0)
		whole = p->shown.stacks->event[p->shown.event].weight;
	report_rows_sort(rows, false);
	page_tables_begin(
		out, "hot", "Hot functions",
		inlined ? "Self: the weight of samples in the function "
			  "itself. Total: with what it called."
			: "Self: the weight of samples in the function "
			  "itself and in what was inlined into it. "
			  "Total: with what it called.");
	fputs("<div class=\"wide\"><table id=\"hot\"><thead><tr>", out);
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		page_tables_put_head_cell(out, head[i], i < 3);
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < rows->n && i < HOT_ROWS; i++) {
		const struct report_row *row = &rows->row[i];
		const struct label *l = report_label(rows, row->label);

		fputs("<tr>", out);
		page_tables_put_percent(out, row->self, whole);
		page_tables_put_percent(out, row->total, whole);
		fprintf(out, "<td class=\"n\">%s</td><td>%s</td><td title=\"",
			HUMAN_GROUPED(row->n_self), label_kind_name(l->kind));
		safe_text_xml(out, l->name, 0);
		fputs("\">", out);
		safe_text_xml(out, label_shown(l), 0);
		fputs("</td><td title=\"", out);
		safe_text_xml(out, l->image, 0);
		fputs("\">", out);
		safe_text_xml(out, path_base(l->image), 0);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div></section>\n", out);
	report_rows_free(rows);
	/* Write tables of captures, verdicts, losses, findings and others. */
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (page_tables_put_table(out, p->db, &tables[i], err))
			return -1;
	if (p->source)
		page_source_tell(p->source, out);
	fputs("</main>\n", out);
	page_data_write(p->data, out);
	if (p->source)
		page_source_write(p->source, out);
	if (p->diff) {
		struct blob b RELEASED_BY(blob_release) = { 0 };

		page_diff_put_json(p->diff, out);
		for (uint32_t id = 0; id != FLAME_NONE;
		     id = flame_tree_next(p->diff->all, id, 0)) {
			const struct flame_node *nd = &p->diff->all->node[id];

			blob_leb(&b, nd->depth);
			blob_leb(&b, nd->label);
			for (int side = 0; side < 2; side++)
				blob_leb(&b, diff_model_node(p->diff, side, id)
						     ->weight);
			for (int side = 0; side < 2; side++)
				blob_leb(&b, diff_model_node(p->diff, side, id)
						     ->samples);
		}
		page_bytes_write(&b, "diff_nodes", out);
		page_sides_write(p->sides, out);
	}
	fputs("<script>\n(function () {\n\"use strict\";\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		fputs(scripts[i], out);
	fputs("})();\n", out);
	fputs("</script>\n</body></html>\n", out);
	if (ferror(out))
		return err_set(err, ERR_IO, "cannot write the page: %s",
			       strerror(errno));
	return 0;
}
