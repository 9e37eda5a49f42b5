/* read.c - reads metadata: the TSDL of CTF 1.8, or the JSON of CTF 2. */
#include <string.h>

#include "formats/ctf/meta/raw.h"
#include "stitch/base/bytes.h"

/* What metadata may take next to its own size. With the values of a CTF 2
 * fragment it is 60 MiB. */
#define READ_ROOM ((size_t)40 << 20)

static int read_parse(struct raw *r, const struct bytes *meta)
{
	uint8_t first = 0;

	if (bytes_peek(meta, 0, &first, 1))
		return raw_fail(r, 0, "metadata is empty");
	if (bytes_left(meta) > CTF_META_MAX)
		return raw_fail(r, 0, "metadata is larger than %u bytes",
				CTF_META_MAX);
	/* of a JSON text sequence: RFC 7464 */
	if (first == 0x1e)
		return ctf2_read(r, meta, &r->tree->cut);
	if (tsdl_unpack(r, meta, &r->tree->cut))
		return -1;
	return tsdl_read(r, &r->tree->cut);
}

int ctf_tree_read(struct arena *arena, const struct bytes *meta,
		  struct ctf_tree *out, struct err *err)
{
	struct raw r = {
		.tree = out, .out = arena, .path = meta->path, .err = err
	};

	memset(out, 0, sizeof(*out));
	r.room = arena->used + READ_ROOM + bytes_left(meta);

	int ret = read_parse(&r, meta);

	if (!ret)
		ret = raw_resolve(&r);
	raw_release(&r);
	return ret;
}
