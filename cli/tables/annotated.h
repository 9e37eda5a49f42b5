/* annotated.h - what the command annotate prints. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "analyze/listing/annot.h"

struct json;

/* Samples of an inlined function in one function that it was inlined into. */
struct inlined_into {
	uint32_t func; /* index in hot.func */
	uint64_t weight, samples;
};

/* An inlined function: its samples, with those of functions that were inlined
 * into it, in all functions that it was inlined into. */
struct inlined_copies {
	const struct hot *h;
	const char *what, *dso;
	const char *name; /* as in debug information; NULL: there is no
			   * sample */
	uint64_t weight, samples;
	struct inlined_into *into; /* largest first */
	size_t n_into;
	struct hot_lines lines;
	uint32_t *spot; /* while loading: index + 1 in hot.spot, by frame */
	size_t n_spot;
	struct arena text;
};

/* Finds the samples. h, what and dso (see hot_choose()) are borrowed. Returns
 * 0, or -1 and *err; the caller calls inlined_release() in both cases. */
int inlined_load(struct inlined_copies *in, struct store *db,
		 const struct hot *h, const char *what, const char *dso,
		 struct err *err);
void inlined_release(struct inlined_copies *in);
/* Print the samples; path is the database. */
void inlined_text(const struct inlined_copies *in, const char *path);
void inlined_json(const struct inlined_copies *in);

/* Print a function. around: instructions to show around samples; -1: all. */
void annot_text(FILE *out, const struct annot *a, long around);
void annot_json(const struct annot *a);
/* Prints the hottest functions of an image (NULL: all), at most max (0: all),
 * and how to see one; path is the database. Returns 0, or -1 and *err if the
 * image has none. */
int annot_list(const struct hot *h, const char *path, const char *dso,
	       size_t max, bool json, struct err *err);
