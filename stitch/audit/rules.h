/* rules.h - what must not happen in a trace: a table of rules about cause and
 * effect, with or without cookies.
 *
 * A rule is one small function over the records in time order and one row of
 * the table: its name, what a finding of it proves, and the view that shows
 * its findings. It says nothing about a capture in which nothing is wrong. A
 * finding that a loss explains names the loss. Facts: FACT_FINDING, all from
 * audit_end(), because the record that tells of a loss comes after it. */
#ifndef STITCH_AUDIT_RULES_H
#define STITCH_AUDIT_RULES_H
#include <stdint.h>

#include "stitch/audit/rule.h"

struct audit;
struct facts;
struct losses;
struct source;

/* Ends with a name of NULL; the index is stored: add at the end. */
extern const struct rule rules[];

struct audit *audit_new(struct facts *out, struct losses *ls);
void audit_free(struct audit *au);
/* Before the first record of a source, which must outlive the audit. */
void audit_source(struct audit *au, uint16_t source, const struct source *src);
/* Every record, when the tasks know of it. */
void audit_record(struct audit *au, const struct audit_in *in);
/* Gives out all findings. */
void audit_end(struct audit *au);
#endif
