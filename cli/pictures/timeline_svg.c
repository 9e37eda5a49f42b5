/* timeline_svg.c - a timeline drawn as SVG: the page around the lanes. */
#include "cli/output/human.h"
#include "cli/pictures/timeline_svg.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/safe_text.h"
#include "cli/pictures/timeline_lane.h"
#include "cli/pictures/timeline_look.h"
#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_page.h"
#include "stitch/base/path.h"

#define SECOND 1000000000u

extern const char text_timeline_css[];

static const struct timeline_capture *
timeline_find_capture(const struct timeline *tl, int64_t id)
{
	for (size_t i = 0; i < tl->n_capture; i++)
		if (tl->capture[i].id == id)
			return &tl->capture[i];
	return NULL;
}

/* ---- time */

/* Returns 1, 2 or 5 times a power of ten, at most ten of which fit the span. */
static uint64_t timeline_axis_step(uint64_t span)
{
	uint64_t step = 1;

	for (;;) {
		if (span / step <= 10)
			return step;
		if (span / step <= 20 && step <= UINT64_MAX / 2)
			return step * 2;
		if (span / step <= 50 && step <= UINT64_MAX / 5)
			return step * 5;
		if (step > UINT64_MAX / 10)
			return step;
		step *= 10;
	}
}

static void timeline_put_axis(const struct page *p)
{
	uint64_t span = page_since(p, p->tl->t1);
	uint64_t step = timeline_axis_step(span);
	uint64_t unit = span >= SECOND	  ? SECOND
			: span >= 1000000 ? 1000000
			: span >= 1000	  ? 1000
					  : 1;
	const char *name = unit == SECOND    ? "s"
			   : unit == 1000000 ? "ms"
			   : unit == 1000    ? "us"
					     : "ns";
	unsigned int decimals = 0;

	for (uint64_t s = step; s < unit; s *= 10)
		decimals++;
	for (uint64_t t = 0; t <= span; t += step) {
		unsigned int x = LEFT + (unsigned int)((unsigned __int128)t *
						       PLOT / span);

		fprintf(p->out, "<path class=\"grid\" d=\"M%u %uV%u\"/>\n", x,
			p->top - 4, p->bottom);
		for (int i = 0; i < 2; i++) {
			page_text(p, x, i ? p->bottom + 15 : p->top - 8,
				  "middle", "quiet");
			human_put_fixed(p->out, t, unit, t ? decimals : 0);
			fprintf(p->out, " %s", name);
			page_text_end(p);
		}
		if (t > UINT64_MAX - step)
			break;
	}
}

/* ---- what has no time */

static void timeline_put_untimed_title(const struct page *p, size_t from,
				       size_t to)
{
	FILE *out = p->out;

	fputs("<title>", out);
	safe_text_xml(out, p->tl->untimed[from].what, 40);
	fputs(", at an unknown time", out);
	for (size_t i = from; i < to && i < from + 16; i++) {
		const struct timeline_untimed *u = &p->tl->untimed[i];

		putc('\n', out);
		page_cpu(out, u->cpu);
		fputs(": ", out);
		page_count(out, u->n, "record");
	}
	if (to > from + 16)
		fputs("\nand more CPUs", out);
	fputs("</title>", out);
}

static void timeline_put_untimed(const struct page *p, size_t from, size_t to,
				 unsigned int y)
{
	const char *what = p->tl->untimed[from].what;
	const char *says = timeline_untimed_says(what);
	uint64_t n = 0;

	for (size_t i = from; i < to; i++)
		n = timeline_add(n, p->tl->untimed[i].n);
	page_text(p, LEFT - 6, y + 12, "end", "quiet");
	fputs("no time", p->out);
	page_text_end(p);
	fprintf(p->out,
		"<rect class=\"untimed\" x=\"%d\" y=\"%u\" width=\"%d\" "
		"height=\"%d\">",
		LEFT, y, PLOT, STRIP - 3);
	timeline_put_untimed_title(p, from, to);
	fputs("</rect>\n", p->out);
	page_text(p, LEFT + 6, y + 12, NULL, NULL);
	safe_text_xml(p->out, what, 40);
	fputs(": ", p->out);
	if (n)
		page_count(p->out, n, "record");
	else
		fputs("nobody knows how many records", p->out);
	if (says)
		fprintf(p->out, ", %s", says);
	page_text_end(p);
}

static void timeline_put_section_head(const struct page *p,
				      const struct section *s, unsigned int y)
{
	const struct timeline_capture *c =
		timeline_find_capture(p->tl, s->capture);

	if (p->n_section > 1) {
		page_text(p, LEFT, y + 14, NULL, NULL);
		fprintf(p->out, "capture %lld: ", (long long)s->capture);
		safe_text_xml(p->out, c ? c->path : "", 120);
		if (c && !c->timed)
			fputs(", has no times", p->out);
		page_text_end(p);
		y += 20;
	}
	for (size_t i = s->untimed; i < s->untimed + s->n_untimed;) {
		size_t next = page_next_untimed(p, s, i);

		timeline_put_untimed(p, i, next, y);
		y += STRIP;
		i = next;
	}
}

