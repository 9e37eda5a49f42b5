/* query_schema.h - what `query --schema` prints. */
#pragma once
#include <stdbool.h>

/* Prints every table and view of a database with its columns and comments, as
 * the SQL of the schema has them: text, or JSON. Those whose names begin with
 * internal_ are left out, and so are tables of an event's own fields. */
void query_schema(bool json);
