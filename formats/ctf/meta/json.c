/* json.c - CTF 2 metadata. */
#include "formats/ctf/meta/raw.h"

int json_meta_read(struct raw *r, const struct bytes *meta, bool *cut)
{
	(void)meta;
	(void)cut;
	return raw_fail(r, 0, "CTF 2 metadata is not supported");
}
