/* maps.c - texts of /proc/PID/maps. */
#include "formats/code/maps.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/record.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/fact.h"
#include "tests/unit/run.h"

static const struct snapshot *text_list(struct maps *m, struct ledger *lg,
					const char *text)
{
	size_t n;

	maps_text(m, text, strlen(text), "t.maps", 7, TIME_NONE, lg, 0);
	const struct snapshot *s = maps_list(m, &n);

	ck_assert_uint_eq(n, 1);
	return s;
}

START_TEST(a_line_has_range_rights_offset_device_inode_and_path)
{
	struct maps *m = maps_new();
	const struct snapshot *s = text_list(
		m, NULL,
		"# pid 7\n"
		"7f0000001000-7f0000003000 r-xp 00026000 fe:0a 332835 "
		"                    /usr/lib/a b.so\n"
		"7f0000003000-7f0000004000 rw-s 00000000 00:00 0 \n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
		"                 [vsyscall]\n");

	ck_assert_int_eq(s->pid, 7);
	ck_assert_int_eq(s->time, TIME_NONE);
	ck_assert_uint_eq(s->n, 3);
	ck_assert_uint_eq(s->map[0].start, 0x7f0000001000);
	ck_assert_uint_eq(s->map[0].len, 0x2000);
	ck_assert_uint_eq(s->map[0].pgoff, 0x26000);
	ck_assert_uint_eq(s->map[0].prot, PROT_READ | PROT_EXEC);
	ck_assert_uint_eq(s->map[0].flags, MAP_PRIVATE);
	ck_assert_uint_eq(s->map[0].maj, 0xfe);
	ck_assert_uint_eq(s->map[0].min, 10);
	ck_assert_uint_eq(s->map[0].ino, 332835);
	ck_assert_str_eq(s->map[0].path, "/usr/lib/a b.so");
	ck_assert(!s->map[0].derived);
	ck_assert_uint_eq(s->map[1].flags, MAP_SHARED);
	ck_assert_str_eq(s->map[1].path, "//anon");
	ck_assert_str_eq(s->map[2].path, "[vsyscall]");
	maps_free(m);
}
END_TEST

START_TEST(a_line_with_an_inode_and_no_path_is_of_that_file)
{
	struct maps *m = maps_new();
	const struct snapshot *s =
		text_list(m, NULL,
			  "1000-2000 r-xp 00001000 fe:01 77\n"
			  "2000-3000 r-xp 00000000 fe:01 0 \n");

	ck_assert_str_eq(s->map[0].path, "[inode 77 of 254:1]");
	ck_assert_uint_eq(s->map[0].pgoff, 0x1000);
	ck_assert_str_eq(s->map[1].path, "//anon");
	maps_free(m);
}
END_TEST

START_TEST(lines_come_sorted_and_a_line_feed_in_a_path_is_one)
{
	struct maps *m = maps_new();
	const struct snapshot *s =
		text_list(m, NULL,
			  "2000-3000 r--p 0 0:0 1 /b\\012c\\012\n"
			  "1000-2000 r--p 0 0:0 1 /a");

	ck_assert_uint_eq(s->n, 2);
	ck_assert_str_eq(s->map[0].path, "/a");
	ck_assert_str_eq(s->map[1].path, "/b\nc\n");
	maps_free(m);
}
END_TEST

START_TEST(a_line_that_is_none_is_damage)
{
	static const char *const bad[] = {
		"hello",
		"1000 2000 /a",
		"1000-1000 r--p 0 0:0 1 /a",
		"2000-1000 r--p 0 0:0 1 /a",
		"1000-2000 rwzp 0 0:0 1 /a",
		"1000-2000 r--q 0 0:0 1 /a",
		"1000-2000 r--p 0 0:0 1/a",
		"11111111111111111-2000 r--p 0 0:0 1 /a",
		"1000-2000 r--p 0 0:0 99999999999999999999999 /a",
		"1000-2000 r--p",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ledger *lg = ledger_new();
		struct maps *m = maps_new();

		ck_assert_uint_eq(text_list(m, lg, bad[i])->n, 0);
		ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
		maps_free(m);
		ledger_free(lg);
	}
}
END_TEST

static void maps_put_file(const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(names_in_a_folder_tell_the_process_and_the_time)
{
	static const char line[] = "1000-2000 r--p 0 0:0 1 /a\n";
	char dir[] = "/tmp/maps-XXXXXX";
	struct maps *m = maps_new();
	char word[128];
	struct err err;
	size_t n;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	maps_put_file(dir, "12.maps", line);
	maps_put_file(dir, "prog.13@1.5.maps", line);
	maps_put_file(dir, "14@2.maps", line);
	maps_put_file(dir, "x15.maps", line);
	maps_put_file(dir, "16.txt", line);
	maps_put_file(dir, "bad.maps", "x");
	ck_assert_int_eq(maps_folder(m, dir, NULL, 0, &err), 3);
	const struct snapshot *s = maps_list(m, &n);
	int64_t time[3] = { 0 };

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_ge(s[i].pid, 12);
		ck_assert_int_le(s[i].pid, 14);
		time[s[i].pid - 12] = s[i].time;
	}
	ck_assert_int_eq(time[0], TIME_NONE);
	ck_assert_int_eq(time[1], 1500000000);
	ck_assert_int_eq(time[2], 2000000000);
	snprintf(word, sizeof(word), "99=%s/12.maps@3.25", dir);
	ck_assert_int_eq(maps_option(m, word, NULL, 0, &err), 0);
	s = maps_list(m, &n);
	ck_assert_int_eq(s[n - 1].pid, 99);
	ck_assert_int_eq(s[n - 1].time, 3250000000);
	ck_assert_int_eq(maps_option(m, "99", NULL, 0, &err), -1);
	ck_assert_int_eq(maps_option(m, "x=/dev/null", NULL, 0, &err), -1);
	snprintf(word, sizeof(word), "99=%s/bad.maps", dir);
	ck_assert_int_eq(maps_option(m, word, NULL, 0, &err), -1);
	maps_free(m);
	snprintf(word, sizeof(word), "rm -r %s", dir);
	ck_assert_int_eq(system(word), 0);
}
END_TEST

RUN("maps", a_line_has_range_rights_offset_device_inode_and_path,
    a_line_with_an_inode_and_no_path_is_of_that_file,
    lines_come_sorted_and_a_line_feed_in_a_path_is_one,
    a_line_that_is_none_is_damage,
    names_in_a_folder_tell_the_process_and_the_time)
