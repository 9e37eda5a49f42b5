/* say.h - messages on standard error: the only way to print one.
 *
 * A message is one line, or the next part of one. Whatever its arguments are,
 * names of files and captures too, no newline of theirs begins another line,
 * and nothing of them commands the terminal. */
#pragma once
#include <stdint.h>

/* Formats as printf() does. A newline ends the line if it is the last
 * character; anywhere else, and as all that cannot be shown, it becomes an
 * escape. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same after "note: ": what a user should know of the answer, and that
 * changes no exit status. Not of what a command does, or has done. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints whole lines that are safe to show, wrapped for a terminal; NULL: none.
 */
void say_lines(const char *lines);

struct stacks;
/* Returns the event that stacks_choose() takes, and says what it notes. */
int say_choice(const struct stacks *s, const char *doing);

/* ---- one line on the terminal that shows progress.
 *
 * Shown only if standard error is a terminal and the work takes more than half
 * a second. Code that prints to stderr meanwhile calls progress_clear()
 * first. */

void progress_start(const char *what);
/* Starts the line for a live input, and shows it at once, since no data may
 * come for a long time. */
void progress_start_live(const char *what, const char *hint);
/* total 0: unknown. n counts what `unit` names. Draws at most ten times a
 * second. */
void progress_update(uint64_t done, uint64_t total, uint64_t n,
		     const char *unit);
void progress_clear(void);
