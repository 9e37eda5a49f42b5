/* perf_record.c - records that are no samples, and whose event they are. */
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

/* As in every capture with deferred chains: two sample types, one id place. */
static const struct pb_event two[] = {
	{ .attr_size = PB_ATTR,
	  .type = 1,
	  .sample_type = PS_IDENTIFIER | PS_IP | PS_TID | PS_TIME |
			 PS_CALLCHAIN | PS_CPU | PS_PERIOD,
	  .flags = PA_SAMPLE_ID_ALL | PA_DEFER,
	  .ids = { 100, 101 },
	  .n_ids = 2 },
	{ .attr_size = PB_ATTR,
	  .type = 1,
	  .config = 9,
	  .sample_type = PS_IDENTIFIER | PS_TID | PS_TIME | PS_CPU,
	  .flags = PA_SAMPLE_ID_ALL | PA_DEFER_OUTPUT,
	  .ids = { 200, 201 },
	  .n_ids = 2 },
};

/* Both have the same trailer: tid, time, cpu, identifier. */
static void perf_record_trailer(struct pb *b, int32_t tid, uint64_t time,
				uint64_t id)
{
	pb_u32(b, 7);
	pb_u32(b, (uint32_t)tid);
	pb_u64(b, time);
	pb_u32(b, 1);
	pb_u32(b, 0);
	pb_u64(b, id);
	pb_end(b);
}

static void map2(struct pb *b, uint16_t misc, uint64_t time)
{
	pb_rec(b, PR_MMAP2, misc);
	pb_u32(b, 7);
	pb_u32(b, 8);
	pb_u64(b, 0x400000);
	pb_u64(b, 0x1000);
	pb_u64(b, 0x2000);
	if (misc & 1 << 14) {
		pb_raw(b, "\x14\0\0\0", 4);
		pb_raw(b, "ABCDEFGHIJKLMNOPQRST", 20);
	} else {
		pb_u32(b, 8);
		pb_u32(b, 1);
		pb_u64(b, 1234);
		pb_u64(b, 5);
	}
	pb_u32(b, 5);
	pb_u32(b, 2);
	pb_str(b, "/bin/true");
	perf_record_trailer(b, 8, time, 200);
}

/* As Linux 3.12 to 3.15 and RHEL 7 write it. */
START_TEST(maps_without_rights_have_their_names)
{
	static const char *const names[] = { "/bin/true", "[vdso]", "//anon",
					     "/a", "SYSV00000000" };
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i & 1, two, 2);
	pb_rec(&b, PR_MMAP2, 2);
	pb_u32(&b, 7);
	pb_u32(&b, 8);
	for (int i = 0; i < 6; i++)
		pb_u64(&b, 0x1000);
	pb_str(&b, names[_i / 2]);
	perf_record_trailer(&b, 8, 10, 200);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_MAP);
	ck_assert_uint_eq(rec.map.prot, 0);
	ck_assert_str_eq(rec.map.path, names[_i / 2]);
	pb_close(src, &b);
}
END_TEST

START_TEST(maps_keep_device_or_build_id)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	map2(&b, 2, 10);
	map2(&b, 2 | 1 << 14 | 1 << 13, 20);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_MAP);
	ck_assert_int_eq(rec.tid, 8);
	ck_assert_uint_eq(rec.map.start, 0x400000);
	ck_assert_uint_eq(rec.map.pgoff, 0x2000);
	ck_assert_uint_eq(rec.map.prot, 5);
	ck_assert_uint_eq(rec.map.ino, 1234);
	ck_assert_str_eq(rec.map.path, "/bin/true");
	ck_assert_uint_eq(rec.flags, 0);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(rec.flags, REC_F_BUILD_ID | REC_F_DATA);
	ck_assert_uint_eq(rec.map.id_len, 20);
	ck_assert(!memcmp(rec.map.id, "ABCDE", 5));
	ck_assert_uint_eq(rec.map.ino, 0);
	pb_close(src, &b);
}
END_TEST

/* A second recorder that asks for build-ids leaves their bit in our headers,
 * above the device and inode of the mapping. */
