/* said.c - the screen with what a command of this program prints: the same
 * words and numbers, by another process, so that no key waits for it.
 *
 * Some outputs lead on: the line of a call to the code of what is called, that
 * of a thread to its waits, that of a wait to its chain of causes. What a line
 * says is read as people read it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/view/cells.h"
#include "cli/view/screen.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define PART (1 << 16)	  /* bytes to read at once */
#define MOST (64UL << 20) /* bytes to keep of a command */
#define MESSAGE "backstitch: "
#define STEP 8 /* columns that arrows move by */

struct said {
	struct screen screen;
	enum said_kind kind;
	char **argv;
	char *text; /* all that came */
	size_t len, cap;
	size_t *start; /* of each line that is whole */
	size_t n_start, cap_start;
	struct list list; /* start[at] to start[at + 1] */
	size_t left;	  /* columns that are not shown */
	pid_t pid;	  /* 0: it ended */
	int fd;		  /* -1: it ended */
};

static struct said *said_of(struct screen *s)
{
	return (struct said *)s;
}

/* ---- lines */

static const char *said_line(const struct said *s, size_t at)
{
	return at < s->list.n ? s->text + s->start[at] : "";
}

/* Returns whether the line is that of an instruction with samples. */
static bool said_is_hot(const char *line)
{
	line += strspn(line, " <>");
	return isdigit((unsigned char)*line) && strstr(line, " % ") &&
	       strstr(line, " |");
}

/* Puts the cursor on the first line of the last chain: chains are apart by an
 * empty line, and have one behind their head. */
static void said_to_last(struct said *s)
{
	for (size_t i = s->list.n; i > 0; i--)
		if (strstr(said_line(s, i - 1), " took ")) {
			s->list.at = i - 1;
			s->list.top = i - 1;
			return;
		}
}

/* Puts the cursor on the first row of the table of threads or waits. */
static void said_to_row(struct said *s)
{
	for (size_t i = 0; i + 1 < s->list.n; i++)
		if (strstr(said_line(s, i), "  Tid")) {
			s->list.at = i + 1;
			return;
		}
}

/* Puts the cursor on the instruction with most samples. */
static void said_to_hottest(struct said *s)
{
	double most = 0;

	for (size_t i = 0; i < s->list.n; i++) {
		const char *line = said_line(s, i);

		if (said_is_hot(line) && strtod(line, NULL) > most) {
			most = strtod(line, NULL);
			list_go(&s->list, i);
		}
	}
}

/* Where the cursor is once all came, unless it was moved. */
static void (*const said_start_at[])(struct said *s) = {
	[SAID_TEXT] = NULL,	      [SAID_CODE] = said_to_hottest,
	[SAID_THREADS] = said_to_row, [SAID_WAITS] = said_to_row,
	[SAID_CHAINS] = said_to_last,
};

/* ---- the other process */

static void said_child(struct said *s, int out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char columns[32];

	snprintf(columns, sizeof(columns), "%d", cells_columns());
	setenv("COLUMNS", columns, 1);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	signal(SIGINT, SIG_IGN);
	execv("/proc/self/exe", s->argv);
	_exit(127);
}

