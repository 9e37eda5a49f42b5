/* timeline_page.c - where things stand in a timeline picture, and how numbers
 * are said in it. */
#include "cli/output/human.h"
#include "cli/pictures/timeline_page.h"

#include <string.h>

#include "cli/pictures/timeline_model.h"
#include "stitch/base/mem.h"

#define TALL 1360 /* px of all lanes together, unless they get too thin */
#define THIN 3
#define SECOND 1000000000u

/* ---- words */

/* Six decimals of a second, three of a millisecond or microsecond. */
void page_ns(FILE *out, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		unsigned int decimals;
		const char *name;
	} units[] = { { SECOND, 6, "s" },
		      { 1000000, 3, "ms" },
		      { 1000, 3, "us" },
		      { 1, 0, "ns" } };
	size_t i = 0;

	while (i < 3 && ns < units[i].unit)
		i++;
	human_put_fixed(out, ns, units[i].unit, units[i].decimals);
	fprintf(out, " %s", units[i].name);
}

/* The form in which perf script prints times. */
void page_clock(FILE *out, int64_t t)
{
	if (t < 0)
		putc('-', out);
	human_put_fixed(out, t < 0 ? -(uint64_t)t : (uint64_t)t, SECOND, 9);
}

uint64_t page_since(const struct page *p, int64_t t)
{
	return (uint64_t)t - (uint64_t)p->tl->t0;
}

void page_count(FILE *out, uint64_t n, const char *what)
{
	human_put_grouped(out, n);
	fprintf(out, " %s%s", what, n == 1 ? "" : "s");
}

void page_cpu(FILE *out, int32_t cpu)
{
	if (cpu < 0)
		fputs("no CPU", out);
	else
		fprintf(out, "CPU %d", cpu);
}

void page_text(const struct page *p, unsigned int x, unsigned int y,
	       const char *anchor, const char *css_class)
{
	fprintf(p->out, "<text x=\"%u\" y=\"%u\"", x, y);
	if (anchor)
		fprintf(p->out, " text-anchor=\"%s\"", anchor);
	if (css_class)
		fprintf(p->out, " class=\"%s\"", css_class);
	putc('>', p->out);
}

void page_text_end(const struct page *p)
{
	fputs("</text>\n", p->out);
}

/* Commas included. */
unsigned int page_digits(uint64_t n)
{
	unsigned int d = 1;

	while (n >= 10) {
		n /= 10;
		d++;
	}
	return d + (d - 1) / 3;
}

/* ---- layout */

/* Splits lanes and losses without a time, both sorted by capture, into
 * sections. */
static void page_find_sections(struct page *p)
{
	const struct timeline *tl = p->tl;
	size_t u = 0;
	size_t l = 0;

	while (u < tl->n_untimed || l < tl->n_lane) {
		struct section s = { .untimed = u, .lane = l };

		s.capture = l == tl->n_lane || (u < tl->n_untimed &&
						tl->untimed[u].capture <
							tl->lane[l]->capture)
				    ? tl->untimed[u].capture
				    : tl->lane[l]->capture;
		while (u < tl->n_untimed && tl->untimed[u].capture == s.capture)
			u++;
		while (l < tl->n_lane && tl->lane[l]->capture == s.capture)
			l++;
		s.n_untimed = u - s.untimed;
		s.n_lane = l - s.lane;
		*mem_add(p->section, p->n_section, p->cap_section) = s;
	}
}

size_t page_next_untimed(const struct page *p, const struct section *s,
			 size_t i)
{
	const struct timeline_untimed *u = p->tl->untimed;
	size_t j = i;

	while (j < s->untimed + s->n_untimed && !strcmp(u[j].what, u[i].what))
		j++;
	return j;
}

unsigned int page_section_top(const struct page *p, const struct section *s)
{
	unsigned int h = p->n_section > 1 ? 20 : 0;

	for (size_t i = s->untimed; i < s->untimed + s->n_untimed;
	     i = page_next_untimed(p, s, i))
		h += STRIP;
	return h;
}

unsigned int page_section_height(const struct page *p, const struct section *s)
{
	return page_section_top(p, s) + (unsigned int)s->n_lane * p->step;
}

static void page_choose_rows(struct page *p)
{
	for (size_t i = 0; i < MARK_KINDS; i++) {
		p->row[i] = p->rows;
		p->rows += p->tl->n[i] > 0;
	}
}

static void page_choose_height(struct page *p)
{
	/* more than five rows are packed more tightly */
	unsigned int pitch = p->rows > 5 ? 2 * RADIUS : 2 * RADIUS + 3;
	unsigned int want = p->rows * pitch + 8;
	unsigned int n = p->tl->n_lane ? (unsigned int)p->tl->n_lane : 1;
	unsigned int gap;

	if (want < 48)
		want = 48;
	p->step = TALL / n;
	gap = p->step >= 16 ? 4 : p->step >= 6 ? 1 : 0;
	if (p->step > want + gap)
		p->step = want + gap;
	p->lane_h = p->step > THIN + gap ? p->step - gap : THIN;
	p->step = p->lane_h + gap;
	if (p->rows && p->lane_h >= 8 + 5 * p->rows)
		p->row_h = (p->lane_h - 8) / p->rows;
	if (p->row_h > pitch)
		p->row_h = pitch;
	p->radius = p->row_h ? (p->row_h - 1) / 2 : 0;
	if (p->radius > RADIUS)
		p->radius = RADIUS;
	/* 256 lanes with a bar in every column would make two megabytes */
	p->group = n > 128 ? 4 : n > 64 ? 2 : 1;
	p->plain = n > 64 ? 8 : 4;
}

uint64_t page_events(const struct page *p, const struct timeline_lane *l,
		     unsigned int column)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < p->group && column + i < PLOT; i++)
		n += l->column[column + i];
	return n;
}

static void page_find_most(struct page *p)
{
	for (size_t i = 0; i < p->tl->n_lane; i++)
		for (unsigned int x = 0; x < PLOT; x += p->group) {
			uint64_t n = page_events(p, p->tl->lane[i], x);

			if (n > p->most)
				p->most = n;
		}
}

void page_lay_out(struct page *p)
{
	page_find_sections(p);
	page_choose_rows(p);
	page_choose_height(p);
	page_find_most(p);
	p->top = PAD + 5 * LINE + 6;
	p->bottom = p->top;
	for (size_t i = 0; i < p->n_section; i++)
		p->bottom += page_section_height(p, &p->section[i]);
}