START_TEST(a_device_below_the_bit_of_build_ids_is_one)
{
	static const struct {
		uint32_t maj, min;
		uint64_t ino, gen;
		const char *id; /* or: a build-id, as perf inject adds it */
		bool asks, damage;
	} rows[] = {
		{ 254, 0, 0x51423, 0, NULL, false, false }, /* virtio */
		{ 0, 27, 0x29545d, 0, NULL, false, false }, /* tmpfs */
		{ 8, 1, 1234, 5, NULL, false, false },	    /* SCSI, ext4 */
		{ 7, 3, 1234, 0, NULL, false, false },	    /* squashfs */
		{ 259, 2, 1234, 0, NULL, false, false },    /* NVMe */
		{ 254, 0, 0x51423, 0, NULL, true, true },
		{ 4094, 0xffffff, 1234, 0, NULL, false, true },
		{ 20, .id = "ABCDEFGHIJKLMNOPQRST" },
		{ 8, .id = "ABCDEFGH\0\0\0\0\0\0\0\0\0\0\0" },
		{ 99, .id = "ABCDEFGHIJKLMNOPQRST", .damage = true },
	};
	struct pb_event events[] = { two[0], two[1] };
	const char id_size[4] = { (char)rows[_i / 2].maj };
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	events[0].flags |= rows[_i / 2].asks ? PA_BUILD_ID : 0;
	pb_begin(&b, _i & 1, events, 2);
	pb_rec(&b, PR_MMAP2, 2 | 1 << 14);
	pb_u32(&b, 7);
	pb_u32(&b, 8);
	for (int i = 0; i < 3; i++)
		pb_u64(&b, 0x1000);
	if (rows[_i / 2].id) {
		pb_raw(&b, id_size, 4);
		pb_raw(&b, rows[_i / 2].id, 20);
	} else {
		pb_u32(&b, rows[_i / 2].maj);
		pb_u32(&b, rows[_i / 2].min);
		pb_u64(&b, rows[_i / 2].ino);
		pb_u64(&b, rows[_i / 2].gen);
	}
	pb_u32(&b, 5);
	pb_u32(&b, 2);
	pb_str(&b, "/bin/true");
	perf_record_trailer(&b, 8, 10, 200);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert_int_eq(src->ops->next(src, &ref, &err), 1);
	ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err),
			 rows[_i / 2].damage ? -1 : 0);
	if (!rows[_i / 2].damage) {
		ck_assert_str_eq(rec.map.path, "/bin/true");
		ck_assert_uint_eq(rec.map.id_len,
				  rows[_i / 2].id ? rows[_i / 2].maj : 0);
		ck_assert_uint_eq(rec.map.maj,
				  rows[_i / 2].id ? 0 : rows[_i / 2].maj);
		ck_assert_uint_eq(rec.map.ino, rows[_i / 2].ino);
	}
	pb_close(src, &b);
}
END_TEST

START_TEST(a_deferred_chain_has_the_trailer_of_its_own_event)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	pb_rec(&b, PR_CALLCHAIN_DEFERRED, 2);
	pb_u64(&b, 0x500000002);
	pb_u64(&b, 3);
	pb_u64(&b, 0x10);
	pb_u64(&b, 0x11);
	pb_u64(&b, 0x12);
	perf_record_trailer(&b, 42, 777, 201);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(src->events[0].defer && !src->events[0].defer_output);
	ck_assert(src->events[1].defer_output && !src->events[1].defer);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_CHAIN);
	ck_assert_uint_eq(ref.kind, CLASS_CHAIN);
	ck_assert_uint_eq(rec.chain.cookie, 0x500000002);
	ck_assert_uint_eq(rec.chain.user.n, 3);
	ck_assert_uint_eq(rec.chain.user.ip[2], 0x12);
	ck_assert_int_eq(rec.tid, 42);
	ck_assert_int_eq(rec.cpu, 1);
	ck_assert_uint_eq(rec.time, 777);
	pb_close(src, &b);
}
END_TEST

static void perf_record_task(struct pb *b, uint32_t type, uint64_t time)
{
	pb_rec(b, type, 0);
	pb_u32(b, 20);
	pb_u32(b, 10);
	pb_u32(b, 21);
	pb_u32(b, 11);
	pb_u64(b, time + 3);
	perf_record_trailer(b, 21, time, 200);
}

