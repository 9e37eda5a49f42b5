/* live.h - the newest database of a folder that follow fills. */
#ifndef CLI_VIEW_LIVE_H
#define CLI_VIEW_LIVE_H
#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the segment with the highest number to path. Returns false
 * if there is none. */
bool live_newest(const char *dir, char *path, size_t size);
#endif
