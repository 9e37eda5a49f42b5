/* report.h - collects the facts about an image that a resolver reports: file,
 * status, notes, and the sections that it read.
 *
 * The driver (symbolize.c) sets sy->rep to the report of the image being named;
 * resolvers and the modules that find files fill it in through these calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "stitch/image_status.h"

struct section_used;
struct segment;
struct symbolizer;

/* The facts about an image, for the image table. */
struct image_report {
	char file[4096]; /* "": no file */
	enum image_status status;
	/* evidence that identity_judge() found for the file; NULL: not
	 * judged */
	const char *identity;
	/* why a file was refused; "": none was */
	char refused[64];
	bool misfit;	     /* the mapping has another length than this file */
	struct segment *seg; /* owned; freed by report_release() */
	size_t n_seg;
	struct section_used *used; /* owned, with its strings */
	size_t n_used, cap_used;
	unsigned int fetched; /* number of files downloaded */
	/* a file that could not be downloaded, and why; "" */
	char missing[128];
	char note[256]; /* a message for the user; "": none */
};

void report_release(struct image_report *rep);

/* Set the report's file and status. IMAGE_NAMED becomes IMAGE_UNVERIFIED if the
 * file is not proved to be the one that was mapped. */
void report_file(struct symbolizer *sy, const char *file);
void report_status(struct symbolizer *sy, enum image_status status);
/* Stores a message for the user about the file at path. The names of an image
 * that has a note are not stored in the name cache. */
void report_note(struct symbolizer *sy, const char *what, const char *path);

/* Appends a copy of *u to the sections the names were read from. */
void report_add_section(struct image_report *rep, const struct section_used *u);
/* Returns the entry of list[] with this file and section name, or NULL. */
const struct section_used *report_find_section(const struct section_used *list,
					       size_t n, const char *file,
					       const char *name);
/* Returns the first entry of a[] whose file and section are in b[] with another
 * hash, or NULL if none has changed. */
const struct section_used *report_changed_section(const struct section_used *a,
						  size_t n_a,
						  const struct section_used *b,
						  size_t n_b);
