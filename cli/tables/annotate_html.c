/* annotate_html.c - annotated code as one HTML page without scripts, fonts or
 * pictures. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/model/source_text.h"
#include "cli/output/human.h"
#include "cli/tables/annotate.h"
#include "cli/output/out.h"
#include "cli/output/safe_text.h"

#define SPOTS 12   /* links to the hottest instructions */
#define MARKS 2000 /* marks in the strip at the side */

extern const char text_annotate_css[];

static const char *heat_class(const struct annot *a,
			      const struct annot_insn *in)
{
	static const char *const name[] = { "", "w", "h" };

	return name[annot_heat(a, in)];
}

static int annot_html_compare(const void *a, const void *b)
{
	const struct annot_insn *x = *(const struct annot_insn *const *)a;
	const struct annot_insn *y = *(const struct annot_insn *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->off < y->off ? -1 : 1;
}

/* Returns the instructions with samples, hottest first, and their number in *n.
 * The caller frees the array. */
static const struct annot_insn **hottest(const struct annot *a, size_t *n)
{
	const struct annot_insn **list = mem_new(a->n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < a->n; i++)
		if (a->insn[i].samples)
			list[(*n)++] = &a->insn[i];
	qsort(list, *n, sizeof(*list), annot_html_compare);
	return list;
}

static void annot_html_put_title(FILE *out, const struct annot *a)
{
	if (a->name)
		safe_text_xml(out, a->name, 0);
	else
		fprintf(out, "0x%" PRIx64, a->start);
}

static void annot_html_put_sources(FILE *out, const struct annot *a)
{
	for (size_t i = 0; i < a->n_source; i++) {
		if (!a->source[i]->found)
			continue;
		fputs("<p>source: ", out);
		safe_text_xml(out, a->source[i]->found, 0);
		fprintf(out, ", %s</p>\n", a->source[i]->how);
	}
}

static void annot_html_put_share(FILE *out, uint64_t part, uint64_t whole)
{
	char share[16];

	human_percent(share, sizeof(share), (double)part, (double)whole);
	safe_text_xml(out, share, 0);
}

static void annot_html_put_head(FILE *out, const struct annot *a,
				const char *capture)
{
	fputs("<header><h1>", out);
	annot_html_put_title(out, a);
	fputs("</h1><p class=\"trust\">", out);
	safe_text_xml(out, a->trust, 0);
	fputs("</p><p>", out);
	safe_text_xml(out, a->image, 0);
	fputs(" &middot; ", out);
	safe_text_xml(out, a->event, 0);
	fputs(" &middot; <b>", out);
	human_put_grouped(out, a->samples);
	fputs("</b> samples, <b>", out);
	annot_html_put_share(out, a->weight, a->all_weight);
	fputs("</b> of all in ", out);
	safe_text_xml(out, capture, 0);
	fputs("</p>\n", out);
	annot_html_put_sources(out, a);
	fputs("<nav>", out);

	size_t n;
	const struct annot_insn **list = hottest(a, &n);

	for (size_t i = 0; i < n && i < SPOTS; i++) {
		fprintf(out, "<a class=\"%s\" href=\"#i%" PRIx64 "\">",
			heat_class(a, list[i]), list[i]->off);
		annot_html_put_share(out, list[i]->weight, a->weight);
		fprintf(out, " %" PRIx64 "</a>", list[i]->insn.addr);
	}
	fputs("</nav></header>\n<div id=\"heat\">", out);
	for (size_t i = 0; i < n && i < MARKS; i++) {
		fprintf(out,
			"<a class=\"%s\" href=\"#i%" PRIx64
			"\" style=\"top:%.2f%%\" title=\"",
			heat_class(a, list[i]), list[i]->off,
			annot_share((uint64_t)(list[i] - a->insn), a->n));
		annot_html_put_share(out, list[i]->weight, a->weight);
		fputs("\"></a>", out);
	}
	fputs("</div>\n", out);
	free(list);
}

static void annot_html_put_place(FILE *out, const struct annot_insn *in)
{
	fputs("<tr class=\"s\"><td></td><td></td><td></td><td class=\"c\">",
	      out);
	safe_text_xml(out, in->file, 0);
	fprintf(out, ":%u", in->line);
	if (in->inlined) {
		fputs(" &middot; ", out);
		safe_text_xml(out, in->inlined, 0);
		fputs(" inlined", out);
	}
	fputs("</td></tr>\n", out);
}

static void annot_html_put_source(FILE *out, const struct annot_insn *in,
				  struct annot_lines *l)
{
	annot_lines_go(l, in);
	if (l->place)
		annot_html_put_place(out, in);
	for (uint32_t line = l->next; line <= l->last; line++) {
		const char *text = source_line(in->source, line);

		if (!text)
			continue;
		fprintf(out,
			"<tr class=\"l\"><td></td><td></td><td class=\"a\">%u"
			"</td><td class=\"c\">",
			line);
		safe_text_xml(out, text, 0);
		fputs("</td></tr>\n", out);
	}
}

static void annot_html_put_code(FILE *out, const struct annot *a,
				const struct annot_insn *in)
{
	fputs("<span class=\"m\">", out);
	safe_text_xml(out, in->insn.mnemonic, 0);
	fputs("</span> ", out);
	if (in->to >= 0)
		fprintf(out, "<a href=\"#i%" PRIx64 "\">", a->insn[in->to].off);
	safe_text_xml(out, in->insn.operands, 0);
	if (in->to >= 0)
		fprintf(out, " %s</a>",
			a->insn[in->to].off > in->off ? "&darr;" : "&uarr;");
	if (!in->target)
		return;
	fputs("  <span class=\"t\">", out);
	safe_text_xml(out, in->target, 0);
	if (in->beyond)
		fprintf(out, "+0x%" PRIx64, in->beyond);
	fputs("</span>", out);
}

static void annot_html_put_insn(FILE *out, const struct annot *a,
				const struct annot_insn *in)
{
	static const char *const flow[] = { "", "call", "jump", "return",
					    "bad" };

	fprintf(out, "<tr id=\"i%" PRIx64 "\" class=\"%s %s\"><td class=\"p\">",
		in->off, heat_class(a, in), flow[in->insn.flow]);
	if (in->samples) {
		fprintf(out,
			"<span class=\"b\"><u><i style=\"width:%.1f%%\"></i></u>"
			"<span>",
			annot_share(in->weight, a->peak));
		annot_html_put_share(out, in->weight, a->weight);
		fputs("</span></span>", out);
	}
	fputs("</td><td class=\"n\">", out);
	if (in->samples)
		human_put_grouped(out, in->samples);
	fprintf(out,
		"</td><td class=\"a\"><a href=\"#i%" PRIx64 "\">%" PRIx64
		"</a></td><td class=\"c\">",
		in->off, in->insn.addr);
	annot_html_put_code(out, a, in);
	fputs("</td></tr>\n", out);
}

void annot_html(FILE *out, const struct annot *a, const char *capture)
{
	struct annot_lines source = { .shown = NULL };

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">\n<meta name=\"viewport\" "
	      "content=\"width=device-width\">\n<title>",
	      out);
	annot_html_put_title(out, a);
	fprintf(out, "</title>\n<style>\n%s</style></head><body>\n",
		text_annotate_css);
	annot_html_put_head(out, a, capture);
	fputs("<table>\n", out);
	for (size_t i = 0; i < a->n && !out_failed(); i++) {
		const struct annot_insn *in = &a->insn[i];

		annot_html_put_source(out, in, &source);
		annot_html_put_insn(out, a, in);
	}
	fputs("</table>\n", out);
	if (a->left_out)
		fprintf(out, "<p>%zu more bytes are not shown</p>\n",
			a->left_out);
	fputs("</body></html>\n", out);
}
