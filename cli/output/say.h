/* say.h - messages on standard error: the only way to print one.
 *
 * A message is one line or a part of one. Whatever its arguments contain, such
 * as names from captures, their newlines do not begin another line, and they
 * cannot control the terminal. */
#pragma once
#include <stdint.h>

/* Formats as printf() does. A newline as the last character ends the line; all
 * others, and what cannot be shown, become escapes. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints "note: " and the same, for what a user should know about the answer,
 * not about what the command did. It does not change the exit status. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints whole lines of safe text, wrapped for a terminal; NULL: nothing. */
void say_lines(const char *lines);

struct stacks;
/* Returns the event that stacks_choose() chooses, and prints its note. */
int say_choice(const struct stacks *s, const char *doing);

/* A line on the terminal that shows progress, only if standard error is a
 * terminal and the work takes more than half a second. Code that prints to
 * stderr meanwhile calls progress_clear() first. */

void progress_start(const char *what);
/* Starts the line for a live input, and shows it at once, since no data may
 * come for a long time. */
void progress_start_live(const char *what, const char *hint);
/* Draws the line, at most ten times a second. total: 0 if not known; n: how
 * many of `unit` are done. */
void progress_update(uint64_t done, uint64_t total, uint64_t n,
		     const char *unit);
void progress_clear(void);
