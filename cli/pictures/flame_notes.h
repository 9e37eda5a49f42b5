/* flame_notes.h - the title of a flame graph, and the lines below it.
 *
 * What they tell is counted while stacks are added. Each note is one line;
 * there is room for SVG_NOTES, and those that come later are left out. */
#pragma once
#include <stdint.h>

struct drawing;
struct offcpu_sums;
struct wall_intervals;
struct stacks_comm;

/* Counts a missing user half of the stack just added by its verdict; NULL means
 * it is not missing. word is borrowed for the drawing's life. */
void drawing_missing(struct drawing *d, const char *word, uint64_t weight);
/* Adds notes about waits that are not drawn, if there are any. */
void drawing_note_waits(struct drawing *d, const struct offcpu_sums *s);
/* Adds a note about missing user halves, if there are any. */
void drawing_note_missing(struct drawing *d);
/* Adds a note about inferred callers, if there are any. */
void drawing_note_inferred(struct drawing *d);
/* Returns a buffer of DRAWING_NOTE_MAX bytes for a new note, NULL if there are
 * too many. */
char *drawing_note(struct drawing *d);
/* Adds a note, unless there are too many. */
void drawing_say(struct drawing *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Counts the weight of a thread's name, which the title may say. */
void drawing_count_name(struct drawing *d, const struct stacks_comm *c,
			uint64_t weight);
/* Adds a note about a part of the weight, unless it is 0. */
void drawing_note_part(struct drawing *d, uint64_t part, const char *what);
/* Adds a note about the event, and makes the title unless there is one. */
void drawing_note_event(struct drawing *d);
/* Adds a note about the weight that --include and --exclude leave out. */
void drawing_note_dropped(struct drawing *d);
/* Adds a note about --weight. */
void drawing_note_unweighed(struct drawing *d);
/* Notes what is drawn next to the samples. */
void drawing_note_wall(struct drawing *d, const struct offcpu_sums *s);
/* Notes which intervals are drawn, and how many are not. */
void drawing_note_intervals(struct drawing *d, const struct wall_intervals *s);
