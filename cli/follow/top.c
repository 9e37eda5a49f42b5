/* top.c - the table of hot functions that follow shows on a terminal. */
#include "cli/follow/top.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/follow/glance.h"
#include "cli/output/human.h"
#include "cli/output/safe_text.h"
#include "cli/stop.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define TO_END_OF_LINE "\033[K"
#define TO_END "\033[J"
#define ESCAPE 27
#define BACKSPACE 127
#define FILTER 64
#define COMM_CELLS 16

struct top {
	FILE *out;
	FILE *messages; /* standard error meanwhile; NULL: none */
	int said;	/* what it was */
	struct glance shown;
	struct glance next; /* came while frozen */
	bool has, has_next, frozen, prompt, waits;
	char filter[FILTER];
	size_t n_filter;
	int rows, line; /* of the terminal; the next one to be written */
};

/* For signal handlers and the exit of the program; -1: no terminal is used. */
static volatile sig_atomic_t top_tty = -1;
static struct termios top_saved, top_raw;

static void top_enter(void)
{
	tcsetattr(top_tty, TCSANOW, &top_raw);
	(void)!write(top_tty, ENTER, sizeof(ENTER) - 1);
}

static void top_leave(void)
{
	if (top_tty < 0)
		return;
	(void)!write(top_tty, LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(top_tty, TCSANOW, &top_saved);
}

static void top_on_stop(int sig);

static void top_catch_stop(void)
{
	/* while it runs, the signal stops the program as it always does */
	struct sigaction sa = { .sa_handler = top_on_stop,
				.sa_flags = SA_RESETHAND | SA_NODEFER |
					    SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGTSTP, &sa, NULL);
}

static void top_on_stop(int sig)
{
	int saved = errno;

	top_leave();
	raise(sig);
	top_catch_stop();
	if (top_tty >= 0)
		top_enter();
	errno = saved;
}

struct top *top_open(struct err *err)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd < 0 || tcgetattr(fd, &top_saved)) {
		err_set(err, ERR_USAGE, "--top needs a terminal");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	struct top *t = mem_new(1, sizeof(*t));

	t->out = mem_must(fdopen(fd, "w"));
	top_raw = top_saved;
	top_raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	top_raw.c_cc[VMIN] = 0;
	top_raw.c_cc[VTIME] = 0;
	/* a core dump would leave the terminal as it is */
	top_raw.c_cc[VQUIT] = _POSIX_VDISABLE;
	top_tty = fd;
	atexit(top_leave);
	top_catch_stop();
	top_enter();
	/* messages would be in the table, and gone with the next one */
	t->messages = tmpfile();
	/* and the signal that ends the input would end this terminal too */
	t->said = fcntl(2, F_DUPFD_CLOEXEC, STOP_FD_LOOK);
	if (t->messages && t->said >= 0)
		dup2(fileno(t->messages), 2);
	return t;
}

/* Prints the messages that came meanwhile. */
static void top_say(struct top *t)
{
	char buf[4096];
	size_t n;

	dup2(t->said, 2);
	close(t->said);
	if (!t->messages)
		return;
	rewind(t->messages);
	while ((n = fread(buf, 1, sizeof(buf), t->messages)) > 0)
		fwrite(buf, 1, n, stderr);
	fclose(t->messages);
}

void top_close(struct top *t)
{
	if (!t)
		return;
	signal(SIGTSTP, SIG_DFL);
	top_leave();
	top_tty = -1;
	fclose(t->out);
	top_say(t);
	glance_release(&t->shown);
	glance_release(&t->next);
	free(t);
}

int top_fd(const struct top *t)
{
	return fileno(t->out);
}

/* ---- keys */

static void top_prompt_key(struct top *t, char c)
{
	if (c == '\n' || c == '\r') {
		t->prompt = false;
	} else if (c == ESCAPE) {
		t->prompt = false;
		t->n_filter = 0;
	} else if (c == BACKSPACE || c == '\b') {
		t->n_filter -= t->n_filter > 0;
	} else if ((unsigned char)c >= ' ' && t->n_filter + 1 < FILTER) {
		t->filter[t->n_filter++] = c;
	}
	t->filter[t->n_filter] = 0;
}

static void top_thaw(struct top *t)
{
	t->frozen = !t->frozen;
	if (t->frozen || !t->has_next)
		return;
	glance_release(&t->shown);
	t->shown = t->next;
	t->next = (struct glance){ .samples = 0 };
	t->has_next = false;
}

bool top_keys(struct top *t)
{
	char key[64];
	ssize_t n = read(fileno(t->out), key, sizeof(key));

	/* the terminal is gone */
	if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if (t->prompt) {
			top_prompt_key(t, key[i]);
		} else if (key[i] == 'q') {
			return false;
		} else if (key[i] == ' ') {
			top_thaw(t);
		} else if (key[i] == 'w') {
			t->waits = !t->waits;
		} else if (key[i] == '/') {
			t->prompt = true;
			t->n_filter = 0;
			t->filter[0] = 0;
		}
	}
	return true;
}

void top_give(struct top *t, struct glance *g)
{
	struct glance *to = t->frozen ? &t->next : &t->shown;

	glance_release(to);
	*to = *g;
	t->has = true;
	t->has_next = t->frozen;
}

/* ---- drawing */

/* Writes at most that many cells of clean text, and fills with blanks. */
static void top_put_text(FILE *out, const char *s, unsigned int cells,
			 bool fill)
{
	struct safe_text unit;
	unsigned int at = 0;

	while (safe_text_next(&s, &unit) && at + unit.cells <= cells) {
		fputs(unit.text, out);
		at += unit.cells;
	}
	for (; fill && at < cells; at++)
		putc(' ', out);
}

