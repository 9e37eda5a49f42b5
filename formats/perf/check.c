/* check.c - values that no recorder can have written. */
#include "formats/perf/perf.h"
#include "formats/reader/rest.h"
#include "stitch/base/err.h"

int perf_check_build_id(const struct bytes *id, unsigned int n, struct err *err)
{
	struct bytes rest = *id;

	if (n > bytes_left(id))
		return err_at(err, id->path, bytes_off(id),
			      "build-id of %u bytes, needs at most %zu", n,
			      bytes_left(id));
	bytes_skip(&rest, n, NULL);
	return rest_zeros(&rest, err);
}
