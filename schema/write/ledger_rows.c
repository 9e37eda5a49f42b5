/* ledger_rows.c - makes rows of loss, ordering and damage from the ledger's
 * entries. */
#include "stitch/base/ledger.h"

#include <inttypes.h>
#include <stdio.h>

#include "schema/db/queries.h"
#include "schema/write/capture.h"
#include "schema/write/write.h"
#include "stitch/source.h"

/* Numbers come from captures, and SQLite's sum() fails beyond 63 bits: with
 * this limit the sum over LEDGER_MAX + 1 rows fits. */
#define NUMBER_MAX ((uint64_t)1 << 46)

static int64_t ledger_row_number(uint64_t n)
{
	return (int64_t)(n < NUMBER_MAX ? n : NUMBER_MAX);
}

static int ledger_put_damage(struct maker *mk, const struct ledger_entry *e,
			     struct err *err);

/* Writes a loss. Its detail becomes a note. */
static int ledger_put_loss(struct maker *mk, const struct ledger_entry *e,
			   struct err *err)
{
	const struct capture_map *c = capture_map(mk, e->capture);
	uint32_t type = 0;

	if (e->event >= 0 && c->src && (uint32_t)e->event < c->src->n_events) {
		type = capture_type(mk, e->capture, (uint32_t)e->event, err);
		if (!type)
			return -1;
	}
	if (e->detail && ledger_put_damage(mk, e, err))
		return -1;
	/* so many records cannot be lost: the number is unknown */
	return PUT_ROW(
		mk, T_LOSS, err, VALUE_OF(e->id), VALUE_OF(e->capture + 1),
		value_text(e->what), VALUE_OF(e->counts), VALUE_CPU(e->cpu),
		VALUE_ID(type), VALUE_ID(e->t0), VALUE_ID(e->t1),
		VALUE_ID(e->n < NUMBER_MAX ? e->n : 0), VALUE_OF(e->off));
}

/* Writes damage. In an entry of LEDGER_SKIPPED len is not a length but the
 * record's type. */
static int ledger_put_damage(struct maker *mk, const struct ledger_entry *e,
			     struct err *err)
{
	static const char *const kind[LEDGER_KINDS] = {
		[LEDGER_DAMAGE] = "damage",
		[LEDGER_SKIPPED] = "skipped",
		[LEDGER_NOTE] = "note",
		[LEDGER_LOSS] = "note",
	};
	bool skipped = e->kind == LEDGER_SKIPPED;
	char key[64];
	const char *detail = e->detail;

	if (skipped && !detail && e->len) {
		snprintf(key, sizeof(key), "%s %" PRIu64, e->what, e->len);
		detail = key;
	}
	if (e->kind == LEDGER_DAMAGE && !ledger_is_adjacent(e->what))
		capture_map(mk, e->capture)->damaged = true;
	return PUT_ROW(mk, T_DAMAGE, err, VALUE_OF(e->capture + 1),
		       value_text(kind[e->kind]), value_text(e->what),
		       VALUE_OF(e->off),
		       VALUE_ID(skipped ? 0 : ledger_row_number(e->len)),
		       VALUE_OF(ledger_row_number(e->n)), value_text(detail));
}

int store_note(struct maker *mk, const char *what, const char *detail,
	       struct err *err)
{
	struct rows *r =
		rows_open(maker_read(mk, err), store_sql("same_note"),
			  VALUES(value_text(what), value_text(detail)), err);
	bool found = rows_step(r);

	int known = rows_end(r, err) ? -1 : found;

	if (known)
		return known < 0 ? -1 : 0;
	return PUT_ROW(mk, T_DAMAGE, err, VALUE_ID(0), value_text("note"),
		       value_text(what), VALUE_ID(0), VALUE_ID(0), VALUE_OF(1),
		       value_text(detail));
}

int store_entries(struct maker *mk, struct ledger *lg, struct err *err)
{
	struct ledger_entry e;
	int rc = 0;

	if (!lg)
		return 0;
	/* add an entry for the weights that were too large to be stored, as a
	 * tracepoint may have any */
	for (size_t i = 0; i < mk->w->n_capture; i++) {
		struct capture_map *c = &mk->w->capture[i];
		struct ledger_entry entry = {
			.kind = LEDGER_NOTE,
			.capture = (uint16_t)i,
			.what = "weight",
			.detail = "periods too large to be added up; these "
				  "samples have no weight",
			.n = c->bad_weights,
			.cpu = -1,
			.event = -1,
		};

		if (entry.n)
			ledger_add(lg, &entry);
		c->bad_weights = 0;
	}
	while (!rc && ledger_take(lg, &e) > 0) {
		if (e.kind == LEDGER_LOSS)
			rc = ledger_put_loss(mk, &e, err);
		else if (e.kind == LEDGER_ORDER)
			rc = PUT_ROW(mk, T_ORDERING, err,
				     VALUE_OF(e.capture + 1),
				     value_text(e.what), VALUE_ID(e.t0),
				     value_known(e.t1 > e.t0,
						 (int64_t)(e.t1 - e.t0)),
				     VALUE_CPU(e.cpu),
				     VALUE_OF(ledger_row_number(e.n)),
				     VALUE_OF(e.off), value_text(e.detail));
		else if (e.kind < LEDGER_KINDS)
			rc = ledger_put_damage(mk, &e, err);
	}
	return rc;
}
