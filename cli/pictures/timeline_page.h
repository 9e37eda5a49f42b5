/* timeline_page.h - where things stand in a timeline picture, and how numbers
 * are said in it.
 *
 * Positions are integers, never floating point: the bytes must not depend on
 * a compiler or a locale. */
#ifndef CLI_PICTURES_TIMELINE_PAGE_H
#define CLI_PICTURES_TIMELINE_PAGE_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/pictures/timeline_model.h"

#define PAD 10
#define LEFT 72
#define RIGHT 178
#define PLOT TIMELINE_COLUMNS
#define WIDTH (LEFT + PLOT + RIGHT)
#define LINE 17
#define LABEL 13 /* px that a label needs */
#define STRIP 18 /* px of what has no time */
#define RADIUS 4 /* of marks, at most */

/* The lanes of one capture, and above them what has no time. */
struct section {
	int64_t capture;
	size_t untimed, n_untimed;
	size_t lane, n_lane;
};

/* One picture being drawn. Every kind of mark has a row of its own in all
 * lanes; where these are too thin for it, marks are lines. */
struct page {
	FILE *out;
	const struct timeline *tl;
	struct section *section;
	size_t n_section, cap_section;
	unsigned int lane_h, step; /* px of a lane, and to the next one */
	unsigned int top, bottom;  /* of the sections */
	unsigned int keys, notes;  /* lines below */
	unsigned int row[MARK_KINDS], rows;
	unsigned int row_h;  /* 0: marks are lines */
	unsigned int radius; /* of marks */
	unsigned int group;  /* columns drawn as one bar */
	unsigned int plain;  /* columns drawn as one where there is too much */
	uint64_t most;	     /* events in one bar */
};

/* Everything but out and tl; free(section) afterwards. */
void page_lay_out(struct page *p);
unsigned int page_section_top(const struct page *p, const struct section *s);
unsigned int page_section_height(const struct page *p, const struct section *s);
/* What has no time: the next one that is not of the same kind. */
size_t page_next_untimed(const struct page *p, const struct section *s,
			 size_t i);
/* In the bar that begins at this column. */
uint64_t page_events(const struct page *p, const struct timeline_lane *l,
		     unsigned int column);

/* ns since the beginning. */
uint64_t page_since(const struct page *p, int64_t t);
/* With as many digits as one may want to compare. */
void page_ns(FILE *out, uint64_t ns);
/* In seconds, with all digits. */
void page_clock(FILE *out, int64_t t);
/* "1,234 records". */
void page_count(FILE *out, uint64_t n, const char *what);
void page_cpu(FILE *out, int32_t cpu);
/* Letters of 1,234,567. */
unsigned int page_digits(uint64_t n);
/* anchor, class: NULL for none. */
void page_text(const struct page *p, unsigned int x, unsigned int y,
	       const char *anchor, const char *class);
void page_text_end(const struct page *p);
#endif
