/* view_none.c - replaces view in a build without ncurses. */
#include "cli/view/view.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int view_run(const struct view_what *what UNUSED, struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "this program was built without ncurses, which view "
		       "needs; 'backstitch report' prints the same as text");
}
