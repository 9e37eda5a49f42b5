/* perf_damage.c - cut, broken and wrong inputs: what is said, what is kept. */
#include <zstd.h>

#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

static const struct pb_event timed = {
	.attr_size = PB_ATTR,
	.sample_type = PS_IP | PS_TID | PS_TIME,
	.flags = PA_SAMPLE_ID_ALL,
};

static void perf_damage_sample(struct pb *b, uint64_t time, uint64_t ip)
{
	pb_rec(b, PR_SAMPLE, 2);
	pb_u64(b, ip);
	pb_u64(b, 0);
	pb_u64(b, time);
	pb_end(b);
}

static size_t perf_damage_count(struct source *src)
{
	struct err err = { 0 };
	struct ref ref;
	size_t n = 0;

	while (src->ops->next(src, &ref, &err) > 0) {
		if (src->ops->release)
			src->ops->release(src, &ref);
		n++;
	}
	return n;
}

static void perf_damage_refused(const void *data, size_t n, const char *words)
{
	struct pb b = { .d = (unsigned char *)data, .n = n };
	struct err err = { 0 };
	struct source *src = pb_open_cut(&b, n, NULL, NULL, &err);

	ck_assert_ptr_null(src);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
}

START_TEST(things_given_by_mistake_are_named)
{
	perf_damage_refused("", 0, "empty");
	perf_damage_refused("SQLite format 3\0and more", 24,
			    "already a database");
	perf_damage_refused("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16, "ELF");
	perf_damage_refused("PERFFILE\0\0\0\0\0\0\0\0", 16, "header");
	perf_damage_refused("all work and no play", 20, "text");
	perf_damage_refused("\1\2\3\4\5\6\7\0\1\2\3\4\5\6\7\0", 16,
			    "unknown data");
}
END_TEST

START_TEST(a_cut_inside_header_or_events_is_refused)
{
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	perf_damage_sample(&b, 1, 1);
	pb_finish(&b);
	for (size_t n = 16; n < b.data; n++) {
		struct err err = { 0 };
		struct source *src = pb_open_cut(&b, n, NULL, NULL, &err);

		ck_assert_msg(!src, "cut at %zu was taken", n);
		ck_assert_uint_ne(err.msg[0], 0);
	}
	pb_release(&b);
}
END_TEST

START_TEST(every_whole_record_before_a_cut_is_given)
{
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	for (uint64_t i = 0; i < 4; i++)
		perf_damage_sample(&b, 10 + i, i);
	pb_finish(&b);
	for (size_t n = b.data; n < b.n; n++) {
		struct ledger *lg = ledger_new();
		struct err err = { 0 };
		struct source *src = pb_open_cut(&b, n, NULL, lg, &err);

		ck_assert_msg(src != NULL, "%s", err.msg);
		ck_assert_int_eq(src->ops->scan(src, &err), 0);
		ck_assert_uint_eq(perf_damage_count(src), (n - b.data) / 32);
		ck_assert(src->info.truncated);
		ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 1);
		source_close(src);
		ledger_free(lg);
	}
	pb_release(&b);
}
END_TEST

START_TEST(a_killed_recorder_leaves_a_readable_file)
{
	struct ledger *lg = ledger_new();
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	perf_damage_sample(&b, 1, 1);
	perf_damage_sample(&b, 2, 2);
	struct source *src = pb_open(&b, lg); /* data.size is still 0 */

	ck_assert(src->info.truncated);
	ck_assert_uint_eq(perf_damage_count(src), 2);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_NOTE), 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	source_close(src);
	ledger_free(lg);
	pb_patch(&b, 16, 0, 8);
	perf_damage_refused(b.d, b.n, "killed");
	pb_release(&b);
}
END_TEST

START_TEST(a_record_without_a_size_ends_the_walk_and_is_said)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry e;
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	perf_damage_sample(&b, 1, 1);
	perf_damage_sample(&b, 2, 2);
	pb_patch(&b, b.rec + 6, 4, 2);
	perf_damage_sample(&b, 3, 3);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	ck_assert_uint_eq(perf_damage_count(src), 1);
	ck_assert_int_eq(ledger_take(lg, &e), 1);
	ck_assert_int_eq(e.kind, LEDGER_DAMAGE);
	ck_assert_uint_eq(e.off, b.data + 32);
	ck_assert_uint_eq(e.len, 64);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

