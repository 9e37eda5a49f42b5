/* output_screen.c - the screen with the output of a command of this program,
 * which runs in another process, so that keys do not wait for it.
 *
 * Some lines open others: a call opens the code of the called function, a
 * thread its waits, a wait its chain of causes. The command begins such a line
 * with JSON about it (json_before_rows()). */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/view/cells.h"
#include "cli/view/screen.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define PART (1 << 16)	  /* bytes to read at once */
#define MOST (64UL << 20) /* bytes of output to keep */
#define MESSAGE "backstitch: "
#define STEP 8 /* columns that arrows move by */

struct printed {
	struct screen screen;
	enum printed_kind kind;
	char **argv;
	char *text; /* the output so far */
	size_t len, cap;
	struct printed_line {
		size_t json, text; /* offsets in text; equal: no JSON */
	} * line;		   /* complete lines, and the next one */
	size_t n_line, cap_line;
	struct list list; /* of lines */
	size_t left;	  /* columns that are not shown */
	pid_t pid;	  /* 0: the command has ended */
	int fd;		  /* of its output; -1: it has ended */
};

/* ---- lines */

static const char *printed_text(const struct printed *s, size_t at)
{
	return at < s->list.n ? s->text + s->line[at].text : "";
}

/* Returns a pointer to a value in the JSON of a line, or NULL. Quotes in
 * strings are escaped, so that only keys are found. */
static const char *printed_value(const struct printed *s, size_t at,
				 const char *key)
{
	char name[40];

	if (at >= s->list.n || s->line[at].json == s->line[at].text)
		return NULL;
	snprintf(name, sizeof(name), "\"%s\":", key);
	const char *found = strstr(s->text + s->line[at].json, name);
	return found ? found + strlen(name) : NULL;
}

/* Returns the percentage of samples of an instruction, 0 for other lines. */
static double printed_share(const struct printed *s, size_t at)
{
	const char *samples = printed_value(s, at, "samples");
	const char *share = printed_value(s, at, "percent");

	return share && samples && *samples != '0' ? strtod(share, NULL) : 0;
}

/* Moves the cursor to the first line of the last chain: "... took ...". */
static void printed_to_last(struct printed *s)
{
	for (size_t i = s->list.n; i > 0; i--)
		if (strstr(printed_text(s, i - 1), " took ")) {
			s->list.at = i - 1;
			s->list.top = i - 1;
			return;
		}
}

/* Moves the cursor to the first row of a table. */
static void printed_to_row(struct printed *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->line[i].json != s->line[i].text) {
			s->list.at = i;
			return;
		}
}

/* Moves the cursor to the instruction with the most samples. */
static void printed_to_hottest(struct printed *s)
{
	double most = 0;

	for (size_t i = 0; i < s->list.n; i++) {
		if (printed_share(s, i) > most) {
			most = printed_share(s, i);
			list_go(&s->list, i);
		}
	}
}

/* Called at the end of the output, unless the user moved the cursor. */
static void (*const printed_start_at[])(struct printed *s) = {
	[PRINTED_TEXT] = NULL,
	[PRINTED_CODE] = printed_to_hottest,
	[PRINTED_THREADS] = printed_to_row,
	[PRINTED_WAITS] = printed_to_row,
	[PRINTED_CHAINS] = printed_to_last,
	[PRINTED_KINDS] = printed_to_row,
	[PRINTED_NAMES] = printed_to_row,
	[PRINTED_DIFF] = NULL,
};

/* ---- the other process */

static int printed_start(struct printed *s, struct err *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return err_set(err, ERR_IO, "no pipe: %s", strerror(errno));
	s->pid = fork();
	if (!s->pid) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		char columns[32];

		snprintf(columns, sizeof(columns), "%d", cells_columns());
		setenv("COLUMNS", columns, 1);
		if (printed_start_at[s->kind])
			setenv("BACKSTITCH_ROWS", "1", 1);
		else
			unsetenv("BACKSTITCH_ROWS");
		dup2(null, STDIN_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		signal(SIGINT, SIG_IGN);
		execv("/proc/self/exe", s->argv);
		_exit(127);
	}
	close(fd[1]);
	if (s->pid < 0) {
		close(fd[0]);
		s->pid = 0;
		return err_set(err, ERR_IO, "no process: %s", strerror(errno));
	}
	s->fd = fd[0];
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void printed_end(struct printed *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		waitpid(s->pid, NULL, 0);
	}
	s->pid = 0;
}

/* Begins the next line at text[next]. */
static void printed_end_line(struct printed *s, size_t next)
{
	*mem_add(s->line, s->n_line, s->cap_line) =
		(struct printed_line){ next, next };
	s->list.n++;
}