START_TEST(task_records_sort_by_the_trailer_not_by_their_body)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	perf_record_task(&b, PR_FORK, 50);
	perf_record_task(&b, PR_EXIT, 60);
	pb_rec(&b, PR_COMM, 1 << 13);
	pb_u32(&b, 20);
	pb_u32(&b, 21);
	pb_str(&b, "name");
	perf_record_trailer(&b, 21, 55, 200);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_FORK);
	ck_assert_uint_eq(ref.key, 50);
	ck_assert_uint_eq(ref.kind, CLASS_FORK);
	ck_assert_int_eq(rec.pid, 20);
	ck_assert_int_eq(rec.tid, 21);
	ck_assert_int_eq(rec.fork.ppid, 10);
	ck_assert_int_eq(rec.fork.ptid, 11);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_EXIT);
	ck_assert_uint_eq(ref.kind, CLASS_EXIT);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_COMM);
	ck_assert_str_eq(rec.comm.name, "name");
	ck_assert_uint_eq(rec.flags, REC_F_EXEC);
	pb_close(src, &b);
}
END_TEST

static void perf_record_id_index(struct pb *b)
{
	static const uint64_t ids[] = { 100, 101, 200, 201 };

	pb_rec(b, PR_ID_INDEX, 0);
	pb_u64(b, 4);
	for (size_t i = 0; i < 4; i++) {
		pb_u64(b, ids[i]);
		pb_u64(b, i);
		pb_u64(b, i % 2);
		pb_u64(b, UINT64_MAX);
	}
	pb_end(b);
}

START_TEST(lost_records_and_the_sum_at_the_end_stay_apart)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	perf_record_id_index(&b);
	pb_rec(&b, PR_LOST, 0);
	pb_u64(&b, 100);
	pb_u64(&b, 33);
	perf_record_trailer(&b, 8, 900, 100);
	pb_rec(&b, PR_LOST_SAMPLES, 0);
	pb_u64(&b, 44);
	for (int i = 0; i < 3; i++)
		pb_u64(&b, 0);
	pb_u64(&b, 201);
	pb_end(&b);
	pb_rec(&b, PR_LOST_SAMPLES, 1 << 15);
	pb_u64(&b, 55);
	for (int i = 0; i < 3; i++)
		pb_u64(&b, 0);
	pb_u64(&b, 100);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_LOST);
	ck_assert_uint_eq(rec.lost.n, 33);
	ck_assert_int_eq(rec.lost.event, 0);
	ck_assert_uint_eq(rec.time, 900);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_LOST_TOTAL);
	ck_assert_uint_eq(rec.lost.n, 44);
	ck_assert_int_eq(rec.lost.event, 1);
	ck_assert_int_eq(rec.cpu, 1);
	ck_assert(!(rec.flags & REC_F_FILTERED));
	ck_assert(ref.untimed);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.lost.event, 0);
	ck_assert_int_eq(rec.cpu, 0);
	ck_assert(rec.flags & REC_F_FILTERED);
	pb_close(src, &b);
}
END_TEST

START_TEST(kernel_symbols_switches_and_marks_are_decoded)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	pb_rec(&b, PR_KSYMBOL, 0);
	pb_u64(&b, 0xffff1000);
	pb_u32(&b, 64);
	pb_u16(&b, 1);
	pb_u16(&b, 1);
	pb_str(&b, "bpf_prog_1");
	perf_record_trailer(&b, 8, 10, 200);
	pb_rec(&b, PR_SWITCH_CPU_WIDE, 1 << 13 | 1 << 14);
	pb_u32(&b, 90);
	pb_u32(&b, 91);
	perf_record_trailer(&b, 8, 20, 200);
	pb_rec(&b, PR_THROTTLE, 0);
	pb_u64(&b, 1);
	pb_u64(&b, 100);
	pb_u64(&b, 3);
	perf_record_trailer(&b, 8, 30, 200);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_KSYMBOL);
	ck_assert_uint_eq(rec.ksymbol.len, 64);
	ck_assert(rec.flags & REC_F_GONE);
	ck_assert_str_eq(rec.ksymbol.name, "bpf_prog_1");
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_SWITCH);
	ck_assert_uint_eq(ref.kind, CLASS_SWITCH_OUT);
	ck_assert_int_eq(rec.sw.other_tid, 91);
	ck_assert_uint_eq(rec.flags, REC_F_OUT | REC_F_PREEMPT);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_MARK);
	ck_assert_str_eq(rec.mark.name, "throttle");
	ck_assert_uint_eq(rec.mark.extra[1].value, 100);
	pb_close(src, &b);
}
END_TEST

