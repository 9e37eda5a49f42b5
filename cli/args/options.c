/* options.c - parses the command line by the option tables. */
#include "cli/args/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "cli/output/out.h"
#include "cli/output/term.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* ---- finds the word that somebody may have meant */

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts insertions, deletions, substitutions and swaps of neighbouring
 * letters. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[3][NEAREST_MAX + 1];
	size_t na = strlen(a);
	size_t nb = strlen(b);

	if (na > NEAREST_MAX || nb > NEAREST_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3];
		const size_t *up = row[(i + 2) % 3];
		const size_t *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = smaller_of(up[j], now[j - 1]) + 1;
			now[j] = smaller_of(now[j],
					    up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = smaller_of(now[j], up2[j - 2] + 1);
		}
	}
	return row[na % 3][nb];
}

void nearest_offer(struct nearest *near, const char *word)
{
	size_t len = strlen(near->typed);
	size_t d = edit_distance(near->typed, word);
	size_t limit = len / 3 + 1;

	/* a prefix of three letters or more is near in any case */
	if (len >= 3 && !strncmp(near->typed, word, len))
		d = 1;
	if (d > limit || d >= len)
		return;
	if (near->best && d >= near->distance)
		return;
	near->best = word;
	near->distance = d;
}

static const struct command *options_typed; /* whose words count */
bool options_help, options_brief, options_version;
unsigned int options_own;
int options_before;
static const void **given; /* where the values of options were stored */
static size_t n_given, cap_given;

static const char *const color_choices[] = { "auto", "always", "never", NULL };

const struct opt common_opts[] = {
	OPT_CHOICE(0, "color", "WHEN", &term_color_option, color_choices,
		   "color on the terminal: auto, always or never"),
	OPT_FLAG(0, "no-pager", &pager_never, "never start a pager"),
	OPT_FLAG(0, "version", &options_version, "show the version"),
	OPT_FLAG('h', "help", &options_help,
		 "-h: usage and the common options; --help: all options"),
	{ .kind = OPT_END }
};

/* Returns the option with this letter, or, if letter is 0, with this name. */
static const struct opt *options_find(const struct opt *opts, char letter,
				      const char *name, size_t len)
{
	for (const struct opt *o = opts; o && o->kind != OPT_END; o++) {
		if (o->kind == OPT_GROUP) {
			const struct opt *in =
				options_find(o->value, letter, name, len);

			if (in)
				return in;
		} else if (letter) {
			if (o->letter == letter)
				return o;
		} else if (o->name && strlen(o->name) == len &&
			   !memcmp(o->name, name, len)) {
			return o;
		}
	}
	return NULL;
}

/* told: as for help. */
static void options_walk_all(const struct opt *opts, bool told, option_fn *fn,
			     void *arg)
{
	for (const struct opt *o = opts; o && o->kind != OPT_END; o++) {
		if (o->kind == OPT_GROUP && (!told || !o->help))
			options_walk_all(o->value, told, fn, arg);
		else if (told || o->kind != OPT_HEADING)
			fn(arg, o);
	}
}

void options_walk(const struct opt *opts, option_fn *fn, void *arg)
{
	options_walk_all(opts, false, fn, arg);
}

void options_walk_listed(const struct opt *opts, option_fn *fn, void *arg)
{
	options_walk_all(opts, true, fn, arg);
}

/* Returns the option that a word of a list of long names is about, and moves
 * *names after it; NULL at the end, or if there is no such option. */
static const struct opt *options_next(const struct opt *opts,
				      const char **names)
{
	const char *name = *names + strspn(*names, " ");
	size_t len = strcspn(name, " ");

	*names = name + len;
	return len ? options_find(opts, 0, name, len) : NULL;
}

void options_walk_named(const struct opt *opts, const char *names,
			option_fn *fn, void *arg)
{
	const struct opt *o;

	while (names && (o = options_next(opts, &names)))
		fn(arg, o);
}

struct option_others {
	const struct opt *opts;
	const char *names;
	option_fn *fn;
	void *arg;
};

static void others_take(void *arg, const struct opt *o)
{
	const struct option_others *others = arg;
	const char *names = others->names;
	const struct opt *named;

	while (names && (named = options_next(others->opts, &names)))
		if (named == o)
			return;
	others->fn(others->arg, o);
}

void options_walk_ranked(const struct opt *opts, const char *names,
			 option_fn *fn, void *arg)
{
	struct option_others others = { opts, names, fn, arg };

	options_walk_named(opts, names, fn, arg);
	options_walk(opts, others_take, &others);
}

static const struct opt *find_any(const struct opt *opts, char letter,
				  const char *name, size_t len)
{
	const struct opt *o = options_find(opts, letter, name, len);

	if (!o && options_typed)
		o = options_find(options_typed->words, letter, name, len);
	options_own += o != NULL;
	return o ? o : options_find(common_opts, letter, name, len);
}