/* Reads to the end; how much of it was damage? */
static uint64_t perf_damage_of(struct pb *b)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	uint64_t n = 0;

	pb_finish(b);
	struct source *src = pb_open(b, lg);

	while (src->ops->next(src, &ref, &err) > 0)
		n += src->ops->decode(src, &ref, &rec, &err) != 0;
	n += ledger_count(lg, LEDGER_DAMAGE);
	source_close(src);
	ledger_free(lg);
	pb_release(b);
	return n;
}

START_TEST(unknown_records_without_a_flag_that_asks_are_damage)
{
	struct pb b;

	pb_begin(&b, _i, &timed, 1);
	pb_rec(&b, 50, 0);
	pb_u64(&b, 1);
	pb_end(&b);
	perf_damage_sample(&b, 1, 1);
	ck_assert_uint_eq(perf_damage_of(&b), 1);
}
END_TEST

/* Samples of a machine with 4 CPUs, and how many of their values cannot be. */
static const struct {
	const char *arch;
	uint16_t misc;
	int32_t pid, tid, cpu;
	uint64_t time, ip;
	uint64_t bad, flags;
} values[] = {
	{ "x86_64", 2, 7, 7, 3, 1000, 0x401000, 0, 0 },
	{ "x86_64", 2, -1, -1, 3, 1000, 0x401000, 0, 0 },
	{ "x86_64", 2, 7, -2, 3, 1000, 0x401000, 1, 0 },
	{ "x86_64", 2, 7, 4194305, 3, 1000, 0x401000, 1, 0 },
	{ "x86_64", 2, -7, 7, 3, 1000, 0x401000, 1, 0 },
	{ "x86_64", 2, 7, 7, 4, 1000, 0x401000, 0, 0 },
	{ "x86_64", 2, 7, 7, 8191, 1000, 0x401000, 0, 0 },
	{ "x86_64", 2, 7, 7, 8192, 1000, 0x401000, 1, 0 },
	{ "x86_64", 2, 7, 7, -1, 1000, 0x401000, 0, 0 },
	{ "x86_64", 2, 7, 7, 3, UINT64_C(1) << 55, 0x401000, 1, 0 },
	{ "x86_64", 2, 7, 7, 3, UINT64_C(1) << 54, 0x401000, 0, 0 },
	{ "x86_64", 2, 7, 7, 3, 1000, UINT64_C(0x4000000000401000), 1, 0 },
	{ "x86_64", 2, 7, 7, 3, 1000, UINT64_C(0xffffffffff600000), 0, 0 },
	{ "x86_64", 1, 7, 7, 3, 1000, UINT64_C(0xffffffff81000000), 0, 0 },
	{ "x86_64", 1, 7, 7, 3, 1000, 0x401000, 0, 0 },
	{ "x86_64", 1, 7, 7, 3, 1000, 0x401000, 0, PA_PRECISE },
	{ "x86_64", 1, 7, 7, 3, 1000, UINT64_C(0x4000000000401000), 1,
	  PA_PRECISE },
	{ "x86_64", 6, 7, 7, 3, 1000, 0x401000, 1, 0 },
	{ "aarch64", 2, 7, 7, 3, 1000, UINT64_C(0x001f000000401000), 1, 0 },
	{ "aarch64", 1, 7, 7, 3, 1000, UINT64_C(0xffff800080000000), 0, 0 },
	{ "aarch64", 1, 7, 7, 3, 1000, 0x20301000, 0, 0 },
	{ "aarch64", 1, 7, 7, 3, 1000, UINT64_C(0x00ff800080000000), 1, 0 },
	{ "s390x", 1, 7, 7, 3, 1000, 0x401000, 0, 0 },
};

static void perf_damage_value(struct pb *b, size_t i, uint64_t time)
{
	pb_rec(b, PR_SAMPLE, values[i].misc);
	pb_u64(b, values[i].ip);
	pb_u32(b, (uint32_t)values[i].pid);
	pb_u32(b, (uint32_t)values[i].tid);
	pb_u64(b, time);
	pb_u32(b, (uint32_t)values[i].cpu);
	pb_u32(b, 0);
	pb_end(b);
}

static void perf_damage_arch(struct pb *b, const char *arch)
{
	pb_rec(b, PR_FEATURE, 0);
	pb_u64(b, 6);
	pb_text(b, arch, 1);
	pb_end(b);
}

