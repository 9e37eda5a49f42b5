/* other_reader.h - finds out who else reads a ring of ftrace: of two readers,
 * each gets only some of the events. */
#ifndef CLI_FOLLOW_OTHER_READER_H
#define CLI_FOLLOW_OTHER_READER_H

struct err;

/* Locks a trace_pipe_raw that was opened. Returns 0, or -1 and *err if another
 * run of this program has it, or any process has opened it for reading. */
int other_reader_refuse(int fd, const char *path, struct err *err);
#endif
