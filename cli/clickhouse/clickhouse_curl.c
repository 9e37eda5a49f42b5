/* clickhouse_curl.c - asks a ClickHouse server, by its HTTP interface and
 * libcurl.
 *
 * Each statement is a POST. The errors of a server may come after status 200
 * and some rows, so it is told to wait for the end of the query
 * (wait_end_of_query). An answer is complete if its gzip stream is: without
 * gzip, a cut one would look like a shorter one. Inserts are packed for the
 * same reason: if a plain body is cut between two rows, the server stores the
 * rows before the cut. */
#include "cli/clickhouse/clickhouse.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "cli/process/signals.h"
#include "formats/pack.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/shared_library.h"

/* ---- libcurl, which is loaded when a server is asked: linked, it would cost
 * each start of the program 5 ms and 6 MB */

/* The functions that are called, as C(NAME) for curl_NAME(). */
#define CURL_CALLS(C)                                                          \
	C(easy_cleanup)                                                        \
	C(easy_escape)                                                         \
	C(easy_getinfo)                                                        \
	C(easy_init)                                                           \
	C(easy_setopt)                                                         \
	C(easy_strerror)                                                       \
	C(free)                                                                \
	C(global_init)                                                         \
	C(mime_addpart)                                                        \
	C(mime_data)                                                           \
	C(mime_filename)                                                       \
	C(mime_free)                                                           \
	C(mime_init)                                                           \
	C(mime_name)                                                           \
	C(multi_add_handle)                                                    \
	C(multi_cleanup)                                                       \
	C(multi_info_read)                                                     \
	C(multi_init)                                                          \
	C(multi_perform)                                                       \
	C(multi_poll)                                                          \
	C(multi_remove_handle)                                                 \
	C(slist_append)                                                        \
	C(slist_free_all)

#define CURL_CALL_MEMBER(name) __typeof__(curl_##name) *name;
static struct {
	CURL_CALLS(CURL_CALL_MEMBER)
} curl; /* set by shared_library_load() */
#undef CURL_CALL_MEMBER

#define CURL_CALL_NAME(call) "curl_" #call,
static const char *const curl_names[] = { CURL_CALLS(CURL_CALL_NAME) };

#define REFUSAL_MAX 4096 /* bytes of a refusal that are kept */
#define STEP_MS 200
#define CONNECT_S 10

/* A statement that has not ended. */
struct request {
	struct clickhouse *c;
	CURL *curl;
	struct curl_slist *head;
	curl_mime *mime;
	char *url, *sql;
	void *arg;		/* of an insert */
	struct rowbinary *rows; /* NULL: none are expected */
	struct gunzip *gunzip;	/* NULL: no byte came yet */
	bool packed, framed;	/* by the reply's head */
	char refusal[REFUSAL_MAX];
	size_t n_refusal;
	char message[CURL_ERROR_SIZE];
	bool broken; /* taking the reply failed, for this reason */
	struct err err;
	int64_t began;	      /* now_ns() */
	CURLcode rc;	      /* once it has ended */
	struct request *next; /* in inserts or ended */
};

struct clickhouse_own {
	struct clickhouse_place place;
	char *password;	     /* may be NULL */
	const char *ca_file; /* may be NULL; borrowed */
	CURLM *multi;
	struct request *inserts; /* under way */
	struct request *ended;	 /* during another statement */
	unsigned int version;	 /* 1816: 18.16 */
};

