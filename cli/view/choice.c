/* choice.c - the filters of view, as text and as arguments. */
#include "cli/view/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/process/child.h"
#include "cli/args/command.h"
#include "cli/args/options.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

#define FILES 1000 /* names to try */

/* The words that can be typed, and what they set. */
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

/* Filters live until the program ends, as those of the command line do; each
 * was typed by a person. */
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

/* Sets one filter from "comm=NAME"; "comm=" takes it away. */
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
	const struct opt *known; /* of the command */
	const char **argv;
	size_t n;
};

/* What a look for an option with a certain value finds. */
struct choice_same {
	const void *value;
	bool has;
};

static void choice_collect(void *arg, const struct opt *o)
{
	struct choice_same *same = arg;

	same->has |= o->value == same->value;
}

static void choice_add(struct choice_list *l, const char *name,
		       const char *value)
{
	size_t n = strlen(name) + strlen(value) + sizeof("--=");

	if (l->n == CHOICE_ARGS)
		return;
	char *text = arena_take(&typed, (n + 7) & ~(size_t)7);
	snprintf(text, n, "--%s=%s", name, value);
	l->argv[l->n++] = text;
}

/* Adds an option that was given. */
static void choice_take(void *arg, const struct opt *o)
{
	struct choice_list *l = arg;
	struct choice_same same = { .value = o->value };

	options_walk(l->known, choice_collect, &same);
	if (!same.has)
		return;
	if (o->kind == OPT_STRING && *(const char *const *)o->value)
		choice_add(l, o->name, *(const char *const *)o->value);
	for (size_t i = 0;
	     o->kind == OPT_LIST && i < ((const struct opt_list *)o->value)->n;
	     i++)
		choice_add(l, o->name,
			   ((const struct opt_list *)o->value)->item[i]);
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

/* Makes a file with the next name that is free. Returns its descriptor, or -1
 * and *err. */
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
	/* Runs a command and waits for it. Returns whether it succeeded. */
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
