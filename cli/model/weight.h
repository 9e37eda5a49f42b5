/* weight.h - what samples weigh by an SQL expression of the user. */
#ifndef CLI_MODEL_WEIGHT_H
#define CLI_MODEL_WEIGHT_H
#include <stddef.h>

struct err;
struct rows;
struct store;
struct value;

/* Rows as query report_samples gives them, with the value of the expression
 * for the weight. It sees one row for a sample: event_id, time_ns, cpu, pid,
 * tid, comm, event, weight, verdict, latency_ns; and the fields of its event,
 * when it names one of those: then only samples of that event are given. A
 * field of the same name as a column is field_NAME. cond, bind: from
 * filter_sql(). NULL and *err, which says what columns there are. */
struct rows *weight_rows(struct store *db, const char *expr, const char *cond,
			 const struct value *bind, size_t n, struct err *err);
/* The unit of such weights: "ns" for names that end so, else the expression. */
const char *weight_unit(const char *expr);
#endif