/* Splits a message that is wider than the screen into lines. */
static void printed_wrap_message(struct printed *s)
{
	size_t columns = (size_t)cells_columns();
	char *line = s->text + s->line[s->list.n].text;

	if (strncmp(line, MESSAGE, strlen(MESSAGE)) != 0)
		return;
	while (strlen(line) > columns) {
		size_t n = columns;

		while (n && line[n] != ' ')
			n--;
		if (!n)
			return;
		line[n] = '\0';
		line += n + 1;
		printed_end_line(s, (size_t)(line - s->text));
	}
}

/* Finds the lines in the output from offset `from` on, and replaces line feeds
 * by 0. */
static void printed_take_lines(struct printed *s, size_t from)
{
	for (size_t i = from; i < s->len; i++) {
		if (s->text[i] != '\n')
			continue;
		s->text[i] = '\0';
		/* a tab ends the JSON; other tabs are shown as blanks */
		char *line = s->text + s->line[s->list.n].text;
		char *tab = *line == '{' && s->kind != PRINTED_TEXT
				    ? strchr(line, '\t')
				    : NULL;

		if (tab) {
			*tab = '\0';
			line = tab + 1;
			s->line[s->list.n].text = (size_t)(line - s->text);
		}
		while ((line = strchr(line, '\t')) != NULL)
			*line = ' ';
		printed_wrap_message(s);
		printed_end_line(s, i + 1);
	}
}

static bool printed_wait(struct screen *screen)
{
	struct printed *s = (void *)screen;

	while (s->fd >= 0) {
		size_t from = s->len;

		mem_grow(s->text, s->cap, s->len + PART + 1);
		ssize_t n = read(s->fd, s->text + s->len, PART);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n > 0) {
			s->len += (size_t)n;
			s->text[s->len] = '\0';
			printed_take_lines(s, from);
		}
		if (n > 0 && s->len < MOST)
			continue;
		printed_end(s);
		if (!s->list.at && printed_start_at[s->kind])
			printed_start_at[s->kind](s);
	}
	return false;
}

/* ---- drawing */

static enum cells_style printed_style(const struct printed *s, size_t at)
{
	double share = printed_share(s, at);

	if (at == s->list.at)
		return CELLS_CHOSEN;
	if (s->kind == PRINTED_CODE && share > 0)
		return share >= 5 ? CELLS_HOT : CELLS_WARM;
	return CELLS_PLAIN;
}

static void printed_draw(struct screen *screen, const struct area *a)
{
	struct printed *s = (void *)screen;

	list_fit(&s->list, a->rows);
	for (int i = 0; i < a->rows; i++) {
		size_t at = s->list.top + (size_t)i;
		const char *line = printed_text(s, at);

		/* tables are ASCII up to their names: a byte is a column */
		if (at < s->list.n)
			cells_put(a->top + i, 0, a->columns,
				  printed_style(s, at),
				  strlen(line) > s->left ? line + s->left : "");
	}
	if (!s->list.n && s->fd >= 0)
		cells_put(a->top, 0, a->columns, CELLS_DIM, "reading ...");
}

/* ---- where lines lead */

/* Returns the bytes of a JSON string, to be freed. */
static char *printed_string(const char *json)
{
	char *text = mem_strdup(json + 1);
	char *to = text;

	for (const char *from = text; *from && *from != '"'; from++) {
		from += *from == '\\' && from[1];
		*to++ = *from;
	}
	*to = '\0';
	return text;
}

/* Asks for the code that the line calls. */
static void printed_follow_call(const struct printed *s, struct reply *out)
{
	const char *name = printed_value(s, s->list.at, "target_symbol");

	if (!name) {
		reply_say(out, "no call, or its target is not known");
		return;
	}
	out->code = printed_string(name);
}

/* Returns which row of its table the cursor is on, from 1. */
static size_t printed_rank(const struct printed *s)
{
	size_t n = 0;

	while (n <= s->list.at && printed_value(s, s->list.at - n, "tid"))
		n++;
	return n;
}

static void printed_follow_row(const struct printed *s, struct reply *out)
{
	const char *tid = printed_value(s, s->list.at, "tid");

	if (!tid || !isdigit((unsigned char)*tid)) {
		reply_say(out, "no thread in this line");
		return;
	}
	out->thread = mem_dup(tid, strspn(tid, "0123456789"));
	out->wait = s->kind == PRINTED_WAITS ? printed_rank(s) : 0;
}

/* Asks for the intervals of a kind, or of a name. */
static void printed_follow_kind(const struct printed *s, struct reply *out)
{
	const char *kind = printed_value(s, s->list.at, "kind");
	const char *name = printed_value(s, s->list.at, "name");

	if (!kind || !name) {
		reply_say(out, "no intervals in this line");
		return;
	}
	out->kind = printed_string(kind);
	out->name = s->kind == PRINTED_NAMES ? printed_string(name) : NULL;
}

