/* choice.c - the filters of view, as text and as arguments. */
#include "cli/view/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "cli/process/child.h"
#include "cli/args/command.h"
#include "cli/args/options.h"
#include "cli/view/cells.h"
#include "schema/columns.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

/* ---- when samples were taken and records were lost */

#define LEFT 2 /* cells in front of the bars */

/* Returns the part with a time, or the first or last if it is outside. */
static size_t span_part(const struct span *s, int64_t t)
{
	uint64_t at = t > s->first ? ((uint64_t)t - (uint64_t)s->first) /
					     (uint64_t)s->part
				   : 0;

	return at < SPAN_PARTS ? (size_t)at : SPAN_PARTS - 1;
}

static int span_read_samples(struct span *s, struct store *db, struct err *err)
{
	struct rows *r = ROWS_BY(db, "view_times", err, s->first, s->part);

	while (rows_step(r)) {
		int64_t at = rows_int(r, VIEW_TIMES_PART);

		/* the end of the span belongs to the last part */
		if (at >= SPAN_PARTS)
			at = SPAN_PARTS - 1;
		if (at < 0)
			continue;
		s->samples[at] += (uint64_t)rows_int(r, VIEW_TIMES_N);
		if (s->samples[at] > s->most)
			s->most = s->samples[at];
	}
	return rows_end(r, err);
}

int span_load(struct span *s, struct store *db, struct err *err)
{
	*s = (struct span){ .first = 0 };
	struct rows *rows = rows_of(db, "timeline_range", err);

	int64_t first = INT64_MAX;
	int64_t last = INT64_MIN;
	while (rows_step(rows)) {
		if (rows_value(rows, TIMELINE_RANGE_FIRST_NS).kind ==
		    VALUE_NULL)
			continue;
		if (rows_int(rows, TIMELINE_RANGE_FIRST_NS) < first)
			first = rows_int(rows, TIMELINE_RANGE_FIRST_NS);
		if (rows_int(rows, TIMELINE_RANGE_LAST_NS) > last)
			last = rows_int(rows, TIMELINE_RANGE_LAST_NS);
	}
	if (rows_end(rows, err))
		return -1;
	if (first > last)
		return err_set(err, ERR_FORMAT,
			       "nothing in it has a time to choose");
	s->first = first;
	s->part =
		(int64_t)(((uint64_t)last - (uint64_t)first) / SPAN_PARTS) + 1;
	struct rows *r = rows_of(db, "timeline_losses", err);

	while (rows_step(r)) {
		int64_t t1 = rows_int_or(r, TIMELINE_LOSSES_T1,
					 rows_int(r, TIMELINE_LOSSES_T0));
		int64_t t0 = rows_int_or(r, TIMELINE_LOSSES_T0, t1);

		for (size_t i = span_part(s, t0); i <= span_part(s, t1); i++)
			s->lost[i] = true;
	}
	return rows_end(r, err) ? -1 : span_read_samples(s, db, err);
}

void span_draw(const struct span *s, int row, size_t from, size_t to)
{
	static const char level[] = " .:-=*#";

	for (size_t i = 0; i < SPAN_PARTS; i++) {
		bool chosen = i >= from && i <= to;
		double share =
			s->most ? (double)s->samples[i] / (double)s->most : 0;
		char bar[] = {
			level[s->samples[i] ? 1 + (size_t)(share * 5) : 0], '\0'
		};

		cells_put(row, LEFT + (int)i, 1,
			  chosen ? CELLS_CHOSEN : CELLS_PLAIN, bar);
		cells_put(row + 1, LEFT + (int)i, 1, CELLS_MISSING,
			  s->lost[i] ? "/" : " ");
	}
	cells_put(row + 1, LEFT + SPAN_PARTS + 1, 16, CELLS_DIM,
		  "/ lost records");
}

bool span_move(int key, size_t *from, size_t *to, bool *marked)
{
	switch (key) {
	case CELLS_LEFT:
		*to -= *to > (*marked ? *from : 0);
		break;
	case CELLS_RIGHT:
		*to += *to + 1 < SPAN_PARTS;
		break;
	case CELLS_ENTER:
		if (*marked)
			return false;
		*marked = true;
		break;
	default:
		break;
	}
	if (!*marked)
		*from = *to;
	return true;
}

#define FILES 1000 /* numbers of files that are tried */

/* The words that can be typed, and the members of struct filter they set. */
static const struct {
	const char *word;
	size_t off;
} words[] = {
	{ "comm", offsetof(struct filter, comm) },
	{ "cgroup", offsetof(struct filter, cgroup) },
	{ "pid", offsetof(struct filter, pid) },
	{ "tid", offsetof(struct filter, tid) },
	{ "cpu", offsetof(struct filter, cpu) },
	{ "event", offsetof(struct filter, event) },
	{ "time", offsetof(struct filter, time) },
};

#define WORDS ARRAY_SIZE(words)

/* Values of filters. They live until the program ends, like the command line;
 * they are few, as a person types each. */
static struct arena typed;

static const char **choice_at(struct filter *f, size_t i)
{
	return (const char **)((char *)f + words[i].off);
}

