/* top.h - the table of hot functions that follow shows on a terminal.
 *
 * It has the terminal from top_open() to top_close(), which restores it; so do
 * Ctrl-Z and an exit in between. Messages of that time are printed then. */
#ifndef CLI_FOLLOW_TOP_H
#define CLI_FOLLOW_TOP_H
#include <stdbool.h>
#include <stdint.h>

struct err;
struct glance;
struct top;

/* What is known beside the newest segment. */
struct top_state {
	const char *dir;
	uint32_t made, waiting;
	int64_t lag_ns;
	uint32_t held; /* times that the stream waited */
	int64_t held_ns;
};

/* Returns NULL and *err if there is no terminal. */
struct top *top_open(struct err *err);
void top_close(struct top *t); /* NULL is fine */
/* Returns the descriptor to wait for: keys. */
int top_fd(const struct top *t);
/* Takes the keys that are there. Returns false once it is to end. */
bool top_keys(struct top *t);
/* Takes ownership of what is in *g; it is not shown while the table is frozen.
 */
void top_give(struct top *t, struct glance *g);
/* Draws the table anew. */
void top_draw(struct top *t, const struct top_state *s);
#endif
