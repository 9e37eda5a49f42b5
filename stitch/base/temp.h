/* temp.h - files without a name: they go away with the program. */
#ifndef STITCH_BASE_TEMP_H
#define STITCH_BASE_TEMP_H

/* A descriptor open for reading and writing, close-on-exec; -1 and errno. */
int temp_open(const char *dir);
#endif
