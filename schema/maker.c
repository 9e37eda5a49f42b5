/* maker.c - begins and finishes a database, or opens one to add names. */
#include "schema/maker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/db/empty.h"
#include "schema/db/filling.h"
#include "schema/db/page_file.h"
#include "schema/db/writer.h"
#include "schema/guard/guard.h"
#include "schema/store.h"
#include "schema/views.h"
#include "schema/write/labels.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"

static int maker_check_target(const char *path, bool force, struct err *err)
{
	struct stat st;

	if (!*path)
		return err_set(err, ERR_USAGE, "the output has no name");
	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "%s: %s", path,
						 strerror(errno));
	if (S_ISLNK(st.st_mode) && stat(path, &st))
		return err_set(err, ERR_IO,
			       "%s: a link that leads nowhere; "
			       "remove it first",
			       path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, "%s: is a folder", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO,
			       "%s: not a regular file; a "
			       "database needs one",
			       path);
	if (!force)
		return err_set(err, ERR_IO, "%s: exists; use -f to replace it",
			       path);
	return 0;
}

/* Returns 0 if -f may replace the file, or -1 and *err: only a database, so
 * that a typing error does not destroy a capture. */
static int maker_check_replaced(const char *path, struct err *err)
{
	unsigned char head[STORE_HEAD];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "%s: %s", path,
						 strerror(errno));
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	if (n > 0 && !store_is_database(head, (size_t)n))
		return err_set(err, ERR_IO,
			       "%s: exists and is no database of "
			       "backstitch; "
			       "-f does not replace it",
			       path);
	return 0;
}

/* Creates an empty file next to the target, with the permissions of the umask.
 */
static int maker_make_temp(struct maker *mk, struct err *err)
{
	char *plain = db_plain_name(mk->db->path);

	mk->w->temp = new_file_temp(plain, 0666);
	if (!mk->w->temp)
		err_set(err, err_code_of(errno),
			"%s: cannot create: %s; -o says where the database "
			"goes",
			mk->db->path, strerror(errno));
	free(plain);
	return mk->w->temp ? 0 : -1;
}

/* The cache is small because rows are appended and pages are written once. */
static const char setup[] = "PRAGMA journal_mode=OFF;"
			    "PRAGMA synchronous=OFF;"
			    "PRAGMA locking_mode=EXCLUSIVE;"
			    "PRAGMA cache_size=-6144;"
			    "PRAGMA secure_delete=OFF";

static int maker_set_up(struct maker *mk, const struct maker_opts *o,
			struct err *err)
{
	uint32_t page = o->large ? EMPTY_LARGE_PAGE : EMPTY_SMALL_PAGE;
	bool file = mk->w->temp != NULL;

	/* the tables are written before SQLite opens the file */
	int error = file ? empty_write(mk->w->temp, page) : 0;

	if (error)
		return err_set(err, err_code_of(error), "%s: %s", mk->db->path,
			       strerror(error));
	mk->db->db = guard_open(file ? mk->w->temp : "", mk->db->path,
				GUARD_MAKE, &mk->db->guard, err);
	if (!mk->db->db)
		return -1;
	if (file && !o->no_pages)
		mk->pages = page_file_new(mk->db->db, mk->w->temp, page,
					  PAGE_FILE_LOCK);
	if (!*mk->db->path) {
		new_file_drop(mk->w->temp);
		mk->w->temp = NULL;
	}
	int rc = sqlite3_exec(mk->db->db, setup, NULL, NULL, NULL);

	if (!rc)
		rc = file ? sqlite3_exec(mk->db->db, "BEGIN", NULL, NULL, NULL)
			  : empty_by_sql(mk->db->db, page);
	if (rc)
		return db_error(mk->db, rc, err);
	tables_new(mk);
	mk->wr = writer_new(mk->db->db, mk->db->path, !o->no_thread);
	return words_write(mk, err);
}

/* fields: see struct maker_opts. */
static struct writing *writing_new(struct frames *fr, const char *fields)
{
	struct writing *w = mem_new(1, sizeof(*w));

	w->fr = fr;
	if (fr)
		w->frame_names = frame_names_new();
	w->fields = fields_new(fields);
	return w;
}

/* Frees everything but the connection, which it returns. */
static struct store *maker_let_go(struct maker *mk)
{
	struct store *db = mk->db;

	filling_end(mk);
	/* Free all but temp, and what the database keeps. */
	for (size_t i = 0; i < mk->w->n_capture; i++) {
		struct capture_map *c = &mk->w->capture[i];

		for (size_t j = 0; j < c->n_mark; j++)
			free(c->mark[j].name);
		free_all(c->mark, c->type);
	}
	free_all(mk->w->capture, mk->w->count, mk->w->used, mk->w->named,
		 mk->w->late, mk->w->work);
	naming_free(mk->w->naming);
	sample_groups_free(mk->w->groups, db);
	mapped_code_free(mk->w->mapped);
	frame_names_free(mk->w->frame_names);
	deferral_free(mk->w->deferral);
	fields_free(mk->w->fields);
	table_release(&mk->w->said);
	free_all(mk->w->payload_rows, mk->w);
	db->writable = false;
	free(mk);
	return db;
}

void maker_free(struct maker *mk)
{
	if (!mk)
		return;
	char *temp = mk->w->temp;

	store_close(maker_let_go(mk));
	new_file_drop(temp);
}

