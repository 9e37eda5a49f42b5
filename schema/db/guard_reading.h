/* guard_reading.h - a connection that may do nothing but read. */
#pragma once
struct err;
struct store;

/* Refuses everything but reading on this connection from now on. Returns 0, or
 * -1 and *err. */
int guard_reading(struct store *db, struct err *err);
