/* column_name.c - converts names from captures to names in SQL. */
#include "schema/db/column_name.h"

#include <string.h>

/* The result is lower case, with '_' for everything but letters, digits and
 * '_', whatever the locale; at most 56 bytes, so that a suffix fits. */
void column_name_fold(const char *prefix, const char *s,
		      char out[STORE_NAME_MAX])
{
	size_t n = strlen(prefix);

	memcpy(out, prefix, n);
	for (; *s && n < STORE_NAME_MAX - 16; s++) {
		char c = *s;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
			c = '_';
		out[n++] = c;
	}
	out[n] = '\0';
}

void store_column_name(const char *field, char out[STORE_NAME_MAX])
{
	column_name_fold("", field, out);
	if (!*out)
		column_name_fold("", "field", out);
}
