/* annotate_text.c - annotated code as text, and as JSON. */
#include <inttypes.h>

#include "cli/tables/annotated.h"
#include "analyze/names/source_text.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/wide.h"
#include "stitch/files/path.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/search.h"

#define LINES 10 /* in the text form */
#define PLACE_MIN 12

static int hot_lines_place(const struct hot_line *l, char *buf, size_t size)
{
	if (!l->file[0])
		return snprintf(buf, size, "[no line]");
	return snprintf(buf, size, "%s:%u", path_base(l->file), l->line);
}

/* Prints the heaviest lines, with their shares of whole and an empty line;
 * nothing if no line is known. */
static void hot_lines_put(FILE *out, const struct hot_lines *l, uint64_t whole)
{
	size_t n = l->n < LINES ? l->n : LINES;
	int width = PLACE_MIN;
	char place[512];

	if (!n || (n == 1 && !l->line[0].file[0]))
		return;
	fprintf(out, "%8s %8s  Line\n", "Share %", "Samples");
	for (size_t i = 0; i < n; i++) {
		int len = hot_lines_place(&l->line[i], place, sizeof(place));

		raise_to(width, len);
	}
	for (size_t i = 0; i < n; i++) {
		const struct hot_line *at = &l->line[i];
		const char *text = source_line(at->source, at->line);

		fprintf(out, "%8s %8" PRIu64 "  ",
			HUMAN_PERCENT(at->weight, whole), at->samples);
		hot_lines_place(at, place, sizeof(place));
		safe_text_put(out, place, 0, 0);
		if (text && *text) {
			fprintf(out, "%*s  ", width - (int)strlen(place), "");
			safe_text_put(out, text + strspn(text, " \t"), 0, 0);
		}
		putc('\n', out);
	}
	if (l->n > n)
		fprintf(out, "%19s%zu more lines\n", "", l->n - n);
	putc('\n', out);
}

/* Writes all lines as the array "lines". */
static void hot_lines_json(struct json *j, const struct hot_lines *l)
{
	json_array(j, "lines");
	for (size_t i = 0; i < l->n; i++) {
		const struct hot_line *at = &l->line[i];

		json_object(j, NULL);
		json_text(j, "file", at->file[0] ? at->file : NULL);
		json_uint(j, "line", at->line);
		json_uint(j, "samples", at->samples);
		json_uint(j, "weight", at->weight);
		json_end(j);
	}
	json_end(j);
}

COMPARE_FUNCTION(inlined_compare, struct inlined_into,
		 compare_numbers(y->weight, x->weight)
			 ?: compare_numbers(y->samples, x->samples)
			 ?: compare_numbers(x->func, y->func));

int inlined_load(struct inlined_copies *in, struct store *db,
		 const struct hot *h, const char *what, const char *dso,
		 struct err *err)
{
	*in = (struct inlined_copies){ .h = h, .what = what, .dso = dso };
	for (size_t i = 0; i < h->n_spot; i++)
		if (h->spot[i].frame >= in->n_spot)
			in->n_spot = h->spot[i].frame + 1;
	in->spot = mem_new(in->n_spot + 1, sizeof(*in->spot));
	for (size_t i = 0; i < h->n_spot; i++)
		in->spot[h->spot[i].frame] = (uint32_t)i + 1;
	in->into = mem_new(h->n_func + 1, sizeof(*in->into));
	for (uint32_t i = 0; i < h->n_func; i++)
		in->into[i].func = i;
	struct rows *r = rows_of(db, "code_inlines", err);
	while (rows_step(r)) {
		const char *name = rows_text(r, CODE_INLINES_NAME);
		int64_t frame = rows_int(r, CODE_INLINES_FRAME);

		/* the innermost of a frame comes first */
		if (frame < 1 || (uint64_t)frame >= in->n_spot ||
		    !in->spot[frame] || !hot_is_called(name, what))
			continue;
		const struct hot_spot *s = &h->spot[in->spot[frame] - 1];

		in->spot[frame] = 0;
		if (!hot_in_dso(in->h, s->image, dso))
			continue;
		if (!in->name)
			in->name = arena_strdup(&in->text, name);
		in->weight += s->weight;
		in->samples += s->samples;
		in->into[s->func].weight += s->weight;
		in->into[s->func].samples += s->samples;
		hot_lines_add(&in->lines, rows_text(r, CODE_INLINES_FILE),
			      (uint32_t)rows_int(r, CODE_INLINES_LINE),
			      s->weight, s->samples);
	}
	int rc = rows_end(r, err);
	sort_items(in->into, h->n_func, inlined_compare);
	while (in->n_into < h->n_func && in->into[in->n_into].samples)
		in->n_into++;
	hot_lines_sort(&in->lines);
	return rc;
}

