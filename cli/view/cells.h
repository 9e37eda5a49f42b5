/* cells.h - the terminal as rows of cells: writes text in styles, reads keys.
 * Only cells.c uses ncurses.
 *
 * The terminal is taken from cells_open() to cells_close(), which restores it;
 * Ctrl-Z and an exit in between restore it, too. */
#pragma once

struct err;

/* Styles of text. Without color, bars of all kinds of code look the same. */
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

/* Keys that are not characters. */
enum cells_key {
	CELLS_NO_KEY = -1, /* no key was pressed in time */
	CELLS_END = -2,	   /* the input has ended */
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

/* Takes the terminal. Returns 0, or -1 and *err if there is none or its type is
 * not known. */
int cells_open(struct err *err);
void cells_close(void);
int cells_rows(void);
int cells_columns(void);
/* Clears the screen. */
void cells_clear(void);
/* Writes safe text in `width` cells: cuts it, or fills them with blanks; cells
 * outside the screen are left out. Returns the number of cells of the text. */
int cells_put(int row, int column, int width, enum cells_style style,
	      const char *text);
/* Writes a name likewise, but shortens it by "..." in its middle. */
int cells_put_name(int row, int column, int width, enum cells_style style,
		   const char *name);
/* Shows what was written; column < 0: no cursor. */
void cells_show(int row, int column);
/* Returns the next character or enum cells_key; waits at most ms. */
int cells_key(int ms);
