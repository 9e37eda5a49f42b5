/* graph_none.c - replaces the files that call libbabeltrace2 in a build without
 * it: opening a trace fails with a message that says so. */
#include "formats/ctf/ctf.h"
#include "stitch/base/err.h"

bool ctf_graph_newer(void)
{
	return false;
}

int ctf_graph_start(struct ctf *ctf, struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s: this is a CTF trace, and this backstitch was built "
		       "without libbabeltrace2; install libbabeltrace2-dev and "
		       "build it again",
		       ctf->src.path);
}

void ctf_graph_stop(struct ctf *ctf)
{
	(void)ctf;
}

int ctf_graph_pull(struct ctf_trace *tr, struct err *err)
{
	(void)tr;
	(void)err;
	return 0;
}

void ctf_graph_close(struct ctf_trace *tr)
{
	(void)tr;
}