static int said_start(struct said *s, struct err *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return err_set(err, ERR_IO, "no pipe: %s", strerror(errno));
	s->pid = fork();
	if (!s->pid)
		said_child(s, fd[1]);
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

static void said_end(struct said *s)
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

/* Ends the line that began last in front of text[next]. */
static void said_end_line(struct said *s, size_t next)
{
	s->text[next - 1] = '\0';
	*mem_add(s->start, s->n_start, s->cap_start) = next;
	s->list.n++;
}

/* Messages are longer than the screen is wide. */
static void said_wrap_message(struct said *s)
{
	size_t columns = (size_t)cells_columns();
	char *line = s->text + s->start[s->list.n];

	if (strncmp(line, MESSAGE, strlen(MESSAGE)) != 0)
		return;
	while (strlen(line) > columns) {
		size_t n = columns;

		while (n && line[n] != ' ')
			n--;
		if (!n)
			return;
		said_end_line(s, (size_t)(line - s->text) + n + 1);
		line += n + 1;
	}
}

/* Finds the lines in what came from `from` on. The text is kept with a 0 in
 * place of each line feed, and a blank in that of each tab. */
static void said_take_lines(struct said *s, size_t from)
{
	for (size_t i = from; i < s->len; i++) {
		if (s->text[i] == '\t')
			s->text[i] = ' ';
		if (s->text[i] != '\n')
			continue;
		s->text[i] = '\0';
		said_wrap_message(s);
		said_end_line(s, i + 1);
	}
}

static bool said_wait(struct screen *screen)
{
	struct said *s = said_of(screen);

	while (s->fd >= 0) {
		size_t from = s->len;
		ssize_t n;

		s->text = mem_grow(s->text, &s->cap, s->len + PART + 1, 1);
		n = read(s->fd, s->text + s->len, PART);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n > 0) {
			s->len += (size_t)n;
			s->text[s->len] = '\0';
			said_take_lines(s, from);
		}
		if (n > 0 && s->len < MOST)
			continue;
		said_end(s);
		if (!s->list.at && said_start_at[s->kind])
			said_start_at[s->kind](s);
	}
	return false;
}

/* ---- drawing */

static enum cells_style said_style(const struct said *s, size_t at)
{
	const char *line = said_line(s, at);

	if (at == s->list.at)
		return CELLS_CHOSEN;
	if (s->kind == SAID_CODE && said_is_hot(line))
		return strtod(line, NULL) >= 5 ? CELLS_HOT : CELLS_WARM;
	return CELLS_PLAIN;
}

static void said_draw(struct screen *screen, const struct area *a)
{
	struct said *s = said_of(screen);

	list_fit(&s->list, a->rows);
	for (int i = 0; i < a->rows; i++) {
		size_t at = s->list.top + (size_t)i;
		const char *line = said_line(s, at);

		/* tables are ASCII up to their names: a byte is a column */
		if (at < s->list.n)
			cells_put(a->top + i, 0, a->columns, said_style(s, at),
				  strlen(line) > s->left ? line + s->left : "");
	}
	if (!s->list.n && s->fd >= 0)
		cells_put(a->top, 0, a->columns, CELLS_DIM, "reading ...");
}

/* ---- where lines lead */

/* Goes to the next line with samples that is hot. */
static void said_next_hot(struct said *s, bool back)
{
	for (size_t i = 1; i <= s->list.n; i++) {
		size_t at =
			(s->list.at + (back ? s->list.n - i : i)) % s->list.n;

		if (said_is_hot(said_line(s, at)) &&
		    strtod(said_line(s, at), NULL) >= 0.5) {
			list_go(&s->list, at);
			return;
		}
	}
}

/* Asks for the code that the line calls: "... call 0x1234  <name+0x10>". */
static void said_follow_call(const char *line, struct reply *out)
{
	const char *from = strstr(line, "  <");
	size_t n = strlen(line);
	char *name;
	char *plus;

	if (!from || line[n - 1] != '>') {
		reply_say(out, "no call, or its target is not known");
		return;
	}
	name = mem_strdup(from + 3);
	name[strlen(name) - 1] = '\0';
	plus = strrchr(name, '+');
	if (plus && !strncmp(plus, "+0x", 3))
		*plus = '\0';
	out->code = name;
}

/* Copies the number in the column of that title; the title is right above its
 * end. Returns false if there is none. */
static bool said_column(const struct said *s, const char *title, char *out,
			size_t size)
{
	for (size_t i = s->list.at; i > 0; i--) {
		const char *head = said_line(s, i - 1);
		const char *at = strstr(head, title);
		const char *line = said_line(s, s->list.at);
		size_t end, from;

		if (!at)
			continue;
		end = (size_t)(at - head) + strlen(title);
		if (strlen(line) < end)
			return false;
		for (from = end;
		     from > 0 && isdigit((unsigned char)line[from - 1]);)
			from--;
		snprintf(out, size, "%.*s", (int)(end - from), line + from);
		return end > from;
	}
	return false;
}

