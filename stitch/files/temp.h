/* temp.h - temporary files without a name. */
#ifndef STITCH_FILES_TEMP_H
#define STITCH_FILES_TEMP_H

/* Returns a descriptor opened for reading and writing with close-on-exec, or -1
 * with errno set. The file vanishes when it is closed. */
int temp_open(const char *dir);
#endif
