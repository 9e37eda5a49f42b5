/* markdown.h - GitHub-flavoured Markdown, for a bot that posts what is printed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the text of a cell of a table: a code span, in which names of captures
 * are no HTML, link or mention, unless it is plain words. */
void markdown_put_cell(FILE *out, const char *s, size_t len);
/* Writes the line below n heads; right: of numbers. */
void markdown_put_rule(FILE *out, bool right);
/* Begins or ends a block that shows text as a screen has it. */
void markdown_fence(FILE *out, bool begin);
