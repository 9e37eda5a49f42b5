/* span.h - when samples were taken and records were lost, in a line of the
 * terminal, to choose a time from. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

#define SPAN_PARTS 64

struct span {
	int64_t first, part; /* ns: where it begins, how long a part is */
	uint64_t samples[SPAN_PARTS], most;
	bool lost[SPAN_PARTS];
};

/* Returns 0, or -1 and *err, also if the database has no times. */
int span_load(struct span *s, struct store *db, struct err *err);
/* Draws it in two rows, with the parts from `from` to `to` chosen. */
void span_draw(const struct span *s, int row, size_t from, size_t to);
/* Moves the chosen part for a key; once marked, only its end. Returns false
 * when Enter ends the choice. */
bool span_move(int key, size_t *from, size_t *to, bool *marked);
/* Writes the filter that selects these parts: "time=1.5,2.25". */
void span_filter(const struct span *s, size_t from, size_t to, char *buf,
		 size_t size);
