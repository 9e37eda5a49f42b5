/* fetch_none.c - replaces fetch.c in builds without libdebuginfod. */
#include "symbolize/files/fetch.h"

#include "stitch/base/mem.h"

bool fetch_available(void)
{
	return false;
}

bool fetch_file(struct symbolizer *sy UNUSED, enum fetch_what what UNUSED,
		const uint8_t *id UNUSED, size_t id_len UNUSED)
{
	return false;
}

void fetch_free(struct symbolizer *sy UNUSED)
{
}