void choice_text(const struct filter *f, char *buf, size_t size)
{
	struct text_out o = { .buf = buf, .size = size };

	*buf = '\0';
	for (size_t i = 0; i < WORDS; i++) {
		const char *value =
			*(const char *const *)((const char *)f + words[i].off);

		if (value)
			text_out_add(&o, "%s%s=%s", o.len ? " " : "",
				     words[i].word, value);
	}
}

/* Sets one filter from "comm=NAME", or removes it by "comm=". */
static int choice_set_word(struct filter *f, const char *word, size_t n,
			   struct err *err)
{
	const char *is = memchr(word, '=', n);

	for (size_t i = 0; is && i < WORDS; i++) {
		size_t len = (size_t)(is - word);

		if (strlen(words[i].word) != len ||
		    strncmp(words[i].word, word, len) != 0)
			continue;
		*choice_at(f, i) = NULL;
		if (len + 1 < n) {
			char *value = arena_strdup(&typed, is + 1);

			value[n - len - 1] = '\0';
			*choice_at(f, i) = value;
		}
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "'%.*s' is no filter; there is comm=, pid=, tid=, "
		       "cgroup=, cpu=, event=, time=",
		       (int)n, word);
}

int choice_set(struct filter *filter, const char *text, struct err *err)
{
	struct filter f = { .time = NULL };

	for (const char *p = text + strspn(text, " "); *p;) {
		/* names may have blanks: a word ends before the next "x=" */
		size_t n = strcspn(p, " ");

		while (p[n]) {
			size_t next = n + strspn(p + n, " ");
			size_t len = strcspn(p + next, " ");

			if (!p[next] || memchr(p + next, '=', len))
				break;
			n = next + len;
		}
		if (choice_set_word(&f, p, n, err))
			return -1;
		p += n;
		p += strspn(p, " ");
	}
	*filter = f;
	return 0;
}

/* ---- arguments */

struct choice_list {
	const struct opt *known; /* the options of the command */
	const char **argv;
	size_t n;
};

/* A search for an option that stores to `value`; has: there is one. */
struct choice_same {
	const void *value;
	bool has;
};

static void choice_collect(void *arg, const struct opt *o)
{
	struct choice_same *same = arg;

	same->has |= o->value == same->value;
}

/* value: NULL: the option takes none. */
static void choice_add(struct choice_list *l, const char *name,
		       const char *value)
{
	const char *option = arena_join(&typed, "-", '-', name);

	if (l->n < CHOICE_ARGS)
		l->argv[l->n++] =
			value ? arena_join(&typed, option, '=', value) : option;
}

/* Adds an option if it was given and the command has it; --input is given as
 * the argument. */
static void choice_take(void *arg, const struct opt *o)
{
	struct choice_list *l = arg;
	struct choice_same same = { .value = o->value };
	const struct opt_list *list = o->value;
	char number[24];

	options_walk(l->known, choice_collect, &same);
	if (!same.has || !strcmp(o->name, "input"))
		return;
	if (o->kind == OPT_STRING && *(const char *const *)o->value)
		choice_add(l, o->name, *(const char *const *)o->value);
	for (size_t i = 0; o->kind == OPT_LIST && i < list->n; i++)
		choice_add(l, o->name, list->item[i]);
	if (!options_given(o))
		return;
	if (o->kind == OPT_FLAG || o->kind == OPT_NO)
		choice_add(l, o->name, NULL);
	if (o->kind == OPT_NUMBER) {
		snprintf(number, sizeof(number), "%ld", *(long *)o->value);
		choice_add(l, o->name, number);
	}
}

size_t choice_args(const struct opt *opts, const char *command,
		   const char **argv)
{
	struct choice_list l = { .argv = argv };

	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, command))
			l.known = commands[i]->opts;
	if (l.known)
		options_walk(opts, choice_take, &l);
	return l.n;
}

/* ---- files */

/* Creates a file under the first free name "view-N.ending". Returns its
 * descriptor, or -1 and *err. */
static int choice_make(const char *ending, char *name, size_t size,
		       struct err *err)
{
	for (int i = 1; i < FILES; i++) {
		snprintf(name, size, "view-%d.%s", i, ending);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			      0666);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd
				       : err_set(err, ERR_IO, "%s: %s", name,
						 strerror(errno));
	}
	return err_set(err, ERR_IO, "%s and all before it are there", name);
}

int choice_write(const char *const *argv, const char *ending, char *said,
		 size_t size, struct err *err)
{
	struct text_out o = { .buf = said, .size = size };
	char name[64];
	int fd = choice_make(ending, name, sizeof(name), err);

	if (fd < 0)
		return -1;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status = child_run("/proc/self/exe", argv, fd, null);

	close(null);
	bool done = status == STATUS_OK || status == STATUS_DAMAGED ||
		    status == STATUS_LOSS;
	close(fd);
	if (!done) {
		unlink(name);
		return err_set(err, ERR_IO, "'backstitch %s' failed", argv[1]);
	}
	text_out_add(&o, "%s:", name);
	for (; *argv; argv++) {
		char *word OWNED = safe_text_word(*argv);

		text_out_add(&o, " %s", word);
	}
	text_out_add(&o, " > %s", name);
	return 0;
}
