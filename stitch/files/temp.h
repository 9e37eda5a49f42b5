/* temp.h - temporary files without a name. */
#pragma once

/* Returns a descriptor opened for reading and writing with close-on-exec, or -1
 * with errno set. The file vanishes when it is closed. */
int temp_open(const char *dir);
