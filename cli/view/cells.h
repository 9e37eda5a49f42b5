/* cells.h - the terminal as rows of cells: text in styles out, keys in. By
 * ncurses, which only cells.c knows.
 *
 * It has the terminal from cells_open() to cells_close(), which restores it; so
 * do Ctrl-Z and an exit in between. */
#pragma once

struct err;

/* On a terminal without color the kinds of code look alike. */
enum cells_style {
	CELLS_PLAIN,
	CELLS_BOLD,
	CELLS_DIM,
	CELLS_KEYS,    /* the line of keys */
	CELLS_CHOSEN,  /* where the cursor is */
	CELLS_WRONG,   /* not to be trusted */
	CELLS_MISSING, /* not recorded */
	CELLS_HOT,
	CELLS_WARM,
	/* the bars of a flame graph */
	CELLS_BAR_USER,
	CELLS_BAR_KERNEL,
	CELLS_BAR_JIT,
	CELLS_BAR_UNNAMED,
	CELLS_BAR_MISSING,
	CELLS_BAR_FOUND,
	CELLS_BAR_CHOSEN,
	CELLS_STYLES
};

/* Keys that are no character. */
enum cells_key {
	CELLS_NO_KEY = -1, /* none came in time */
	CELLS_END = -2,	   /* none will come any more */
	CELLS_RESIZED = 0x110000,
	CELLS_UP,
	CELLS_DOWN,
	CELLS_LEFT,
	CELLS_RIGHT,
	CELLS_PAGE_UP,
	CELLS_PAGE_DOWN,
	CELLS_FIRST,
	CELLS_LAST,
	CELLS_BACKSPACE,
	CELLS_ENTER,
	CELLS_ESCAPE,
};

/* Takes the terminal. Returns 0, or -1 and *err if there is none, or it can do
 * too little. */
int cells_open(struct err *err);
void cells_close(void);
int cells_rows(void);
int cells_columns(void);
/* Forgets all that is on the screen. */
void cells_clear(void);
/* Writes safe text in at most `width` cells, and fills them with blanks; what
 * is outside of the screen is left out. Returns the cells that the text took.
 */
int cells_put(int row, int column, int width, enum cells_style style,
	      const char *text);
/* Writes the name of a function: one that is wider has "..." in its middle. */
int cells_put_name(int row, int column, int width, enum cells_style style,
		   const char *name);
/* Shows what was written; column < 0: no cursor. */
void cells_show(int row, int column);
/* Returns the next character or enum cells_key; waits at most so long. */
int cells_key(int ms);
