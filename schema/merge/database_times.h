/* database_times.h - the times of a database, read from its file without
 * SQLite, which takes two milliseconds to parse the views. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* TIME_NONE: not known. */
struct database_times {
	int64_t first, last; /* of the events of all captures */
	bool has_wall;
	int64_t wall; /* of the first capture: to add for ns since 1970 */
};

/* Returns false if the file is not as a database of this version is after it
 * was made; SQLite may read it all the same. What is returned is what the
 * tables say, and may be wrong if somebody wrote to the file. */
bool database_times_read(const char *path, struct database_times *out);
