/* notes.c - what all readers write to the ledger: damage, notes, and times that
 * go back. */
#include "formats/reader/notes.h"

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"

void reader_damage(const struct source *src, const char *what, uint64_t off,
		   uint64_t len, const struct err *err)
{
	ledger_damage(src->ledger, src->index, what, off, len, err);
}

void reader_damage_text(const struct source *src, const char *path,
			const char *what, uint64_t off, uint64_t len,
			const char *why)
{
	struct err err;

	err_at(&err, path, off, "%s", why);
	reader_damage(src, what, off, len, &err);
}

void reader_note(const struct source *src, const char *what, const char *detail)
{
	ledger_note(src->ledger, src->index, what, detail);
}

void reader_regress(const struct source *src, uint64_t off, uint64_t time,
		    uint64_t last, int32_t cpu)
{
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = src->index,
		.what = "regress",
		.off = off,
		.t0 = time,
		.t1 = last,
		.n = 1,
		.cpu = cpu,
		.event = -1,
	};

	ledger_add(src->ledger, &e);
}
