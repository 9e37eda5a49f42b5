/* kallsyms_text.c - lines of a copy of /proc/kallsyms. */
#include "stitch/base/kallsyms_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/run.h"

/* A text, and what its lines are: "ADDRESS TYPE NAME MODULE;" each. */
static const struct {
	const char *name, *text, *want;
} texts[] = {
	{ "lines_of_the_kernel",
	  "ffffffff81000000 T _text\nffffffff81000010 t b\n",
	  "ffffffff81000000 T _text ;ffffffff81000010 t b ;" },
	{ "lines_of_a_module",
	  "ffffffffa0000000 t b\t[mod]\nffffffffa0000001 d c\t[other]\n",
	  "ffffffffa0000000 t b mod;ffffffffa0000001 d c other;" },
	{ "the_last_line_may_have_no_end", "ffffffff81000000 T a",
	  "ffffffff81000000 T a ;" },
	{ "the_last_line_may_be_cut_in_the_module", "ffffffffa0000000 t b\t[mo",
	  "ffffffffa0000000 t b mo;" },
	{ "lines_may_end_with_a_return",
	  "ffffffff81000000 T a\r\nffffffffa0000000 t b\t[mod]\r\n",
	  "ffffffff81000000 T a ;ffffffffa0000000 t b mod;" },
	{ "empty_brackets_are_the_kernel",
	  "ffffffff81000000 T a\t[]\nffffffff81000001 T b\t\n",
	  "ffffffff81000000 T a ;ffffffff81000001 T b ;" },
	{ "addresses_are_as_long_as_they_are",
	  "1 A a\nc0008000 T b\n0xffffffffc0000000 t c\nFFFFFFFFA0000001 t d\n",
	  "1 A a ;c0008000 T b ;ffffffffc0000000 t c ;"
	  "ffffffffa0000001 t d ;" },
	{ "each_half_of_an_address_may_change",
	  "ffffffff81000000 T a\nffffffff81000001 T b\nffff800081000001 T c\n"
	  "0000000081000001 D d\nffff8000 D e\nffff800081000002 T f\n"
	  "ffff800 T g\nffff800081000003 T h\n",
	  "ffffffff81000000 T a ;ffffffff81000001 T b ;"
	  "ffff800081000001 T c ;81000001 D d ;ffff8000 D e ;"
	  "ffff800081000002 T f ;ffff800 T g ;ffff800081000003 T h ;" },
	{ "hidden_addresses_are_left_out",
	  "0000000000000000 T a\nffffffff81000000 T b\n"
	  "0000000000000000 T c\n",
	  "ffffffff81000000 T b ;" },
	{ "what_is_no_line_is_left_out",
	  "\n\n T a\nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
	  "ffffffff81000000 T \nffffffff81000000 T \t[mod]\n"
	  "ffffffff81000000 T \r\nffffffff810000000 T a\n"
	  "ffffffff8100000g T a\n-1 T a\n0x T a\nffffffff81000000 TT a\n"
	  "ffffffff81000000\tT a\n# a comment\nffffffff81000009 T b\n",
	  "ffffffff81000009 T b ;" },
	{ "an_empty_text_has_none", "", "" },
};

START_TEST(lines_are_read)
{
	/* its end is that of the memory: a read beyond it is seen */
	const size_t len = strlen(texts[_i].text);
	char *text = malloc(len + !len);

	ck_assert_ptr_nonnull(text);
	memcpy(text, texts[_i].text, len);
	struct kallsyms_text t = { .at = text, .left = len };
	struct kallsyms_line l;
	char got[512] = "";
	size_t n = 0;

	while (kallsyms_text_next(&t, &l))
		n += (size_t)snprintf(got + n, sizeof(got) - n,
				      "%" PRIx64 " %c %.*s %.*s;", l.addr,
				      l.type, (int)l.name_len, l.name,
				      (int)l.module_len, l.module);
	ck_assert_str_eq(got, texts[_i].want);
	ck_assert(!kallsyms_text_next(&t, &l));
	free(text);
}
END_TEST

START_TEST(code_is_told_from_data)
{
	for (unsigned int type = 1; type < 128; type++) {
		const struct kallsyms_line l = { .type = (char)type };

		ck_assert_int_eq(kallsyms_line_is_code(&l),
				 strchr("tTwW", (char)type) != NULL);
	}
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(lines_are_read, texts) };

RUN_TABLES("kallsyms_text", tables, code_is_told_from_data)