/* path: "" for a temporary database. */
static struct maker *maker_make(const char *path, const struct maker_opts *o,
				struct frames *fr, struct err *err)
{
	struct maker *mk = mem_new(1, sizeof(*mk));
	char near[PATH_MAX];

	mk->db = db_new(path);
	mk->db->writable = true;
	mk->is_new = true;
	mk->w = writing_new(fr, o->fields);
	mk->w->force = o->force;
	/* a temporary database is in the folder for temporary files, unless it
	 * needs no file */
	if (!*path && o->temp_dir &&
	    (size_t)snprintf(near, sizeof(near), "%s/backstitch.db",
			     o->temp_dir) < sizeof(near))
		mk->w->temp = new_file_temp(near, 0600);
	if ((*path && maker_make_temp(mk, err)) || maker_set_up(mk, o, err)) {
		maker_free(mk);
		return NULL;
	}
	return mk;
}

struct maker *maker_create(const char *path, const struct maker_opts *o,
			   struct frames *fr, struct err *err)
{
	struct stat st;

	if (maker_check_target(path, o->force, err) ||
	    (o->force && maker_check_replaced(path, err)))
		return NULL;
	/* a link is kept: the file that it leads to is made */
	char *target = !lstat(path, &st) && S_ISLNK(st.st_mode)
			       ? realpath(path, NULL)
			       : NULL;
	struct maker *mk = maker_make(target ? target : path, o, fr, err);

	free(target);
	return mk;
}

struct maker *maker_create_temp(const struct maker_opts *o, struct frames *fr,
				struct err *err)
{
	return maker_make("", o, fr, err);
}

struct maker *maker_open(const char *path, const char *name, struct err *err)
{
	struct store *db = store_open_as(path, name, true, err);

	if (!db)
		return NULL;
	struct maker *mk = mem_new(1, sizeof(*mk));
	mk->db = db;
	mk->w = writing_new(NULL, NULL);
	if (!maker_exec(mk,
			"PRAGMA cell_size_check=ON;"
			"PRAGMA cache_size=-8192; BEGIN IMMEDIATE",
			err)) {
		guard_accept(db->db);
		tables_new(mk);
		mk->wr = writer_new(db->db, db->path, false);
		if (!symbol_rows_resume(mk, err))
			return mk;
	}
	maker_free(mk);
	return NULL;
}

static int maker_put_in_place(struct maker *mk, struct err *err)
{
	static const char *const tail[] = { "-journal", "-wal", "-shm" };

	if (!mk->w->temp)
		return 0;
	/* through SQLite's own descriptor: closing another one would end its
	 * locks */
	sqlite3_file *file = NULL;
	int rc =
		new_file_waits()
			? sqlite3_file_control(mk->db->db, "main",
					       SQLITE_FCNTL_FILE_POINTER, &file)
			: SQLITE_OK;

	if (!rc && file)
		rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	if (rc && db_error(mk->db, rc, err))
		return -1;
	/* SQLite would replay a journal that an older database of this name has
	 * left into the new one */
	for (size_t i = 0; i < ARRAY_SIZE(tail); i++) {
		char *name = mem_printf("%s%s", mk->db->path, tail[i]);

		unlink(name);
		free(name);
	}
	return new_file_place(&mk->w->temp, mk->db->path, mk->w->force, err);
}

int store_readable(struct maker *mk, struct err *err)
{
	return naming_end(mk, err) || tables_link(mk, err) ? -1 : 0;
}

/* Writes what is missing, and ends the transaction. */
static int maker_complete(struct maker *mk, struct ledger *lg, struct err *err)
{
	const struct writing *w = mk->w;
	const bool fresh = mk->is_new;
	char seal[128] = "COMMIT";

	if (fresh && (store_flush(mk, lg, err) || captures_end(mk, err) ||
		      store_groups_end(mk, err)))
		return -1;
	if (naming_end(mk, err))
		return -1;
	if (fresh &&
	    (frame_names_write(mk, true, err) || tables_link(mk, err) ||
	     deferral_end(mk, err) || flush_late_hashes(mk, err) ||
	     maker_exec(mk, store_sql("loss_has_sum"), err) ||
	     maker_exec(mk, "PRAGMA writable_schema=ON", err) ||
	     views_add(mk->db, sql_file("views"), err)))
		return -1;
	bool label = w->renamed || (fresh && !w->labelled);

	if ((!mk->db->sums &&
	     ((label && labels_make(mk, err)) ||
	      (fresh && maker_exec(mk, sql_file("finish"), err)))) ||
	    sums_check(mk, err))
		return -1;
	/* reload the schema: views were added without SQLite's knowledge */
	if (fresh)
		snprintf(seal, sizeof(seal),
			 "PRAGMA application_id=%d; PRAGMA user_version=%d; "
			 "COMMIT; PRAGMA writable_schema=RESET",
			 STORE_APPLICATION, SCHEMA_VERSION);
	return maker_exec(mk, seal, err);
}

struct store *maker_finish(struct maker *mk, struct ledger *lg, struct err *err)
{
	int rc = maker_complete(mk, lg, err);

	if (!rc) {
		/* its statements must end before the connection becomes
		 * read-only */
		filling_end(mk);
		rc = guard_reading(mk->db, err) || maker_put_in_place(mk, err);
	}
	if (!rc)
		return maker_let_go(mk);
	maker_free(mk);
	return NULL;
}
