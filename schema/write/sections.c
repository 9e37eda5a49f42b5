/* sections.c - rows of the sections that names were read from. */
#include <sqlite3.h>

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/symbol.h"

int store_sections(struct store *db, uint32_t image,
		   const struct section_used *used, size_t n, struct err *err)
{
	if (!n)
		return 0;
	sqlite3_stmt *st = db_prepare(db, store_sql("put_section"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < n; i++)
		rc = PUT_VALUES(
			db, st, err, VALUE_OF(image), value_text(used[i].file),
			value_text(used[i].name), VALUE_OF(used[i].hash));
	sqlite3_finalize(st);
	return rc;
}
