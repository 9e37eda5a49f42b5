/* sframe_table.h - all functions and rows of an SFrame section, in order. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_TABLE_H
#define SYMBOLIZE_SFRAME_SFRAME_TABLE_H
#include <stdint.h>

#include "symbolize/sframe/sframe.h"

struct err;
struct row_rule;

/* What is called for each function: func, then row for each of its rows, then
 * end. Where it cannot be read on, bad is called in place of what is left
 * (func too, then, if the function itself is broken). NULL: not wanted. */
struct sframe_visitor {
	void (*func)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*row)(void *arg, const struct sframe_func *f,
		    const struct sframe_row *row,
		    const struct sframe_rule *rule);
	void (*end)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*bad)(void *arg, uint32_t i, const struct err *err);
};

/* Takes time in proportion to the section: functions that have the rows of
 * others are bad from the place on where four times the bytes of rows that
 * there are were read. Gives the number of bad functions. */
uint32_t sframe_visit(const struct sframe *sf, const struct sframe_visitor *v,
		      void *arg);

/* A row in the terms of symbolize/cfi/unwind_rows.h. */
void sframe_row_rule(const struct sframe *sf, const struct sframe_func *f,
		     const struct sframe_rule *in, struct row_rule *out);
/* The whole section as a table of rows; functions that cannot be read are not
 * in it, *bad is how many. unwind_rows_free() it. */
struct unwind_rows *sframe_table(const struct sframe *sf, uint32_t *bad);
#endif