START_TEST(values_that_no_kernel_writes_are_damage)
{
	struct pb_event ev = timed;
	const char *arch = values[_i].arch;
	struct pb b;

	ev.sample_type |= PS_CPU;
	ev.flags |= values[_i].flags;
	pb_begin(&b, false, &ev, 1);
	perf_damage_arch(&b, arch);
	pb_rec(&b, PR_FEATURE, 0);
	pb_u64(&b, 7);
	pb_u32(&b, 4);
	pb_u32(&b, 4);
	pb_end(&b);
	for (uint64_t t = 100; t < 104; t++)
		perf_damage_value(&b, 0, t);
	perf_damage_value(&b, (size_t)_i, values[_i].time);
	perf_damage_value(&b, 0, 1001);
	ck_assert_uint_eq(perf_damage_of(&b), values[_i].bad);
}
END_TEST

/* The bytes of a path that perf lists with its build-id, and those behind it.
 */
static const struct {
	const char *path;
	size_t bytes, behind;
	uint64_t bad;
} listed[] = {
	{ "/lib/libc.so", 13, 7, 0 },
	{ "/lib/libc.so", 13, 63, 0 },
	{ "/lib/libc.6", 12, 64, 0 }, /* perf 4.4: its 0 counted twice */
	{ "/lib/libc.6", 12, 65, 1 },
	{ "/lib/libc.so", 12, 0, 1 }, /* it does not end */
};

START_TEST(a_build_id_has_a_path_and_nothing_behind)
{
	const unsigned char id[20] = { 1, 2, 3 };
	struct ledger *lg = ledger_new();
	struct pb b;

	pb_begin(&b, false, &timed, 1);
	pb_rec(&b, PR_BUILD_ID, 2);
	pb_u32(&b, UINT32_MAX);
	pb_raw(&b, id, sizeof(id));
	pb_u32(&b, 0);
	pb_raw(&b, listed[_i].path, listed[_i].bytes);
	pb_zeros(&b, listed[_i].behind);
	pb_end(&b);
	perf_damage_sample(&b, 1, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	ck_assert_uint_eq(perf_damage_count(src), 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), listed[_i].bad);
	ck_assert_uint_eq(src->n_build_ids, !listed[_i].bad);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

/* What sections tell of the processor; how many PMUs the section says. */
static void perf_damage_features(struct pb *b, uint32_t pmus)
{
	pb_rec(b, PR_FEATURE, 0);
	pb_u64(b, 31);
	pb_u32(b, pmus);
	pb_u32(b, 2);
	pb_text(b, "branches", 1);
	pb_text(b, "32", 1);
	pb_text(b, "max_precise", 1);
	pb_text(b, "3", 1);
	pb_text(b, "cpu", 1);
	pb_end(b);
	pb_rec(b, PR_FEATURE, 0);
	pb_u64(b, 32);
	pb_u32(b, 17);
	pb_u32(b, 1);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		pb_u32(b, cpu);
		pb_u32(b, 1);
		pb_u32(b, 0);
		pb_text(b, "MC", 1);
		pb_text(b, "3", 1);
		pb_text(b, "0-1", 1);
	}
	pb_end(b);
	pb_rec(b, PR_FEATURE, 0);
	pb_u64(b, 34);
	pb_u32(b, 64);
	pb_end(b);
}