static long request_status(const struct request *q)
{
	long status = 0;

	curl.easy_getinfo(q->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Takes unpacked bytes of the reply. Returns 0, or -1 and *err. */
static int request_take_plain(void *arg, const void *data, size_t n,
			      struct err *err)
{
	struct request *q = arg;
	size_t room = sizeof(q->refusal) - 1 - q->n_refusal;
	long timeout = q->c->timeout;

	/* libcurl checks the time, and lets us look for Ctrl-C, only every few
	 * megabytes, each of which may unpack to a thousand megabytes. */
	if (stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if ((now_ns() - q->began) / 1000000000 > timeout)
		return err_set(err, ERR_IO,
			       "the reply did not end in %ld s; --timeout "
			       "SECONDS waits longer",
			       timeout);
	if (request_status(q) == 200 && q->rows)
		return rowbinary_add(q->rows, data, n, err);
	n = n < room ? n : room;
	memcpy(q->refusal + q->n_refusal, data, n);
	q->n_refusal += n;
	return 0;
}

/* Called by libcurl with bytes of the reply. Returns less than n on error. */
static size_t request_on_data(char *data, size_t size, size_t n, void *arg)
{
	struct request *q = arg;
	int rc;

	n *= size;
	if (q->packed && !q->gunzip)
		q->gunzip = gunzip_new(request_take_plain, q);
	if (q->packed)
		rc = gunzip_add(q->gunzip, data, n, &q->err);
	else if (request_status(q) == 200 && q->rows)
		rc = err_set(&q->err, ERR_FORMAT,
			     "the reply is not packed, so a cut one could not "
			     "be told from a whole one");
	else
		rc = request_take_plain(q, data, n, &q->err);
	q->broken = rc != 0;
	return rc ? 0 : n;
}

static bool request_head_is(const char *line, size_t n, const char *name,
			    const char *value)
{
	size_t len = strlen(name);
	char text[100];

	if (n <= len || n - len >= sizeof(text) ||
	    strncasecmp(line, name, len) != 0)
		return false;
	memcpy(text, line + len, n - len);
	text[n - len] = 0;
	return strcasestr(text, value) != NULL;
}

/* Called by libcurl with a line of the reply's head. */
static size_t request_on_head(char *line, size_t size, size_t n, void *arg)
{
	struct request *q = arg;

	n *= size;
	if (n > 5 && !strncmp(line, "HTTP/", 5))
		q->packed = q->framed = false;
	if (request_head_is(line, n, "Content-Encoding:", "gzip"))
		q->packed = true;
	if (request_head_is(line, n, "Transfer-Encoding:", "chunked") ||
	    request_head_is(line, n, "Content-Length:", ""))
		q->framed = true;
	return n;
}

static void request_free(struct request *q)
{
	if (!q)
		return;
	if (q->curl)
		curl.multi_remove_handle(q->c->own->multi, q->curl);
	curl.easy_cleanup(q->curl);
	curl.mime_free(q->mime);
	curl.slist_free_all(q->head);
	rowbinary_free(q->rows);
	gunzip_free(q->gunzip);
	free_all(q->url, q->sql, q);
}

static void request_add_head(struct request *q, const char *name,
			     const char *value)
{
	char *line OWNED = mem_printf("%s: %s", name, value);

	q->head = mem_must(curl.slist_append(q->head, line));
	explicit_bzero(line, strlen(line));
}

/* A parameter of the URL; value may be any text. */
struct setting {
	const char *name, *value; /* name NULL: none */
};

static void request_add_setting(CURL *e, FILE *url, const struct setting *s)
{
	char *escaped = mem_must(curl.easy_escape(e, s->value, 0));

	fprintf(url, "&%s=%s", s->name, escaped);
	curl.free(escaped);
}

/* Returns a request for request_free(). The server refuses unknown settings.
 * database NULL: none is chosen, as it may have to be made. */
static struct request *request_new(struct clickhouse *c, const char *database,
				   const struct setting *s, size_t n)
{
	const struct setting chosen = { "database", database };
	struct request *q = mem_new(1, sizeof(*q));
	CURL *e = mem_must(curl.easy_init());
	FILE *f;

	q->c = c;
	q->curl = e;
	f = mem_stream(&q->url, NULL);
	fprintf(f, "%s://%s:%u/?wait_end_of_query=1&enable_http_compression=1",
		c->own->place.tls ? "https" : "http", c->own->place.host,
		c->own->place.port);
	/* known from 21.11 on, and the default from 26 on */
	if (c->own->version >= 2111)
		fputs("&async_insert=0", f);
	if (database)
		request_add_setting(e, f, &chosen);
	for (size_t i = 0; i < n; i++)
		if (s[i].name)
			request_add_setting(e, f, &s[i]);
	mem_stream_end(f);
	/* the user and the password are in no URL, which servers log */
	request_add_head(q, "X-ClickHouse-User", c->own->place.user);
	if (c->own->password)
		request_add_head(q, "X-ClickHouse-Key", c->own->password);
	request_add_head(q, "Accept-Encoding", "gzip");
	q->head = curl.slist_append(q->head, "Expect:");
	curl.easy_setopt(e, CURLOPT_URL, q->url);
	curl.easy_setopt(e, CURLOPT_PRIVATE, q);
	curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, request_on_data);
	curl.easy_setopt(e, CURLOPT_WRITEDATA, q);
	curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, request_on_head);
	curl.easy_setopt(e, CURLOPT_HEADERDATA, q);
	curl.easy_setopt(e, CURLOPT_ERRORBUFFER, q->message);
	curl.easy_setopt(e, CURLOPT_HTTPHEADER, q->head);
	curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(e, CURLOPT_PROXY, "");
	curl.easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl.easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
	curl.easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT,
			 c->timeout < CONNECT_S ? c->timeout : CONNECT_S);
	/* for all of it: a byte now and then would keep it going for ever */
	curl.easy_setopt(e, CURLOPT_TIMEOUT, c->timeout);
	q->began = now_ns();
	if (c->own->ca_file)
		curl.easy_setopt(e, CURLOPT_CAINFO, c->own->ca_file);
	return q;
}

