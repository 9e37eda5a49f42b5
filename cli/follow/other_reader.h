/* other_reader.h - finds out who else reads the rings of ftrace: of two
 * readers, each gets only some of the events. */
#ifndef CLI_FOLLOW_OTHER_READER_H
#define CLI_FOLLOW_OTHER_READER_H
#include <stddef.h>

struct err;

/* Locks files trace_pipe_raw that were opened. name: of their buffer, for
 * messages. Returns 0, or -1 and *err if another run of this program has one,
 * or any process has opened one for reading. */
int other_reader_refuse(const int *fd, size_t n, const char *name,
			struct err *err);
#endif