/* Returns which row below the line with that title the cursor is on; 0: none.
 */
static size_t said_rank(const struct said *s, const char *title)
{
	for (size_t i = s->list.at; i > 0; i--)
		if (strstr(said_line(s, i - 1), title))
			return s->list.at - i + 1;
	return 0;
}

static void said_follow_row(const struct said *s, struct reply *out)
{
	char tid[32];

	if (!said_column(s, "Tid", tid, sizeof(tid))) {
		reply_say(out, "no thread in this line");
		return;
	}
	out->thread = mem_strdup(tid);
	out->wait = s->kind == SAID_WAITS ? said_rank(s, "Tid") : 0;
}

static bool said_key(struct screen *screen, int key, const struct area *a,
		     struct reply *out)
{
	struct said *s = said_of(screen);

	if (list_key(&s->list, key, a->rows))
		return true;
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
		if (s->kind == SAID_CODE)
			said_follow_call(said_line(s, s->list.at), out);
		else if (s->kind == SAID_THREADS || s->kind == SAID_WAITS)
			said_follow_row(s, out);
		return true;
	case 'w':
		if (s->kind != SAID_THREADS)
			return false;
		said_follow_row(s, out);
		out->sums = true;
		return true;
	case 'n':
	case 'p':
		if (s->kind != SAID_CODE)
			return false;
		said_next_hot(s, key == 'p');
		return true;
	default:
		return false;
	}
}

static bool said_find(struct screen *screen, const char *text, bool back)
{
	struct said *s = said_of(screen);

	for (size_t i = 1; *text && i <= s->list.n; i++) {
		size_t at =
			(s->list.at + (back ? s->list.n - i : i)) % s->list.n;

		if (strstr(said_line(s, at), text)) {
			list_go(&s->list, at);
			return true;
		}
	}
	return !*text;
}

static void said_copy_line(struct screen *screen, const char **argv, size_t max)
{
	struct said *s = said_of(screen);
	size_t n = 0;

	/* without the name of the program */
	for (; s->argv[n + 1] && n + 1 < max; n++)
		argv[n] = s->argv[n + 1];
	argv[n] = NULL;
}

static void said_free(struct screen *screen)
{
	struct said *s = said_of(screen);

	said_end(s);
	for (size_t i = 0; s->argv[i]; i++)
		free(s->argv[i]);
	free(s->argv);
	free(s->text);
	free(s->start);
	free(s->screen.title);
	free(s);
}

#define SAID_OPS(keys_)                                                        \
	{                                                                      \
		.keys = (keys_), .draw = said_draw, .key = said_key,           \
		.find = said_find, .line = said_copy_line, .wait = said_wait,  \
		.free = said_free                                              \
	}

static const struct screen_ops said_ops[] = {
	[SAID_TEXT] = SAID_OPS("arrows move"),
	[SAID_CODE] = SAID_OPS("n p next hot one  Enter follow the call"),
	[SAID_THREADS] =
		SAID_OPS("Enter waits of the thread  w by cause and place"),
	[SAID_WAITS] = SAID_OPS("Enter why it took so long"),
	[SAID_CHAINS] = SAID_OPS("arrows move"),
};

struct screen *said_screen(enum said_kind kind, const char *title,
			   const char *const *argv, struct err *err)
{
	struct said *s = mem_new(1, sizeof(*s));
	size_t n = 0;

	while (argv[n])
		n++;
	s->argv = mem_new(n + 2, sizeof(*s->argv));
	s->argv[0] = mem_strdup("backstitch");
	for (size_t i = 0; i < n; i++)
		s->argv[i + 1] = mem_strdup(argv[i]);
	s->screen.ops = &said_ops[kind];
	s->screen.title = mem_strdup(title);
	s->kind = kind;
	s->fd = -1;
	*mem_add(s->start, s->n_start, s->cap_start) = 0;
	if (said_start(s, err)) {
		said_free(&s->screen);
		return NULL;
	}
	return &s->screen;
}