START_TEST(an_event_is_found_by_its_id_with_its_own_layout)
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	pb_rec(&b, PR_SAMPLE, 2);
	pb_u64(&b, 101);
	pb_u64(&b, 0x77); /* ip: only the first event has it */
	pb_u32(&b, 1);
	pb_u32(&b, 2);
	pb_u64(&b, 10);
	pb_u32(&b, 1);
	pb_u32(&b, 0);
	pb_u64(&b, 5);
	pb_u64(&b, 0);
	pb_end(&b);
	pb_rec(&b, PR_SAMPLE, 2);
	pb_u64(&b, 200);
	pb_u32(&b, 3);
	pb_u32(&b, 4);
	pb_u64(&b, 20);
	pb_u32(&b, 0);
	pb_u32(&b, 0);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(rec.sample.event, 0);
	ck_assert_uint_eq(rec.sample.ip, 0x77);
	ck_assert_uint_eq(rec.sample.weight, 5);
	ck_assert_uint_eq(rec.time, 10);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(rec.sample.event, 1);
	ck_assert_uint_eq(rec.sample.ip, 0);
	ck_assert_int_eq(rec.tid, 4);
	ck_assert_uint_eq(rec.time, 20);
	pb_close(src, &b);
}
END_TEST

START_TEST(a_sample_of_an_unknown_event_is_damage)
{
	struct pb_event ev[] = { two[0], two[1] };
	struct ledger *lg = ledger_new();
	struct record rec;
	struct ref ref;
	struct pb b;

	/* the time at the same place in both, or not */
	if (_i)
		ev[1].sample_type |= PS_IP;
	pb_begin(&b, false, ev, 2);
	pb_rec(&b, PR_SAMPLE, 2);
	pb_u64(&b, 999);
	for (int i = 0; i < 6; i++)
		pb_u64(&b, 1);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, lg);

	while (pb_next(src, &ref, &rec))
		ck_assert_int_ne(rec.kind, REC_SAMPLE);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
	pb_close(src, &b);
	ledger_free(lg);
}
END_TEST

START_TEST(a_stopped_event_is_named_by_its_id)
{
	static const uint64_t ids[] = { 201, 101, 999 };
	static const uint32_t want[] = { 2, 1, 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, _i, two, 2);
	for (int i = 0; i < 3; i++) {
		pb_rec(&b, i ? PR_UNTHROTTLE : PR_THROTTLE, 0);
		pb_u64(&b, 5);
		pb_u64(&b, ids[i]);
		pb_u64(&b, 77);
		perf_record_trailer(&b, 4, 10 + (uint64_t)i, 100);
		pb_end(&b);
	}
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	for (int i = 0; i < 3; i++) {
		ck_assert(pb_next(src, &ref, &rec));
		ck_assert_int_eq(rec.kind, REC_MARK);
		ck_assert_uint_eq(rec.mark.event, want[i]);
	}
	pb_close(src, &b);
}
END_TEST

START_TEST(all_cpus_and_no_thread_is_system_wide)
{
	struct pb b;

	pb_begin(&b, false, two, 2);
	perf_record_id_index(&b);
	pb_rec(&b, PR_THREAD_MAP, 0);
	pb_u64(&b, 1);
	pb_u64(&b, _i ? 4321 : UINT64_MAX);
	pb_u64(&b, 0);
	pb_u64(&b, 0);
	pb_end(&b);
	pb_finish(&b);
	struct err err = { 0 };
	struct source *src = pb_open_cut(&b, b.n, NULL, NULL, &err);

	ck_assert_ptr_nonnull(src);
	src->info.cpus_online = 2; /* as the NRCPUS section says */
	ck_assert_int_eq(src->ops->scan(src, &err), 0);
	ck_assert_int_eq(src->info.system_wide, _i ? TRI_NO : TRI_YES);
	pb_close(src, &b);
}
END_TEST

