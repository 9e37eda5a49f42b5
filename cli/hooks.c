/* hooks.c - connects the SQL functions in schema/ with symbolize/. */
#include "schema/functions/hooks.h"
#include "symbolize/names/demangle.h"

const struct sql_hooks sql_hooks = { .demangle = demangle_name };
