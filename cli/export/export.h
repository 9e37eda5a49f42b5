/* export.h - one form in which a database can be handed to another tool: one
 * file, one struct exporter, one table row (export.c).
 *
 * What is lost and what became of requests must travel along wherever the form
 * has room: as marked frames, labels, tags or notes. The same database and
 * options give the same bytes. Names come from captures and may be anything:
 * json_can(), safe_text_clean() and safe_text.h make them fit. */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H
#include <stdbool.h>
#include <stdio.h>

struct err;
struct store;

/* What an exporter works from. Filters: events.h and stacks.h apply them. */
struct export
{
	struct store *db;
	const char *path; /* of the database or capture, for titles */
	bool inlined;	  /* with inlined functions */
	bool samples;	  /* every sample weighs 1 */
};

struct exporter {
	const char *summary; /* one line of help */
	bool binary;	     /* no text for a terminal */
	/* Writes all of it; 0, or -1 and *err. Stops early, with 0, when
	 * out_failed() says that nobody reads. */
	int (*write)(FILE *out, const struct export *x, struct err *err);
};

/* Ends with NULL, and its names: in the same order. */
extern const struct exporter *const exporters[];
extern const char *const exporter_names[];
#endif