void inlined_release(struct inlined_copies *in)
{
	hot_lines_release(&in->lines);
	free_all(in->spot, in->into);
	arena_release(&in->text);
}

/* Returns the table of the functions that it was inlined into. */
static struct grid *inlined_grid(const struct inlined_copies *in, bool json)
{
	static const struct grid_column col[] = {
		{ "Share %", "share_percent" },
		{ "Samples", "samples" },
		{ NULL, "weight" },
		{ "Inlined into", "symbol" },
		{ NULL, "image" },
		{ "Image", NULL },
	};
	struct grid *g = grid_new(col, ARRAY_SIZE(col));

	for (size_t i = 0; i < in->n_into; i++) {
		const struct inlined_into *to = &in->into[i];
		const struct hot_func *f = &in->h->func[to->func];
		const char *path = in->h->path[f->image];

		grid_percent(g, to->weight, in->weight);
		grid_number(g, to->samples);
		grid_number(g, to->weight);
		grid_text(g, !f->name ? "[no name]"
			     : json   ? f->name
				      : f->shown);
		grid_text(g, path ? path : "");
		grid_text(g, hot_base(in->h, f->image));
	}
	return g;
}

static void inlined_put_sum(FILE *out, const struct inlined_copies *in)
{
	fprintf(out, "%s, %s of all, in %zu function%s",
		HUMAN_NOUN(in->samples, "sample"),
		HUMAN_PERCENT(in->weight, in->h->weight), in->n_into,
		in->n_into == 1 ? "" : "s");
}

void inlined_text(const struct inlined_copies *in, const char *path)
{
	struct grid *g OWNED_GRID = inlined_grid(in, false);

	term_wrap(stdout, in->h->trust, 0, 2, term_limit(stdout));
	safe_text_say(stdout, term_on(stdout, STYLE_BOLD), in->what,
		      term_off(stdout));
	safe_text_say(stdout, ", inlined\nevent: ", in->h->event, ", ");
	inlined_put_sum(stdout, in);
	fputs("\n\n", stdout);
	hot_lines_put(stdout, &in->lines, in->weight);
	grid_write(g, "table", stdout);
	safe_text_say(stdout, "\n'backstitch annotate ", path,
		      " FUNCTION' shows the instructions of one of these\n");
}

void inlined_json(const struct inlined_copies *in)
{
	struct grid *g OWNED_GRID = inlined_grid(in, true);
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	json_text(&j, "function", in->name);
	json_text(&j, "event", in->h->event);
	json_text(&j, "unit", in->h->unit);
	json_text(&j, "user_stacks", in->h->trust);
	json_uint(&j, "samples", in->samples);
	json_uint(&j, "weight", in->weight);
	json_uint(&j, "all_samples", in->h->samples);
	json_uint(&j, "all_weight", in->h->weight);
	hot_lines_json(&j, &in->lines);
	grid_json(g, &j, "inlined_into");
	json_finish(&j);
}

#define BAR 8
#define SOURCES 4	       /* files that the head names */
#define LEFT (9 + 9 + BAR + 1) /* columns to the left of the code */

/* Returns part of whole in percent. */
static double annot_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The colors of perf annotate: from 5 % and from 0.5 % of the function on. */
enum annot_heat {
	ANNOT_COLD,
	ANNOT_WARM,
	ANNOT_HOT
};

/* Writes share, samples and bar of an instruction, or blanks if it has none. */
static void annot_text_put_share(FILE *out, const struct annot *a,
				 const struct annot_insn *in)
{
	double share = annot_share(in->weight, a->weight);
	enum annot_heat heat = !in->samples || share < 0.5 ? ANNOT_COLD
			       : share < 5		   ? ANNOT_WARM
							   : ANNOT_HOT;
	unsigned int bar = a->peak ? (unsigned int)wide_div(
					     wide_mul(in->weight, BAR), a->peak)
				   : 0;
	char text[BAR + 1];

	if (!in->samples) {
		fprintf(out, "%*s", LEFT, "");
		return;
	}
	for (unsigned int i = 0; i < BAR; i++)
		text[i] = i < bar || !i ? '#' : ' ';
	text[BAR] = '\0';
	if (heat != ANNOT_COLD)
		fputs(term_on(out, heat == ANNOT_HOT ? STYLE_RED : STYLE_GREEN),
		      out);
	fprintf(out, "%8s %8" PRIu64 " %s",
		HUMAN_PERCENT(in->weight, a->weight), in->samples, text);
	if (heat != ANNOT_COLD)
		fputs(term_off(out), out);
	putc(' ', out);
}

