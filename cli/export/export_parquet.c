/* export_parquet.c - a folder of Parquet files, one for each table of
 * backstitch-fleet(7), from one or more databases. */
#include <errno.h>
#include <sys/stat.h>

#include "cli/export/export.h"
#include "cli/export/parquet/parquet.h"
#include "analyze/fleet/fleet.h"
#include "cli/open/input.h"
#include "analyze/samples/filter.h"
#include "stitch/text/human.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* What is being written. */
struct lake {
	const struct export_request *x;
	struct fleet_ask ask; /* of the request, for each database */
	struct filter_apart apart;
	const char *folder;
	struct parquet *file[FLEET_TABLES]; /* NULL: not open */
	struct intern runs, stacks;	    /* ids and hashes that have rows */
	struct table names;		    /* places that have rows */
	bool names_are_new;		    /* of the place before */
	struct fleet *f;		    /* the database that is read */
	uint64_t kept, rows;
};

static bool lake_has_folders(const struct lake *l, enum fleet_table_id t)
{
	return l->x->partition && (t == FLEET_SAMPLE || t == FLEET_FIELD);
}

static bool lake_wants(const struct lake *l, enum fleet_table_id t)
{
	return l->x->fields || t != FLEET_FIELD;
}

static bool lake_is_new(struct lake *l, const struct fleet_batch *b, size_t i)
{
	if (b->table == &fleet_tables[FLEET_STACK]) {
		const struct fleet_cells *c = &b->cell[0];
		size_t n = l->stacks.n;

		return intern_add_bytes(&l->stacks,
					intern_get(c->pool, c->id[i]),
					intern_length(c->pool, c->id[i])) == n;
	}
	if (b->table == &fleet_tables[FLEET_NAME]) {
		/* a place is a hash; all its levels are of one database, and
		 * come one after the other */
		uint64_t place = b->cell[0].u64[i];

		if (b->cell[1].u8[i])
			return l->names_are_new;
		l->names_are_new =
			table_find_hash(&l->names, place) == TABLE_NONE;
		if (l->names_are_new)
			table_add(&l->names, place, 0);
		return l->names_are_new;
	}
	return true;
}

/* Adds the rows of a batch that are new. */
static int lake_put(struct lake *l, struct parquet *p,
		    const struct fleet_batch *b, struct err *err)
{
	size_t from = 0;

	if (b->table->by_run)
		return parquet_put(p, b, 0, b->n, err);
	for (size_t i = 0; i < b->n; i++) {
		if (lake_is_new(l, b, i))
			continue;
		if (parquet_put(p, b, from, i - from, err))
			return -1;
		from = i + 1;
	}
	return parquet_put(p, b, from, b->n - from, err);
}

static int lake_put_table(struct lake *l, struct parquet *p,
			  enum fleet_table_id t, size_t run, struct err *err)
{
	struct fleet_rows *r = fleet_rows_open(l->f, t, run, err);
	const struct fleet_batch *b;
	int ret = r ? 1 : -1;

