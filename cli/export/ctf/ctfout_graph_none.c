/* ctfout_graph_none.c - stands in for the files that call libbabeltrace2 in a
 * build without it. */
#include "cli/export/ctf/ctfout.h"
#include "stitch/base/err.h"

int ctfout_write(const struct ctfout_input *in, const char *folder,
		 struct err *err)
{
	(void)in;
	(void)folder;
	return err_set(err, ERR_USAGE,
		       "this program was built without libbabeltrace2, which "
		       "writes CTF");
}