static void annot_json_insn(struct json *j, const struct annot *a,
			    const struct annot_insn *in)
{
	static const char *const flow[] = { "next", "call", "jump", "return",
					    "bad" };
	size_t len = in->insn.len;

	json_object(j, NULL);
	json_hex(j, "offset", in->off);
	json_hex(j, "address", in->insn.addr);
	json_hex_bytes(j, "bytes", in->bytes,
		       len < sizeof(in->bytes) ? len : sizeof(in->bytes));
	json_text(j, "mnemonic", in->insn.mnemonic);
	json_text(j, "operands", in->insn.operands);
	json_text(j, "flow", flow[in->insn.flow]);
	if (in->insn.has_target)
		json_hex(j, "target", in->insn.target);
	if (in->target) {
		json_text(j, "target_symbol", in->target);
		json_uint(j, "target_symbol_offset", in->beyond);
	}
	json_uint(j, "samples", in->samples);
	json_uint(j, "weight", in->weight);
	json_real(j, "percent", annot_share(in->weight, a->weight));
	if (in->file) {
		json_text(j, "file", in->file);
		json_uint(j, "line", in->line);
	}
	if (source_line(in->source, in->line))
		json_shown(j, "source", source_line(in->source, in->line));
	if (in->inlined)
		json_text(j, "inlined", in->inlined);
	json_end(j);
}

void annot_text(FILE *out, const struct annot *a, long around)
{
	struct annot_lines source = { .shown = NULL };
	long last = -1;	 /* the last one with samples up to in; -1: none */
	size_t next = 0; /* the first with samples from in on; or a->n */
	size_t hidden = 0;

	term_wrap(out, a->trust, 0, 2, term_limit(out));
	fputs(term_on(out, STYLE_BOLD), out);
	if (a->name)
		safe_text_put(out, a->shown, 0, 0);
	else
		fprintf(out, "0x%" PRIx64, a->start);
	fputs(term_off(out), out);
	safe_text_say(out, " in ", a->image, "");
	safe_text_say(out, "\nevent: ", a->event, "");
	fprintf(out, ", %s%s%s of all\n", HUMAN_GROUPED(a->samples),
		a->samples == 1 ? " sample here, " : " samples here, ",
		HUMAN_PERCENT(a->weight, a->all_weight));
	if (a->file && a->file[0] && strcmp(a->file, a->image) != 0)
		safe_text_say(out, "code: ", a->file, "\n");
	/* Prints which files the source lines are of, and why they are believed
	 * to be the ones that were compiled, or are not. */
	size_t n = 0;

	for (size_t i = 0; i < a->n_source && n < SOURCES; i++) {
		const struct source_file *f = a->source[i];

		if (!f->found && !strcmp(f->how, SOURCE_NOT_FOUND))
			continue;
		safe_text_say(out, "source: ", f->found ? f->found : f->path,
			      "");
		fprintf(out, "%s %s\n", f->found ? "," : "", f->how);
		n++;
	}
	if (!n && a->n_source) {
		safe_text_say(out, "source: ", a->source[0]->path,
			      " " SOURCE_NOT_FOUND "; --source-dir DIR\n");
	}
	if (a->inlined && a->inlined->samples) {
		fputs("inlined too: ", out);
		inlined_put_sum(out, a->inlined);
		fputs("; --inlined shows them\n", out);
	}
	putc('\n', out);
	hot_lines_put(out, &a->lines, a->weight);
	for (size_t i = 0; i < a->n && !out_failed(); i++) {
		const struct annot_insn *in = &a->insn[i];

		while (next < a->n && (next < i || !a->insn[next].samples))
			next++;
		if (in->samples)
			last = (long)i;
		/* a sample is at most `around` instructions away */
		bool near = (last >= 0 && (long)i - last <= around) ||
			    (next < a->n && (long)(next - i) <= around);
		if (around >= 0 && a->samples && !near) {
			hidden++;
			continue;
		}
		if (hidden)
			fprintf(out, "%*s| ... %zu without samples\n", LEFT, "",
				hidden);
		hidden = 0;
		annot_lines_go(&source, in);
		if (source.place) {
			fprintf(out, "%*s", LEFT, "");
			fputs(term_on(out, STYLE_DIM), out);
			safe_text_say(out, "| ", in->file, "");
			fprintf(out, ":%u", in->line);
			if (in->inlined) {
				safe_text_say(out, "  (", in->inlined_shown,
					      ", inlined)");
			}
			fputs(term_off(out), out);
			putc('\n', out);
		}
		for (uint32_t line = source.next; line <= source.last; line++) {
			const char *text = source_line(in->source, line);

			if (!text)
				continue;
			fprintf(out, "%*s|%5u%s", LEFT, "", line,
				*text ? "  " : "");
			safe_text_say(out, "", text, "\n");
		}
		if (json_before_rows()) {
			struct json j;

			json_open(&j, out, JSON_COMPACT);
			annot_json_insn(&j, a, in);
			putc('\t', out);
		}
		annot_text_put_share(out, a, in);
		fputs(term_on(out, STYLE_DIM), out);
		fprintf(out, "|%c%6" PRIx64 ":", in->label ? '>' : ' ',
			in->insn.addr);
		fputs(term_off(out), out);
		fprintf(out, "  %-8s", in->insn.mnemonic);
		if (in->insn.operands[0])
			fprintf(out, " %s", in->insn.operands);
		if (in->target) {
			safe_text_say(out, "  <", in->target_shown, "");
			if (in->beyond)
				fprintf(out, "+0x%" PRIx64, in->beyond);
			putc('>', out);
		}
		putc('\n', out);
	}
	if (hidden)
		fprintf(out, "%*s| ... %zu without samples\n", LEFT, "",
			hidden);
	if (a->left_out)
		fprintf(out,
			"\n%zu more bytes are not shown; --limit 0 shows all\n",
			a->left_out);
}

