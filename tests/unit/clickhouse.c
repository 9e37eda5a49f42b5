/* clickhouse.c - tests of URLs, quotes and refusals of servers. */
#include "cli/clickhouse/clickhouse.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct url_case {
	const char *name, *url;
	const char *expect; /* "user host port database", or NULL: refused */
};

static const struct url_case urls[] = {
	{ "a_host_alone_has_defaults", "clickhouse://host",
	  "default host 8123 default" },
	{ "a_slash_alone_is_no_database", "clickhouse://host/",
	  "default host 8123 default" },
	{ "everything_can_be_given", "clickhouse://me@h.example:99/prof",
	  "me h.example 99 prof" },
	{ "tls_has_its_own_port", "clickhouses://h/d", "default h 8443 d" },
	{ "an_ipv6_address_has_brackets", "clickhouse://[::1]:9/d",
	  "default [::1] 9 d" },
	{ "bytes_can_be_escaped", "clickhouse://a%40b@h/d%2fe",
	  "a@b h 8123 d/e" },
	{ "a_password_is_refused", "clickhouse://me:secret@h/d", NULL },
	{ "a_password_without_a_user_is_refused", "clickhouse://:secret@h/d",
	  NULL },
	{ "a_password_with_a_slash_is_refused", "clickhouse://u:se/cret@h/d",
	  NULL },
	{ "a_password_with_an_at_is_refused", "clickhouse://u:secr@et@h/d",
	  NULL },
	{ "another_scheme_is_refused", "http://h/d", NULL },
	{ "no_host_is_refused", "clickhouse:///d", NULL },
	{ "no_host_behind_a_user_is_refused", "clickhouse://u@:8123/d", NULL },
	{ "a_port_of_0_is_refused", "clickhouse://h:0/d", NULL },
	{ "a_port_of_65536_is_refused", "clickhouse://h:65536/d", NULL },
	{ "a_port_with_a_sign_is_refused", "clickhouse://h:-1/d", NULL },
	{ "a_port_with_letters_is_refused", "clickhouse://h:1a/d", NULL },
	{ "parameters_are_refused", "clickhouse://h/d?x=1", NULL },
	{ "a_fragment_is_refused", "clickhouse://h#x", NULL },
	{ "a_second_slash_is_refused", "clickhouse://h/d/e", NULL },
	{ "a_newline_is_refused", "clickhouse://u%0aX: y@h/d", NULL },
	{ "a_zero_byte_is_refused", "clickhouse://u%00@h/d", NULL },
	{ "half_an_escape_is_refused", "clickhouse://u%4@h/d", NULL },
	{ "a_blank_in_the_host_is_refused", "clickhouse://h x/d", NULL },
	{ "an_open_bracket_is_refused", "clickhouse://[::1/d", NULL },
};

START_TEST(urls_are_taken_apart)
{
	const struct url_case *c = &urls[_i];
	struct clickhouse_place p;
	struct err err = { 0 };
	int rc = clickhouse_place_parse(&p, c->url, &err);
	char got[1000];

	ck_assert_int_eq(rc, c->expect ? 0 : -1);
	if (rc) {
		ck_assert_int_eq(err.code, ERR_USAGE);
		ck_assert_ptr_null(strstr(err.msg, "secr"));
		return;
	}
	snprintf(got, sizeof(got), "%s %s %u %s", p.user, p.host, p.port,
		 p.database);
	ck_assert_str_eq(got, c->expect);
	ck_assert(strcmp(p.user, "default") == 0 || !strstr(p.name, p.user));
}
END_TEST

START_TEST(a_long_url_is_refused)
{
	char url[2000] = "clickhouse://";
	struct clickhouse_place p;
	struct err err = { 0 };

	memset(url + strlen(url), 'a', 1500);
	ck_assert(clickhouse_place_parse(&p, url, &err));
}
END_TEST