static bool printed_key(struct screen *screen, int key, const struct area *a,
			struct reply *out)
{
	struct printed *s = (void *)screen;

	if (list_key(&s->list, key, a->rows))
		return true;
	if (s->kind == PRINTED_DIFF && key > 0 && key < 128 &&
	    strchr(DIFF_KEYS, key)) {
		out->diff = key;
		return true;
	}
	switch (key) {
	case CELLS_RIGHT:
		s->left += STEP;
		return true;
	case CELLS_LEFT:
		if (!s->left)
			return false;
		s->left -= STEP;
		return true;
	case CELLS_ENTER:
		if (s->kind == PRINTED_CODE)
			printed_follow_call(s, out);
		else if (s->kind == PRINTED_THREADS || s->kind == PRINTED_WAITS)
			printed_follow_row(s, out);
		else if (s->kind == PRINTED_KINDS || s->kind == PRINTED_NAMES)
			printed_follow_kind(s, out);
		return true;
	case 'w':
		if (s->kind != PRINTED_THREADS)
			return false;
		printed_follow_row(s, out);
		out->sums = true;
		return true;
	case 'o':
		if (s->kind != PRINTED_CODE)
			return false;
		/* Asks for the next function of the name whose code is
		 * shown. */
		size_t n = 0;

		out->nth = 2;
		for (; s->argv[n]; n++)
			if (n && !strcmp(s->argv[n - 1], "--nth"))
				out->nth = strtoul(s->argv[n], NULL, 10) + 1;
		out->code = mem_strdup(s->argv[n - 1]);
		return true;
	case 'n':
	case 'p':
		if (s->kind != PRINTED_CODE)
			return false;
		(void)list_find(&s->list, key == 'p', at,
				printed_share(s, at) >= 0.5);
		return true;
	default:
		return false;
	}
}

static bool printed_find(struct screen *screen, const char *text, bool back)
{
	struct printed *s = (void *)screen;

	return !*text || list_find(&s->list, back, at,
				   strstr(printed_text(s, at), text) != NULL);
}

static void printed_copy_line(struct screen *screen, const char **argv,
			      size_t max)
{
	struct printed *s = (void *)screen;
	size_t n = 0;

	/* without the name of the program */
	for (; s->argv[n + 1] && n + 1 < max; n++)
		argv[n] = s->argv[n + 1];
	argv[n] = NULL;
}

static void printed_free(struct screen *screen)
{
	struct printed *s = (void *)screen;

	printed_end(s);
	for (size_t i = 0; s->argv[i]; i++)
		free(s->argv[i]);
	free_all(s->argv, s->text, s->line, s->screen.title, s);
}

#define PRINTED_OPS(keys_)                                                     \
	{                                                                      \
		.keys = (keys_), .draw = printed_draw, .key = printed_key,     \
		.find = printed_find, .line = printed_copy_line,               \
		.wait = printed_wait, .free = printed_free                     \
	}

static const struct screen_ops printed_ops[] = {
	[PRINTED_TEXT] = PRINTED_OPS("arrows move"),
	[PRINTED_CODE] = PRINTED_OPS(
		"n p next hot one  o other of this name  Enter follow the call"),
	[PRINTED_THREADS] =
		PRINTED_OPS("Enter waits of the thread  w by cause and place"),
	[PRINTED_WAITS] = PRINTED_OPS("Enter why it took so long"),
	[PRINTED_CHAINS] = PRINTED_OPS("arrows move"),
	[PRINTED_KINDS] = PRINTED_OPS("Enter by name"),
	[PRINTED_NAMES] = PRINTED_OPS("Enter the longest"),
	[PRINTED_DIFF] =
		PRINTED_OPS("s samples  w time by wall  o waits  e by who "
			    "ended them  l latency  r ready"),
};

struct screen *printed_screen(enum printed_kind kind, const char *title,
			      const char *const *argv, struct err *err)
{
	struct printed *s = mem_new(1, sizeof(*s));
	size_t n = 0;

	while (argv[n])
		n++;
	s->argv = mem_new(n + 2, sizeof(*s->argv));
	s->argv[0] = mem_strdup("backstitch");
	for (size_t i = 0; i < n; i++)
		s->argv[i + 1] = mem_strdup(argv[i]);
	s->screen.ops = &printed_ops[kind];
	s->screen.title = mem_strdup(title);
	s->kind = kind;
	s->fd = -1;
	*mem_add(s->line, s->n_line, s->cap_line) =
		(struct printed_line){ 0, 0 };
	if (printed_start(s, err)) {
		printed_free(&s->screen);
		return NULL;
	}
	return &s->screen;
}