int annot_list(const struct hot *h, const char *path, const char *dso,
	       size_t max, bool json, struct err *err)
{
	static const struct grid_column col[] = {
		{ "Self %", "self_percent" },
		{ "Samples", "samples" },
		{ NULL, "weight" },
		{ "Peak %", "peak_percent" },
		{ "Hottest at", "peak" },
		GRID_TWO("Function", "symbol"),
		{ NULL, "image" },
		{ NULL, "short" },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	size_t n = 0;

	grid_names(g, "Function", !h->names.full);

	for (size_t i = 0; i < h->n_func; i++) {
		const struct hot_func *f = &h->func[i];
		char at[512];

		if (!hot_in_dso(h, f->image, dso) || (n++ >= max && max))
			continue;
		snprintf(at, sizeof(at), "%s+0x%" PRIx64, hot_base(h, f->image),
			 f->peak_off);
		grid_percent(g, f->weight, h->weight);
		grid_number(g, f->samples);
		grid_number(g, f->weight);
		grid_percent(g, f->peak, f->weight);
		grid_text(g, at);
		grid_text(g, f->name ? f->shown : "[no name]");
		grid_text(g, f->name ? f->name : "[no name]");
		grid_text(g, h->path[f->image] ? h->path[f->image] : "");
		grid_text(g, f->name ? f->shown : "[no name]");
	}
	if (dso && !n)
		return err_set(err, ERR_USAGE, "no sample was taken in '%s'",
			       dso);
	if (json) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "user_stacks", h->trust);
		json_text(&j, "event", h->event);
		json_text(&j, "unit", h->unit);
		json_uint(&j, "all_samples", h->samples);
		json_uint(&j, "all_weight", h->weight);
		grid_json(g, &j, "rows");
		json_uint(&j, "rows_left_out", max && n > max ? n - max : 0);
		json_finish(&j);
	} else {
		term_wrap(stdout, h->trust, 0, 2, term_limit(stdout));
		putchar('\n');
		grid_write(g, "table", stdout);
		if (max && n > max)
			printf("\n%s; --limit 0 shows all\n",
			       HUMAN_NOUN(n - max, "more function"));
		if (n) {
			safe_text_say(stdout, "\n'backstitch annotate ", path,
				      "");
			fputs(" FUNCTION' shows the instructions of one\n",
			      stdout);
		}
	}
	return 0;
}

void annot_json(const struct annot *a)
{
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	json_text(&j, "function", a->name);
	json_text(&j, "short", a->shown);
	json_text(&j, "image", a->image);
	json_text(&j, "code", a->file);
	json_text(&j, "event", a->event);
	json_text(&j, "unit", a->unit);
	json_text(&j, "syntax", a->syntax);
	json_text(&j, "user_stacks", a->trust);
	json_array(&j, "sources");
	for (size_t i = 0; i < a->n_source; i++) {
		json_object(&j, NULL);
		json_text(&j, "path", a->source[i]->path);
		json_text(&j, "found", a->source[i]->found);
		json_text(&j, "how", a->source[i]->how);
		json_end(&j);
	}
	json_end(&j);
	json_hex(&j, "offset", a->start);
	json_uint(&j, "size", a->end - a->start);
	json_uint(&j, "samples", a->samples);
	json_uint(&j, "weight", a->weight);
	json_uint(&j, "all_samples", a->all_samples);
	json_uint(&j, "all_weight", a->all_weight);
	json_uint(&j, "bytes_left_out", a->left_out);
	hot_lines_json(&j, &a->lines);
	json_array(&j, "instructions");
	for (size_t i = 0; i < a->n; i++)
		annot_json_insn(&j, a, &a->insn[i]);
	json_end(&j);
	json_finish(&j);
}
