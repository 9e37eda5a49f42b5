/* clickhouse_refused.c - what a server's refusal means, and what to do then.
 *
 * The body of such a reply is "Code: N, e.displayText() = DB::Exception: TEXT,
 * e.what() = DB::Exception" in 18.16, and "Code: N. DB::Exception: TEXT (NAME)
 * (version V)" in later versions. */

#include "cli/clickhouse/clickhouse_place.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define NAMES_PASSWORD                                                         \
	"give the user in the URL, and its password in "                       \
	"$BACKSTITCH_CLICKHOUSE_PASSWORD or --password-file"
#define TABLES_MISSING "'backstitch push --create URL' makes the tables"
#define TABLES_OLD                                                             \
	"--where names no column of table run, or the tables are older: "      \
	"'backstitch push --create URL' adds columns that they lack, see "     \
	"backstitch-fleet(7)"
#define SHARD_AWAY                                                             \
	"a server of the cluster cannot be reached: start it, then try again"

/* In place of 164 if the server refused a setting: no number is its. */
#define READONLY_1 (-1)

/* Numbers of exceptions: dbms/src/Common/ErrorCodes.cpp of ClickHouse. */
static const struct meaning {
	long code;
	bool may_pass;
	const char *what; /* in place of the server's text; may be NULL */
	const char *help;
} meanings[] = {
	{ 192, false, "wrong user or password", NAMES_PASSWORD },
	{ 193, false, "wrong user or password", NAMES_PASSWORD },
	{ 194, false, "the user needs a password", NAMES_PASSWORD },
	{ 516, false, "wrong user or password", NAMES_PASSWORD },
	{ 60, false, NULL, TABLES_MISSING },
	{ 81, false, NULL, TABLES_MISSING },
	{ 16, false, NULL, TABLES_OLD },
	{ 47, false, NULL, TABLES_OLD },
	{ 164, false, NULL, "the user may only read: give another user" },
	{ READONLY_1, false, NULL,
	  "the user's profile has readonly = 1; reading needs readonly = 2" },
	{ 497, false, NULL, "the user may not do this: give another user" },
	{ 32, true, NULL, SHARD_AWAY },
	{ 209, true, NULL, SHARD_AWAY },
	{ 210, true, NULL, SHARD_AWAY },
	{ 279, true, NULL, SHARD_AWAY },
	{ 159, true, NULL, "the server was too slow: try again later" },
	{ 202, true, NULL, "the server is busy: try again later" },
	{ 216, true, NULL, "the same block is being stored just now" },
	{ 241, true, NULL, "the server is short of memory: try again later" },
	{ 252, true, NULL,
	  "the server has too many parts to merge: try again later" },
	{ 243, false, NULL, "make room on the server's disk, then try again" },
	{ 0, false, NULL, NULL },
};

static const struct meaning *clickhouse_meaning(long code, const char *text)
{
	const struct meaning *m = meanings;

	/* a full disk has no code of its own: its errno is in the text */
	if (strstr(text, "No space left on device"))
		code = 243;
	if (code == 164 && strstr(text, "Cannot modify"))
		code = READONLY_1;
	while (m->code && m->code != code)
		m++;
	return m;
}

/* Finds the first exception's text: out is cut, and one line. */
static void clickhouse_take_text(char *out, size_t size, const char *text)
{
	static const char mark[] = "Exception: ";
	const char *s = strstr(text, mark);
	const char *end;
	size_t n;

	s = s ? s + strlen(mark) : text;
	end = strstr(s, ", e.what()");
	n = end ? (size_t)(end - s) : strlen(s);
	n = n < strcspn(s, "\r\n") ? n : strcspn(s, "\r\n");
	n = n < size - 1 ? n : size - 1;
	memcpy(out, s, n);
	while (n && strchr(" .:,", out[n - 1]))
		n--;
	out[n] = 0;
}

/* "All connection tries failed" (279) is also what a server says if another one
 * answered that it has no such table: then that is in the text behind it. */
static const char *clickhouse_inner_cause(const char *text)
{
	static const char *const causes[] = {
		"Code: 81,",
		"Code: 60,",
		"Code: 81.",
		"Code: 60.",
	};

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		const char *s = strstr(text, causes[i]);

		if (s)
			return s;
	}
	return strstr(text, "There is no table ")
		       ? "Code: 60, Exception: a server of the cluster has "
			 "no such table"
		       : text;
}

int clickhouse_refused(const struct clickhouse_place *p,
		       const struct clickhouse_refusal *r, long *code,
		       bool *may_pass, struct err *err)
{
	static const char mark[] = "Code: ";
	const char *s = strstr(r->text, mark);
	const struct meaning *m;
	char text[240];

	if (s)
		s = clickhouse_inner_cause(s);
	*code = s ? strtol(s + strlen(mark), NULL, 10) : 0;
	m = clickhouse_meaning(*code, s ? s : "");
	clickhouse_take_text(text, sizeof(text), s ? s : r->text);
	/* without a code, it is of a proxy in front of the server */
	*may_pass = m->may_pass || (!s && r->status >= 502);
	if (!s)
		return err_set(err, ERR_IO,
			       "%s: status %ld and no exception of ClickHouse "
			       "('%.80s'): is this its HTTP port?",
			       p->name, r->status, text);
	return err_set(err, ERR_IO, "%s: code %ld: %s%s%s", p->name, *code,
		       m->what ? m->what : text, m->help ? "; " : "",
		       m->help ? m->help : "");
}
