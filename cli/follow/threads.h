/* threads.h - names and processes of the threads that are seen in a ring.
 *
 * The kernel keeps the names of the last few only; what it told before is known
 * here for as long as the thread lives. */
#ifndef CLI_FOLLOW_THREADS_H
#define CLI_FOLLOW_THREADS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct threads;

/* live: the threads are those of /proc. */
struct threads *threads_new(bool live);
void threads_free(struct threads *t); /* NULL is fine */
/* Says that a thread was seen; any number. */
void threads_see(struct threads *t, int32_t tid);
/* Returns whether threads were seen that were not asked for. */
bool threads_are_new(const struct threads *t);
/* Asks for those: cmdlines and tgids are texts of saved_cmdlines and
 * saved_tgids, NULL if there are none; /proc is asked for what they lack. */
void threads_ask(struct threads *t, const char *cmdlines, const char *tgids);
/* Write lines as those texts have them. */
void threads_write_names(struct threads *t, FILE *out);
void threads_write_processes(struct threads *t, FILE *out);
/* Says that another piece begins. */
void threads_cut(struct threads *t);
/* Forgets threads that were not seen since then, and do not live. */
void threads_forget(struct threads *t);
#endif
