/* cells.c - the terminal as rows of cells, by ncurses. */
#include "cli/view/cells.h"

#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "stitch/text/cut.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "cli/process/signals.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define ESCAPE 27
#define ESCAPE_MS 25 /* after that, an ESC is not the start of a key */
#define LEAST_ROWS 6
#define LEAST_COLUMNS 20
#define DOTS "..."

/* ncurses has one terminal at a time anyway. */
static struct {
	SCREEN *screen; /* NULL: no terminal is used */
	FILE *in, *out;
	FILE *messages; /* replaces standard error; NULL: it does not */
	int stderr_fd;	/* the standard error of before */
	bool color, utf8;
} cells;

/* How a style looks: colors (-1: the terminal's own), and attributes on
 * terminals without and with color. */
static const struct {
	short front, back;
	attr_t plain, colored;
} looks[CELLS_STYLES] = {
	[CELLS_PLAIN] = { -1, -1, A_NORMAL, A_NORMAL },
	[CELLS_BOLD] = { -1, -1, A_BOLD, A_BOLD },
	[CELLS_DIM] = { -1, -1, A_DIM, A_DIM },
	[CELLS_KEYS] = { -1, -1, A_REVERSE, A_REVERSE },
	[CELLS_CHOSEN] = { -1, -1, A_REVERSE, A_REVERSE },
	[CELLS_WRONG] = { COLOR_RED, -1, A_BOLD, A_BOLD },
	[CELLS_MISSING] = { COLOR_YELLOW, -1, A_NORMAL, A_NORMAL },
	[CELLS_HOT] = { COLOR_RED, -1, A_BOLD, A_BOLD },
	[CELLS_WARM] = { COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
	[CELLS_BAR_USER] = { COLOR_BLACK, COLOR_YELLOW, A_REVERSE, A_NORMAL },
	[CELLS_BAR_KERNEL] = { COLOR_BLACK, COLOR_CYAN, A_REVERSE, A_NORMAL },
	[CELLS_BAR_JIT] = { COLOR_BLACK, COLOR_GREEN, A_REVERSE, A_NORMAL },
	[CELLS_BAR_UNNAMED] = { COLOR_BLACK, COLOR_WHITE, A_REVERSE, A_NORMAL },
	[CELLS_BAR_MISSING] = { COLOR_WHITE, COLOR_RED, A_UNDERLINE, A_NORMAL },
	[CELLS_BAR_FOUND] = { COLOR_WHITE, COLOR_MAGENTA, A_REVERSE | A_BOLD,
			      A_BOLD },
	[CELLS_BAR_CHOSEN] = { -1, -1, A_BOLD | A_UNDERLINE, A_BOLD },
};

/* They restore the terminal in a signal handler, where endwin() is unsafe. */
static struct termios cells_before;
static char cells_restore[64];

static void cells_abandon(void)
{
	if (!cells.screen)
		return;
	(void)!write(STDOUT_FILENO, cells_restore, strlen(cells_restore));
	tcsetattr(STDOUT_FILENO, TCSANOW, &cells_before);
}

/* ---- the size */

/* ncurses counts rows and columns in a short, and crashes (SIGSEGV) if there
 * are more. A screen of this size takes 42 MB of memory. */
#define MOST_ROWS 500
#define MOST_COLUMNS 1000

static volatile sig_atomic_t cells_resized;

static void cells_on_resize(int sig UNUSED)
{
	cells_resized = 1;
}

/* LINES and COLUMNS of the environment at cells_open(); 0: not set. */
static struct cells_size {
	int high, wide;
} cells_fixed;

static int cells_word(const char *name)
{
	const char *s = getenv(name);
	long n = s ? strtol(s, NULL, 10) : 0;

	return n > 0 && n < INT_MAX ? (int)n : 0;
}

static int cells_bounded(int fixed, int is, int plain, int most)
{
	int n = fixed ? fixed : is > 0 ? is : plain;

	return n < most ? n : most;
}

static struct cells_size cells_size(void)
{
	struct winsize w = { 0 };

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	return (struct cells_size){
		cells_bounded(cells_fixed.high, w.ws_row, 24, MOST_ROWS),
		cells_bounded(cells_fixed.wide, w.ws_col, 80, MOST_COLUMNS),
	};
}

static void cells_put_env(const char *name, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	if (n)
		setenv(name, text, 1);
	else
		unsetenv(name);
}

/* Returns a string of the terminal type; "" if it has none without delays. */
static const char *cells_string(const char *capability)
{
	const char *s = tigetstr(capability);

	return s && s != (const char *)-1 && !strchr(s, '$') ? s : "";
}

int cells_open(struct err *err)
{
	const char *type = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE,
			       "view needs a terminal; 'backstitch report' "
			       "prints the same as text");
	setlocale(LC_CTYPE, "");
	cells.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	cells.in = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
	cells.out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	if (!cells.in || !cells.out)
		return err_set(err, ERR_IO, "the terminal cannot be opened");
	tcgetattr(STDOUT_FILENO, &cells_before);
	/* ncurses takes its first size from the environment. Later sizes are
	 * set in cells_key(), as ncurses does not replace our handler of
	 * SIGWINCH. */
	const struct sigaction sa = { .sa_handler = cells_on_resize };

	cells_fixed.high = cells_word("LINES");
	cells_fixed.wide = cells_word("COLUMNS");
	cells_put_env("LINES", cells_size().high);
	cells_put_env("COLUMNS", cells_size().wide);
	sigaction(SIGWINCH, &sa, NULL);
	cells.screen = newterm(NULL, cells.out, cells.in);
	cells_put_env("LINES", cells_fixed.high);
	cells_put_env("COLUMNS", cells_fixed.wide);
	if (!cells.screen)
		return err_set(
			err, ERR_USAGE,
			"TERM=%s: this terminal is not known; 'backstitch "
			"report' prints the same as text",
			type ? type : "");
	snprintf(cells_restore, sizeof(cells_restore), "%s%s%s",
		 cells_string("sgr0"), cells_string("cnorm"),
		 cells_string("rmcup"));
	signals_cleans(cells_abandon);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	curs_set(0);
	cells.color = has_colors() && term_color(stdout);
	if (cells.color) {
		start_color();
		use_default_colors();
		for (short i = 1; i < CELLS_STYLES; i++)
			init_pair(i, looks[i].front, looks[i].back);
	}
	/* Keep messages off the screen; cells_close() prints them. */
	fflush(stderr);
	cells.messages = tmpfile();
	cells.stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STOP_FD_LOOK);
	if (cells.messages && cells.stderr_fd >= 0)
		dup2(fileno(cells.messages), STDERR_FILENO);
	atexit(cells_close);
	return 0;
}

