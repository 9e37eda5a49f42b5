/* nonce.c - lines of processes that unwind themselves: templates, frames;
 * files by inode. */
#include "formats/reader/nonce.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/record.h"
#include "tests/unit/run.h"

static char out[4096];

static void nonce_add(const char *text, uint64_t n, const char *end)
{
	size_t at = strlen(out);

	snprintf(out + at, sizeof(out) - at, "%s%" PRIx64 "%s", text, n, end);
}

/* What a line is, in short. */
static const char *nonce_say(const char *const *templates, const char *line)
{
	struct user_stack_reader u = { .n = 0 };
	struct rec_chain c;
	struct nonce_line l;

	out[0] = '\0';
	if (!nonce_parse(templates, scan_of(line, strlen(line)), &l)) {
		ck_assert_int_eq(l.kind, NONCE_NONE);
		return "none";
	}
	user_stack_reader_start(&u);
	nonce_chain(&l, &u, &c);
	struct addrs a = user_stack_reader_addrs(&u);

	nonce_add(l.kind == NONCE_REQUEST ? "req " : "stack ", l.nonce, "");
	if (l.tid >= 0)
		nonce_add(" of ", (uint64_t)l.tid, "");
	if (l.pid >= 0)
		nonce_add(" in ", (uint64_t)l.pid, "");
	if (c.parts) {
		nonce_add(" part ", c.part, "");
		nonce_add("/", c.parts, "");
	}
	if (c.meet)
		nonce_add(" at ", c.meet, "");
	for (uint32_t i = 0; i < a.n; i++) {
		nonce_add(" ", a.ip[i], "");
		if (a.place && a.place[i])
			snprintf(out + strlen(out), 256, "=%s",
				 a.place[i]->symbol);
	}
	user_stack_reader_release(&u);
	return out;
}

static const char *by_default(const char *line)
{
	for (size_t i = 0; nonce_default[i]; i++)
		ck_assert_int_eq(nonce_check(nonce_default[i], NULL), 0);
	return nonce_say(nonce_default, line);
}

/* Whether the template is taken, and what the line is then. */
static const char *by(const char *pattern, const char *line)
{
	const char *const templates[] = { pattern, NULL };
	struct err err;

	if (nonce_check(pattern, &err)) {
		ck_assert_ptr_nonnull(strstr(err.msg, pattern));
		return "wrong";
	}
	return nonce_say(templates, line);
}

START_TEST(lines_that_we_document)
{
	ck_assert_str_eq(by_default("ureq nonce=91 tid=30 what=fstat"),
			 "req 5b of 1e");
	ck_assert_str_eq(by_default("ureq nonce=0x5b\n"), "req 5b");
	ck_assert_str_eq(by_default("ureq nonce=1 tid=30 pid=16 what=fstat"),
			 "req 1 of 1e in 10");
	ck_assert_str_eq(by_default("ustack nonce=1 pid=16 ips=0x10"),
			 "stack 1 in 10 10");
	ck_assert_str_eq(by_default("ustack nonce=1 tid=2 ips=0x10,20,0xfF"),
			 "stack 1 of 2 10 20 ff");
	ck_assert_str_eq(by_default("ustack  nonce=1  ips=10, 20"),
			 "stack 1 10 20");
	ck_assert_str_eq(by_default("ustack nonce=1 ips="), "stack 1");
	ck_assert_str_eq(
		by_default("ustack nonce=1 part=2/3 meet=0xab names=a;b c;d"),
		"stack 1 part 2/3 at ab 0=a 0=b c 0=d");
}
END_TEST

