/* live.h - the newest database of a folder that follow fills. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the segment with the highest number to path. Returns false
 * if there is none. */
bool live_newest(const char *dir, char *path, size_t size);