void cells_close(void)
{
	if (!cells.screen)
		return;
	endwin();
	delscreen(cells.screen);
	cells.screen = NULL;
	fclose(cells.in);
	fclose(cells.out);
	char buf[4096];
	size_t n;

	fflush(stderr);
	if (cells.stderr_fd >= 0) {
		dup2(cells.stderr_fd, STDERR_FILENO);
		close(cells.stderr_fd);
	}
	if (!cells.messages)
		return;
	rewind(cells.messages);
	while ((n = fread(buf, 1, sizeof(buf), cells.messages)) > 0)
		fwrite(buf, 1, n, stderr);
	fclose(cells.messages);
}

int cells_rows(void)
{
	return LINES < LEAST_ROWS ? LEAST_ROWS : LINES;
}

int cells_columns(void)
{
	return COLS < LEAST_COLUMNS ? LEAST_COLUMNS : COLS;
}

void cells_clear(void)
{
	erase();
}

int cells_put(int row, int column, int width, enum cells_style style,
	      const char *text)
{
	struct safe_text unit;
	int at = 0;

	if (row < 0 || row >= LINES || column < 0 || column >= COLS)
		return 0;
	if (width > COLS - column)
		width = COLS - column;
	attrset(cells.color ? looks[style].colored : looks[style].plain);
	if (cells.color && style != CELLS_PLAIN)
		color_set((short)style, NULL);
	move(row, column);
	while (safe_text_next(&text, &unit) && at + (int)unit.cells <= width) {
		/* the locale is not UTF-8 */
		if (!cells.utf8 && (unsigned char)unit.text[0] >= 0x80)
			for (unsigned int i = 0; i < unit.cells; i++)
				addch('?');
		else
			addstr(unit.text);
		at += (int)unit.cells;
	}
	/* each cell by itself: combining marks may have none on the screen */
	for (int i = at; i < width; i++)
		mvaddch(row, column + i, ' ');
	attrset(A_NORMAL);
	return at;
}

