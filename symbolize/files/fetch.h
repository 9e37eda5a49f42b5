/* fetch.h - files by build-id from the debuginfod servers that the user named.
 *
 * Only when symbolize_opts.fetch_seconds is set, and no longer than that for
 * all files together. What comes is kept in the folder that all clients of
 * debuginfod share, where locate.c looks anyway. */
#ifndef SYMBOLIZE_FILES_FETCH_H
#define SYMBOLIZE_FILES_FETCH_H
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
/* True: it is there now, look again. Otherwise the report of the image at hand
 * says why not. */
bool fetch_file(struct symbolizer *sy, enum fetch_what what, const uint8_t *id,
		size_t id_len);
void fetch_free(struct symbolizer *sy);
#endif