/* The options whose names begin with what was typed. */
struct abbreviation {
	const char *typed;
	size_t len, n;
	const struct opt *first;
	char names[200];
	size_t used;
};

static void abbreviation_take(void *arg, const struct opt *o)
{
	struct abbreviation *a = arg;
	int n;

	if (!o->name || strncmp(o->name, a->typed, a->len) != 0 ||
	    (a->first && !strcmp(o->name, a->first->name)))
		return;
	if (!a->n++)
		a->first = o;
	n = snprintf(a->names + a->used, sizeof(a->names) - a->used, "%s--%s",
		     a->used ? ", " : "", o->name);
	if (n > 0 && (size_t)n < sizeof(a->names) - a->used)
		a->used += (size_t)n;
	else
		a->names[a->used] = '\0';
}

static void offer_option(void *arg, const struct opt *o)
{
	if (o->name)
		nearest_offer(arg, o->name);
}

/* Says whose option it is that c lacks, if the command that was typed has it or
 * one for which that has a word. Returns whether it said so. */
static bool options_say_whose(const struct command *c, char letter,
			      const char *name, size_t len, struct err *err)
{
	const struct opt *w = options_typed ? options_typed->words : NULL;
	const struct opt *o;

	if (!w)
		return false;
	o = options_find(options_typed->opts, letter, name, len);
	if (o)
		return err_set(err, ERR_USAGE,
			       "'%s' has no such option: leave out --%s",
			       c->name, o->name);
	for (; w->kind != OPT_END; w++) {
		const struct command *of = w->value;

		o = options_find(of->opts, letter, name, len);
		if (o)
			return err_set(err, ERR_USAGE,
				       "--%s is for 'backstitch %s'", o->name,
				       of->name);
	}
	return false;
}

/* What an option or a value became that is not there any more. */
static const struct {
	const char *was; /* "--option" or "--option value" */
	const char *now; /* follows a semicolon */
} options_gone[] = {
	{ "--bins", "--histogram has powers of two; 'backstitch query DB "
		    "\"SELECT ns / 50000, count(*) FROM interval GROUP BY 1\"' "
		    "bins of 50 us" },
	{ "--compat", "'backstitch query --views DB' lists the views" },
	{ "--format speedscope", "speedscope reads '--format folded'" },
	{ "--inverted", "a flame graph has its root on top without it" },
};

/* Sets *err if the word is an option, or a value of it, that earlier versions
 * had. value: NULL for an option. Returns whether it is. */
static bool options_is_gone(const char *name, size_t len, const char *value,
			    struct err *err)
{
	char *typed OWNED = mem_printf("--%.*s%s%s", (int)len, name,
				       value ? " " : "", value ? value : "");
	bool gone = false;

	for (size_t i = 0; !gone && i < ARRAY_SIZE(options_gone); i++) {
		gone = !strcmp(options_gone[i].was, typed);
		if (gone)
			err_set(err, ERR_USAGE, "'%s' is gone since 2.0; %s",
				typed, options_gone[i].now);
	}
	return gone;
}

static int unknown_long(const struct command *c, const char *name, size_t len,
			struct err *err)
{
	char typed[NEAREST_MAX + 1];
	struct nearest near = { .typed = typed };

	if (options_say_whose(c, 0, name, len, err) ||
	    options_is_gone(name, len, NULL, err))
		return -1;
	if (len < sizeof(typed)) {
		memcpy(typed, name, len);
		typed[len] = 0;
		options_walk(c->opts, offer_option, &near);
		options_walk(common_opts, offer_option, &near);
	}
	if (near.best)
		return err_set(err, ERR_USAGE,
			       "unknown option '--%.*s'; did you mean '--%s'?",
			       (int)len, name, near.best);
	return err_set(err, ERR_USAGE, "unknown option '--%.*s'",
		       len > 100 ? 100 : (int)len, name);
}

/* Returns the option with this name, or the only one that begins with it; NULL
 * and *err if there is none. */
static const struct opt *find_long(const struct command *c, const char *name,
				   size_t len, struct err *err)
{
	const struct opt *o = find_any(c->opts, 0, name, len);
	struct abbreviation a = { .typed = name, .len = len };

	if (o)
		return o;
	/* the whole name of another command's option abbreviates none */
	if (options_say_whose(c, 0, name, len, err))
		return NULL;
	for (const struct command *const *of = commands; *of; of++)
		if (options_find((*of)->opts, 0, name, len)) {
			unknown_long(c, name, len, err);
			return NULL;
		}
	options_walk(c->opts, abbreviation_take, &a);
	options_walk(options_typed ? options_typed->words : NULL,
		     abbreviation_take, &a);
	options_own += a.n > 0;
	options_walk(common_opts, abbreviation_take, &a);
	if (len && a.n == 1) {
		len = strlen(a.first->name);
		o = find_any(c->opts, 0, a.first->name, len);
		if (!o)
			unknown_long(c, a.first->name, len, err);
		return o;
	}
	if (len && a.n)
		err_set(err, ERR_USAGE, "option '--%.*s' could be %s", (int)len,
			name, a.names);
	else
		unknown_long(c, name, len, err);
	return NULL;
}