/* Sets *err and may_pass for an error of libcurl. Returns -1. */
static int request_curl_failed(struct request *q, struct err *err)
{
	CURLcode rc = q->rc;
	const char *name = q->c->name;
	const char *why = q->message[0] ? q->message : curl.easy_strerror(rc);

	q->c->may_pass = rc != CURLE_PEER_FAILED_VERIFICATION &&
			 rc != CURLE_SSL_CACERT_BADFILE &&
			 rc != CURLE_COULDNT_RESOLVE_HOST;
	if (rc == CURLE_OPERATION_TIMEDOUT)
		return err_set(err, ERR_IO,
			       "%s: no answer (%s); is the server there? "
			       "--timeout SECONDS waits longer",
			       name, why);
	if (rc == CURLE_COULDNT_CONNECT || rc == CURLE_COULDNT_RESOLVE_HOST)
		return err_set(
			err, ERR_IO,
			"%s: cannot connect (%s); is the server running, "
			"and is this its HTTP port?",
			name, why);
	if (rc == CURLE_PEER_FAILED_VERIFICATION ||
	    rc == CURLE_SSL_CACERT_BADFILE || rc == CURLE_SSL_CONNECT_ERROR)
		return err_set(err, ERR_IO,
			       "%s: no TLS (%s); --ca-file FILE names "
			       "certificates to trust, clickhouse:// goes "
			       "without TLS",
			       name, why);
	return err_set(err, ERR_IO, "%s: the connection broke (%s)", name, why);
}

/* Returns 0, or -1 and *err if the reply is cut off. */
static int request_check_whole(struct request *q, struct err *err)
{
	if (q->gunzip && gunzip_finish(q->gunzip, err))
		return -1;
	if (!q->gunzip && !q->framed)
		return err_set(err, ERR_FORMAT,
			       "the reply has neither length nor chunks, so a "
			       "cut one could not be told from a whole one");
	return q->rows ? rowbinary_finish(q->rows, err) : 0;
}

/* Returns 0 if the statement was run and its answer is complete, or -1 and
 * *err; sets code and may_pass. */
static int request_judge(struct request *q, struct err *err)
{
	struct clickhouse *c = q->c;
	struct clickhouse_refusal refusal = { request_status(q), q->refusal };

	c->may_pass = false;
	c->code = 0;
	if (q->broken)
		return err_set(err, q->err.code, "%s: %s", c->name, q->err.msg);
	if (q->rc != CURLE_OK)
		return request_curl_failed(q, err);
	q->refusal[q->n_refusal] = 0;
	if (refusal.status != 200)
		return clickhouse_refused(&c->own->place, &refusal, &c->code,
					  &c->may_pass, err);
	if (!request_check_whole(q, &q->err))
		return 0;
	c->may_pass = true;
	return err_set(err, q->err.code, "%s: %s", c->name, q->err.msg);
}

/* Returns a request that has just ended, or NULL. */
static struct request *clickhouse_ended(struct clickhouse *c)
{
	struct CURLMsg *m;
	char *of;
	int left;

	while ((m = curl.multi_info_read(c->own->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &of);
		struct request *q = (struct request *)of;
		q->rc = m->data.result;
		return q;
	}
	return NULL;
}

/* Continues all requests, and waits up to ms for the end of one. Returns 1 and
 * that one, 0 if none has ended, or -1 and *err after Ctrl-C. */
static int clickhouse_go_on(struct clickhouse *c, int ms, struct request **q,
			    struct err *err)
{
	int running, ready;