/* ---- the page */

static void timeline_put_title(const struct page *p, const char *title)
{
	const struct timeline *tl = p->tl;
	const char *path = tl->n_capture ? tl->capture[0].path : "";

	if (title) {
		safe_text_xml(p->out, title, 120);
		return;
	}
	fputs("Losses over time in ", p->out);
	safe_text_xml(p->out, path_base(path), 80);
	if (tl->n_capture > 1)
		fprintf(p->out, " and %zu more", tl->n_capture - 1);
}

static void timeline_put_head(const struct page *p, const char *title)
{
	unsigned int h = p->bottom + 30 + (p->keys + p->notes) * LINE + PAD;

	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" font-size=\"12\" "
		"font-family=\"Verdana,DejaVu Sans,sans-serif\">\n<title>",
		WIDTH, h, WIDTH, h);
	timeline_put_title(p, title);
	fprintf(p->out, "</title>\n<style>\n%s</style>\n<defs>\n",
		text_timeline_css);
	timeline_hatching(p->out);
	fprintf(p->out,
		"</defs>\n<rect class=\"page\" width=\"%d\" height=\"%u\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"17\">",
		WIDTH, h, LEFT, PAD + LINE);
	timeline_put_title(p, title);
	page_text_end(p);
}

/* Writes the length, start, clock and host of the timeline. */
static void timeline_put_span(const struct page *p)
{
	const struct timeline *tl = p->tl;
	const struct timeline_capture *c = tl->n_capture ? tl->capture : NULL;

	page_text(p, LEFT, PAD + 2 * LINE + 3, NULL, "quiet");
	page_ns(p->out, page_since(p, tl->t1));
	fputs(" from ", p->out);
	page_clock(p->out, tl->t0);
	if (c && *c->clock) {
		fputs(" (clock ", p->out);
		safe_text_xml(p->out, c->clock, 24);
		putc(')', p->out);
	}
	if (c && *c->host) {
		fputs(", host ", p->out);
		safe_text_xml(p->out, c->host, 40);
	}
	fputs("; ", p->out);
	page_count(p->out, tl->events, "event");
	if (p->most) {
		fputs(" in grey, at most ", p->out);
		human_put_grouped(p->out, p->most);
		fputs(" in ", p->out);
		page_ns(p->out, page_since(p, tl->t1) / PLOT * p->group);
		fputs(" (log scale)", p->out);
	}
	page_text_end(p);
}

static void timeline_put_totals(const struct page *p)
{
	const struct timeline *tl = p->tl;
	FILE *out = p->out;

	page_text(p, LEFT, PAD + 3 * LINE + 3, NULL, "quiet");
	if (tl->losses) {
		page_count(out, tl->lost, "record");
		fputs(" lost in ", out);
		page_count(out, tl->losses, "interval");
	} else {
		fputs("no record was lost", out);
	}
	fputs("; ", out);
	if (tl->requests) {
		uint64_t rest = tl->requests - tl->joined - tl->refused;

		page_count(out, tl->requests, "request");
		fputs(" of deferred user stacks: ", out);
		human_put_grouped(out, tl->joined);
		fputs(" joined, ", out);
		human_put_grouped(out, rest);
		fputs(" not", out);
		if (tl->refused) {
			fputs(", ", out);
			human_put_grouped(out, tl->refused);
			fputs(" answered at once", out);
		}
	} else {
		fputs("no deferred user stacks were asked for", out);
	}
	page_text_end(p);
}

/* ---- the legend */

struct key {
	const struct timeline_look *look;
	int mark; /* kind of the mark, -1 for a band */
	uint64_t n, rows;
	bool some;
	unsigned int x, line;
};

static unsigned int timeline_key_width(const struct key *k)
{
	unsigned int n =
		(unsigned int)strlen(k->look->name) + page_digits(k->n);

	if (k->mark < 0)
		n += page_digits(k->rows) + (k->n ? 26 : 6);
	return 36 + n * 7 + (k->some && k->n ? 63 : 0);
}

/* Fills key[] with the kinds that occur, bands and marks on separate lines.
 * Returns how many there are. */
static size_t timeline_find_keys(struct page *p, struct key key[])
{
	const struct timeline *tl = p->tl;
	unsigned int x = LEFT;
	size_t n = 0;

	for (size_t i = 0; i < BAND_KINDS; i++)
		if (tl->rows[i])
			key[n++] = (struct key){
				&timeline_bands[i], -1, tl->sum[i], tl->rows[i],
				tl->some[i],	    0,	0
			};
	for (int i = 0; i < MARK_KINDS; i++)
		if (tl->n[i])
			key[n++] = (struct key){
				&timeline_marks[i], i, tl->n[i], 0, false, 0, 0
			};
	p->keys = n > 0;
	for (size_t i = 0; i < n; i++) {
		unsigned int w = timeline_key_width(&key[i]);
		bool first_mark = i && key[i].mark >= 0 && key[i - 1].mark < 0;

		if ((x + w > WIDTH - PAD || first_mark) && x > LEFT) {
			x = LEFT;
			p->keys++;
		}
		key[i].x = x;
		key[i].line = p->keys - 1;
		x += w;
	}
	return n;
}

