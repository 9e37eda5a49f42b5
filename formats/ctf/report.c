/* report.c - what the reader tells the ledger: damage and notes. */
#include "formats/ctf/ctf.h"

void ctf_damage(const struct ctf *ctf, const char *what, uint64_t off,
		uint64_t len, const struct err *err)
{
	ledger_damage(ctf->src.ledger, ctf->src.index, what, off, len, err);
}

void ctf_note(const struct ctf *ctf, enum ledger_kind kind, const char *what,
	      const char *detail, uint64_t n)
{
	struct ledger_entry e = {
		.kind = kind,
		.capture = ctf->src.index,
		.what = what,
		.detail = detail,
		.n = n,
		.cpu = -1,
		.event = -1,
	};

	ledger_add(ctf->src.ledger, &e);
}
