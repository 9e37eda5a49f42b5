/* escape_filter.c - tests of what printed text becomes on its way out. */
#include <stdio.h>
#include <string.h>

#include "cli/output/escape_filter.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

static char out[4096];
static size_t n_out;

static void escape_filter_take(const char *buf, size_t n)
{
	ck_assert(n_out + n < sizeof(out));
	memcpy(out + n_out, buf, n);
	n_out += n;
}

/* Writes `text` in pieces of `step` bytes, and compares what comes out. */
static void passes(const char *text, size_t len, size_t step, const char *want)
{
	struct escape_filter s = { .put = escape_filter_take };

	n_out = 0;
	for (size_t i = 0; i < len; i += step)
		escape_filter_pass(&s, text + i,
				   step < len - i ? step : len - i);
	escape_filter_end(&s);
	out[n_out] = '\0';
	ck_assert_str_eq(out, want);
}

static const struct {
	const char *text, *want;
} row[] = {
	{ "", "" },
	{ "plain\n\ttext\n", "plain\n\ttext\n" },
	{ "a\\x1b", "a\\x1b" },
	{ "\033[31mred", "\\x1b[31mred" },
	{ "\033]52;c;aGk=\a", "\\x1b]52;c;aGk=\\x07" },
	{ "\033Pq\033\\", "\\x1bPq\\x1b\\" },
	{ "\r\b\v\f\177", "\\x0d\\x08\\x0b\\x0c\\x7f" },
	{ "\x9b"
	  "31m",
	  "\\x9b31m" },		   /* CSI as a byte */
	{ "\xc2\x9b", "\\u009b" }, /* and as a character */
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "\xe2\x80\xae\xe2\x81\xa6", "\\u202e\\u2066" },
	{ "\xe2\x80\xa8", "\\u2028" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* a surrogate */
	{ "\xc0\x9b", "\\xc0\\x9b" },	       /* overlong */
	{ "\xe2\x82", "\\xe2\\x82" },	       /* cut at the end */
	{ "\xe2\x82x", "\\xe2\\x82x" },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
};

START_TEST(what_commands_a_terminal_is_shown_however_it_is_cut)
{
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		for (size_t step = 1; step < 24; step++)
			passes(row[i].text, strlen(row[i].text), step,
			       row[i].want);
}
END_TEST

START_TEST(a_zero_is_shown)
{
	passes("a\0b", 3, 3, "a\\x00b");
}
END_TEST

START_TEST(our_own_sequences_pass_however_they_are_cut)
{
	char text[200];

	snprintf(text, sizeof(text), "%sx%s\xc3\xa4%s%s", term_mark(STYLE_BOLD),
		 term_mark(STYLE_NONE), term_mark(LINE_START),
		 term_mark(LINE_REST));
	for (size_t step = 1; step < sizeof(text); step++)
		passes(text, strlen(text), step,
		       "\033[1mx\033[0m\xc3\xa4\r\033[K");
}
END_TEST

START_TEST(a_mark_of_another_number_is_text)
{
	char text[TERM_MARK + 1];
	char want[TERM_MARK + 4];

	snprintf(text, sizeof(text), "%s", term_mark(STYLE_BOLD));
	text[5] ^= 1;
	snprintf(want, sizeof(want), "\\x1b%s", text + 1);
	passes(text, TERM_MARK, 7, want);
}
END_TEST

START_TEST(odd_bytes_are_found_wherever_they_are)
{
	char text[1200];
	char want[1210];

	for (size_t at = 0; at < 1199; at++) {
		memset(text, 'x', sizeof(text));
		memset(want, 'x', sizeof(want));
		text[at] = '\033';
		memcpy(want + at, "\\x1b", 4);
		want[sizeof(text) + 3] = '\0';
		passes(text, sizeof(text), 1000, want);
	}
}
END_TEST

RUN("sieve", what_commands_a_terminal_is_shown_however_it_is_cut,
    a_zero_is_shown, our_own_sequences_pass_however_they_are_cut,
    a_mark_of_another_number_is_text, odd_bytes_are_found_wherever_they_are)
