/* sframe_table.h - iterates over an SFrame section, and converts it to a table
 * of rows. */
#pragma once
#include <stdint.h>

#include "symbolize/sframe/sframe.h"

/* Callbacks, each may be NULL. For each function: func, row for each row, end.
 * If a function is damaged, bad replaces the calls that are left (all of them
 * if its index entry is damaged). */
struct sframe_visitor {
	void (*func)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*row)(void *arg, const struct sframe_func *f,
		    const struct sframe_row *row,
		    const struct sframe_rule *rule);
	void (*end)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*bad)(void *arg, uint32_t i, const struct err *err);
};

/* Visits all functions. The time is proportional to the section: once functions
 * that share rows have used four times the bytes of the rows, they count as
 * bad. Returns the number of bad functions. */
uint32_t sframe_visit(const struct sframe *sf, const struct sframe_visitor *v,
		      void *arg);

/* Converts the section to a table; free it with unwind_rows_free(). *bad is the
 * number of functions left out, since they could not be read. */
struct unwind_rows *sframe_table(const struct sframe *sf, uint32_t *bad);
