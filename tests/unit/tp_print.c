/* tp_print.c - conversions of print formats, as lib/vsprintf.c of Linux makes
 * them, and why a format cannot be followed. */
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/tracepoint.h"
#include "tests/unit/run.h"

#define NUMBER(type, name, off, size, sign)                                    \
	"\tfield:" type " " name ";\toffset:" off ";\tsize:" size              \
	";\tsigned:" sign ";\n"

/* 48 bytes: addresses in all forms that formats have, then others. */
static const char fields[] = NUMBER("u8", "ip4[4]", "8", "4", "0")
	NUMBER("u8", "ip6[16]", "12", "16",
	       "0") NUMBER("u8", "sa[28]", "28", "28",
			   "0") NUMBER("s32", "arr[]", "56", "8", "1")
		NUMBER("u16", "x16[]", "64", "6",
		       "0") NUMBER("char", "name[10]", "70", "10", "0")
			NUMBER("int", "n", "80", "4", "1")
				NUMBER("unsigned long", "addr", "84", "8", "0")
					NUMBER("__data_loc u32[]", "dyn", "92",
					       "4", "0")
						NUMBER("__data_loc char[]",
						       "str", "96", "4", "0");

static const unsigned char payload[] = {
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	/* ip4, ip6: fe80::1:0:0:2a, of which one row of zeros is longer */
	192,
	168,
	0,
	7,
	0xfe,
	0x80,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	0,
	0,
	0x2a,
	/* a socket of IPv6 with port 8080 and address ::1, flow 5, scope 2 */
	10,
	0,
	0x1f,
	0x90,
	0,
	0,
	0,
	5,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	2,
	0,
	0,
	0,
	/* arr, x16 */
	0xfe,
	0xff,
	0xff,
	0xff,
	3,
	0,
	0,
	0,
	0xff,
	0xff,
	2,
	0,
	3,
	0,
	/* name */
	'a',
	'b',
	'c',
	'd',
	'e',
	'f',
	'g',
	'h',
	'i',
	0,
	/* n, addr */
	0xfd,
	0xff,
	0xff,
	0xff,
	0x78,
	0x56,
	0x34,
	0x12,
	0,
	0,
	0,
	0,
	/* dyn: 8 bytes at 100, str: 4 at 108 */
	100,
	0,
	8,
	0,
	108,
	0,
	4,
	0,
	5,
	0,
	0,
	0,
	0,
	0,
	0,
	0x80,
	'x',
	'y',
	'z',
	0,
};

static const struct {
	const char *print, *want, *problem;
} lines[] = {
	{ "\"%pI4 %pi4\", REC->ip4, REC->ip4", "192.168.0.7 192.168.000.007",
	  "" },
	{ "\"%pI6\", REC->ip6", "fe80:0000:0000:0000:0001:0000:0000:002a", "" },
	{ "\"%pI6c %pi6\", REC->ip6, REC->ip6",
	  "fe80::1:0:0:2a fe80000000000000000100000000002a", "" },
	{ "\"%pISpc\", REC->sa", "[::1]:8080", "" },
	{ "\"%pISpsfc %pISc\", REC->sa, REC->sa", "[::1]:8080/5%2 ::1", "" },
	{ "\"%pISpc\", REC->arr", "(einval)", "" },
	{ "\"%pM %pMF %pMR %pm\", REC->ip6, REC->ip6, REC->ip6, REC->ip6",
	  "fe:80:00:00:00:00 fe-80-00-00-00-00 00:00:00:00:80:fe fe8000000000",
	  "" },
	{ "\"%pU\", REC->ip6", "fe800000-0000-0000-0001-00000000002a", "" },
	{ "\"%pUL\", REC->ip6", "000080FE-0000-0000-0001-00000000002A", "" },
	{ "\"%*ph|%*phC|%*phD|%*phN\", 4, REC->ip4, 2, REC->ip4, 2, REC->ip4, "
	  "2, REC->ip4",
	  "c0 a8 00 07|c0:a8|c0-a8|c0a8", "" },
	{ "\"%*ph\", 5, REC->ip4", NULL, "" },
	{ "\"%*pb %*pbl\", 40, REC->sa + 0, 8, REC->ip6", NULL, "" },
	{ "\"%*pbl\", 64, __get_dynamic_array(dyn)", "0,2,63", "" },
	{ "\"%*pb\", 64, __get_dynamic_array(dyn)", "80000000,00000005", "" },
	{ "\"%*pb\", 33, __get_dynamic_array(dyn)", "0,00000005", "" },
	{ "\"%*pbl\", 65, __get_dynamic_array(dyn)", NULL, "" },
	{ "\"%s\", __get_bitmask(dyn)", "80000000,00000005", "" },
	{ "\"%p %px %pK\", REC->addr, (void *)0, REC->addr",
	  "0000000012345678 0000000000000000 0000000012345678", "" },
	{ "\"%ps %pS %pB\", (void *)REC->addr, REC->addr, REC->addr",
	  "0x12345678 0x12345678 0x12345678", "" },
	/* elements by their type */
	{ "\"arr={%d,%d} x16={%u,%u,%u}\", REC->arr[0], REC->arr[1], "
	  "REC->x16[0], REC->x16[1], REC->x16[2]",
	  "arr={-2,3} x16={65535,2,3}", "" },
	{ "\"%u\", ((u32 *)__get_dynamic_array(dyn))[0]", "5", "" },
	{ "\"%.*s|%.3s|%*d|%-*d|\", 4, REC->name, REC->name, 5, REC->n, 5, "
	  "REC->n",
	  "abcd|abc|   -3|-3   |", "" },
	{ "\"%#x %#x %#o %#o\", 0, 17, 0, 8", "0x0 0x11 0 010", "" },
	{ "\"%c%c\", 'a', 0", "a", "" },
	{ "\"%s\", (char *)0", "(null)", "" },
	{ "\"%s\", REC->n ? __get_str(str) : \"\"", "xyz", "" },
	/* of the kernel's own variables nothing is known */
	{ "\"page=%p n=%d\", REC->n ? (((struct page *)vmemmap_base) + "
	  "(REC->n)) : ((void *)0), REC->n",
	  "page=? n=-3", "needs vmemmap_base, which is in no capture" },
	{ "\"age=%lu\", (jiffies - REC->n) / 250", "age=?",
	  "needs jiffies, which is in no capture" },
	{ "\"wait %u run %u tid %d\", jiffies_to_msecs(REC->n), "
	  "jiffies_to_msecs(REC->n + 3), REC->n",
	  "wait ? run 0 tid -3", "needs HZ, which is in no capture" },
	/* else the fields follow, and the reason is told */
	{ "\"%u\", kernel_function(REC->n)", NULL, "calls kernel_function" },
	/* a number that is no address of a known string: digits */
	{ "\"<%s>\", REC->addr", "<0x12345678>", "lacks the string of addr" },
	/* kvm_mmu_get_page of Linux 6.18, shortened */
	{ "\"%s %s\", ({ const char *saved_ptr = trace_seq_buffer_ptr(p); "
	  "union kvm_mmu_page_role role; role.word = REC->n; "
	  "trace_seq_printf(p, \"l%u\", role.level); saved_ptr; }), "
	  "REC->n ? \"new\" : \"existing\"",
	  NULL,
	  "needs the bits of union kvm_mmu_page_role, which are in no "
	  "capture" },
	{ "\"%d\", REC->absent", NULL, "names the field absent" },
	{ "\"%pd4\", REC->addr", NULL, "converts by %pd" },
	{ "\"%d\", NO_SUCH_ENUM", NULL,
	  "needs NO_SUCH_ENUM, which is in no capture" },
	{ "\"%d\", (", NULL, "is not understood" },
	{ "\"%d", NULL, "is not understood" },
	{ "\"%d\"", NULL, "lacks an argument" },
	/* names of enums are known by release */
	{ "\"%s\", __print_flags(0x10, \"|\", {I_NEW, \"I_NEW\"}, "
	  "{I_DIRTY_SYNC, \"I_DIRTY_SYNC\"})",
	  "I_DIRTY_SYNC", "" },
};

