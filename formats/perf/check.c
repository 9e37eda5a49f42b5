/* check.c - compares a length with what it describes from the side that the
 * decoder does not see: too much is refused by struct bytes, too little leaves
 * bytes, which are damage. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"

int perf_check_padding(const struct bytes *b, size_t n, struct err *err)
{
	if (bytes_left(b) <= n)
		return 0;
	return err_at(err, b->path, bytes_off(b),
		      "%zu bytes are left, needs %s%zu; a size or a count is "
		      "wrong",
		      bytes_left(b), n ? "at most " : "", n);
}

int perf_check_end(const struct bytes *b, struct err *err)
{
	return perf_check_padding(b, 0, err);
}

int perf_check_zeros(const struct bytes *b, struct err *err)
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

int perf_check_build_id(const struct bytes *id, unsigned int n, struct err *err)
{
	struct bytes rest = *id;

	if (n > bytes_left(id))
		return err_at(err, id->path, bytes_off(id),
			      "build-id of %u bytes, needs at most %zu", n,
			      bytes_left(id));
	bytes_skip(&rest, n, NULL);
	return perf_check_zeros(&rest, err);
}