/* 'cycles' of a machine with two kinds of CPUs, each of which has a PMU. */
START_TEST(events_of_all_kinds_of_cpus_together_are_system_wide)
{
	static const struct {
		uint32_t type[2];
		uint64_t config[2];
		enum tri wide;
	} row[] = {
		{ { 0, 0 }, { 4ull << 32, 10ull << 32 }, TRI_YES },
		{ { 4, 10 }, { 0x3c, 0x3c }, TRI_YES },
		{ { 4, 10 }, { 0x3c, 0xc0 }, TRI_NO },
		{ { 0, 0 }, { 4ull << 32, 10ull << 32 | 1 }, TRI_NO },
		{ { 1, 1 }, { 0, 0 }, TRI_NO },
	};
	struct pb_event ev[2] = { two[0], two[1] };
	struct err err = { 0 };
	struct pb b;

	for (int i = 0; i < 2; i++) {
		ev[i].type = row[_i].type[i];
		ev[i].config = row[_i].config[i];
		ev[i].n_ids = 1;
	}
	pb_begin(&b, false, ev, 2);
	pb_rec(&b, PR_ID_INDEX, 0);
	pb_u64(&b, 2);
	for (uint64_t i = 0; i < 2; i++) {
		pb_u64(&b, ev[i].ids[0]);
		pb_u64(&b, 0);
		pb_u64(&b, i);
		pb_u64(&b, UINT64_MAX);
	}
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open_cut(&b, b.n, NULL, NULL, &err);

	ck_assert_ptr_nonnull(src);
	src->info.cpus_online = 2;
	ck_assert_int_eq(src->ops->scan(src, &err), 0);
	ck_assert_int_eq(src->info.system_wide, row[_i].wide);
	pb_close(src, &b);
}
END_TEST

START_TEST(the_clock_goes_with_the_counter_by_time_conv)
{
	struct pb b;

	pb_begin(&b, _i, two, 2);
	pb_rec(&b, PR_TIME_CONV, 0);
	pb_u64(&b, 31);
	pb_u64(&b, 827201460);
	pb_u64(&b, 0xfffffffff0000000);
	pb_end(&b);
	pb_rec(&b, PR_TIME_CONV, 0);
	pb_u64(&b, 64); /* no shift for a u64 */
	pb_u64(&b, 1);
	pb_u64(&b, 1);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert_int_eq(src->info.clock_id, CLOCK_ID_PERF);
	ck_assert_uint_eq(src->info.tsc.mult, 827201460);
	ck_assert_uint_eq(src->info.tsc.shift, 31);
	ck_assert_uint_eq(src->info.tsc.zero, 0xfffffffff0000000);
	pb_close(src, &b);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(maps_keep_device_or_build_id, 2),
	RUN_TIMES(a_device_below_the_bit_of_build_ids_is_one, 20),
	RUN_TIMES(maps_without_rights_have_their_names, 10),
	RUN_TIMES(a_deferred_chain_has_the_trailer_of_its_own_event, 2),
	RUN_TIMES(task_records_sort_by_the_trailer_not_by_their_body, 2),
	RUN_TIMES(lost_records_and_the_sum_at_the_end_stay_apart, 2),
	RUN_TIMES(kernel_symbols_switches_and_marks_are_decoded, 2),
	RUN_TIMES(an_event_is_found_by_its_id_with_its_own_layout, 2),
	RUN_TIMES(a_sample_of_an_unknown_event_is_damage, 2),
	RUN_TIMES(a_stopped_event_is_named_by_its_id, 2),
	RUN_TIMES(all_cpus_and_no_thread_is_system_wide, 2),
	RUN_TIMES(events_of_all_kinds_of_cpus_together_are_system_wide, 5),
	RUN_TIMES(the_clock_goes_with_the_counter_by_time_conv, 2)
};

RUN_TABLES("perf_record", loops)
