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
#define LABEL 13 /* px, height of a label */
#define STRIP 18 /* px, height of a strip for losses without a time */
#define RADIUS 4 /* px, largest radius of a mark */

/* The lanes of one capture, below the strips for its losses without a time. */
struct section {
	int64_t capture;
	size_t untimed, n_untimed;
	size_t lane, n_lane;
};

/* A picture while it is drawn. Each kind of mark has its own row in every lane.
 * If lanes are too thin for rows, marks are vertical lines. */
struct page {
	FILE *out;
	const struct timeline *tl;
	struct section *section;
	size_t n_section, cap_section;
	unsigned int lane_h,
		step; /* px, height of a lane, and distance to the next */
	unsigned int top, bottom; /* px, where the sections begin and end */
	unsigned int keys, notes; /* lines of text below the lanes */
	unsigned int row[MARK_KINDS], rows;
	unsigned int row_h;  /* px; 0: marks are lines */
	unsigned int radius; /* of marks */
	unsigned int group;  /* columns that share one bar */
	unsigned int plain;  /* columns merged where there are no
			      * tooltips */
	uint64_t most;	     /* events in one bar */
};

/* Computes all fields but out and tl. The caller frees section. */
void page_lay_out(struct page *p);
unsigned int page_section_top(const struct page *p, const struct section *s);
unsigned int page_section_height(const struct page *p, const struct section *s);
/* Returns the index of the next loss without a time that is of another kind. */
size_t page_next_untimed(const struct page *p, const struct section *s,
			 size_t i);
/* Returns the number of events in the bar that begins at this column. */
uint64_t page_events(const struct page *p, const struct timeline_lane *l,
		     unsigned int column);

/* Returns the ns from the beginning of the timeline to t. */
uint64_t page_since(const struct page *p, int64_t t);
/* Writes a duration in the largest unit that fits, with the decimals needed to
 * compare durations. */
void page_ns(FILE *out, uint64_t ns);
/* Writes a time in seconds with nine decimals. */
void page_clock(FILE *out, int64_t t);
/* Writes "1,234 records". */
void page_count(FILE *out, uint64_t n, const char *what);
void page_cpu(FILE *out, int32_t cpu);
/* Returns the number of characters of n written as 1,234,567. */
unsigned int page_digits(uint64_t n);
/* Begins a text element; anchor and class may be NULL. */
void page_text(const struct page *p, unsigned int x, unsigned int y,
	       const char *anchor, const char *css_class);
void page_text_end(const struct page *p);
#endif