static void top_end_line(struct top *t)
{
	fputs(TO_END_OF_LINE "\r\n", t->out);
	t->line++;
}

static void top_draw_head(struct top *t, const struct top_state *s, int width)
{
	const struct glance *g = &t->shown;
	char *text;
	size_t len;
	char n[32], x[32];
	FILE *f = mem_stream(&text, &len);

	fprintf(f, "%s: %" PRIu32 " segment%s, %s samples in this one, ",
		s->dir, s->made, s->made == 1 ? "" : "s",
		human_grouped(n, sizeof(n), g->samples));
	fprintf(f, "%s lost%s; %s behind", human_grouped(n, sizeof(n), g->lost),
		g->lost_unknown ? " and more" : "",
		human_ns(x, sizeof(x), s->lag_ns));
	if (s->waiting)
		fprintf(f, ", %" PRIu32 " wait", s->waiting);
	if (s->held)
		fprintf(f, "; the stream waited %" PRIu32 " times, %s", s->held,
			human_ns(x, sizeof(x), s->held_ns));
	if (t->frozen)
		fputs("  [frozen]", f);
	mem_stream_end(f);
	top_put_text(t->out, text, (unsigned int)width, false);
	free(text);
	top_end_line(t);
	if (g->trust[0]) {
		top_put_text(t->out, g->trust, (unsigned int)width, false);
		top_end_line(t);
	}
}

static void top_draw_latency(struct top *t)
{
	const struct glance *g = &t->shown;
	char n[32], open[32], p50[32], p99[32];

	if (!g->requests)
		return;
	fprintf(t->out, "deferred stacks: %s asked for, %s still to come",
		human_grouped(n, sizeof(n), g->requests),
		human_grouped(open, sizeof(open), g->open));
	if (g->p50_ns >= 0)
		fprintf(t->out, "; half of them after %s, 99 %% after %s",
			human_ns(p50, sizeof(p50), g->p50_ns),
			human_ns(p99, sizeof(p99), g->p99_ns));
	top_end_line(t);
}

static void top_draw_row(struct top *t, const struct glance_row *r, int width)
{
	double whole = t->shown.weight ? (double)t->shown.weight : 1;

	fprintf(t->out, "%6.2f %% %6.2f %%  ", 100 * (double)r->self / whole,
		100 * (double)r->total / whole);
	top_put_text(t->out, r->comm, COMM_CELLS, true);
	fputs("  ", t->out);
	top_put_text(t->out, r->function,
		     width > 40 ? (unsigned int)width - 40 : 10, false);
	top_end_line(t);
}

static void top_draw_rows(struct top *t, int width)
{
	fprintf(t->out, "    self    total  %-*s  function", COMM_CELLS,
		"thread");
	top_end_line(t);
	if (!t->has) {
		fputs("no segment is finished yet", t->out);
		top_end_line(t);
	}
	for (size_t i = 0; i < t->shown.n && t->line + 1 < t->rows; i++) {
		const struct glance_row *r = &t->shown.row[i];

		if (!t->n_filter || strstr(r->comm, t->filter))
			top_draw_row(t, r, width);
	}
}

/* How long the stacks of each event and CPU were waited for. */
static void top_draw_waits(struct top *t, int width)
{
	fprintf(t->out, "%-4s %8s %8s %8s %8s %8s  event", "CPU", "stacks",
		"half", "90 %", "99 %", "all");
	top_end_line(t);
	for (size_t i = 0; i < t->shown.n_wait && t->line + 1 < t->rows; i++) {
		const struct glance_wait *w = &t->shown.wait[i];
		const int64_t ns[] = { w->p50_ns, w->p90_ns, w->p99_ns,
				       w->max_ns };
		char text[32];

		snprintf(text, sizeof(text), "%" PRId32, w->cpu);
		fprintf(t->out, "%-4s",
			w->all	     ? "all"
			: w->cpu < 0 ? "?"
				     : text);
		fprintf(t->out, " %8s",
			human_grouped(text, sizeof(text), w->n));
		for (size_t k = 0; k < sizeof(ns) / sizeof(*ns); k++)
			fprintf(t->out, " %8s",
				human_ns(text, sizeof(text), ns[k]));
		fputs("  ", t->out);
		top_put_text(t->out, w->event,
			     width > 60 ? (unsigned int)width - 52 : 8, false);
		top_end_line(t);
	}
}

/* The table is on the terminal, wherever descriptor 1 leads. */
static void top_measure(struct top *t, int *width)
{
	struct winsize ws = { .ws_row = 0 };

	ioctl(fileno(t->out), TIOCGWINSZ, &ws);
	*width = !ws.ws_col ? 80 : ws.ws_col < 20 ? 20 : ws.ws_col;
	t->rows = ws.ws_row > 8 ? ws.ws_row : 8;
}

void top_draw(struct top *t, const struct top_state *s)
{
	int width;

	top_measure(t, &width);
	t->line = 0;
	fputs(HOME, t->out);
	top_draw_head(t, s, width);
	top_draw_latency(t);
	if (t->waits)
		top_draw_waits(t, width);
	else
		top_draw_rows(t, width);
	fputs(TO_END, t->out);
	fprintf(t->out, "\033[%dH", t->rows);
	if (t->prompt || t->n_filter)
		fprintf(t->out, "/%s%s   ", t->filter, t->prompt ? "_" : "");
	if (!t->prompt)
		fprintf(t->out,
			"space: %s  /: filter by thread name  w: %s  q: quit",
			t->frozen ? "go on" : "freeze",
			t->waits ? "functions" : "waits");
	fputs(TO_END_OF_LINE, t->out);
	fflush(t->out);
}
