/* rules.h - the table of rules about cause and effect in a trace.
 *
 * A rule is a function that examines records in time order, and a row of the
 * table: its name, what a finding proves, what can explain or withdraw it.
 * It must find nothing in a correct capture. If a loss explains a finding, the
 * finding names it. Findings become FACT_FINDING in audit_end(), because a loss
 * is recorded after what it explains. */
#pragma once
#include <stdint.h>

#include "stitch/audit/rule.h"

struct fact_queue;
struct ledger;
struct losses;
struct source;

/* Ends with a NULL name. The index is stored in the database: add new rules at
 * the end. */
extern const struct rule rules[];

/* Returns a new audit, which adds losses that no recorder counted to lg.
 * audit_free() frees it. */
struct audit *audit_new(struct fact_queue *out, struct losses *ls,
			struct ledger *lg);
void audit_free(struct audit *au);
/* Call it before the first record of a source, which must outlive the audit. */
void audit_source(struct audit *au, uint16_t source, const struct source *src);
/* Examines a record, after tasks has processed it. */
void audit_record(struct audit *au, const struct audit_in *in);
/* Outputs all findings. */
void audit_end(struct audit *au);
