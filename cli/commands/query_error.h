/* query_error.h - what is wrong with a statement, and where. */
#ifndef CLI_COMMANDS_QUERY_ERROR_H
#define CLI_COMMANDS_QUERY_ERROR_H
struct err;
struct store;

/* Right after the statement was refused: shows on stderr the line that the
 * error is in, with a mark below it, and adds to the message the nearest name
 * where one was not found. */
void query_error(struct store *db, const char *sql, struct err *err);
#endif