/* Returns the word of c that an argument is, or NULL. */
static const struct opt *options_word(const struct command *c,
				      const char *typed)
{
	struct abbreviation a = { .typed = typed, .len = strlen(typed) };
	const struct opt *o = options_find(c->words, 0, typed, a.len);

	if (!o && a.len) {
		options_walk(c->words, abbreviation_take, &a);
		options_walk(c->opts, abbreviation_take, &a);
		options_walk(common_opts, abbreviation_take, &a);
		o = a.n == 1 && a.first->kind == OPT_WORD ? a.first : NULL;
	}
	return o;
}

const struct command *options_command(const struct command *c, int argc,
				      char **argv)
{
	const struct opt *first = NULL;

	if (!c->words)
		return c;
	options_typed = c;
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const struct opt *o =
			strncmp(argv[i], "--", 2)
				? NULL
				: options_word(options_typed, argv[i] + 2);
		const struct command *to = o ? o->value : c;

		if (to == c || (first && !options_find(to->opts, 0, first->name,
						       strlen(first->name))))
			continue;
		first = o;
		c = to;
	}
	return c;
}

static int options_set_size(const struct opt *o, const char *text,
			    struct err *err)
{
	static const char units[] = "KMGT";
	unsigned long long v;
	char *end;
	const char *unit;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (end == text || errno || text[0] == '-')
		goto bad;
	if (*end) {
		char c = *end >= 'a' && *end <= 'z' ? *end - 32 : *end;

		unit = strchr(units, c);
		if (!unit || !c)
			goto bad;
		for (const char *u = units; u <= unit; u++)
			if (__builtin_mul_overflow(v, 1024ull, &v))
				goto bad;
		end++;
		if (strcmp(end, "") && strcmp(end, "B") && strcmp(end, "iB"))
			goto bad;
	}
	if (v > ULONG_MAX)
		goto bad;
	*(unsigned long *)o->value = v;
	return 0;
bad:
	return err_set(err, ERR_USAGE,
		       "--%s needs a size such as 64M or 2G, not '%s'", o->name,
		       text);
}

static int set_choice(const struct opt *o, const char *text, struct err *err)
{
	char list[200] = "";
	size_t used = 0;

	for (size_t i = 0; o->choices[i]; i++) {
		size_t n = strlen(o->choices[i]);

		if (!strcmp(o->choices[i], text)) {
			*(const char **)o->value = o->choices[i];
			return 0;
		}
		if (used + n + 3 > sizeof(list))
			continue;
		if (used) {
			memcpy(list + used, ", ", 2);
			used += 2;
		}
		memcpy(list + used, o->choices[i], n + 1);
		used += n;
	}
	if (options_is_gone(o->name, strlen(o->name), text, err))
		return -1;
	return err_set(err, ERR_USAGE, "--%s is one of %s, not '%s'", o->name,
		       list, text);
}

static int set_number(const struct opt *o, const char *text, struct err *err)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (end == text || *end || errno)
		return err_set(err, ERR_USAGE, "--%s needs a number, not '%s'",
			       o->name, text);
	if (v < 0)
		return err_set(err, ERR_USAGE,
			       "--%s needs a number from 0 on, not '%s'",
			       o->name, text);
	*(long *)o->value = v;
	return 0;
}

bool options_given(const struct opt *o)
{
	return any_where(n_given, i, given[i] == o->value);
}

/* text is NULL for options without an argument. */
static int set_value(const struct opt *o, const char *text, struct err *err)
{
	*mem_add(given, n_given, cap_given) = o->value;
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case OPT_NO:
		*(bool *)o->value = false;
		return 0;
	case OPT_STRING:
		*(const char **)o->value = text;
		return 0;
	case OPT_NUMBER:
		return set_number(o, text, err);
	case OPT_SIZE:
		return options_set_size(o, text, err);
	case OPT_CHOICE:
		return set_choice(o, text, err);
	case OPT_LIST: {
		struct opt_list *list = o->value;

		if (list->n == ARRAY_SIZE(list->item))
			return err_set(err, ERR_USAGE, "too many --%s",
				       o->name);
		list->item[list->n++] = text;
		return 0;
	}
	case OPT_WORD: /* options_command() looked for it */
	case OPT_GROUP:
	case OPT_HEADING:
	case OPT_END:
		break;
	}
	return 0;
}