START_TEST(features_of_the_processor_are_notes)
{
	static const char *const want[] = {
		"PMU cpu: branches=32, max_precise=3",
		"2 CPUs with up to 1 scheduling domain each (schedstat 17)",
		"cache lines of 64 bytes",
	};
	struct ledger *lg = ledger_new();
	struct ledger_entry e;
	struct pb b;
	size_t n = 0;

	pb_begin(&b, false, &timed, 1);
	perf_damage_features(&b, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	perf_damage_count(src);
	while (ledger_take(lg, &e) == 1)
		n += n < 3 && !strcmp(e.detail, want[n]);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	pb_close(src, &b);
	ledger_free(lg);
	pb_begin(&b, false, &timed, 1);
	perf_damage_features(&b, 2);
	ck_assert_uint_eq(perf_damage_of(&b), 1);
}
END_TEST

/* The first strings of the command; damage if a kernel half has address 0. */
static const struct {
	const char *command[2];
	uint64_t bad;
} injects[] = {
	{ { "/usr/bin/perf", "record" }, 1 },
	{ { "/usr/bin/perf", "inject" }, 0 },
	{ { "/usr/bin/perf", "/opt/bin/perf" }, 0 },
};

START_TEST(an_address_that_perf_inject_could_not_map_is_no_damage)
{
	struct pb_event ev = timed;
	struct pb b;

	ev.sample_type |= PS_CALLCHAIN;
	pb_begin(&b, false, &ev, 1);
	perf_damage_arch(&b, "x86_64");
	pb_rec(&b, PR_FEATURE, 0);
	pb_u64(&b, 11);
	pb_u32(&b, 2);
	for (int i = 0; i < 2; i++)
		pb_text(&b, injects[_i].command[i], 1);
	pb_end(&b);
	pb_rec(&b, PR_SAMPLE, 1);
	pb_u64(&b, UINT64_C(0xffff800010000000));
	pb_u64(&b, 0);
	pb_u64(&b, 1000);
	pb_u64(&b, 4);
	pb_u64(&b, (uint64_t)-128);
	pb_u64(&b, UINT64_C(0xffff800010000000));
	pb_u64(&b, 0);
	pb_u64(&b, UINT64_C(0xffff800010000100));
	pb_end(&b);
	ck_assert_uint_eq(perf_damage_of(&b), injects[_i].bad);
}
END_TEST

/* An entry of the table of sections: does its bit stand in the header, where is
 * it, what is damage? */
static const struct {
	bool bit, at_end;
	uint64_t bad;
} unwritten[] = {
	{ true, true, 0 },
	{ false, true, 0 },
	{ true, false, 1 },
	{ false, false, 1 },
};

START_TEST(a_section_that_perf_could_not_write_is_no_damage)
{
	struct ledger *lg = ledger_new();
	struct pb b;

	pb_begin(&b, false, &timed, 1);
	perf_damage_sample(&b, 1000, 0x401000);
	pb_finish(&b);
	if (unwritten[_i].bit)
		pb_patch(&b, 72, 1 << 6, 8);
	pb_u64(&b, b.n + 16 - (unwritten[_i].at_end ? 0 : 8));
	pb_u64(&b, 0);
	struct source *src = pb_open(&b, lg);

	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), unwritten[_i].bad);
	ck_assert_uint_eq(perf_damage_count(src), 1);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

/* Bytes behind the last section, and features 8 and 9 of which the first is
 * empty, with the offset of the second or another. */
static const struct {
	size_t behind;
	bool same;
	uint64_t bad;
} undone[] = {
	{ 0, true, 0 },
	{ 0, false, 1 },
	{ 4, true, 0 },
	{ 5, true, 1 },
};

START_TEST(what_perf_took_back_is_no_damage)
{
	struct ledger *lg = ledger_new();
	struct pb b;

	pb_begin(&b, false, &timed, 1);
	perf_damage_sample(&b, 1000, 0x401000);
	pb_finish(&b);
	pb_patch(&b, 72, 3 << 8, 8);
	const uint64_t at = b.n + 32;

	pb_u64(&b, undone[_i].same ? at : at + 1);
	pb_u64(&b, 0);
	pb_u64(&b, at);
	pb_u64(&b, 4);
	pb_u32(&b, 0x01010101);
	pb_raw(&b, "\1\2\3\4\5", undone[_i].behind);
	struct source *src = pb_open(&b, lg);

	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), undone[_i].bad);
	ck_assert_uint_eq(perf_damage_count(src), 1);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

/* A description of an event by an id that no event has so far: of a pipe, or of
 * a file. */
START_TEST(ids_of_a_pipe_may_come_behind_their_names)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	if (_i)
		pb_begin(&b, false, &timed, 1);
	else
		pb_begin_pipe(&b, false);
	pb_rec(&b, PR_FEATURE, 0);
	pb_u64(&b, 12);
	pb_u32(&b, 1);
	pb_u32(&b, 4);
	pb_u32(&b, 0);
	pb_u32(&b, 1);
	pb_text(&b, "cycles", 1);
	pb_u64(&b, 77);
	pb_end(&b);
	if (_i)
		pb_finish(&b);
	else
		pb_header_attr(&b, &timed);
	struct source *src = pb_open(&b, lg);

	while (src->ops->next(src, &ref, &err) > 0)
		must(!src->ops->decode(src, &ref, &rec, &err));
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), (uint64_t)_i);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

