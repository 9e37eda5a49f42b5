/* door.c - the one door from a maker to what reads. */
#include "schema/db/door.h"

#include "schema/db/filling.h"
#include "schema/db/writer.h"

struct store *maker_read(struct maker *mk, struct err *err)
{
	if (!mk->db->filling)
		return mk->db;
	for (size_t i = 0; i < mk->n_table; i++)
		if (maker_submit(mk, mk->table[i], err))
			return NULL;
	if (writer_wait(mk->wr, err))
		return NULL;
	mk->db->filling = false;
	return mk->db;
}

int maker_exec(struct maker *mk, const char *sql, struct err *err)
{
	return db_exec(maker_read(mk, err), sql, err);
}

int maker_number(struct maker *mk, const char *sql, int64_t *out,
		 struct err *err)
{
	return db_number(maker_read(mk, err), sql, out, err);
}

sqlite3_stmt *maker_prepare(struct maker *mk, const char *sql, struct err *err)
{
	return db_prepare(maker_read(mk, err), sql, err);
}