	while (ret > 0 && (ret = fleet_rows_next(r, FLEET_BATCH, &b, err)) > 0)
		if (stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		else if (lake_put(l, p, b, err))
			ret = -1;
		else if (t == FLEET_FIELD)
			parquet_forget(p);
	fleet_rows_close(r);
	return ret;
}

/* Appends NAME=VALUE/ to a path; what is special in a path becomes %XX, as in
 * all partition folders. Returns 0, or -1 and *err if it cannot be made. */
static int lake_add_folder(char *path, size_t size, const char *name,
			   const char *value, struct err *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.";
	size_t n = strlen(path);

	n += (size_t)snprintf(path + n, size - n, "/%s=", name);
	for (const char *s = value; *s && n + 4 < size; s++)
		n += (size_t)snprintf(path + n, size - n,
				      strchr(plain, *s) ? "%c" : "%%%02X",
				      (unsigned char)*s);
	if (mkdir(path, 0777) && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

/* Writes the rows of one run to a file in the folders of its host and day. */
static int lake_put_part(struct lake *l, enum fleet_table_id t, size_t run,
			 struct err *err)
{
	const struct fleet_run *r = fleet_run(l->f, run);
	char path[4096];
	int rc = -1;

	snprintf(path, sizeof(path), "%.3000s/%s", l->folder,
		 fleet_tables[t].name);
	if (mkdir(path, 0777) && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (lake_add_folder(path, 3500, "host", r->host, err) ||
	    lake_add_folder(path, 3600, "day", r->day, err))
		return -1;
	size_t n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/%s.parquet", r->hex);
	struct parquet *p = parquet_open(path, &fleet_tables[t], err);
	if (p && !lake_put_table(l, p, t, run, err))
		rc = parquet_finish(p, err);
	parquet_close(p);
	return rc;
}

static int lake_put_run(struct lake *l, size_t run, struct err *err)
{
	static const enum fleet_table_id order[] = {
		/* run is after sample, whose rows it counts */
		FLEET_SAMPLE,  FLEET_RUN,   FLEET_EVENT,   FLEET_LOSS,
		FLEET_VERDICT, FLEET_TRUST, FLEET_FINDING, FLEET_FIELD,
	};
	const struct fleet_run *r = fleet_run(l->f, run);
	size_t seen = l->runs.n;

	if (intern_add_bytes(&l->runs, r->id, sizeof(r->id)) != seen)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		enum fleet_table_id t = order[i];

		if (!lake_wants(l, t))
			continue;
		if (lake_has_folders(l, t)
			    ? lake_put_part(l, t, run, err)
			    : lake_put_table(l, l->file[t], t, run, err))
			return -1;
	}
	return 0;
}

static int lake_put_database(struct lake *l, struct store *db, struct err *err)
{
	uint64_t rows;
	int rc = 0;

	l->f = fleet_open(db, &l->ask, err);
	if (!l->f)
		return -1;
	for (size_t i = 0; !rc && i < fleet_runs(l->f); i++)
		rc = lake_put_run(l, i, err);
	if (!rc)
		rc = lake_put_table(l, l->file[FLEET_STACK], FLEET_STACK, 0,
				    err);
	if (!rc)
		rc = lake_put_table(l, l->file[FLEET_NAME], FLEET_NAME, 0, err);
	l->kept += fleet_samples_read(l->f, &rows);
	l->rows += rows;
	for (size_t t = 0; t < FLEET_TABLES; t++)
		if (l->file[t])
			parquet_forget(l->file[t]);
	fleet_close(l->f);
	return rc;
}

static int lake_open(struct lake *l, struct err *err)
{
	char path[4096];

	if (mkdir(l->folder, 0777))
		return err_set(err, ERR_IO, "%s: %s", l->folder,
			       strerror(errno));
	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		if (!lake_wants(l, t) || lake_has_folders(l, t))
			continue;
		snprintf(path, sizeof(path), "%.4000s/%s.parquet", l->folder,
			 fleet_tables[t].name);
		l->file[t] = parquet_open(path, &fleet_tables[t], err);
		if (!l->file[t])
			return -1;
	}
	return 0;
}

/* A name that one database has is no typing error. */
static int lake_end_filter(const struct lake *l, const struct inputs *in,
			   struct err *err)
{
	if (!filter_end_apart(&l->apart, err))
		return 0;
	if (in->list.n > 1)
		err_while(err, "reading %zu databases, the first of them %s",
			  in->list.n, in->list.path[0]);
	return -1;
}

static int export_parquet_write(const char *folder,
				const struct export_request *x, struct err *err)
{
	struct filter filter = *x->filter;
	struct lake l = { .folder = folder, .x = x, .ask = *x->fleet };
	struct store *db;
	int ret = lake_open(&l, err) ? -1 : 1;

	filter.apart = &l.apart;
	l.ask.filter = &filter;
	while (ret > 0 && (ret = inputs_next(x->inputs, &db, err)) > 0) {
		if (lake_put_database(&l, db, err))
			ret = -1;
		store_close(db);
	}
	if (!ret)
		ret = lake_end_filter(&l, x->inputs, err);
	for (size_t t = 0; !ret && t < FLEET_TABLES; t++)
		if (l.file[t])
			ret = parquet_finish(l.file[t], err);
	/* a row stands for several samples if they were added up */
	if (!ret && l.rows && l.kept > l.rows)
		say("%s samples in %s rows, %.1f each\n", HUMAN_GROUPED(l.kept),
		    HUMAN_GROUPED(l.rows), (double)l.kept / (double)l.rows);
	for (size_t t = 0; t < FLEET_TABLES; t++)
		parquet_close(l.file[t]);
	intern_release(&l.runs);
	intern_release(&l.stacks);
	table_release(&l.names);
	return ret;
}

const struct exporter export_parquet = {
	.summary = "a folder of Parquet files, one for each table of "
		   "backstitch-fleet(7), for DuckDB and other engines",
	.binary = true,
	.apart = true,
	.write_folder = export_parquet_write,
};
