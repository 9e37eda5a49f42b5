/* link.c - makes the B-trees that were built without SQLite part of the
 * database.
 *
 * While the pages are copied, this connection holds no lock and has no
 * transaction: as if another process wrote to the file. The change counter then
 * shows SQLite that its copies of pages are old. The file still has its
 * temporary name, so no other program opens it. */
#include "schema/db/door.h"
#include "schema/db/filling.h"
#include "schema/db/insert.h"
#include "schema/db/page_file.h"
#include "schema/db/page_tree.h"
#include "stitch/base/mem.h"

static int link_error(const struct maker *mk, int rc, struct err *err)
{
	return rc ? db_error(mk->db, rc, err) : 0;
}

static int link_write(struct maker *mk, const uint32_t *root)
{
	int rc = page_file_attach(mk->pages);

	for (size_t i = 0; !rc && i < mk->n_table; i++)
		if (mk->table[i]->tree)
			rc = page_tree_end(mk->table[i]->tree, root[i]);
	return rc ? rc : page_file_finish(mk->pages);
}

int link_pages(struct maker *mk, struct err *err)
{
	/* the lock ends with the first statement in the normal mode */
	static const char release[] = "COMMIT;"
				      "PRAGMA locking_mode=NORMAL;"
				      "SELECT 1 FROM sqlite_schema LIMIT 1";
	int rc = 0;

	if (!mk->pages)
		return 0;
	/* Look up the numbers of the tables' first pages: in this transaction,
	 * as the next one holds a lock. A number is 0 on failure. */
	sqlite3_stmt *st =
		maker_prepare(mk,
			      "SELECT rootpage FROM sqlite_schema WHERE "
			      "type = 'table' AND name = ?1",
			      err);

	if (!st)
		return -1;
	uint32_t *root OWNED = mem_new(mk->n_table, sizeof(*root));

	for (size_t i = 0; i < mk->n_table; i++) {
		const char *name = mk->table[i]->shape.name;

		if (!mk->table[i]->tree)
			continue;
		size_t n = strlen(name);

		/* names of ev_ tables have quotes around them, none inside */
		if (*name == '"') {
			name++;
			n -= 2;
		}
		sqlite3_bind_text(st, 1, name, (int)n, SQLITE_STATIC);
		if (sqlite3_step(st) == SQLITE_ROW)
			root[i] = (uint32_t)sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	if (maker_exec(mk, release, err) ||
	    link_error(mk, link_write(mk, root), err) ||
	    maker_exec(mk, "PRAGMA locking_mode=EXCLUSIVE; BEGIN", err))
		return -1;
	for (size_t i = 0; !rc && i < mk->n_table; i++) {
		struct bulk_table *t = mk->table[i];

		page_tree_free(t->tree);
		t->tree = NULL;
		rc = link_error(mk, insert_late_rows(mk->db->db, t), err);
	}
	page_file_free(mk->pages);
	mk->pages = NULL;
	return rc;
}
