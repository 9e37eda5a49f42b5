/* shown_names.c - short names that tell the functions of one output apart. */
#include "analyze/names/shown_names.h"

#include "analyze/names/name_opts.h"
#include "analyze/names/short_name.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

/* What is kept of names that are equal with less. */
static const unsigned int shown_keep[] = {
	0,
	SHORT_KEEP_CLONE,
	SHORT_KEEP_TRAIT,
	SHORT_KEEP_ARGS,
	SHORT_KEEP_PARAMS,
	SHORT_KEEP_ARGS | SHORT_KEEP_PARAMS,
	SHORT_KEEP_ALL,
};

#define SHOWN_FULL ARRAY_SIZE(shown_keep)
/* A name that got longer may be equal to one that was alone. Names that were
 * made up to do this again and again are shown in full. */
#define SHOWN_ROUNDS (2 * SHOWN_FULL)

struct shown_names {
	struct intern names;
	const char **shown; /* by id, of n; NULL: the name */
	size_t n;
};

struct shown_name {
	const char *full, *text;
	size_t level;  /* index in shown_keep; SHOWN_FULL: the full name */
	uint32_t same; /* names of one text have one number */
};

static void shown_take_level(struct shown_name *s, size_t level,
			     struct arena *text)
{
	s->level = level;
	s->text = s->full;
	if (level == SHOWN_FULL)
		return;
	char *buf = mem_new(strlen(s->full) + 1, 1);
	short_name(s->full, shown_keep[level], buf);
	if (strcmp(buf, s->full))
		s->text = arena_strdup(text, buf);
	free(buf);
}

/* Finds names that are shown alike. Returns whether there are any; count[] has
 * room for all, and gets how many have one number. */
static bool shown_count(struct shown_name *s, size_t n, uint32_t *count)
{
	struct intern texts = { 0 };

	memset(count, 0, n * sizeof(*count));
	for (size_t i = 0; i < n; i++) {
		s[i].same = intern_add(&texts, s[i].text);
		count[s[i].same]++;
	}
	bool equal = texts.n < n;
	intern_release(&texts);
	return equal;
}

struct shown_names *shown_names_new(void)
{
	return mem_new(1, sizeof(struct shown_names));
}

void shown_names_free(struct shown_names *s)
{
	if (!s)
		return;
	intern_release(&s->names);
	free_all(s->shown, s);
}

void shown_names_add(struct shown_names *s, const char *name)
{
	if (name)
		intern_add(&s->names, name);
}

int shown_names_read(struct shown_names *s, const struct name_opts *o,
		     struct store *db, struct err *err)
{
	if (o->full || o->fold_suffixes)
		return 0;
	struct rows *r = rows_of(db, "recorded_names", err);
	while (rows_step(r))
		shown_names_add(s, rows_text(r, RECORDED_NAMES_NAME));
	return rows_end(r, err);
}

void shown_names_make(struct shown_names *of, const struct name_opts *o,
		      struct arena *text)
{
	size_t n = of->names.n;
	struct shown_name *s = mem_new(n, sizeof(*s));
	uint32_t *count = mem_new(n, sizeof(*count));
	struct arena tries = { 0 };

	for (size_t i = 0; i < n; i++) {
		s[i].full = of->names.string[i];
		shown_take_level(&s[i], o->full ? SHOWN_FULL : 0, &tries);
	}
	for (size_t round = 0; shown_count(s, n, count); round++)
		for (size_t i = 0; i < n; i++) {
			if (round >= SHOWN_ROUNDS)
				shown_take_level(&s[i], SHOWN_FULL, &tries);
			else if (count[s[i].same] > 1 &&
				 s[i].level < SHOWN_FULL)
				shown_take_level(&s[i], s[i].level + 1, &tries);
		}
	free(of->shown);
	of->shown = mem_new(n, sizeof(*of->shown));
	of->n = n;
	for (size_t i = 0; i < n; i++)
		if (s[i].text != s[i].full)
			of->shown[i] = arena_strdup(text, s[i].text);
	arena_release(&tries);
	free_all(count, s);
}

const char *shown_names_get(struct shown_names *s, const char *name)
{
	uint32_t id = name ? intern_add(&s->names, name) : 0;

	return name && id < s->n && s->shown[id] ? s->shown[id] : name;
}
