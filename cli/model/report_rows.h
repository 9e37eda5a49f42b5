/* report_rows.h - the counting behind report: which key has how much weight
 * itself, and how much together with what it called.
 *
 * A key counts once per sample, however often it is in the stack. The sum of
 * `self` over all rows is the weight of all samples, exactly. */
#ifndef CLI_MODEL_REPORT_ROWS_H
#define CLI_MODEL_REPORT_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label;
struct report_rows;
struct stacks;

enum report_key {
	KEY_COMM = 1 << 0,
	KEY_PID = 1 << 1,
	KEY_TID = 1 << 2,
	KEY_CPU = 1 << 3,
	KEY_DSO = 1 << 4,
	KEY_SYM = 1 << 5,
	KEY_VERDICT = 1 << 6,
};

/* Fields of keys that were not asked for are 0. */
struct report_row {
	uint32_t comm;	/* place in report_label() */
	uint32_t label; /* place in report_label() */
	int64_t pid, tid;
	int32_t cpu;
	uint32_t verdict;	  /* place in report_label() */
	uint64_t self, total;	  /* weight */
	uint64_t n_self, n_total; /* samples */
	uint64_t seen;		  /* the last group that was counted */
};

/* event -1: all. stacks must live as long as the result. */
struct report_rows *report_rows_new(struct stacks *s, int event,
				    unsigned int keys);
void report_rows_free(struct report_rows *r);
/* Largest first, by self or by total; equal ones by name. */
void report_rows_sort(struct report_rows *r, bool by_total);
size_t report_rows_count(const struct report_rows *r);
const struct report_row *report_rows_get(const struct report_rows *r, size_t i);
const struct label *report_label(const struct report_rows *r, uint32_t i);
uint64_t report_weight(const struct report_rows *r);

/* Who calls `func` (the outermost of it in each stack), or what it calls (the
 * innermost): rows with `total` only, which sum up to the weight of `func`.
 * Its own time is the row "[self]", a root's caller the row "[nobody]". */
struct report_rows *report_around_new(struct stacks *s, int event,
				      const char *func, bool callers);
#endif
