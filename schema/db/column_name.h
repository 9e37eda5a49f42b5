/* column_name.h - converts names from captures to names in SQL.
 *
 * Names of events and fields come from captures. Folding leaves only the bytes
 * [a-z0-9_] of them, independent of the locale. */
#pragma once

/* Bytes of a folded name; 16 of them are for a suffix and the 0. */
#define STORE_NAME_MAX 72

/* Writes prefix and the folded name to out. */
void column_name_fold(const char *prefix, const char *s,
		      char out[STORE_NAME_MAX]);
/* Writes the name of the column for a field in an ev_ table
 * (event_type.fields). A second field with that name in the same table gets a
 * suffix. */
void store_column_name(const char *field, char out[STORE_NAME_MAX]);
