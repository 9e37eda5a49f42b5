/* page_tables.h - the tables of an HTML page, which need no script. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct err;
struct stacks;
struct store;

/* Writes the table of the functions with the largest weight of an event;
 * inlined: inlined functions have rows. */
void page_tables_hot(FILE *out, struct stacks *s, int event, bool inlined);
/* Writes the tables of captures, verdicts, losses, findings and code without
 * names. Returns 0, or -1 and *err. */
int page_tables_write(FILE *out, struct store *db, struct err *err);
