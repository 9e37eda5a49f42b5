/* fetch.h - downloads files by build-id from the debuginfod servers that the
 * user has set.
 *
 * Only if symbolize_opts.fetch_seconds is set, and for no longer than that in
 * total. Files are stored in the folder shared by debuginfod clients, which
 * locate.c searches anyway. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;

enum fetch_what {
	FETCH_DEBUG,
	FETCH_CODE
};

/* Returns true if libdebuginfod can be loaded. */
bool fetch_available(void);
/* Downloads a file. Returns true if it is in the shared folder now; otherwise
 * the report of the current image has the reason. */
bool fetch_file(struct symbolizer *sy, enum fetch_what what, const uint8_t *id,
		size_t id_len);
void fetch_free(struct symbolizer *sy);