START_TEST(unknown_records_are_skipped_by_size_and_counted)
{
	struct ledger *lg = ledger_new();
	struct pb_event later = timed;
	struct pb b;

	later.flags |= PA_UNKNOWN; /* which may ask for new records */
	pb_begin(&b, _i, &later, 1);
	pb_rec(&b, 50, 0);
	pb_u64(&b, 1);
	pb_end(&b);
	pb_rec(&b, 99, 0);
	pb_u64(&b, 1);
	pb_end(&b);
	pb_rec(&b, PR_AUXTRACE, 0);
	pb_u64(&b, 40);
	for (int i = 0; i < 4; i++)
		pb_u64(&b, 0);
	pb_end(&b);
	for (int i = 0; i < 5; i++)
		pb_u64(&b, UINT64_MAX); /* payload behind the record */
	perf_damage_sample(&b, 1, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	ck_assert_uint_eq(perf_damage_count(src), 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_SKIPPED), 3);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_NOTE), 1);
	source_close(src);
	ledger_end(lg);
	bool named = false;
	struct ledger_entry e;

	while (ledger_take(lg, &e))
		named |= e.len == PR_AUXTRACE &&
			 !strncmp(e.detail, "AUXTRACE: ", 10);
	ck_assert(named);
	ledger_free(lg);
	pb_release(&b);
}
END_TEST

START_TEST(old_attributes_without_a_size_are_read)
{
	struct pb_event ev = timed;
	struct record rec;
	struct ref ref;
	struct pb b;

	ev.attr_size = 0;	     /* PERF_ATTR_SIZE_VER0: 64 */
	ev.branch_type = UINT64_MAX; /* behind the 64: must be ignored */
	pb_begin(&b, _i, &ev, 1);
	perf_damage_sample(&b, 5, 6);
	pb_finish(&b);
	pb_patch(&b, 8, 72, 8); /* the header before feature bits */
	struct source *src = pb_open(&b, NULL);

	ck_assert_uint_eq(perf_of(src)->attr[0].branch_type, 0);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(rec.sample.ip, 6);
	pb_close(src, &b);
}
END_TEST

/* n samples in one zstd stream, which is flushed and cut at every `step`. */
static size_t squeeze(size_t n, size_t step, unsigned char *out, size_t *end,
		      size_t max)
{
	struct pb plain = { 0 };
	ZSTD_CStream *z = ZSTD_createCStream();
	size_t pieces = 0;

	for (size_t i = 0; i < n; i++)
		perf_damage_sample(&plain, 100 + i, i);
	ZSTD_outBuffer o = { out, max, 0 };
	for (size_t at = 0; at < plain.n; at += step) {
		size_t len = plain.n - at < step ? plain.n - at : step;
		ZSTD_inBuffer in = { plain.d + at, len, 0 };

		ck_assert(!ZSTD_isError(ZSTD_compressStream(z, &o, &in)));
		ck_assert_uint_eq(ZSTD_flushStream(z, &o), 0);
		end[pieces++] = o.pos;
	}
	ZSTD_freeCStream(z);
	free(plain.d);
	return pieces;
}

static void compressed(struct pb *b, const unsigned char *p, size_t n, bool two)
{
	static const char zeros[8];

	pb_rec(b, two ? PR_COMPRESSED2 : PR_COMPRESSED, 0);
	if (two)
		pb_u64(b, n);
	pb_raw(b, p, n);
	if (two)
		pb_raw(b, zeros, (8 - n % 8) % 8);
	pb_end(b);
	pb_rec(b, PR_FINISHED_ROUND, 0);
	pb_end(b);
}

START_TEST(records_cut_between_compressed_ones_are_whole)
{
	static unsigned char out[65536];
	size_t end[64];
	struct record rec;
	struct ref ref;
	struct pb b;
	size_t pieces = squeeze(100, 75, out, end, sizeof(out));

	pb_begin(&b, false, &timed, 1);
	for (size_t i = 0; i < pieces; i++)
		compressed(&b, out + (i ? end[i - 1] : 0),
			   end[i] - (i ? end[i - 1] : 0), _i);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(src->info.compressed);
	ck_assert(!src->info.truncated);
	for (uint64_t i = 0; i < 100; i++) {
		ck_assert(pb_next(src, &ref, &rec));
		ck_assert_uint_eq(rec.sample.ip, i);
		src->ops->release(src, &ref);
	}
	ck_assert(!pb_next(src, &ref, &rec));
	pb_close(src, &b);
}
END_TEST

