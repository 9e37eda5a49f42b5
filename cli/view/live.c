/* live.c - the newest database of a folder that follow fills. */
#include "cli/view/live.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

/* Reads the number of "segment-000001.db"; 0: it is another file. */
static uint32_t live_number(const char *name)
{
	uint32_t n = 0;
	int end = 0;

	if (sscanf(name, "segment-%9" SCNu32 ".db%n", &n, &end) < 1 || !end ||
	    name[end])
		return 0;
	return n;
}

bool live_newest(const char *dir, char *path, size_t size)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	uint32_t most = 0;

	while (d && (e = readdir(d)) != NULL) {
		uint32_t n = live_number(e->d_name);

		if (n <= most)
			continue;
		most = n;
		snprintf(path, size, "%s/%s", dir, e->d_name);
	}
	if (d)
		closedir(d);
	return most > 0;
}