static struct payload *open_line(const char *print, const char *release)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "name: e\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields, print);
	return payload_new(text,
			   &(struct payload_machine){ .release = release });
}

START_TEST(conversions_are_those_of_the_kernel)
{
	struct payload *pl = open_line(lines[_i].print, "6.18.44-cloud");
	char buf[512];

	ck_assert_str_eq(tp_print_problem(&pl->tp, &pl->fmt),
			 lines[_i].problem);
	tp_print(&pl->tp, &pl->fmt, payload, sizeof(payload), buf, sizeof(buf));
	if (lines[_i].want)
		ck_assert_str_eq(buf, lines[_i].want);
	else
		ck_assert_msg(!strncmp(buf, "ip4=c0a80007 ip6=", 17), "%s",
			      buf);
	payload_free(pl);
}
END_TEST

/* A part that depends on one number is evaluated once for each of the last
 * numbers. */
START_TEST(what_was_printed_before_is_printed_again)
{
	static const char line[] =
		"\"%s%s %d %x %-4u|%s|%c\", __print_flags(REC->n, \"|\", {1, "
		"\"A\"}, {2, \"B\"}), REC->n & 4 ? \"+\" : \"\", REC->n, "
		"REC->n, REC->n, __print_symbolic(REC->n, {3, \"three\"}), "
		"REC->n & 0x7f";
	struct payload *often = open_line(line, "6.18.44-cloud");
	unsigned char raw[sizeof(payload)];
	char again[512], first[512];

	memcpy(raw, payload, sizeof(raw));
	for (int i = 0; i < 400; i++) {
		struct payload *once = open_line(line, "6.18.44-cloud");
		int32_t n = i % 7 ? i % 23 : -i;

		memcpy(raw + 80, &n, sizeof(n));
		tp_print(&often->tp, &often->fmt, raw, sizeof(raw), again,
			 sizeof(again));
		tp_print(&once->tp, &once->fmt, raw, sizeof(raw), first,
			 sizeof(first));
		ck_assert_str_eq(again, first);
		payload_free(once);
		/* not what was cut */
		tp_print(&often->tp, &often->fmt, raw, sizeof(raw), again, 5);
		ck_assert_int_eq(strncmp(again, first, 4), 0);
	}
	payload_free(often);
}
END_TEST

START_TEST(a_name_of_another_release_is_not_guessed)
{
	static const char *const releases[] = { "6.19.0", "4.19", "", NULL };
	struct payload *pl = open_line("\"%d\", I_DIRTY_SYNC", releases[_i]);

	ck_assert_str_eq(tp_print_problem(&pl->tp, &pl->fmt),
			 "needs I_DIRTY_SYNC, which is in no capture");
	payload_free(pl);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(conversions_are_those_of_the_kernel,
		  sizeof(lines) / sizeof(*lines)),
	RUN_TIMES(a_name_of_another_release_is_not_guessed, 4)
};

RUN_TABLES("tp_print", loops, what_was_printed_before_is_printed_again)