START_TEST(chunks_live_as_long_as_their_refs)
{
	static unsigned char out[1 << 18];
	size_t end[64];
	static struct ref ref[20000];
	struct record rec;
	struct pb b;
	size_t pieces = squeeze(20000, 16000, out, end, sizeof(out));

	pb_begin(&b, false, &timed, 1);
	for (size_t i = 0; i < pieces; i++)
		compressed(&b, out + (i ? end[i - 1] : 0),
			   end[i] - (i ? end[i - 1] : 0), true);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	for (size_t i = 0; i < 20000; i++)
		ck_assert(pb_next(src, &ref[i], &rec));
	/* decode them all once more, last one first, and let go */
	for (size_t i = 20000; i-- > 0;) {
		ck_assert_int_eq(src->ops->decode(src, &ref[i], &rec, NULL), 0);
		ck_assert_uint_eq(rec.sample.ip, i);
		src->ops->release(src, &ref[i]);
	}
	ck_assert_uint_eq(perf_damage_count(src), 0);
	/* what is left is the chunk that is walked at the moment */
	ck_assert_uint_le(perf_of(src)->chunk_bytes, 1 << 19);
	pb_close(src, &b);
}
END_TEST

START_TEST(damaged_compression_keeps_what_came_before)
{
	static unsigned char out[65536];
	size_t end[64];
	struct ledger *lg = ledger_new();
	struct pb b;

	squeeze(100, 320, out, end, sizeof(out)); /* 10 samples each */
	pb_begin(&b, false, &timed, 1);
	compressed(&b, out, end[0], _i);
	size_t at = b.n;

	compressed(&b, (const unsigned char *)"garbage!", 8, _i);
	compressed(&b, out + end[0], end[1] - end[0], _i);
	perf_damage_sample(&b, 999, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	/* the plain sample behind them is given, too */
	ck_assert_uint_eq(perf_damage_count(src), 11);
	ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 2);
	struct ledger_entry e;

	ck_assert_int_eq(ledger_take(lg, &e), 1);
	ck_assert_str_eq(e.what, "compressed");
	ck_assert_uint_eq(e.off, at);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

/* perf record -z --switch-output goes on with one stream in the next file. */
START_TEST(a_file_that_begins_inside_a_compressed_stream_says_so)
{
	static unsigned char out[65536];
	size_t end[64];
	struct ledger *lg = ledger_new();
	struct ledger_entry e;
	struct pb b;

	squeeze(100, 320, out, end, sizeof(out));
	pb_begin(&b, false, &timed, 1);
	size_t at = b.n;

	compressed(&b, out + end[0], end[1] - end[0], _i);
	compressed(&b, out + end[1], end[2] - end[1], _i);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	ck_assert_int_eq(ledger_take(lg, &e), 1);
	ck_assert_uint_eq(e.off, at);
	ck_assert_ptr_nonnull(strstr(
		e.detail, "compressed data begins inside a stream, as in the "
			  "later files of 'perf record -z --switch-output', "
			  "which nothing can decompress: record without -z"));
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(a_cut_inside_header_or_events_is_refused, 2),
	RUN_TIMES(every_whole_record_before_a_cut_is_given, 2),
	RUN_TIMES(a_killed_recorder_leaves_a_readable_file, 2),
	RUN_TIMES(a_record_without_a_size_ends_the_walk_and_is_said, 2),
	RUN_TIMES(unknown_records_without_a_flag_that_asks_are_damage, 2),
	RUN_TIMES(a_build_id_has_a_path_and_nothing_behind, 4),
	RUN_TIMES(values_that_no_kernel_writes_are_damage,
		  (int)(sizeof(values) / sizeof(*values))),
	RUN_TIMES(an_address_that_perf_inject_could_not_map_is_no_damage,
		  sizeof(injects) / sizeof(*injects)),
	RUN_TIMES(a_section_that_perf_could_not_write_is_no_damage,
		  sizeof(unwritten) / sizeof(*unwritten)),
	RUN_TIMES(ids_of_a_pipe_may_come_behind_their_names, 2),
	RUN_TIMES(what_perf_took_back_is_no_damage,
		  sizeof(undone) / sizeof(*undone)),
	RUN_TIMES(unknown_records_are_skipped_by_size_and_counted, 2),
	RUN_TIMES(old_attributes_without_a_size_are_read, 2),
	RUN_TIMES(records_cut_between_compressed_ones_are_whole, 2),
	RUN_TIMES(damaged_compression_keeps_what_came_before, 2),
	RUN_TIMES(a_file_that_begins_inside_a_compressed_stream_says_so, 2)
};

RUN_TABLES("perf_damage", loops, things_given_by_mistake_are_named,
	   features_of_the_processor_are_notes,
	   chunks_live_as_long_as_their_refs)
