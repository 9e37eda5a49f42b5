/* markdown.h - GitHub-flavoured Markdown, for a bot that posts what is printed.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

/* Begins or ends a block that shows text as a screen has it. */
void markdown_fence(FILE *out, bool begin);
