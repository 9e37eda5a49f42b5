/* ctfout_graph_none.c - stands in for the files that call libbabeltrace2 in a
 * build without it. */
#include "cli/export/ctf/ctfout.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int ctfout_write(const struct ctfout_input *in UNUSED,
		 const char *folder UNUSED, struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "this program was built without libbabeltrace2, which "
		       "writes CTF");
}
