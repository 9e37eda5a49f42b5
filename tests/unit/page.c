/* page.c - what an HTML page holds for its scripts is what was put in. */
#include <stdlib.h>
#include <string.h>

#include "stitch/text/json.h"
#include "cli/page/page_bytes.h"
#include "analyze/stacks/word_meanings.h"
#include "tests/unit/run.h"

/* What a writer writes; the caller frees it. */
static char *page_text_of(const char *s)
{
	char *got = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&got, &len);
	struct json j;

	json_open(&j, f, JSON_HTML);
	json_shown(&j, NULL, s);
	fclose(f);
	return got;
}

static char *base64_of(const void *bytes, size_t n)
{
	struct blob b = { .at = (uint8_t *)bytes, .n = n };
	char *got = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&got, &len);

	page_base64(&b, f);
	fclose(f);
	return got;
}

static void page_check_text(const char *s, const char *want)
{
	char *got = page_text_of(s);

	ck_assert_str_eq(got, want);
	free(got);
}

START_TEST(text_cannot_end_its_string_or_its_element)
{
	page_check_text("plain", "\"plain\"");
	page_check_text("a\"b\\c", "\"a\\\"b\\\\c\"");
	page_check_text("</script><!--", "\"\\u003c/script>\\u003c!--\"");
	page_check_text("", "\"\"");
}
END_TEST

START_TEST(bytes_that_are_no_text_are_shown_as_escapes)
{
	page_check_text("\x1b[31m\n", "\"\\\\x1b[31m\\\\x0a\"");
	page_check_text("\xff\xfe", "\"\\\\xff\\\\xfe\"");
	/* U+202E turns the direction of what follows */
	page_check_text("\xe2\x80\xaegnp", "\"\\\\u202egnp\"");
	page_check_text("\xe6\x97\xa5", "\"\xe6\x97\xa5\"");
}
END_TEST

START_TEST(base64_is_that_of_rfc_4648)
{
	static const char *const want[] = { "",		  "Zg==\n",
					    "Zm8=\n",	  "Zm9v\n",
					    "Zm9vYg==\n", "Zm9vYmE=\n",
					    "Zm9vYmFy\n" };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		char *got = base64_of("foobar", i);

		ck_assert_str_eq(got, want[i]);
		free(got);
	}
}
END_TEST

START_TEST(base64_lines_break_between_whole_groups)
{
	char zero[1000] = "";
	char *got = base64_of(zero, sizeof(zero));

	ck_assert_uint_eq(strcspn(got, "\n"), 1024);
	/* 232 bytes are left: 77 groups and one more byte */
	ck_assert_uint_eq(strlen(got), 1025 + 78 * 4 + 1);
	ck_assert_str_eq(got + 1025 + 77 * 4, "AA==\n");
	free(got);
}
END_TEST

static void check_number(void (*add)(struct blob *, uint64_t), uint64_t v,
			 const char *want, size_t n)
{
	struct blob b = { 0 };

	add(&b, v);
	ck_assert_uint_eq(b.n, n);
	ck_assert_mem_eq(b.at, want, n);
	free(b.at);
}

START_TEST(numbers_are_leb128)
{
	check_number(blob_leb, 0, "\0", 1);
	check_number(blob_leb, 127, "\x7f", 1);
	check_number(blob_leb, 128, "\x80\x01", 2);
	check_number(blob_leb, UINT64_MAX,
		     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}
END_TEST

START_TEST(differences_are_zigzag)
{
	check_number(blob_zigzag, 0, "\0", 1);
	check_number(blob_zigzag, (uint64_t)-1, "\x01", 1);
	check_number(blob_zigzag, 1, "\x02", 1);
	check_number(blob_zigzag, (uint64_t)-64, "\x7f", 1);
	check_number(blob_zigzag, (uint64_t)INT64_MIN,
		     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}
END_TEST

START_TEST(a_verdict_means_what_it_means_of_its_kind)
{
	ck_assert_str_eq(verdict_meaning("request", "matched"),
			 "joined to its chain by the cookie");
	ck_assert_str_eq(verdict_meaning("chain", "used"),
			 "at least one sample has it");
	ck_assert_ptr_null(verdict_meaning("request", "used"));
	ck_assert_ptr_null(verdict_meaning("chain", "matched"));
	ck_assert_str_ne(verdict_meaning("request", "unjoinable"),
			 verdict_meaning("chain", "unjoinable"));
	ck_assert_ptr_null(verdict_meaning("request", ""));
}
END_TEST

RUN("page", text_cannot_end_its_string_or_its_element,
    bytes_that_are_no_text_are_shown_as_escapes, base64_is_that_of_rfc_4648,
    base64_lines_break_between_whole_groups, numbers_are_leb128,
    differences_are_zigzag, a_verdict_means_what_it_means_of_its_kind)
