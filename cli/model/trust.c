/* trust.c - how far the user stacks of a database can be trusted, in one
 * sentence.
 *
 * Events that take no user stacks are named only where no event takes any: a
 * recorder of tracepoints is often asked for the stacks of a few of them. */
#include "cli/model/trust.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/human.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"

/* Classes that the sentence names; the others are added up. */
#define CLASSES 4
/* More than the view has. */
#define CLASSES_MAX 48
#define NO_STACKS "not recorded"
#define FABRICATED "fabricated"

struct trust_class {
	char name[64];
	int64_t samples;
};

struct trust {
	struct trust_class kind[CLASSES_MAX]; /* largest first */
	size_t n;
	int64_t samples; /* of all classes but NO_STACKS */
	int64_t silent;	 /* and of NO_STACKS */
	bool chains;	 /* some event takes stacks, if only the kernel's */
	char fix[96];	 /* for the largest class that has one */
	char record[96]; /* for NO_STACKS */
	int64_t fixed;	 /* samples that the fix is for */
	char *pointers;	 /* the fix for fabricated stacks goes there */
};

static struct trust_class *trust_class(struct trust *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->kind[i].name, name))
			return &t->kind[i];
	/* the last place takes what is too much */
	if (t->n == CLASSES_MAX)
		return &t->kind[CLASSES_MAX - 1];
	snprintf(t->kind[t->n].name, sizeof(t->kind[0].name), "%s", name);
	return &t->kind[t->n++];
}

static int trust_take(void *arg, const struct rows *r, struct err *err)
{
	struct trust *t = arg;
	const char *word = rows_text(r, TRUST_CLASSES_CLASS);
	const char *fix = rows_text(r, TRUST_CLASSES_FIX);
	int64_t n = rows_int(r, TRUST_CLASSES_SAMPLES);

	(void)err;
	t->chains = rows_int(r, TRUST_CLASSES_CHAINS) > 0;
	if (!strcmp(word, NO_STACKS)) {
		t->silent += n;
		if (!t->record[0])
			snprintf(t->record, sizeof(t->record), "%s", fix);
		return 0;
	}
	if (!t->pointers[0] && !strncmp(word, FABRICATED, strlen(FABRICATED)))
		snprintf(t->pointers, TRUST_SENTENCE, "%s", fix);
	t->samples += n;
	trust_class(t, word)->samples += n;
	if (fix[0] && n > t->fixed) {
		snprintf(t->fix, sizeof(t->fix), "%s", fix);
		t->fixed = n;
	}
	return 0;
}

/* ---- the sentence */

struct trust_text {
	char *out;
	size_t len;
};

static void trust_add(struct trust_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void trust_add(struct trust_text *t, const char *fmt, ...)
{
	size_t room = TRUST_SENTENCE - t->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(t->out + t->len, room, fmt, ap);
	va_end(ap);
	if (len > 0)
		t->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* ", 3.25 % whole" */
static void trust_add_share(struct trust_text *t, int64_t n, int64_t all,
			    const char *what)
{
	char share[16];

	trust_add(t, "%s%s %s", t->out[t->len - 1] == ':' ? " " : ", ",
		  human_percent(share, sizeof(share), (double)n, (double)all),
		  what);
}

static bool trust_is_whole(const struct trust_class *c)
{
	return !strcmp(c->name, "whole");
}

static void trust_add_classes(struct trust_text *out, const struct trust *t)
{
	int64_t rest = 0;
	size_t shown = 0;

	for (size_t i = 0; i < t->n; i++)
		if (trust_is_whole(&t->kind[i]))
			trust_add_share(out, t->kind[i].samples, t->samples,
					"whole");
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_class *c = &t->kind[i];

		if (trust_is_whole(c))
			continue;
		if (shown++ < CLASSES)
			trust_add_share(out, c->samples, t->samples, c->name);
		else
			rest += c->samples;
	}
	if (rest)
		trust_add_share(out, rest, t->samples, "other");
}

int trust_read(struct store *db, struct trust_words *out, struct err *err)
{
	struct trust t = { .pointers = out->pointers };
	struct trust_text text = { .out = out->sentence };
	const char *fix = t.fix;

	out->sentence[0] = out->pointers[0] = '\0';

	if (rows_each(db, "trust_classes", trust_take, &t, err))
		return -1;
	if (t.samples) {
		trust_add(&text, "user stacks:");
		trust_add_classes(&text, &t);
		if (t.fixed * 100 < t.samples)
			fix = "";
	} else if (t.silent) {
		trust_add(&text, "no %sstacks recorded",
			  t.chains ? "user " : "");
		fix = t.record;
	} else {
		trust_add(&text, "user stacks: no sample hit user mode");
	}
	if (fix[0])
		trust_add(&text, ": %s", fix);
	return 0;
}

int trust_sentence(struct store *db, char out[TRUST_SENTENCE], struct err *err)
{
	struct trust_words w;

	if (trust_read(db, &w, err))
		return -1;
	memcpy(out, w.sentence, TRUST_SENTENCE);
	return 0;
}