	for (;;) {
		curl.multi_perform(c->own->multi, &running);
		*q = clickhouse_ended(c);
		if (*q)
			return 1;
		if (stop_requested())
			return err_set(err, ERR_STOPPED, "stopped");
		/* one call writes one buffer: repeat while a socket is ready */
		if (curl.multi_poll(c->own->multi, NULL, 0, 0, &ready) ||
		    !ready) {
			if (ms <= 0)
				return 0;
			curl.multi_poll(c->own->multi, NULL, 0,
					ms < STEP_MS ? ms : STEP_MS, &ready);
			ms -= STEP_MS;
		}
	}
}

/* Moves an insert from a list to another one; to: NULL for none. */
static void request_move(struct request *q, struct request **list,
			 struct request **to)
{
	while (*list && *list != q)
		list = &(*list)->next;
	if (*list)
		*list = q->next;
	if (to) {
		q->next = *to;
		*to = q;
	}
}

/* Runs a request to its end, and frees it. Inserts go on meanwhile. */
static int request_run(struct request *q, struct err *err)
{
	struct clickhouse *c = q->c;
	struct request *done = NULL;
	int ret;

	curl.multi_add_handle(c->own->multi, q->curl);
	do {
		ret = clickhouse_go_on(c, STEP_MS, &done, err);
		if (ret > 0 && done != q)
			request_move(done, &c->own->inserts, &c->own->ended);
	} while (!ret || (ret > 0 && done != q));
	if (ret > 0)
		ret = request_judge(q, err);
	request_free(q);
	return ret;
}

static int clickhouse_run_in(struct clickhouse *c, const char *database,
			     const char *sql, struct err *err)
{
	struct request *q = request_new(c, database, NULL, 0);

	curl.easy_setopt(q->curl, CURLOPT_POSTFIELDS, sql);
	return request_run(q, err);
}

int clickhouse_run(struct clickhouse *c, const char *sql, struct err *err)
{
	return clickhouse_run_in(c, c->database, sql, err);
}

int clickhouse_create_database(struct clickhouse *c, struct err *err)
{
	char *sql OWNED = NULL;
	FILE *f = mem_stream(&sql, NULL);

	fputs("CREATE DATABASE IF NOT EXISTS ", f);
	clickhouse_quote_name(f, c->database);
	mem_stream_end(f);
	return clickhouse_run_in(c, NULL, sql, err);
}

int clickhouse_select(struct clickhouse *c, const struct clickhouse_ask *ask,
		      struct err *err)
{
	char structure[300];
	char form[300];
	char *sql OWNED = mem_printf("%s FORMAT RowBinary", ask->sql);
	const struct setting s[] = {
		{ "max_query_size", "16777216" },
		{ ask->extra ? structure : NULL, ask->extra_columns },
		{ ask->extra ? form : NULL, "RowBinary" },
		{ ask->extra ? "query" : NULL, sql },
	};

	snprintf(structure, sizeof(structure), "%s_structure",
		 ask->extra ? ask->extra : "");
	snprintf(form, sizeof(form), "%s_format", ask->extra ? ask->extra : "");
	/* the version is asked for before the database is made */
	struct request *q = request_new(c, c->own->version ? c->database : NULL,
					s, ARRAY_SIZE(s));
	q->rows = rowbinary_new(ask->types, ask->row, ask->arg);
	if (ask->extra) {
		q->mime = mem_must(curl.mime_init(q->curl));
		curl_mimepart *part = mem_must(curl.mime_addpart(q->mime));
		curl.mime_name(part, ask->extra);
		curl.mime_filename(part, ask->extra);
		curl.mime_data(part, ask->data, ask->len);
		curl.easy_setopt(q->curl, CURLOPT_MIMEPOST, q->mime);
	} else {
		curl.easy_setopt(q->curl, CURLOPT_POSTFIELDS, sql);
	}
	return request_run(q, err);
}

struct one {
	struct rowbinary_value *v;
	size_t n, rows; /* columns; rows so far */
};

static int clickhouse_take_one(void *arg, const struct rowbinary_value *row,
			       struct err *err)
{
	struct one *one = arg;

	if (one->rows++)
		return err_set(err, ERR_FORMAT,
			       "more rows than one in a reply that has one");
	memcpy(one->v, row, one->n * sizeof(*row));
	return 0;
}

int clickhouse_select_one(struct clickhouse *c, const char *sql,
			  const char *types, struct rowbinary_value *v,
			  struct err *err)
{
	struct one one = { .v = v, .n = 1 };
	struct clickhouse_ask ask = {
		.sql = sql,
		.types = types,
		.row = clickhouse_take_one,
		.arg = &one,
	};

