/* sql.h - the words of SQL that tables as such are made of. */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* Writes a text as a literal; what a terminal would interpret is \xNN. */
void sql_put_text(FILE *out, const char *s, size_t len);
