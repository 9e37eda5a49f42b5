/* weight.h - what a sample weighs: the recorded weight, or 1, or the value of
 * an SQL expression of the user; and which samples count, and for which row, by
 * other expressions. */
#pragma once
#include <stddef.h>

struct arena;
struct err;
struct filter;
struct rows;
struct store;

/* SQL expressions on samples; NULL: not given. */
struct weight_by {
	const struct filter *filter; /* selects samples; never NULL */
	const char *weight;
	const char *field; /* field of an event, the key of --sort */
};

/* weight_by.field if the key is the cgroup of the sample. */
extern const char weight_cgroup[];

/* Reads EVENT.FIELD, and makes filter->event that event. Returns the field, or
 * NULL and *err. Both names are in memory of `text`. */
const char *weight_take_field(struct filter *filter, const char *key,
			      size_t len, struct arena *text, struct err *err);
/* Returns the rows of query weight_rows, which are those of report_samples with
 * the value of the expression as the weight, and of the field as the key. The
 * expressions may use event_id, time_ns, cpu, pid, tid, comm, event, weight,
 * verdict, latency_ns and cgroup of a sample, and the fields of one event; if
 * one uses a field, the rows are the samples of that event. A field with the
 * name of a column is field_NAME. Only samples that the filter selects are
 * among them. Returns NULL and *err, which lists the columns, if SQLite refuses
 * an expression. */
struct rows *weight_rows(struct store *db, const struct weight_by *by_what,
			 struct err *err);
/* Returns the unit of the weights: "ns" if the expression is a name that ends
 * in "_ns", else the expression. */
const char *weight_unit(const char *expr);
