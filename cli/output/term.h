/* term.h - what the terminal can do: its width, and whether it has color. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

extern const char *term_color_option; /* the value of --color; NULL: auto */

/* Returns the width to write for: that of the terminal, else $COLUMNS, else 80;
 * at least 20. */
int term_columns(FILE *out);
/* Returns the same, but INT_MAX if there is neither a terminal nor $COLUMNS:
 * text in a file is not wrapped, so that grep finds a fact in one line. */
int term_limit(FILE *out);
/* Returns the rows of the terminal; 0 if unknown or not a terminal. */
int term_rows(FILE *out);
/* Returns whether to use color, by --color, NO_COLOR, TERM and the stream. */
bool term_color(FILE *out);
bool term_is_terminal(FILE *out);

/* The escape sequences of this program. Standard output and error show every
 * other one as text (escape_filter.h). */
enum term_style {
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_RED,
	STYLE_YELLOW,
	STYLE_GREEN,
	STYLE_NONE,
	LINE_START,  /* moves the cursor to the start of the line */
	LINE_REST,   /* erases from the cursor to the end of the line */
	WHOLE_SCREEN /* erases all, and moves the cursor to the first line */
};
/* Return the mark of a sequence in text; "" without color. */
const char *term_on(FILE *out, enum term_style s);
const char *term_off(FILE *out);
/* Returns the mark of a sequence, with or without color. */
const char *term_mark(enum term_style s);
/* Returns how many bytes at the start of s are a mark, or 0, and sets *code to
 * its sequence: NULL if the mark goes on after the len bytes. */
size_t term_find_mark(const char *s, size_t len, const char **code);
#define TERM_MARK 18 /* bytes of a mark */

/* Prints text in lines of at most `width` columns, indenting all but the first;
 * `at` is the column of the cursor. Ends with a newline. */
void term_wrap(FILE *out, const char *text, int at, int indent, int width);

/* Collects whole lines. Those longer than term_limit() are wrapped, indented by
 * 2. */
struct term_lines {
	FILE *out, *stream;
	char *text;
	size_t len;
	int width; /* of all lines; 0: term_limit() */
};

/* Returns the stream to write the lines to. */
FILE *term_lines_begin(struct term_lines *l, FILE *out);
/* The same for lines of at most `width` columns, also in files, that are not
 * indented; empty lines are left out. */
FILE *term_lines_begin_at(struct term_lines *l, FILE *out, int width);
/* Closes the stream and prints the lines. */
void term_lines_end(struct term_lines *l);
