/* err.h - what went wrong, where, in words a user can act on. */
#ifndef STITCH_BASE_ERR_H
#define STITCH_BASE_ERR_H
#include <stdint.h>

enum err_code {
	ERR_NONE,
	ERR_USAGE,   /* the command line is wrong: exit status 2 */
	ERR_IO,	     /* the system refused: open, read, write, space */
	ERR_FORMAT,  /* the input is not what it says it is */
	ERR_LIMIT,   /* a limit of ours was reached */
	ERR_DB,	     /* the database refused */
	ERR_STOPPED, /* the user stopped us (SIGINT) */
};

/* Lives on the caller's stack: nothing to free, usable when memory is gone.
 * The message is one line, printable (control bytes are shown as \xNN),
 * without a full stop, and says what to do when that is known. */
struct err {
	enum err_code code;
	char msg[480];
};

/* All three fill *err (NULL is allowed: nobody wants to know) and return -1,
 * so that "return err_set(...)" reads as one act. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* ERR_FORMAT with "path+0xoff: " in front. */
int err_at(struct err *err, const char *path, uint64_t off, const char *fmt,
	   ...) __attribute__((format(printf, 4, 5)));
/* Puts "while <doing this>: " in front of a message on its way up. */
int err_while(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* At the place of the call the compiler sees that these return -1. Without
 * that, gcc 12 warns at -O1, -Os and with -flto of values that "may be used
 * uninitialized" behind a function that fills them only when it returns 0. */
static inline int err_failed(int ret)
{
	(void)ret;
	return -1;
}
#define err_set(...) err_failed(err_set(__VA_ARGS__))
#define err_at(...) err_failed(err_at(__VA_ARGS__))
#define err_while(...) err_failed(err_while(__VA_ARGS__))
#endif
