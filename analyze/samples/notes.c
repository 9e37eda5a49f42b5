/* notes.c - facts that qualify a picture of a database, as lines of text. */
#include "analyze/samples/notes.h"

#include <string.h>

#include "stitch/text/safe_text.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/text_out.h"

#define LINE_SIZE 4096

/* The line that is being written. */
struct notes {
	note_fn *fn;
	void *arg;
	struct text_out line;
};

/* Appends ", WHAT TEXT" if there is a text. */
static void add_text(struct notes *n, const char *what, const char *text)
{
	char clean[1024];

	if (!text[0])
		return;
	safe_text_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	text_out_add(&n->line, "%s%s", what, clean);
}

static void notes_end(struct notes *n)
{
	if (n->line.len)
		n->fn(n->arg, n->line.buf);
	n->line.len = 0;
}

static int notes_read_captures(struct notes *n, struct store *db,
			       struct err *err)
{
	struct rows *r = rows_of(db, "info_captures", err);

	while (rows_step(r)) {
		add_text(n, "capture ", rows_text(r, INFO_CAPTURES_PATH));
		add_text(n, ", format ", rows_text(r, INFO_CAPTURES_FORMAT));
		add_text(n, ", host ", rows_text(r, INFO_CAPTURES_HOST));
		add_text(n, ", kernel ", rows_text(r, INFO_CAPTURES_RELEASE));
		add_text(n, ", made by ", rows_text(r, INFO_CAPTURES_VERSION));
		add_text(n, ", command ", rows_text(r, INFO_CAPTURES_CMDLINE));
		if (rows_value(r, INFO_CAPTURES_COMPLETE).kind == VALUE_INT &&
		    !rows_int(r, INFO_CAPTURES_COMPLETE))
			text_out_add(&n->line, ", truncated or damaged");
		notes_end(n);
	}
	return rows_end(r, err);
}

int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err)
{
	char line[LINE_SIZE];
	struct notes n = { fn, arg, { .buf = line, .size = sizeof(line) } };

	if (notes_read_captures(&n, db, err))
		return -1;
	struct rows *rows = rows_of(db, "check_losses", err);

	while (rows_step(rows)) {
		int64_t unknown = rows_int(rows, CHECK_LOSSES_UNKNOWN);

		add_text(&n,
			 rows_int(rows, CHECK_LOSSES_COUNTS)
				 ? "lost: "
				 : "loss, not counted: ",
			 rows_text(rows, CHECK_LOSSES_WHAT));
		text_out_add(&n.line, ", %lld records in %lld intervals",
			     (long long)rows_int(rows, CHECK_LOSSES_RECORDS),
			     (long long)rows_int(rows, CHECK_LOSSES_INTERVALS));
		if (unknown)
			text_out_add(&n.line,
				     ", of %lld it is not known how many",
				     (long long)unknown);
		notes_end(&n);
	}
	if (rows_end(rows, err))
		return -1;
	struct rows *r = rows_of(db, "info_verdicts", err);

	while (rows_step(r)) {
		const char *confidence = rows_text(r, INFO_VERDICTS_CONFIDENCE);

		add_text(&n, "", rows_text(r, INFO_VERDICTS_KIND));
		add_text(&n, " ", rows_text(r, INFO_VERDICTS_VERDICT));
		add_text(&n, " (", confidence);
		text_out_add(&n.line, "%s: %lld", confidence[0] ? ")" : "",
			     (long long)rows_int(r, INFO_VERDICTS_N));
		notes_end(&n);
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "export_damage", err);

	while (rows_step(r)) {
		add_text(&n, "", rows_text(r, EXPORT_DAMAGE_KIND));
		add_text(&n, ": ", rows_text(r, EXPORT_DAMAGE_WHAT));
		text_out_add(&n.line, ", %lld times",
			     (long long)rows_int(r, EXPORT_DAMAGE_N));
		notes_end(&n);
	}
	return rows_end(r, err);
}
