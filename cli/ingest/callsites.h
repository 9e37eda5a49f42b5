/* callsites.h - the call-site check of a database: which return addresses of
 * user stacks are bogus, and between which frames one is missing. */
#ifndef CLI_INGEST_CALLSITES_H
#define CLI_INGEST_CALLSITES_H

struct err;
struct store;
struct symbolizer;

/* Checks all user stacks that are stored, each distinct frame and pair of
 * frames once, and stores what it finds. Behind the naming; may be repeated
 * when programs turn up. -1 and *err only when the database refuses or Ctrl-C
 * was pressed: code that is not there is no error. */
int callsites_check(struct store *db, struct symbolizer *sy, struct err *err);
#endif