	for (const char *s = types; *s; s++)
		one.n += *s == ' ';
	if (clickhouse_select(c, &ask, err))
		return -1;
	return one.rows == 1 ? 0
			     : err_set(err, ERR_FORMAT,
				       "%s: %zu rows in a reply that has one",
				       c->name, one.rows);
}

void clickhouse_insert(struct clickhouse *c, const char *sql, const char *id,
		       const void *body, size_t len, void *arg)
{
	const struct setting s[] = {
		{ "insert_distributed_sync", "1" },
		{ "query", sql },
		{ id ? "query_id" : NULL, id },
	};
	struct request *q = request_new(c, c->database, s, ARRAY_SIZE(s));

	q->arg = arg;
	q->head =
		mem_must(curl.slist_append(q->head, "Content-Encoding: gzip"));
	curl.easy_setopt(q->curl, CURLOPT_HTTPHEADER, q->head);
	curl.easy_setopt(q->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	curl.easy_setopt(q->curl, CURLOPT_POSTFIELDS, body);
	curl.easy_setopt(q->curl, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20);
	/* libcurl sends a request again by itself if a connection that was used
	 * before ends without an answer; the server may have the rows then */
	curl.easy_setopt(q->curl, CURLOPT_FRESH_CONNECT, 1L);
	curl.easy_setopt(q->curl, CURLOPT_FORBID_REUSE, 1L);
	curl.multi_add_handle(c->own->multi, q->curl);
	q->next = c->own->inserts;
	c->own->inserts = q;
	c->inserts++;
}

int clickhouse_step(struct clickhouse *c, int ms, struct clickhouse_done *done,
		    struct err *err)
{
	struct request *q = c->own->ended;
	int ret = q ? 1 : clickhouse_go_on(c, ms, &q, err);

	if (ret <= 0)
		return ret;
	request_move(q, &c->own->inserts, NULL);
	request_move(q, &c->own->ended, NULL);
	c->inserts--;
	done->arg = q->arg;
	done->rc = request_judge(q, err);
	done->may_pass = c->may_pass;
	request_free(q);
	return 1;
}

/* Asks for the version. Returns 0, or -1 and *err if it is too old. */
static int clickhouse_take_version(struct clickhouse *c, struct err *err)
{
	static const char ask[] =
		"SELECT toUInt64(extract(version(), '^([0-9]+)')), "
		"toUInt64(extract(version(), '^[0-9]+\\\\.([0-9]+)'))";
	struct rowbinary_value v[2];

	if (clickhouse_select_one(c, ask, "u64 u64", v, err))
		return -1;
	c->own->version = (unsigned int)(v[0].u % 1000 * 100 + v[1].u % 100);
	return c->own->version >= 1816
		       ? 0
		       : err_set(err, ERR_FORMAT,
				 "%s: ClickHouse %u.%u; 18.16 or later is "
				 "needed",
				 c->name, c->own->version / 100,
				 c->own->version % 100);
}

struct clickhouse *clickhouse_open(const char *url,
				   const struct clickhouse_options *o,
				   struct err *err)
{
	struct clickhouse *c = mem_new(1, sizeof(*c));

	c->own = mem_new(1, sizeof(*c->own));
	c->name = c->own->place.name;
	c->database = c->own->place.database;
	c->timeout = o->timeout;
	c->own->ca_file = o->ca_file;
	if (clickhouse_place_parse(&c->own->place, url, err) ||
	    clickhouse_password(o->password_file, &c->own->password, err))
		goto out;
	if (o->timeout < 1) {
		err_set(err, ERR_USAGE, "--timeout needs 1 second or more");
		goto out;
	}
	/* loaded once; that of Debian's package for GnuTLS has another name */
	static const char *const files[] = { "libcurl.so.4",
					     "libcurl-gnutls.so.4", NULL };
	static bool loaded;
	const struct shared_library l = {
		"a server is asked by", files, "libcurl4", curl_names,
		ARRAY_SIZE(curl_names), &curl,
	};

	if (!loaded) {
		if (shared_library_load(&l, err))
			goto out;
		curl.global_init(CURL_GLOBAL_DEFAULT);
		loaded = true;
	}
	c->own->multi = mem_must(curl.multi_init());
	if (!clickhouse_take_version(c, err))
		return c;
out:
	clickhouse_close(c);
	return NULL;
}

static void clickhouse_drop(struct request **list)
{
	while (*list) {
		struct request *q = *list;

		*list = q->next;
		request_free(q);
	}
}

void clickhouse_drop_inserts(struct clickhouse *c)
{
	clickhouse_drop(&c->own->inserts);
	clickhouse_drop(&c->own->ended);
	c->inserts = 0;
}

void clickhouse_close(struct clickhouse *c)
{
	if (!c)
		return;
	clickhouse_drop_inserts(c);
	if (c->own->multi)
		curl.multi_cleanup(c->own->multi);
	if (c->own->password)
		explicit_bzero(c->own->password, strlen(c->own->password));
	free_all(c->own->password, c->own, c);
}
