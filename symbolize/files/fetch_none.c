/* fetch_none.c - replaces fetch.c in builds without libdebuginfod. */
#include "symbolize/files/fetch.h"

bool fetch_available(void)
{
	return false;
}

bool fetch_file(struct symbolizer *sy, enum fetch_what what, const uint8_t *id,
		size_t id_len)
{
	(void)sy;
	(void)what;
	(void)id;
	(void)id_len;
	return false;
}

void fetch_free(struct symbolizer *sy)
{
	(void)sy;
}
