/* rest.c - compares a length with what it describes from the side that a
 * decoder does not see. */
#include "formats/reader/rest.h"

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"

int rest_padding(const struct bytes *b, size_t n, struct err *err)
{
	if (bytes_left(b) <= n)
		return 0;
	return err_at(err, b->path, bytes_off(b),
		      "%zu bytes are left, needs %s%zu; a size or a count is "
		      "wrong",
		      bytes_left(b), n ? "at most " : "", n);
}

int rest_end(const struct bytes *b, struct err *err)
{
	return rest_padding(b, 0, err);
}

int rest_zeros(const struct bytes *b, struct err *err)
{
	uint8_t v = 0;

	for (uint64_t i = 0; !bytes_peek(b, i, &v, 1); i++)
		if (v)
			return err_at(err, b->path, bytes_off(b) + i,
				      "%zu bytes are left that are not 0; a "
				      "size or a count is wrong",
				      bytes_left(b));
	return 0;
}