START_TEST(quotes_hold_any_text_of_any_length)
{
	static char many[10001];
	char *text = NULL;
	size_t len = 0;
	FILE *f = mem_stream(&text, &len);

	memset(many, '\'', sizeof(many) - 1);
	clickhouse_quote(f, "a'b\\c`");
	clickhouse_quote_name(f, "a`b'");
	clickhouse_quote(f, many);
	clickhouse_quote_name(f, many);
	mem_stream_end(f);
	ck_assert_mem_eq(text, "'a\\'b\\\\c`'`a\\`b'`'\\'", 20);
	ck_assert_uint_eq(len, 10 + 7 + 20002 + 10002);
	ck_assert_int_eq(text[len - 1], '`');
	free(text);
}
END_TEST

struct refused_case {
	const char *name;
	long status;
	const char *text;
	long code;
	bool may_pass;
	const char *says;
};

static const struct refused_case refusals[] = {
	{ "a_wrong_password", 401,
	  "Code: 193, e.displayText() = DB::Exception: Wrong password for user "
	  "default, e.what() = DB::Exception\n",
	  193, false, "code 193: wrong user or password" },
	{ "the_same_from_a_later_version", 403,
	  "Code: 516. DB::Exception: default: Authentication failed "
	  "(AUTHENTICATION_FAILED) (version 24.1)",
	  516, false, "wrong user or password" },
	{ "a_shard_that_is_away", 500,
	  "Code: 279, e.displayText() = DB::NetException: All connection tries "
	  "failed. Log: \n\nCode: 210, e.displayText() = Connection refused",
	  279, true, "start it, then try again" },
	{ "a_shard_without_the_table", 500,
	  "Code: 279, e.displayText() = DB::NetException: All connection tries "
	  "failed. Log: \n\nThere is no table f.run_local on server: b",
	  60, false, "--create" },
	{ "a_full_disk", 500,
	  "Code: 1000, e.displayText() = DB::Exception: No space left on "
	  "device, e.what() = x",
	  1000, false, "make room" },
	{ "a_user_who_may_set_nothing", 500,
	  "Code: 164, e.displayText() = DB::Exception: Cannot modify "
	  "'wait_end_of_query' setting in readonly mode, e.what() = x",
	  164, false, "reading needs readonly = 2" },
	{ "a_user_who_may_only_read", 500,
	  "Code: 164, e.displayText() = DB::Exception: Cannot insert into table "
	  "in readonly mode, e.what() = x",
	  164, false, "give another user" },
	{ "a_proxy_without_its_server", 502, "<html>Bad gateway</html>", 0,
	  true, "no exception of ClickHouse" },
	{ "another_server", 404, "nothing here", 0, false,
	  "is this its HTTP port?" },
	{ "nothing", 500, "", 0, false, "status 500" },
	{ "a_code_of_many_digits", 500, "Code: 99999999999999999999999", 0,
	  false, "clickhouse://h" },
	{ "a_code_without_digits", 500, "Code: ", 0, false, "code 0" },
};

START_TEST(refusals_of_servers_say_what_to_do)
{
	const struct refused_case *c = &refusals[_i];
	struct clickhouse_place p;
	struct clickhouse_refusal r = { c->status, c->text };
	struct err err = { 0 };
	bool may_pass;
	long code;

	ck_assert(!clickhouse_place_parse(&p, "clickhouse://h/d", &err));
	ck_assert(clickhouse_refused(&p, &r, &code, &may_pass, &err));
	if (c->code)
		ck_assert_int_eq(code, c->code);
	ck_assert_int_eq(may_pass, c->may_pass);
	ck_assert_msg(strstr(err.msg, c->says) != NULL, "%s", err.msg);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(urls_are_taken_apart, urls),
	RUN_TABLE(refusals_of_servers_say_what_to_do, refusals),
};

RUN_TABLES("clickhouse", tables, a_long_url_is_refused,
	   quotes_hold_any_text_of_any_length)
