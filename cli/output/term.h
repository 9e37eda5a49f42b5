/* term.h - what the terminal can do: its width, and whether it has color. */
#ifndef CLI_OUTPUT_TERM_H
#define CLI_OUTPUT_TERM_H
#include <stdbool.h>
#include <stdio.h>

extern const char *term_color_option; /* --color; NULL: auto */

/* Columns to write for: of the terminal, else of COLUMNS, else 80; 20 at
 * least. */
int term_columns(FILE *out);
/* Rows of the terminal; 0: not known, or none. */
int term_rows(FILE *out);
/* By --color, NO_COLOR, TERM and whether it is a terminal. */
bool term_color(FILE *out);
bool term_is_terminal(FILE *out);

/* "" where there is no color. */
enum term_style {
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_RED,
	STYLE_YELLOW,
	STYLE_GREEN
};
const char *term_on(FILE *out, enum term_style s);
const char *term_off(FILE *out);

/* Prints text in lines of at most `width` columns, all but the first
 * indented; `at` is where the cursor stands. Ends with a newline. */
void term_wrap(FILE *out, const char *text, int at, int indent, int width);

/* Whole lines: on a terminal those that are too long go on below, indented
 * by two; in a file they stay as they are. */
struct term_lines {
	FILE *out, *stream;
	char *text;
	size_t len;
};

/* The stream to write the lines to. */
FILE *term_lines_begin(struct term_lines *l, FILE *out);
/* Closes it and prints them. */
void term_lines_end(struct term_lines *l);
#endif
