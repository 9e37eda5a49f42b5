/* function_open.c - our SQL functions on a database of the program. */
#include "schema/functions/functions.h"
#include "schema/functions/hooks.h"
#include "schema/inner.h"
#include "schema/store.h"

int store_functions(struct store *db, const struct sql_hooks *hooks,
		    struct err *err)
{
	if (store_drain(db, err))
		return -1;
	int rc = functions_add(db->db, hooks);

	return rc ? store_error(db, rc, err) : 0;
}
