/* clickhouse_place.c - the URL of a server, the password for it, how names and
 * texts are written in statements, and what refusals mean. */
#include <ctype.h>

#include "cli/clickhouse/clickhouse.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define PLAIN_SCHEME "clickhouse://"
#define TLS_SCHEME "clickhouses://"
#define PASSWORD_MAX 4096

bool clickhouse_is_url(const char *text)
{
	return !strncmp(text, PLAIN_SCHEME, strlen(PLAIN_SCHEME)) ||
	       !strncmp(text, TLS_SCHEME, strlen(TLS_SCHEME));
}

/* Copies a part of the URL, with %XX decoded. Returns 0, or -1 if it is too
 * long or has control characters. */
static int clickhouse_take_part(char *out, size_t size, const char *s, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '%') {
			char two[3] = { 0 };

			if (n - i < 3 || !isxdigit((unsigned char)s[i + 1]) ||
			    !isxdigit((unsigned char)s[i + 2]))
				return -1;
			memcpy(two, s + i + 1, 2);
			c = (char)strtoul(two, NULL, 16);
			i += 2;
		}
		if (at + 1 >= size || (unsigned char)c < ' ' || c == 127)
			return -1;
		out[at++] = c;
	}
	out[at] = 0;
	return 0;
}

int clickhouse_place_parse(struct clickhouse_place *p, const char *url,
			   struct err *err)
{
	const char *s = strstr(url, "://");

	*p = (struct clickhouse_place){ .user = "default",
					.database = "default" };
	p->tls = !strncmp(url, TLS_SCHEME, strlen(TLS_SCHEME));
	if (!s || !clickhouse_is_url(url))
		goto bad;
	s += 3;
	const char *end = s + strcspn(s, "/?#");
	const char *at = memrchr(s, '@', (size_t)(end - s));
	/* a password may have any character, such as '/' or '@' */
	if (memchr(s, ':', at ? (size_t)(at - s) : 0) ||
	    (!at && strchr(s, '@')))
		return err_set(err, ERR_USAGE,
			       "a password in a URL can be seen in the list of "
			       "processes; leave it out, and set "
			       "$BACKSTITCH_CLICKHOUSE_PASSWORD or give "
			       "--password-file FILE");
	if (at && (clickhouse_take_part(p->user, sizeof(p->user), s,
					(size_t)(at - s)) ||
		   !*p->user))
		goto bad;
	if (at)
		s = at + 1;
	/* host[:port]; an IPv6 address has brackets. */
	size_t n = (size_t)(end - s);
	const char *bracket = *s == '[' ? memchr(s, ']', n) : NULL;
	size_t len = bracket ? (size_t)(bracket - s) + 1 : strcspn(s, ":/?#");
	unsigned long port = p->tls ? 8443 : 8123;
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._";

	if (len > n)
		len = n;
	if (!len || (!bracket && strspn(s, allowed) < len) ||
	    (bracket && strspn(s, "[]0123456789abcdefABCDEF:.") < len) ||
	    clickhouse_take_part(p->host, sizeof(p->host), s, len))
		goto bad;
	if (len < n) {
		char *stop;

		if (s[len] != ':' || !isdigit((unsigned char)s[len + 1]))
			goto bad;
		port = strtoul(s + len + 1, &stop, 10);
		if (stop != s + n || !port || port > 65535)
			goto bad;
	}
	p->port = (unsigned int)port;
	if (strcspn(end, "?#") != strlen(end) ||
	    (*end && strchr(end + 1, '/') && strchr(end + 1, '/')[1]))
		goto bad;
	if (*end && end[1] &&
	    clickhouse_take_part(p->database, sizeof(p->database), end + 1,
				 strcspn(end + 1, "/")))
		goto bad;
	snprintf(p->name, sizeof(p->name), "%s%s:%u/%s",
		 p->tls ? TLS_SCHEME : PLAIN_SCHEME, p->host, p->port,
		 p->database);
	return 0;
bad:
	return err_set(
		err, ERR_USAGE,
		"'%.200s' is no URL of a server; it should be like "
		"clickhouse://user@host:8123/database, or clickhouses:// "
		"for TLS",
		url);
}

