/* export_ctf.c - a folder with a CTF trace, for babeltrace2, Trace Compass and
 * other readers of LTTng's traces. */
#include "cli/export/ctf/ctfout.h"
#include "cli/export/export.h"

static int export_ctf_write(const char *folder, const struct export_request *x,
			    struct err *err)
{
	const struct ctfout_input in = { .db = x->db,
					 .filter = x->filter,
					 .samples = x->samples };

	return ctfout_write(&in, folder, err);
}

const struct exporter export_ctf = {
	.summary = "a folder with a CTF trace: all events with fields, stacks, "
		   "verdicts and losses, for babeltrace2 and Trace Compass",
	.binary = true,
	.refused = "--no-inline --interpreter",
	.write_folder = export_ctf_write,
};
