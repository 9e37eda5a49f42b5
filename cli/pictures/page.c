/* page.c - a database as one HTML page: the page around data, scripts and
 * tables. */
#include "cli/output/human.h"
#include "cli/pictures/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/filter.h"
#include "cli/pictures/page_data.h"
#include "cli/pictures/page_json.h"
#include "cli/pictures/page_tables.h"
#include "cli/output/safe_text.h"
#include "cli/model/stacks.h"
#include "cli/model/trust.h"
#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_svg.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

extern const char text_page_css[];
extern const char text_page_html[];
extern const char text_page_model_js[];
extern const char text_page_draw_js[];
extern const char text_page_ui_js[];
extern const char text_page_input_js[];

struct html_page {
	struct store *db;
	const char *path;
	struct page_data *data;
};

static int check_samples(const struct stacks *s, const char *path,
			 struct err *err)
{
	int event = stacks_heaviest(s);

	if (event < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_given() ? " that the filters let through"
					      : "");
	if (!stacks_event(s, (size_t)event)->weight)
		return err_set(err, ERR_FORMAT,
			       "%s: all samples have weight 0; use --by "
			       "samples",
			       path);
	return 0;
}

struct html_page *html_page_new(struct store *db, const char *path,
				bool inlined, bool samples, struct err *err)
{
	struct html_page *p = mem_new(1, sizeof(*p));

	p->db = db;
	p->path = path;
	p->data = page_data_new(db, inlined, samples, err);
	if (p->data && !check_samples(page_data_stacks(p->data), path, err))
		return p;
	html_page_free(p);
	return NULL;
}

void html_page_free(struct html_page *p)
{
	if (!p)
		return;
	page_data_free(p->data);
	free(p);
}

/* Nothing may be fetched or sent, whatever is in the page. */
static void put_top(FILE *out, const char *title)
{
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
	fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n",
		text_page_css);
}

static int put_capture(void *arg, const struct rows *r, struct err *err)
{
	FILE *out = arg;

	(void)err;
	fputs("<p>", out);
	safe_text_xml(out, rows_text(r, 0), 0);
	if (rows_text(r, 2)[0]) {
		fputs(" of ", out);
		safe_text_xml(out, rows_text(r, 2), 0);
	}
	if (rows_text(r, 3)[0]) {
		fputs(": <code>", out);
		safe_text_xml(out, rows_text(r, 3), 0);
		fputs("</code>", out);
	}
	fputs(rows_value(r, 4).kind != VALUE_NULL && !rows_int(r, 4)
		      ? ", <b class=\"bad\">not complete</b></p>\n"
		      : "</p>\n",
	      out);
	return 0;
}

static void put_fact(FILE *out, uint64_t n, const char *what, const char *class)
{
	fprintf(out, "<li%s%s%s><b>", class ? " class=\"" : "",
		class ? class : "", class ? "\"" : "");
	human_put_grouped(out, n);
	fprintf(out, "</b> %s</li>\n", what);
}

/* What a reader has to know before looking at any picture. */
static int put_summary(void *arg, const struct rows *r, struct err *err)
{
	FILE *out = arg;
	uint64_t requests = (uint64_t)rows_int(r, 1);
	uint64_t joined = (uint64_t)rows_int(r, 2);
	uint64_t lost = (uint64_t)rows_int(r, 3);
	uint64_t findings = (uint64_t)rows_int(r, 4);

	(void)err;
	fputs("<ul class=\"facts\">\n", out);
	put_fact(out, (uint64_t)rows_int(r, 0), "samples", NULL);
	if (requests) {
		put_fact(out, requests, "user stacks asked for", NULL);
		put_fact(out, joined, "of them are here", NULL);
		put_fact(out, requests - joined, "are missing",
			 requests > joined ? "bad" : NULL);
	}
	put_fact(out, lost, "records lost", lost ? "bad" : NULL);
	if (findings)
		put_fact(out, findings, "findings", "bad");
	fputs("</ul>\n", out);
	if (filter_given())
		fputs("<p>The samples are filtered; tables of losses and "
		      "verdicts are of the whole capture.</p>\n",
		      out);
	return 0;
}

static int put_header(const struct html_page *p, FILE *out, const char *title,
		      struct err *err)
{
	char trust[TRUST_SENTENCE];

	if (trust_sentence(p->db, trust, err))
		return -1;
	fputs("<header><h1>", out);
	safe_text_xml(out, title, 0);
	fputs("</h1>\n<p class=\"trust\">", out);
	safe_text_xml(out, trust, 0);
	fputs("</p>\n<div class=\"quiet\">", out);
	if (rows_each(p->db, "report_captures", put_capture, out, err))
		return -1;
	fputs("</div>\n", out);
	if (rows_each(p->db, "page_summary", put_summary, out, err))
		return -1;
	fputs("</header>\n<noscript><p class=\"note\">Scripts are off: the "
	      "tables below are whole, the picture to click in is not there. "
	      "'backstitch flame' draws one that needs no script.</p>"
	      "</noscript>\n",
	      out);
	return 0;
}

/* The picture of check --svg, as an image: it cannot run or fetch
 * anything, and its style is its own. */
static int put_timeline(const struct html_page *p, FILE *out, struct err *err)
{
	const struct timeline *tl = page_data_timeline(p->data);
	struct page_bytes b = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *svg;

	if (!tl)
		return 0;
	svg = open_memstream(&text, &len);
	if (!svg)
		return err_set(err, ERR_IO, "cannot draw the timeline: %s",
			       strerror(errno));
	timeline_draw(svg, tl, "Timeline");
	fclose(svg);
	b.byte = (uint8_t *)text;
	b.n = len;
	fputs("<section id=\"t-timeline\"><h2>What was lost, when and where"
	      "</h2>\n<div class=\"wide\"><img alt=\"timeline of events, "
	      "losses and missing user stacks by CPU; the tables say the "
	      "numbers\" src=\"data:image/svg+xml;base64,",
	      out);
	page_base64(&b, out);
	fputs("\"></div></section>\n", out);
	free(text);
	return 0;
}

/* "/tmp/x/perf.db" -> "perf.db" */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int html_page_write(FILE *out, void *page, struct err *err)
{
	const struct html_page *p = page;
	struct stacks *s = page_data_stacks(p->data);
	const char *title = base_name(p->path);

	put_top(out, title);
	if (put_header(p, out, title, err))
		return -1;
	fputs(text_page_html, out);
	fputs("<main>\n", out);
	page_tables_hot(out, s, stacks_heaviest(s));
	if (put_timeline(p, out, err) || page_tables_write(out, p->db, err))
		return -1;
	fputs("</main>\n", out);
	page_data_write(p->data, out);
	fprintf(out,
		"<script>\n(function () {\n\"use strict\";\n%s%s%s%s})();\n",
		text_page_model_js, text_page_draw_js, text_page_ui_js,
		text_page_input_js);
	fputs("</script>\n</body></html>\n", out);
	if (ferror(out))
		return err_set(err, ERR_IO, "cannot write the page: %s",
			       strerror(errno));
	return 0;
}
