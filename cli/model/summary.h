/* summary.h - what a database holds and what is missing from it, in words. */
#ifndef CLI_MODEL_SUMMARY_H
#define CLI_MODEL_SUMMARY_H
#include <stdbool.h>
#include <stdio.h>

struct err;
struct store;

/* path: as the user would name the database. brief: for the end of ingest,
 * otherwise for info. */
int summary_print(FILE *out, struct store *db, const char *path, bool brief,
		  struct err *err);
int summary_json(FILE *out, struct store *db, struct err *err);
/* --strict: *bad when records were lost or a stack is missing without a
 * harmless reason. */
int summary_strict(struct store *db, bool *bad, struct err *err);
#endif
