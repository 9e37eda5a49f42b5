/* page_tables.c - the tables of an HTML page, which need no script. */
#include "cli/output/human.h"
#include "cli/page/page_tables.h"

#include <string.h>

#include "cli/stacks/label.h"
#include "cli/output/safe_text.h"
#include "cli/stacks/report_rows.h"
#include "cli/stacks/stacks.h"
#include "cli/stacks/verdict_words.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

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
	  "What 'backstitch check' found beside user stacks.", "page_findings",
	  NULL },
	{ "latency", "How long user stacks took",
	  "From a sample in the kernel to its user stack. Negative: the sample "
	  "is later.",
	  "page_latency", NULL },
	{ "unnamed", "Code without a name", "Files of which places have none.",
	  "page_unnamed", NULL },
	{ "damage", "What could not be read", "Damage, and what was skipped.",
	  "page_damage", NULL },
	{ "notes", "Notes", "What the recorder tells beside, and no damage.",
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

static void page_tables_put_cell(FILE *out, struct value v)
{
	char share[16];

	switch (v.kind) {
	case VALUE_INT:
		fputs("<td class=\"n\">", out);
		if (v.num < 0)
			fputs("\xe2\x88\x92", out);
		human_put_grouped(out, v.num < 0 ? -(uint64_t)v.num
						 : (uint64_t)v.num);
		break;
	case VALUE_REAL: /* a share of all */
		fputs("<td class=\"n\">", out);
		human_percent(share, sizeof(share), v.real, 1);
		safe_text_xml(out, share, 0);
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
	/* a table without rows is left out */
	if (n)
		fputs("</tbody></table></div></section>\n", out);
	return rows_end(r, err);
}

int page_tables_write(FILE *out, struct store *db, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (page_tables_put_table(out, db, &tables[i], err))
			return -1;
	}
	return 0;
}

static void page_tables_put_percent(FILE *out, uint64_t part, uint64_t whole)
{
	char share[16];

	human_share(share, sizeof(share), (double)part, (double)whole);
	fputs("<td class=\"n\">", out);
	safe_text_xml(out, share, 0);
	fputs("</td>", out);
}

void page_tables_hot(FILE *out, struct stacks *s, int event, bool inlined)
{
	static const char *const head[] = { "Self %", "Total %",  "Samples",
					    "Kind",   "Function", "Image" };
	struct report_rows *r = report_rows_new(
		s, event, KEY_SYM | KEY_DSO | (inlined ? KEY_INLINED : 0));
	uint64_t whole = 0;

	if (event >= 0)
		whole = stacks_event(s, (size_t)event)->weight;
	report_rows_sort(r, false);
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
	for (size_t i = 0; i < report_rows_count(r) && i < HOT_ROWS; i++) {
		const struct report_row *row = report_rows_get(r, i);
		const struct label *l = report_label(r, row->label);

		fputs("<tr>", out);
		page_tables_put_percent(out, row->self, whole);
		page_tables_put_percent(out, row->total, whole);
		fputs("<td class=\"n\">", out);
		human_put_grouped(out, row->n_self);
		fprintf(out, "</td><td>%s</td><td title=\"",
			label_kind_name(l->kind));
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
	report_rows_free(r);
}