static void timeline_put_key_text(FILE *out, const struct key *k)
{
	bool gap = k->look >= timeline_bands + BAND_GAPS &&
		   k->look < timeline_bands + BAND_KINDS;

	fprintf(out, "%s: ", k->look->name);
	if (k->mark >= 0) {
		human_put_grouped(out, k->n);
	} else if (k->n) {
		page_count(out, k->n, gap ? "cookie" : "record");
		fputs(k->some ? " and more in " : " in ", out);
		page_count(out, k->rows, "interval");
	} else {
		page_count(out, k->rows, "time");
	}
}

static void timeline_put_key(const struct page *p, const struct key *k)
{
	unsigned int y = p->bottom + 30 + k->line * LINE + 11;
	FILE *out = p->out;

	fprintf(out, "<g class=\"key\"><title>%s</title>", k->look->says);
	if (k->mark < 0) {
		fprintf(out,
			"<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"14\" "
			"height=\"11\"/>",
			k->look->css_class, k->x, y - 10);
	} else {
		fprintf(out, "<path class=\"%s %s\" d=\"", k->look->css_class,
			k->look->style);
		timeline_shape(out, (enum timeline_mark_kind)k->mark, k->x + 7,
			       y - 4, RADIUS);
		fputs("\"/>", out);
	}
	page_text(p, k->x + 19, y, NULL, NULL);
	timeline_put_key_text(out, k);
	fputs("</text></g>\n", out);
}

/* Returns the number of lines below the legend, and writes them if `print`. */
static unsigned int timeline_put_notes(const struct page *p, bool print)
{
	const struct timeline *tl = p->tl;
	unsigned int px =
		tl->marks.bin > tl->bands.bin ? tl->marks.bin : tl->bands.bin;
	const struct {
		uint64_t n;
		const char *text;
	} note[] = {
		{ px > 1 ? px : 0,
		  "px: things of one kind as near as that are one" },
		{ tl->marks.plain || tl->bands.plain ? p->plain : 0,
		  "px: too much for a tooltip each; the worst within that is "
		  "shown" },
		{ tl->no_time, "without a time are not drawn" },
		{ tl->no_lane, "of more CPUs or kinds than can be drawn" },
	};
	unsigned int y = p->bottom + 30 + p->keys * LINE + 11;
	unsigned int lines = 0;

	for (size_t i = 0; i < sizeof(note) / sizeof(*note); i++) {
		if (!note[i].n)
			continue;
		if (print) {
			page_text(p, LEFT, y + lines * LINE, NULL, "quiet");
			human_put_grouped(p->out, note[i].n);
			fprintf(p->out, " %s", note[i].text);
			page_text_end(p);
		}
		lines++;
	}
	return lines;
}

/* Draws backgrounds, then the grid, then what is in the lanes. */
static void timeline_put_sections(const struct page *p)
{
	unsigned int every = (LABEL + p->step - 1) / p->step;
	unsigned int y = p->top;
	size_t band = 0;
	size_t mark = 0;

	for (size_t i = 0; i < p->n_section; i++) {
		const struct section *s = &p->section[i];
		unsigned int at = y + page_section_top(p, s);

		timeline_put_section_head(p, s, y);
		for (size_t k = 0; k < s->n_lane; k++, at += p->step) {
			lane_ground(p, (uint32_t)(s->lane + k), at);
			if (k % every)
				continue;
			page_text(p, LEFT - 6, at + p->lane_h / 2 + 4, "end",
				  NULL);
			page_cpu(p->out, p->tl->lane[s->lane + k]->cpu);
			page_text_end(p);
		}
		y += page_section_height(p, s);
	}
	timeline_put_axis(p);
	y = p->top;
	for (size_t i = 0; i < p->n_section; i++) {
		const struct section *s = &p->section[i];
		unsigned int at = y + page_section_top(p, s);

		for (size_t k = 0; k < s->n_lane; k++, at += p->step)
			lane_content(p, (uint32_t)(s->lane + k), at, &band,
				     &mark);
		y += page_section_height(p, s);
	}
}

void timeline_draw(FILE *out, const struct timeline *tl, const char *title)
{
	struct page p = { .out = out, .tl = tl };
	struct key key[BAND_KINDS + MARK_KINDS];
	size_t n;

	page_lay_out(&p);
	n = timeline_find_keys(&p, key);
	p.notes = timeline_put_notes(&p, false);
	timeline_put_head(&p, title);
	timeline_put_span(&p);
	timeline_put_totals(&p);
	timeline_put_sections(&p);
	for (size_t i = 0; i < n; i++)
		timeline_put_key(&p, &key[i]);
	timeline_put_notes(&p, true);
	fputs("</svg>\n", out);
	free(p.section);
}
