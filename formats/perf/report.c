/* report.c - what the reader tells the ledger: damage, notes, skipped records.
 */
#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/ledger.h"

void perf_damage(struct perf *p, const char *what, uint64_t off, uint64_t len,
		 const struct err *err)
{
	if (p->loud)
		reader_damage(&p->src, what, off, len, err);
}

void perf_note(struct perf *p, const char *what, const char *detail)
{
	if (p->loud)
		reader_note(&p->src, what, detail);
}

void perf_skip_type(struct perf *p, const struct perf_rec *r)
{
	ledger_skip(p->src.ledger, p->src.index, "record type", r->type,
		    r->off);
}

void perf_skip_unknown_id(struct perf *p, const struct perf_rec *r)
{
	ledger_skip(p->src.ledger, p->src.index, "unknown event id", r->type,
		    r->off);
}