START_TEST(lines_that_are_something_else)
{
	static const char *const lines[] = {
		"",
		"ureq",
		"ureq nonce=",
		"ureq nonce=x",
		"xureq nonce=1",
		"a ureq nonce=1",
		"ureq nonce=1x",
		"ureq nonce=18446744073709551616",
		"ustack nonce=1 part=0/2 ips=1",
		"ustack nonce=1 part=3/2 ips=1",
		"ustack nonce=1 part=1/65536 ips=1",
		"ustack nonce=1 tid=2147483648 ips=1",
		"ustack tid=2 nonce=1 ips=1",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(!strcmp(by_default(lines[i]), "none"), "%s",
			      lines[i]);
}
END_TEST

START_TEST(fields_of_templates)
{
	ck_assert_str_eq(by("unwound %{nonce}: %{ips}", "unwound 7: 1 2,3"),
			 "stack 7 1 2 3");
	ck_assert_str_eq(by("%{nonce:x}/%{tid}", "ff/9"), "req ff of 9");
	ck_assert_str_eq(by("<%{nonce}> %{names} end", "<7> a;b end"),
			 "stack 7 0=a 0=b");
	ck_assert_str_eq(by("%{*} id=%{nonce}", "whatever id=3"), "req 3");
	ck_assert_str_eq(by("(%{*})[ x] %{nonce}", "(a b c) 3"), "req 3");
	ck_assert_str_eq(by("(%{*})[ x] %{nonce}", "(a b c) x 3"), "req 3");
	ck_assert_str_eq(by("%[%{nonce}%] 5%%", "[4] 5%"), "req 4");
	ck_assert_str_eq(by("%{nonce} %{ips} of %{tid}", "1 a b of 5"),
			 "stack 1 of 5 a b");
	ck_assert_str_eq(by("%{nonce}[ tid=%{tid}] x", "1 tid=5 y"), "none");
}
END_TEST

START_TEST(templates_that_mean_nothing)
{
	static const char *const wrong[] = {
		"",	      "no field",	  " %{nonce}",
		"%{nonce",    "%{other}",	  "%{nonce} %x",
		"%{nonce} %", "%{nonce} [a",	  "%{nonce} a]",
		"[[a]]",      "[%{nonce}]",	  "%{nonce} %{nonce:x}",
		"%{tid}",     "%{nonce}[%{ips}]", "%{nonce}%{ips}%{names}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!strcmp(by(wrong[i], "1"), "wrong"), "%s",
			      wrong[i]);
}
END_TEST

START_TEST(the_first_template_that_matches_counts)
{
	const char *const two[] = { "a %{nonce}", "%{*} %{nonce}", NULL };

	ck_assert_str_eq(nonce_say(two, "a 1"), "req 1");
	ck_assert_str_eq(nonce_say(two, "b 2"), "req 2");
}
END_TEST

START_TEST(a_text_has_several_lines)
{
	const char text[] = "ureq nonce=1\nother\n\nustack nonce=2 ips=1\n";
	const struct scan s = scan_of(text, strlen(text));
	struct nonce_line l;
	size_t at = 0;

	ck_assert(nonce_next(nonce_default, s, &at, &l));
	ck_assert_uint_eq(l.nonce, 1);
	ck_assert(nonce_next(nonce_default, s, &at, &l));
	ck_assert_int_eq(l.kind, NONCE_STACK);
	ck_assert(!nonce_next(nonce_default, s, &at, &l));
	ck_assert_uint_eq(at, s.n);
}
END_TEST

START_TEST(files_by_inode_and_device)
{
	struct user_stack_reader u = { .n = 0 };
	struct place one = { .ino = 5 };
	struct place two = { .ino = 5 };

	user_stack_reader_set_device(254u << 20 | 3, &one);
	user_stack_reader_set_device(1u << 20 | 3, &two);
	ck_assert_uint_eq(one.maj, 254);
	ck_assert_uint_eq(one.min, 3);
	user_stack_reader_note_file(&u, &one, scan_of("/a", 2));
	user_stack_reader_add_file(&u, 0x10, &one);
	user_stack_reader_add_file(&u, 0x10, &two);
	user_stack_reader_note_file(&u, &one, scan_of("/b", 2));
	user_stack_reader_add_file(&u, 0, &one);
	ck_assert_uint_eq(u.n_file, 1);
	const struct place nowhere = { .ino = UINT64_MAX };

	user_stack_reader_add_file(&u, 0x77, &nowhere);
	struct addrs a = user_stack_reader_addrs(&u);

	ck_assert_uint_eq(a.n, 4);
	ck_assert_str_eq(a.place[0]->path, "/a");
	ck_assert(a.place[0]->in_file && a.place[0]->off == 0x10);
	ck_assert_uint_eq(a.ip[0], 0);
	ck_assert_ptr_null(a.place[1]->path);
	ck_assert_str_eq(a.place[2]->path, "/b");
	ck_assert_uint_eq(a.ip[3], 0x77);
	ck_assert_ptr_null(a.place[3]);
	user_stack_reader_release(&u);
}
END_TEST

RUN("nonce", lines_that_we_document, lines_that_are_something_else,
    fields_of_templates, templates_that_mean_nothing,
    the_first_template_that_matches_counts, a_text_has_several_lines,
    files_by_inode_and_device)