/* Returns the argument after an option, its value; NULL: there is none, or it
 * is an option itself, for which the value was forgotten. */
static const char *next_value(const struct opt *opts, int argc, char **argv,
			      int *i)
{
	const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;

	if (!next || (!strncmp(next, "--", 2) && next[2] &&
		      find_any(opts, 0, next + 2, strcspn(next + 2, "="))))
		return NULL;
	++*i;
	return next;
}

static int parse_long(const struct command *c, int argc, char **argv, int *i,
		      struct err *err)
{
	const char *name = argv[*i] + 2;
	const char *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o = find_long(c, name, len, err);
	const char *value;

	if (!o)
		return -1;
	if (o->kind == OPT_WORD && c != options_typed && o->value != c)
		return err_set(err, ERR_USAGE,
			       "'%s' has no such option: leave out --%s",
			       c->name, o->name);
	if (!o->arg && eq)
		return err_set(err, ERR_USAGE, "--%s takes no value", o->name);
	if (!o->arg)
		return set_value(o, NULL, err);
	if (eq)
		return set_value(o, eq + 1, err);
	if (*o->arg == '[' && o->kind == OPT_CHOICE) {
		const char *const *word = o->choices;

		while (*word && (*i + 1 == argc || strcmp(*word, argv[*i + 1])))
			word++;
		*i += *word != NULL;
		return set_value(o, *word ? *word : o->choices[0], err);
	}
	value = next_value(c->opts, argc, argv, i);
	if (!value)
		return err_set(err, ERR_USAGE, "--%s needs a value: --%s %s",
			       o->name, o->name, o->arg);
	return set_value(o, value, err);
}

/* Parses one argument with short options: -fo FILE, -fFILE, -f. */
static int parse_short(const struct command *c, int argc, char **argv, int *i,
		       struct err *err)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = find_any(c->opts, *p, NULL, 0);
		const char *value;

		if (!o && options_say_whose(c, *p, NULL, 0, err))
			return -1;
		if (!o)
			return err_set(err, ERR_USAGE, "unknown option '-%c'",
				       *p);
		if (!o->arg) {
			if (set_value(o, NULL, err))
				return -1;
			options_brief |= o->value == &options_help;
			continue;
		}
		if (p[1])
			return set_value(o, p + 1, err);
		value = next_value(c->opts, argc, argv, i);
		if (!value)
			return err_set(err, ERR_USAGE,
				       "-%c needs a value: -%c %s", *p, *p,
				       o->arg);
		return set_value(o, value, err);
	}
	return 0;
}

int options_parse(const struct command *c, int argc, char **argv,
		  struct err *err)
{
	int n = 0;
	bool over = false;

	for (int i = 0; i < argc; i++) {
		char *a = argv[i];
		int ret = 0;

		if (over || a[0] != '-' || !a[1]) {
			over |= c->program;
			argv[n++] = a;
			continue;
		}
		if (!strcmp(a, "--")) {
			over = true;
			options_before = n;
		} else if (a[1] == '-') {
			ret = parse_long(c, argc, argv, &i, err);
		} else {
			ret = parse_short(c, argc, argv, &i, err);
		}
		if (ret)
			return -1;
	}
	argv[n] = NULL;
	return n;
}

void options_color(int argc, char **argv)
{
	static const char name[] = "--color";
	const size_t n = sizeof(name) - 1;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *when = NULL;

		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			when = argv[i] + n + 1;
		else if (!strcmp(argv[i], name) && i + 1 < argc)
			when = argv[i + 1];
		for (size_t c = 0; when && color_choices[c]; c++)
			if (!strcmp(when, color_choices[c]))
				term_color_option = color_choices[c];
	}
}

/* Returns where the text begins that may be a URL: at a word, or the value of
 * an option. NULL if it is none. */
static char *options_url(char *word)
{
	char *end = strstr(word, "://");
	char *s = end;

	while (s && s > word &&
	       (isalnum((unsigned char)s[-1]) || strchr("+.-", s[-1])))
		s--;
	return s && s < end && (s == word || s[-1] == '=') ? end + 3 : NULL;
}

void options_hide_passwords(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *s = options_url(argv[i]);
		char *at = s ? strrchr(s, '@') : NULL;
		char *colon = at ? memchr(s, ':', (size_t)(at - s)) : NULL;
		size_t n = at ? strlen(at) : 0;

		if (!colon || at - colon < 2)
			continue;
		colon[1] = '*';
		memmove(colon + 2, at, n);
		/* the list of processes shows the rest of the word, too */
		memset(colon + 2 + n, 0, (size_t)(at - colon - 2));
	}
}
