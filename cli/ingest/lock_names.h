/* lock_names.h - names of the locks and futexes at which threads waited, for
 * report --latency. */
#pragma once

struct err;
struct store;
struct symbolize_text;

/* Names each lock of the events of a database that is itself a symbol of data
 * of the kernel, or of a module of which its symbols tell, as meta "lock ADDR"
 * of the capture, and each futex in a variable of a file (data_names.h). A lock
 * inside of a structure has no name, as not all kernels list all of their data.
 * Where there are several kernels none has: an address does not tell which.
 * captured: copies of kallsyms in captures; NULL: none. Behind the call-site
 * check, which may doubt a file. Returns 0, or -1 and *err. */
int lock_names_store(struct store *db, const struct symbolize_text *captured,
		     struct err *err);