int cells_put_name(int row, int column, int width, enum cells_style style,
		   const char *name)
{
	size_t cells_of = safe_text_cells(name);
	int dots = (int)strlen(DOTS);
	size_t head, tail;

	if (width < 3 * dots || cells_of <= (size_t)width)
		return cells_put(row, column, width, style, name);
	cut_ends(name, (size_t)width, &head, &tail);
	cells_put(row, column, (int)head, style, name);
	cells_put(row, column + (int)head, dots, style, DOTS);
	const char *text = name;
	size_t n = cells_of - tail;
	struct safe_text unit;

	for (size_t at = 0; at < n && safe_text_next(&text, &unit);)
		at += unit.cells;
	cells_put(row, column + (int)head + dots, width - (int)head - dots,
		  style, text);
	return (int)(head + tail) + dots;
}

void cells_show(int row, int column)
{
	if (column >= 0)
		move(row < LINES ? row : LINES - 1,
		     column < COLS ? column : COLS - 1);
	curs_set(column >= 0);
	refresh();
}

/* Keys for which ncurses has a code. */
static const struct {
	wint_t code;
	enum cells_key key;
} special_keys[] = {
	{ KEY_RESIZE, CELLS_RESIZED },
	{ KEY_UP, CELLS_UP },
	{ KEY_DOWN, CELLS_DOWN },
	{ KEY_LEFT, CELLS_LEFT },
	{ KEY_RIGHT, CELLS_RIGHT },
	{ KEY_PPAGE, CELLS_PAGE_UP },
	{ KEY_NPAGE, CELLS_PAGE_DOWN },
	{ KEY_HOME, CELLS_FIRST },
	{ KEY_END, CELLS_LAST },
	{ KEY_ENTER, CELLS_ENTER },
	{ KEY_BACKSPACE, CELLS_BACKSPACE },
};

int cells_key(int ms)
{
	wint_t key = 0;

	timeout(ms);
	int kind = get_wch(&key);
	if (kind == ERR && cells_resized) {
		cells_resized = 0;
		resizeterm(cells_size().high, cells_size().wide);
		return CELLS_RESIZED;
	}
	if (kind == ERR)
		/* on a terminal that is gone, each read fails at once */
		return stop_requested() || feof(cells.in) ||
				       !isatty(fileno(cells.in))
			       ? CELLS_END
			       : CELLS_NO_KEY;
	for (size_t i = 0; i < ARRAY_SIZE(special_keys); i++)
		if (kind == KEY_CODE_YES && special_keys[i].code == key)
			return special_keys[i].key;
	if (kind == KEY_CODE_YES)
		return CELLS_NO_KEY;
	switch (key) {
	case ESCAPE:
		return CELLS_ESCAPE;
	case '\r':
	case '\n':
		return CELLS_ENTER;
	case 127:
	case '\b':
		return CELLS_BACKSPACE;
	default:
		return (int)key;
	}
}
