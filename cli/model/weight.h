/* weight.h - what a sample weighs: what was recorded, 1, or the value of an SQL
 * expression of the user. */
#ifndef CLI_MODEL_WEIGHT_H
#define CLI_MODEL_WEIGHT_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

struct err;
struct rows;
struct store;

/* --by */
extern const struct opt by_opts[];

/* Returns whether --by was given. */
bool by_given(void);
/* Returns whether each sample weighs 1: --by samples. */
bool by_samples(void);
/* Returns the rows of query report_samples with the value of the expression as
 * the weight. The expression may use event_id, time_ns, cpu, pid, tid, comm,
 * event, weight, verdict and latency_ns of a sample, and the fields of one
 * event; if it uses a field, the rows are the samples of that event. A field
 * with the name of a column is field_NAME. Only samples that the filters let
 * through are among them. Returns NULL and *err, which lists the columns, if
 * SQLite refuses the expression. */
struct rows *weight_rows(struct store *db, const char *expr, struct err *err);
/* Returns the unit of the weights: "ns" if the expression is a name that ends
 * in it, else the expression. */
const char *weight_unit(const char *expr);
#endif
