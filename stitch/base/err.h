/* err.h - error codes, and messages that a user can act on. */
#pragma once
#include <errno.h>
#include <stdint.h>

enum err_code {
	ERR_NONE,
	ERR_USAGE,   /* wrong command line: exit status 2 */
	ERR_IO,	     /* a system call failed: open, read, write */
	ERR_FULL,    /* the disk has no room */
	ERR_FORMAT,  /* the input is malformed */
	ERR_LIMIT,   /* one of our limits was exceeded */
	ERR_DB,	     /* SQLite reported an error */
	ERR_STOPPED, /* the user stopped the program (SIGINT) */
	ERR_BUNDLE,  /* the archive contains a database, which must be read
		      * instead */
};

/* Lives on the caller's stack and owns no memory, so that it works when memory
 * is exhausted. The message is one printable line (control bytes become \xNN)
 * without a full stop, and says what to do if that is known. */
struct err {
	enum err_code code;
	char msg[480];
};

/* Returns the code for the errno of a failed system call. */
static inline enum err_code err_code_of(int error)
{
	return error == ENOSPC || error == EDQUOT ? ERR_FULL : ERR_IO;
}

/* These three functions fill *err, if err is not NULL, and return -1, so that a
 * caller can write "return err_set(...)". */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Like err_set() with ERR_FORMAT, with "path+0xoff: " in front of the
 * message. */
int err_at(struct err *err, const char *path, uint64_t off, const char *fmt,
	   ...) __attribute__((format(printf, 4, 5)));
/* Puts "while ...: " in front of the message that *err has. */
int err_while(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* With these, the compiler sees at each call that -1 is returned. Without that,
 * gcc 12 warns at -O1, -Os and with -flto of values that "may be used
 * uninitialized" after a function that fills them only when it returns 0. */
static inline int err_failed(int ret)
{
	(void)ret;
	return -1;
}
#define err_set(...) err_failed(err_set(__VA_ARGS__))
#define err_at(...) err_failed(err_at(__VA_ARGS__))
#define err_while(...) err_failed(err_while(__VA_ARGS__))
