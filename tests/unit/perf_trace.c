/* perf_trace.c - fields and text of tracepoints, from their recorded format. */
#include "tests/unit/perf_build.h"

static const char format[] =
	"name: my_event\n"
	"ID: 321\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:short prio;\toffset:16;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 mode;\toffset:18;\tsize:2;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned char mac[6];\toffset:24;\tsize:6;\tsigned:0;\n"
	"\tfield:u64 far;\toffset:4096;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"comm=%s mode=%x path=%s\", REC->comm, REC->mode, "
	"__get_str(path)\n";

static void tracing_data(struct pb *b)
{
	pb_raw(b, "\x17\x08\x44tracing0.6", 14); /* with the 0 of the text */
	pb_num(b, b->big, 1);
	pb_num(b, 8, 1);
	pb_u32(b, 4096);
	pb_raw(b, "header_page", 12);
	pb_u64(b, 0);
	pb_raw(b, "header_event", 13);
	pb_u64(b, 0);
	pb_u32(b, 0); /* ftrace's own formats */
	pb_u32(b, 1); /* systems */
	pb_raw(b, "mine", 5);
	pb_u32(b, 1);
	pb_u64(b, sizeof(format) - 1);
	pb_raw(b, format, sizeof(format) - 1);
	pb_u32(b, 0); /* kallsyms */
	pb_u32(b, 0); /* printk formats */
	pb_u64(b, 0); /* cmdlines */
}

static void payload(struct pb *b, uint32_t where)
{
	pb_u16(b, 321);
	pb_u16(b, 0);
	pb_u32(b, 77);
	pb_raw(b, "task\0\0\0\0", 8);
	pb_u16(b, (uint16_t)-5);
	pb_u16(b, 0x8001);
	pb_u32(b, where);
	pb_raw(b, "\1\2\3\4\5\6\0\0", 8);
	pb_raw(b, "/tmp/x\0\0", 8);
}

static struct source *traced(struct pb *b, bool big, uint32_t where)
{
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.type = 2,
		.config = 321,
		.sample_type = PS_IP | PS_TIME | PS_RAW,
	};
	size_t at;

	pb_begin(b, big, &ev, 1);
	pb_rec(b, PR_SAMPLE, 1);
	pb_u64(b, 0x10);
	pb_u64(b, 100);
	pb_u32(b, 40);
	payload(b, where);
	pb_raw(b, "\0\0\0\0", 4);
	pb_end(b);
	pb_finish(b);
	pb_patch(b, 72, 2, 8); /* feature 1 */
	if (big) /* and HOSTNAME, which tells how the bitmap is laid out */
		pb_patch(b, 72, 2 | 8, 8);
	at = b->n;
	pb_u64(b, 0);
	pb_u64(b, 0);
	if (big) {
		pb_u64(b, 0);
		pb_u64(b, 0);
	}
	size_t start = b->n;

	tracing_data(b);
	pb_patch(b, at, start, 8);
	pb_patch(b, at + 8, b->n - start, 8);
	return pb_open(b, NULL);
}

static uint32_t field_at(const struct source *src, const char *name)
{
	for (uint32_t i = 0; i < src->events[0].n_fields; i++)
		if (!strcmp(src->events[0].fields[i].name, name))
			return i;
	ck_abort_msg("no field '%s'", name);
	return 0;
}

#define PATH_AT (32 | 7 << 16)

START_TEST(fields_have_their_values_in_both_byte_orders)
{
	struct field f[16];
	struct record rec;
	struct ref ref;
	struct pb b;
	struct source *src = traced(&b, _i, PATH_AT);

	ck_assert_str_eq(src->events[0].name, "mine:my_event");
	ck_assert_uint_eq(src->events[0].n_fields, 7);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->fields(src, &rec.sample, f, NULL), 0);
	ck_assert_int_eq(f[field_at(src, "common_pid")].num, 77);
	ck_assert_str_eq(f[field_at(src, "comm")].text, "task");
	ck_assert_int_eq(f[field_at(src, "prio")].num, -5);
	ck_assert_int_eq(f[field_at(src, "mode")].num, 0x8001);
	ck_assert_str_eq(f[field_at(src, "path")].text, "/tmp/x");
	ck_assert_uint_eq(f[field_at(src, "mac")].len, 6);
	ck_assert(!memcmp(f[field_at(src, "mac")].blob, "\1\2\3\4\5\6", 6));
	/* its offset is beyond the payload */
	ck_assert(!f[field_at(src, "far")].present);
	ck_assert(src->events[0].fields[field_at(src, "path")].is_text);
	ck_assert(src->events[0].fields[field_at(src, "mac")].is_blob);
	source_close(src);
	pb_release(&b);
}
END_TEST

START_TEST(text_is_printed_as_the_format_says)
{
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	struct source *src = traced(&b, _i, PATH_AT);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->print(src, &rec.sample, text, sizeof(text)),
			 0);
	ck_assert_str_eq(text, "comm=task mode=8001 path=/tmp/x");
	source_close(src);
	pb_release(&b);
}
END_TEST

START_TEST(a_dynamic_field_that_leads_outside_is_absent)
{
	static const uint32_t where[] = { 33 | 8 << 16, 0xffff | 1 << 16,
					  0xffffffff };
	struct field f[16];
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	struct source *src = traced(&b, false, where[_i]);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->fields(src, &rec.sample, f, NULL), 0);
	ck_assert(!f[field_at(src, "path")].present);
	ck_assert_str_eq(f[field_at(src, "comm")].text, "task");
	src->ops->print(src, &rec.sample, text, sizeof(text));
	source_close(src);
	pb_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_trace");
	TCase *t = tcase_create("tracepoints");

	tcase_add_loop_test(t, fields_have_their_values_in_both_byte_orders, 0,
			    2);
	tcase_add_loop_test(t, text_is_printed_as_the_format_says, 0, 2);
	tcase_add_loop_test(t, a_dynamic_field_that_leads_outside_is_absent, 0,
			    3);
	suite_add_tcase(s, t);
	return pb_main(s);
}
