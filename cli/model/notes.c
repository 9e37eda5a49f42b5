/* notes.c - what must be known of a database to judge a picture of it. */
#include "cli/model/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/safe_text.h"
#include "schema/store.h"
#include "stitch/base/err.h"

#define LINE_SIZE 4096

/* A line in the making. */
struct notes {
	note_fn *fn;
	void *arg;
	char line[LINE_SIZE];
	size_t len;
};

static void add(struct notes *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct notes *n, const char *fmt, ...)
{
	size_t room = sizeof(n->line) - n->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(n->line + n->len, room, fmt, ap);
	va_end(ap);
	if (len > 0)
		n->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* ", WHAT TEXT" where there is a text. */
static void add_text(struct notes *n, const char *what, const char *text)
{
	char clean[1024];

	if (!text[0])
		return;
	safe_text_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	add(n, "%s%s", what, clean);
}

static void end(struct notes *n)
{
	if (n->len)
		n->fn(n->arg, n->line);
	n->len = 0;
	n->line[0] = 0;
}

/* The columns of info_captures. */
static int take_capture(void *arg, const struct rows *r, struct err *err)
{
	struct notes *n = arg;

	(void)err;
	add_text(n, "capture ", rows_text(r, 1));
	add_text(n, ", format ", rows_text(r, 2));
	add_text(n, ", host ", rows_text(r, 4));
	add_text(n, ", kernel ", rows_text(r, 5));
	add_text(n, ", made by ", rows_text(r, 6));
	add_text(n, ", command ", rows_text(r, 8));
	if (rows_value(r, 17).kind == VALUE_INT && !rows_int(r, 17))
		add(n, ", truncated or damaged");
	end(n);
	return 0;
}

/* The columns of check_losses: what, counts, records, intervals, unknown. */
static int take_loss(void *arg, const struct rows *r, struct err *err)
{
	struct notes *n = arg;
	int64_t unknown = rows_int(r, 4);

	(void)err;
	add_text(n, rows_int(r, 1) ? "lost: " : "loss, not counted: ",
		 rows_text(r, 0));
	add(n, ", %lld records in %lld intervals", (long long)rows_int(r, 2),
	    (long long)rows_int(r, 3));
	if (unknown)
		add(n, ", of %lld it is not known how many",
		    (long long)unknown);
	end(n);
	return 0;
}

/* The columns of info_verdicts: kind, verdict, confidence, n. */
static int take_verdict(void *arg, const struct rows *r, struct err *err)
{
	struct notes *n = arg;

	(void)err;
	add_text(n, "", rows_text(r, 0));
	add_text(n, " ", rows_text(r, 1));
	add_text(n, " (", rows_text(r, 2));
	add(n, "%s: %lld", rows_text(r, 2)[0] ? ")" : "",
	    (long long)rows_int(r, 3));
	end(n);
	return 0;
}

/* The columns of export_damage: kind, what, count. */
static int take_damage(void *arg, const struct rows *r, struct err *err)
{
	struct notes *n = arg;

	(void)err;
	add_text(n, "", rows_text(r, 0));
	add_text(n, ": ", rows_text(r, 1));
	add(n, ", %lld times", (long long)rows_int(r, 2));
	end(n);
	return 0;
}

int notes_each(struct store *db, note_fn *fn, void *arg, struct err *err)
{
	struct notes n = { .fn = fn, .arg = arg };

	if (rows_each(db, "info_captures", take_capture, &n, err) ||
	    rows_each(db, "check_losses", take_loss, &n, err) ||
	    rows_each(db, "info_verdicts", take_verdict, &n, err))
		return -1;
	return rows_each(db, "export_damage", take_damage, &n, err);
}
