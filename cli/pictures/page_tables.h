/* page_tables.h - the tables of an HTML page, which need no script. */
#ifndef CLI_PICTURES_PAGE_TABLES_H
#define CLI_PICTURES_PAGE_TABLES_H
#include <stdio.h>

struct err;
struct stacks;
struct store;

/* The largest functions of the event. */
void page_tables_hot(FILE *out, struct stacks *s, int event);
/* Captures, verdicts, losses, findings, code without names. 0, or -1. */
int page_tables_write(FILE *out, struct store *db, struct err *err);
#endif
