/* rules_skew.h - findings about FORK and EXIT that clocks which differ between
 * CPUs explain.
 *
 * A rule notes what order of records would explain its finding. At the end it
 * is known by how much clocks differ, by counters (clock_skew.h) or, in a
 * capture without losses, by such orders, and a finding that this explains is
 * dropped. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/verdict.h"

struct audit;
struct audit_exit;
struct audit_in;
struct audit_reuse;
struct audit_source;
struct clock_bounds;
struct fact_finding;

/* A thread cannot have two records in this order: that of `time`, on this CPU,
 * was made before that of `since`, if the clock of the CPU is ahead. */
void skew_note_order(struct audit_source *as, const struct fact_finding *f,
		     int32_t cpu, int64_t since, int64_t time);
/* Keeps the finding of a rule about this record for a while. found: its index;
 * UINT32_MAX: none. */
void skew_keep(struct audit_source *as, enum rule_number rule,
	       const struct audit_in *in, uint32_t found);
/* Returns the rule's newest one about the thread id, or NULL. */
struct audit_reuse *skew_find(struct audit_source *as, enum rule_number rule,
			      int32_t tid);
/* Returns by how much clocks must differ to explain the tid_reused of this
 * record; UINT64_MAX: they do not. */
uint64_t skew_of_reuse(struct audit *au, const struct audit_in *in,
		       const struct fact_finding *f);
/* Notes an EXIT, and a FORK; exit: when the thread id ended before; 0: never.
 */
void skew_note_exit(struct audit *au, const struct audit_in *in);
void skew_note_fork(struct audit *au, const struct audit_in *in, int64_t exit);
/* Takes a later record of a thread id whose after_exit clocks of CPUs may
 * explain: on the CPU of the EXIT, or later than clocks differ, it proves that
 * the id was used again. A FORK ends the waiting. */
void skew_prove(struct audit *au, const struct audit_in *in,
		struct audit_exit *end);
/* Takes a FORK; exit: when the thread id ended before; 0: never. What its
 * thread does follows it, so that its first record bounds clocks of CPUs. */
void skew_note_birth(struct audit *au, const struct audit_in *in, int64_t exit);
/* Takes any other record. */
void skew_note_life(struct audit *au, const struct audit_in *in);
/* Adds what counters show of the clocks of a source; NULL: nothing. */
void skew_take_bounds(struct audit *au, uint16_t source,
		      const struct clock_bounds *counted);
/* After that: what is after_exit unless clocks of CPUs differ, and nothing
 * bounds them, becomes exit_order. Call it before audit_end(). */
void skew_judge(struct audit *au);
/* At the end: finds clocks that differ by the order of FORK and EXIT. */
void skew_by_order(struct audit *au);
/* Then drops what is cookie_reused by the clocks of its two CPUs only. */
void skew_drop_cookies(struct audit *au);
/* Returns whether clocks explain a finding that needs them to differ by `by`.
 */
bool skew_explains(const struct audit *au, const struct fact_finding *f,
		   uint64_t by);
