/* hooks.c - connects the SQL functions in schema/ with symbolize/. */
#include "schema/functions/functions.h"
#include "symbolize/names/demangle.h"

demangle_fn *const sql_demangle = demangle_name;
