/* cells_none.c - stands in for cells.c in a build without ncurses. */
#include "cli/view/cells.h"
#include "stitch/base/err.h"

int cells_open(struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "this program was built without ncurses, which view "
		       "needs; 'backstitch report' prints the same as text");
}

/* Without a terminal, nothing below is ever called. */

void cells_close(void)
{
}

void cells_drop_messages(void)
{
}

int cells_rows(void)
{
	return 0;
}

int cells_columns(void)
{
	return 0;
}

void cells_clear(void)
{
}

int cells_put(int row, int column, int width, enum cells_style style,
	      const char *text)
{
	(void)row;
	(void)column;
	(void)width;
	(void)style;
	(void)text;
	return 0;
}

int cells_put_name(int row, int column, int width, enum cells_style style,
		   const char *name)
{
	return cells_put(row, column, width, style, name);
}

void cells_show(int row, int column)
{
	(void)row;
	(void)column;
}

int cells_key(int ms)
{
	(void)ms;
	return CELLS_END;
}
