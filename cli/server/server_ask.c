/* server_ask.c - functions that the files of cli/server share: texts of
 * statements, rows for the temporary database, statements about the chosen
 * runs. */
#include "cli/server/server_ask.h"

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct value server_int(int64_t v)
{
	return (struct value){ .kind = VALUE_INT, .num = v };
}

struct value server_text_of(const char *text, size_t len)
{
	return (struct value){ .kind = VALUE_TEXT, .text = text, .len = len };
}

struct value server_blob(const void *data, size_t len)
{
	return (struct value){ .kind = VALUE_BLOB, .text = data, .len = len };
}

struct value server_text_or_null(const struct rowbinary_value *v)
{
	return v->len ? server_text_of(v->text, v->len)
		      : (struct value){ .kind = VALUE_NULL };
}

struct value server_known(int64_t v, int64_t unknown)
{
	return v == unknown ? (struct value){ .kind = VALUE_NULL }
			    : server_int(v);
}

bool server_is(const struct rowbinary_value *v, const char *word)
{
	return v->len == strlen(word) && !memcmp(v->text, word, v->len);
}

int server_bad(const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s; what pushed it is damaged, or newer: look "
		       "whether a newer backstitch reads it",
		       what);
}

int server_bad_reply(const struct server *s, const char *what, struct err *err)
{
	struct err why = { 0 };

	server_bad(what, &why);
	return err_set(err, why.code, "%s: %s", s->c->name, why.msg);
}

/* Counts the rows of an answer; told: how many there should be. */
struct server_counting {
	rowbinary_fn *row;
	void *arg;
	uint64_t n, told;
};

static int server_count_row(void *arg, const struct rowbinary_value *v,
			    struct err *err)
{
	struct server_counting *c = arg;

	c->n++;
	return c->row(c->arg, v, err);
}

static int server_take_count(void *arg, const struct rowbinary_value *v,
			     struct err *err UNUSED)
{
	struct server_counting *c = arg;

	c->n++;
	c->told = v[0].u;
	return 0;
}

int server_ask_counted(const struct server *s, const struct clickhouse_ask *ask,
		       struct err *err)
{
	struct server_counting c = { .row = ask->row, .arg = ask->arg };
	struct clickhouse_ask count = *ask;
	struct clickhouse_ask rows = *ask;
	char *sql = mem_printf("SELECT count() FROM (%s)", ask->sql);

	count.sql = sql;
	count.types = "u64";
	count.row = server_take_count;
	rows.row = server_count_row;
	count.arg = rows.arg = &c;
	int rc = clickhouse_select(s->c, &count, err);
	free(sql);
	if (!rc && c.n != 1)
		rc = server_bad_reply(s, "an answer is empty", err);
	c.n = 0;
	if (!rc)
		rc = clickhouse_select(s->c, &rows, err);
	if (!rc && c.n != c.told)
		rc = server_bad_reply(s,
				      "an answer lacks rows, or they changed "
				      "meanwhile",
				      err);
	return rc;
}

int server_select(struct server *s, const char *sql, const char *types,
		  rowbinary_fn *row, bool counted, struct err *err)
{
	const size_t size = SERVER_HASH + 1;
	size_t n = s->n_run;
	uint8_t *ids OWNED = mem_new(n + 1, size);
	struct clickhouse_ask ask = {
		.sql = sql,
		.types = types,
		.row = row,
		.arg = s,
		.extra = "chosen",
		.extra_columns = "run FixedString(16), counted UInt8",
		.data = ids,
		.len = n * size,
	};

	for (size_t i = 0; i < n; i++) {
		memcpy(ids + i * size, s->run[i].id, SERVER_HASH);
		ids[i * size + SERVER_HASH] = s->run[i].counted;
	}
	return counted ? server_ask_counted(s, &ask, err)
		       : clickhouse_select(s->c, &ask, err);
}

size_t server_run_of(const struct server *s, const struct rowbinary_value *id)
{
	struct intern *chosen = (struct intern *)&s->chosen;

	if (id->len != SERVER_HASH)
		return SIZE_MAX;
	/* the first n_run are the runs, others come from a wrong reply */
	uint32_t i = intern_add_bytes(chosen, id->text, id->len);
	return i < s->n_run ? i : SIZE_MAX;
}