/* Reads the first line of a file. Returns 0, or -1 and *err. */
static int clickhouse_password_of(const char *path, char *buf, size_t size,
				  struct err *err)
{
	FILE *f = fopen(path, "re");

	if (!f)
		return err_set(err, ERR_IO, "%s: %m", path);
	size_t n = fread(buf, 1, size - 1, f);
	buf[n] = 0;
	if (ferror(f)) {
		fclose(f);
		return err_set(err, ERR_IO, "%s: cannot read", path);
	}
	fclose(f);
	if (n == size - 1 && strcspn(buf, "\r\n") == n)
		return err_set(err, ERR_USAGE,
			       "%s: the first line is no password: it has more "
			       "than %zu bytes",
			       path, size - 2);
	buf[strcspn(buf, "\r\n")] = 0;
	return 0;
}

int clickhouse_password(const char *path, char **out, struct err *err)
{
	const char *given = getenv("BACKSTITCH_CLICKHOUSE_PASSWORD");
	char buf[PASSWORD_MAX];
	int rc = 0;

	*out = NULL;
	if (path) {
		rc = clickhouse_password_of(path, buf, sizeof(buf), err);
		given = buf;
	}
	/* the password becomes a line of the request's head */
	for (const char *s = given; !rc && s && *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			rc = err_set(err, ERR_USAGE,
				     "the password for the server has a "
				     "control character");
	if (!rc)
		*out = mem_strdup(given);
	explicit_bzero(buf, sizeof(buf));
	return rc;
}

static void clickhouse_quote_in(FILE *f, const char *text, char quote)
{
	putc(quote, f);
	for (const char *s = text; *s; s++) {
		if (*s == quote || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc(quote, f);
}

void clickhouse_quote(FILE *f, const char *text)
{
	clickhouse_quote_in(f, text, '\'');
}

void clickhouse_quote_name(FILE *f, const char *name)
{
	clickhouse_quote_in(f, name, '`');
}

/* ---- what a refusal means, and what to do then
 *
 * The body of such a reply is "Code: N, e.displayText() = DB::Exception: TEXT,
 * e.what() = DB::Exception" in 18.16, and "Code: N. DB::Exception: TEXT (NAME)
 * (version V)" in later versions. */

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

/* Stands for 164 if a setting was refused; no exception has this code. */
#define READONLY_1 (-1)

/* Codes of exceptions: dbms/src/Common/ErrorCodes.cpp of ClickHouse. */
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

/* Returns the meaning of a code; that with code 0 if there is none. */
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

/* Copies the first exception's text, as one line that may be cut. */
static void clickhouse_take_text(char *out, size_t size, const char *text)
{
	static const char mark[] = "Exception: ";
	const char *s = strstr(text, mark);

	s = s ? s + strlen(mark) : text;
	const char *end = strstr(s, ", e.what()");
	size_t n = end ? (size_t)(end - s) : strlen(s);
	n = n < strcspn(s, "\r\n") ? n : strcspn(s, "\r\n");
	n = n < size - 1 ? n : size - 1;
	memcpy(out, s, n);
	while (n && strchr(" .:,", out[n - 1]))
		n--;
	out[n] = 0;
}

/* "All connection tries failed" (279) may mean that another server has no such
 * table. Returns where that server's reply begins in text, else text. */
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
	char text[240];

	if (s)
		s = clickhouse_inner_cause(s);
	*code = s ? strtol(s + strlen(mark), NULL, 10) : 0;
	const struct meaning *m = clickhouse_meaning(*code, s ? s : "");
	clickhouse_take_text(text, sizeof(text), s ? s : r->text);
	/* a reply without a code comes from a proxy in front of the server */
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
