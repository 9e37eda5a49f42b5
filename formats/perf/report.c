/* report.c - what the reader tells the ledger: damage, notes, skipped records.
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"

void perf_damage(struct perf *p, const char *what, uint64_t off, uint64_t len,
		 const struct err *err)
{
	p->damaged++;
	if (p->loud)
		reader_damage(&p->src, what, off, len, err);
}

void perf_note(struct perf *p, const char *what, const char *detail)
{
	if (p->loud)
		reader_note(&p->src, what, detail);
}

void perf_note_event(struct perf *p, uint32_t event, enum perf_noted what)
{
	static const char *const word[][2] = {
		[NOTED_REGISTERS] = { "registers",
				      "have registers of a kind that this "
				      "program does not know: they are read as far as "
				      "these, without registers and stack dump" },
		[NOTED_MODE] = { "mode",
				 "have the kernel's mode and an address of a "
				 "program, as precise events of Linux 3.11 to 4.16: "
				 "they count as user mode" },
		[NOTED_UNMAPPED] = { "unmapped",
				     "have addresses that perf inject could "
				     "not map and made 0" },
		[NOTED_LOW] = { "firmware",
				"have kernel addresses below the kernel's half, where "
				"firmware runs" },
		[NOTED_CPU] = { "CPU",
				"are of a CPU beyond those that the machine had when "
				"recording ended" },
	};
	char note[256];

	if (p->attr[event].noted & what)
		return;
	p->attr[event].noted |= what;
	snprintf(note, sizeof(note), "samples of event '%.64s' %s",
		 p->event[event].name, word[what][1]);
	reader_note(&p->src, word[what][0], note);
}

/* May a recorder that we do not know have written this type? A kernel writes a
 * new one only if a flag of an event asks for it. perf numbers its own without
 * gaps, simpleperf from 32768 on. */
static bool perf_type_is_likely(const struct perf *p, uint32_t type)
{
	if (type < PR_TOOL)
		return type && (type < PR_KERNEL_KNOWN || p->newer);
	return type < 2 * PR_TOOL || perf_type_is_simpleperf(type);
}

void perf_skip_type(struct perf *p, const struct perf_rec *r)
{
	if (!perf_type_is_likely(p, r->type)) {
		perf_damage_text(p, r->b.path, "record", r->off, r->size,
				 "record of type %" PRIu32
				 ", which no recorder writes; "
				 "the size of the one before it may be wrong",
				 r->type);
		return;
	}
	ledger_skip(p->src.ledger, p->src.index, "record type", r->type, r->off,
		    perf_type_skipped(r->type));
}

void perf_damage_id(struct perf *p, const struct perf_rec *r)
{
	reader_damage_text(
		&p->src, r->b.path, "event id", r->off, r->size,
		"a record of type %s has the id of no event of the header",
		perf_type_name(r->type));
}
